// SPDX-License-Identifier: GPL-2.0-only
#include "fake/ring-buffer.h"
#include "fake/tracefs.h"
#include "unit-command.h"
#include "unit-host.h"
#include "unit-memory.h"

#define MAX 64

struct tracefs_instance {
	char name[64];
	bool used;
};

struct tracefs_dynevent {
	char group[64], name[64], symbol[64];
	bool used; /* the kernel has it */
};

const char *fake_fail_call, *fake_refused_symbol, *fake_profile;
int fake_fail_code;
void (*fake_on_enabled)(void);
bool fake_mounted, fake_amdgpu, fake_module, fake_enabled, fake_was_enabled;

static struct tracefs_instance instances[MAX];
static struct tracefs_dynevent events[MAX];

static bool fails(const char *call)
{
	if (!fake_fail_call || strcmp(fake_fail_call, call))
		return false;
	errno = fake_fail_code;
	return true;
}

const char *fake_instances(void)
{
	const char *text = "";
	size_t i;

	for (i = 0; i < MAX; i++)
		if (instances[i].used)
			text = unit_text("%s%s ", text, instances[i].name);
	return text;
}

const char *fake_events(void)
{
	const char *text = "";
	size_t i;

	for (i = 0; i < MAX; i++)
		if (events[i].used)
			text = unit_text("%s%s/%s ", text, events[i].group, events[i].name);
	return text;
}

struct tracefs_instance *tracefs_instance_create(const char *name)
{
	size_t i;

	if (fails("instance_create"))
		return NULL;
	for (i = 0; i < MAX; i++)
		if (instances[i].used && !strcmp(instances[i].name, name))
			return &instances[i];
	for (i = 0; instances[i].used; i++)
		;
	snprintf(instances[i].name, sizeof(instances[i].name), "%s", name);
	instances[i].used = true;
	return &instances[i];
}

void fake_add_instance(const char *name)
{
	tracefs_instance_create(name);
}

int tracefs_instance_destroy(struct tracefs_instance *instance)
{
	/* The kernel refuses one whose files are open, or that traces. */
	ck_assert(!fake_enabled);
	instance->used = false;
	return 0;
}

void tracefs_instance_free(struct tracefs_instance *instance)
{
	(void)instance;
}

int tracefs_instances_walk(int (*fn)(const char *name, void *data), void *data)
{
	size_t i;

	for (i = 0; i < MAX; i++)
		if (instances[i].used && fn(instances[i].name, data))
			return 1;
	return 0;
}

int tracefs_instance_file_open(struct tracefs_instance *instance, const char *file, int mode)
{
	if (fails(instance ? "trace_pipe_raw" : file))
		return -1;
	if (instance && !strcmp(file, "per_cpu/cpu0/trace_pipe_raw"))
		return fake_pages_open();
	return open("/dev/null", instance ? O_RDONLY | O_CLOEXEC : mode);
}

char *tracefs_instance_file_read(struct tracefs_instance *instance, const char *file, int *size)
{
	(void)instance;
	if (strcmp(file, "kprobe_profile") || !fake_profile)
		return NULL;
	if (size)
		*size = strlen(fake_profile);
	return strdup(fake_profile);
}

int tracefs_instance_file_write(struct tracefs_instance *instance, const char *file,
				const char *text)
{
	ck_assert_ptr_nonnull(instance);
	if (!strcmp(file, "trace_clock"))
		ck_assert_str_eq(text, "mono");
	return fails("instance_file_write") ? -1 : 1;
}

int tracefs_instance_set_buffer_size(struct tracefs_instance *instance, size_t kb, int cpu)
{
	ck_assert(instance && kb && cpu < 0);
	return fails("instance_set_buffer_size") ? -1 : 0;
}

int tracefs_event_enable(struct tracefs_instance *instance, const char *system, const char *event)
{
	ck_assert(instance && system && !event);
	if (fails("event_enable"))
		return -1;
	fake_enabled = fake_was_enabled = true;
	if (fake_on_enabled)
		fake_on_enabled();
	return 0;
}

int tracefs_event_disable(struct tracefs_instance *instance, const char *system, const char *event)
{
	ck_assert(instance && system && !event);
	fake_enabled = false;
	return 0;
}

static struct tracefs_dynevent *make(const char *group, const char *name, const char *where)
{
	struct tracefs_dynevent *event = calloc(1, sizeof(*event));
	const char *colon = strchr(where, ':');

	/* A module's name, if amdgpu is one, and only then. */
	ck_assert_int_eq(colon && !strncmp(where, "amdgpu:", 7), fake_module);
	snprintf(event->group, sizeof(event->group), "%s", group);
	snprintf(event->name, sizeof(event->name), "%s", name);
	snprintf(event->symbol, sizeof(event->symbol), "%s", colon ? colon + 1 : where);
	return event;
}

struct tracefs_dynevent *tracefs_kprobe_alloc(const char *group, const char *name,
					      const char *where, const char *format)
{
	ck_assert_ptr_nonnull(strstr(format, "comm=$comm"));
	return make(group, name, where);
}

struct tracefs_dynevent *tracefs_kretprobe_alloc(const char *group, const char *name,
						 const char *where, const char *format,
						 unsigned int most)
{
	(void)format;
	(void)most;
	return make(group, name, where);
}

int tracefs_dynevent_create(struct tracefs_dynevent *event)
{
	size_t i;

	if (fails("dynevent_create"))
		return -1;
	if (fake_refused_symbol && !strcmp(event->symbol, fake_refused_symbol)) {
		errno = fake_fail_code;
		return -1;
	}
	for (i = 0; events[i].used; i++)
		;
	events[i] = *event;
	events[i].used = true;
	return 0;
}

void fake_add_event(const char *group, const char *name)
{
	struct tracefs_dynevent event = { 0 };

	snprintf(event.group, sizeof(event.group), "%s", group);
	snprintf(event.name, sizeof(event.name), "%s", name);
	tracefs_dynevent_create(&event);
}

int tracefs_dynevent_destroy(struct tracefs_dynevent *event, bool force)
{
	size_t i;

	ck_assert(!force);
	/* The kernel refuses one that is in use. */
	ck_assert(!fake_enabled);
	for (i = 0; i < MAX; i++)
		if (events[i].used && !strcmp(events[i].group, event->group) &&
		    !strcmp(events[i].name, event->name))
			events[i].used = false;
	return 0;
}

void tracefs_dynevent_free(struct tracefs_dynevent *event)
{
	free(event);
}

struct tracefs_dynevent **tracefs_dynevent_get_all(unsigned int types, const char *system)
{
	struct tracefs_dynevent **list = calloc(MAX + 1, sizeof(*list));
	size_t i, n = 0;

	ck_assert_uint_eq(types, TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE);
	ck_assert_ptr_null(system);
	for (i = 0; i < MAX; i++)
		if (events[i].used) {
			list[n] = malloc(sizeof(**list));
			*list[n++] = events[i];
		}
	return list;
}

void tracefs_dynevent_list_free(struct tracefs_dynevent **list)
{
	size_t i;

	for (i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

enum tracefs_dynevent_type tracefs_dynevent_info(struct tracefs_dynevent *event, char **system,
						 char **name, char **prefix, char **addr,
						 char **format)
{
	(void)prefix;
	(void)addr;
	(void)format;
	if (system)
		*system = strdup(event->group);
	if (name)
		*name = strdup(event->name);
	return TRACEFS_DYNEVENT_KPROBE;
}

static size_t list_length(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

char **tracefs_list_add(char **list, const char *text)
{
	size_t n = list_length(list);

	list = realloc(list, (n + 2) * sizeof(*list));
	list[n] = strdup(text);
	list[n + 1] = NULL;
	return list;
}

void tracefs_list_free(char **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void tracefs_set_loglevel(enum tep_loglevel level)
{
	ck_assert_int_eq(level, TEP_LOG_NONE);
}

int tracefs_tracing_dir_is_mounted(bool mount, const char **path)
{
	ck_assert(!mount);
	*path = "/sys/kernel/tracing";
	return fake_mounted;
}

char *tracefs_event_file_read(struct tracefs_instance *instance, const char *system,
			      const char *event, const char *file, int *size)
{
	const char *end = strstr(event, "_return"), *first = "pid";
	char symbol[64], *text;

	ck_assert_ptr_null(instance);
	ck_assert_str_eq(file, "format");
	ck_assert_int_eq(strncmp(system, "gpreempt_", 9), 0);
	snprintf(symbol, sizeof(symbol), "%.*s", (int)(end ? end - event : (long)strlen(event)),
		 event);
	if (end)
		first = "ret";
	else if (!strcmp(symbol, "suspend_queues"))
		first = "stack";
	*size = asprintf(&text,
			 "name: %s\nID: %d\nformat:\n"
			 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			 "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			 "\tfield:u32 %s;\toffset:16;\tsize:4;\tsigned:0;\n"
			 "\tfield:u32 %s;\toffset:20;\tsize:4;\tsigned:0;\n"
			 "\tfield:__data_loc char[] comm;\toffset:24;\tsize:4;\tsigned:1;\n\n"
			 "print fmt: \"(%%lx)\", REC->__probe_ip\n",
			 event, fake_event_id(symbol, end), first, "op");
	return text;
}

UNIT_WRAP(int, access, (const char *path, int mode))
{
	if (strncmp(path, "/sys/module/amdgpu", 18))
		return __real_access(path, mode);
	errno = ENOENT;
	return (path[18] ? fake_module : fake_amdgpu) ? 0 : -1;
}

void fake_kallsyms(const char *text)
{
	unit_fail_path(text ? NULL : "/proc/kallsyms", EPERM);
	if (!text)
		return;
	make_text("kallsyms", text);
	unit_path_from = "/proc/kallsyms";
	unit_path_to = "kallsyms";
}

#define SYMBOL(name) "ffffffffc0a1b2c0 t " name "\t[amdgpu]\n"

void fake_tracefs_setup(void)
{
	fake_mounted = fake_amdgpu = fake_module = true;
	/* clang-format off */
	fake_kallsyms("ffffffff81000000 T vfs_read\n"
		SYMBOL("kfd_ioctl_set_debug_trap") SYMBOL("suspend_queues")
		SYMBOL("resume_queues") SYMBOL("pm_send_unmap_queue.cold")
		"ffffffffc0a1b2c0 t pm_send_runlist\t[other]\n"
		"ffffffffc0a1b2c0 d amdkfd_fence_wait_timeout\t[amdgpu]\n"
		SYMBOL("pm_send_query_status"));
	/* clang-format on */
}
