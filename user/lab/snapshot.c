// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpreempt/select.h>

#include "ctl/klog.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "load.h"
#include "snapshot.h"

/*
 * Files by their names below the directory; directories that a name needs are made. Only root
 * may read their content elsewhere, so only their owner may here. Each function prints its
 * error, and returns the exit status, or 0.
 */
static int snapshot_fail(const char *what, int err)
{
	return ctl_fail_text(err == EACCES || err == EPERM ? GPREEMPT_CLASS_PERMISSION :
							     GPREEMPT_CLASS_FAILED,
			     ctl_want_room(-err, "name a new directory, in one that is there and "
						 "that can be written, with -o"),
			     "%s: %s", what, strerror(err));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void snapshot_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make all directories above the last part of a path. 0, or the exit status. */
static int make_parents(const char *whole)
{
	char path[4096], *slash;

	snprintf(path, sizeof(path), "%s", whole);
	for (slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return snapshot_fail(path, errno);
		*slash = '/';
	}
	return 0;
}

/*
 * Make the directory in which the snapshot comes into being, beside its own one, which must be
 * new, or empty.
 */
static int make_part(const char *dir, char **part)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (asprintf(part, "%.*s" CTL_SNAPSHOT_PART "%d", (int)len, dir, (int)getpid()) < 0)
		abort();
	if (rmdir(dir) && errno != ENOENT)
		return snapshot_fail(dir, errno == ENOTEMPTY ? EEXIST : errno);
	return mkdir(*part, 0700) ? snapshot_fail(dir, errno) : 0;
}

/* A new file, or NULL, which end_file() takes, too. */
static FILE *snapshot_create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (make_parents(path))
		return NULL;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		snapshot_fail(path, errno);
	return file;
}

static int snapshot_end_file(FILE *file, const char *dir, const char *name)
{
	char path[4096];
	bool bad;

	if (!file)
		return GPREEMPT_CLASS_FAILED;
	bad = ferror(file);
	if (!fclose(file) && !bad)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return snapshot_fail(path, errno ? errno : EIO);
}

/* Copy a file of the system as it is. -errno: it cannot be read. */
static int snapshot_copy(const char *from, const char *dir, const char *name)
{
	size_t len;
	char *all = ctl_read_file(from, &len);
	FILE *file;

	if (!all)
		return -errno;
	file = snapshot_create(dir, name);
	if (file)
		fwrite(all, 1, len, file);
	free(all);
	return snapshot_end_file(file, dir, name);
}

#define DRM_MAJOR 226

/* Files of a host without names of its own, of users, of containers or of processes. */
static const char *const host_files[] = {
	/* The first ones are joined with the driver's text. */
	SNAPSHOT_VIEW "/pid/*/queues",
	SNAPSHOT_VIEW "/pid/*/gpus",
	SNAPSHOT_VIEW "/pid/*/usage",
	SNAPSHOT_VIEW "/nodes",
	SNAPSHOT_VIEW "/usage",
	SNAPSHOT_VIEW "/version",
	SNAPSHOT_KFD "/proc",
	SNAPSHOT_KFD "/proc/*/vram_*",
	SNAPSHOT_KFD "/proc/*/stats_*/evicted_ms",
	SNAPSHOT_KFD "/proc/*/queues",
	SNAPSHOT_KFD "/proc/*/queues/*/*",
	SNAPSHOT_KFD "/proc/*/context_*/queues/*",
	SNAPSHOT_KFD "/topology/nodes/*/gpu_id",
	SNAPSHOT_KFD "/topology/nodes/*/properties",
	SNAPSHOT_KFD "/topology/nodes/*/mem_banks/*/properties",
	"/sys/module/amdgpu",
	"/sys/module/amdgpu/version",
	"/sys/module/amdgpu/parameters/cwsr_enable",
	"/sys/module/amdgpu/parameters/num_kcq",
	"/sys/module/amdgpu/parameters/sched_policy",
	"/sys/module/module/parameters/sig_enforce",
	"/sys/bus/pci/devices/*/fw_version/*_fw_version",
	"/sys/bus/pci/devices/*/mem_info_vram_*",
	"/sys/bus/pci/devices/*/product_name",
	"/sys/bus/pci/devices/*/current_*_partition",
	"/sys/bus/pci/devices/*/hwmon/*/power1_*",
	"/sys/module/vgpu/initstate",
	"/sys/kernel/security/lockdown",
	"/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/yama/ptrace_scope",
};

/* Files that have such names. */
static const char *const named_files[] = {
	SNAPSHOT_VIEW "/processes",
	"/proc/self/mounts",
	"/proc/self/status",
	"/etc/passwd",
	"/etc/subuid",
	/* Names of containers of Podman and CRI-O. */
	"/var/lib/containers/storage/*-containers/containers.json",
	"/var/lib/containers/storage/*-containers/volatile-containers.json",
};

/* The command line comes last: it is in the process's memory, which may hang. */
static const char *const process_files[] = {
	"stat", "status", "comm", "cgroup", "cmdline",
};

/*
 * Copy a file to its own path below dir, or make that directory. A file that cannot be
 * read is left out.
 */
static int save(const char *dir, const char *path)
{
	const char *below = path + strlen(HOST_ROOT);
	char to[4096];
	struct stat st;
	int ret;

	/* There is room for a "/" behind it. */
	snprintf(to, sizeof(to) - 1, "%s%s", dir, below);
	if (stat(path, &st) || !access(to, F_OK))
		return 0;
	if (S_ISDIR(st.st_mode))
		return make_parents(strcat(to, "/"));
	ret = snapshot_copy(path, dir, below);
	return ret < 0 ? 0 : ret;
}

bool snapshot_is_nameless(const char *path)
{
	/* The driver's text, and what is made of files without names. */
	static const char *const own[] = {
		"/mqds", "/hqds", "/rls", "/nodes", "/" TEXT_SYSFS, "/" TEXT_QUEUES "*",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (!fnmatch(own[i], path, FNM_PATHNAME))
			return true;
	for (i = 0; i < ARRAY_SIZE(host_files); i++)
		if (!fnmatch(host_files[i], path, FNM_PATHNAME))
			return true;
	return false;
}

/* Call fn for each path of that pattern until it returns other than 0. */
static int each_path(const char *pattern, const char *dir,
		     int (*fn)(const char *dir, const char *path))
{
	glob_t found = { 0 };
	int ret = 0;
	size_t i;

	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (i = 0; i < found.gl_pathc && !ret; i++)
			ret = fn(dir, found.gl_pathv[i]);
	globfree(&found);
	return ret;
}

static int save_list(const char *dir, const char *const *list, size_t n)
{
	char pattern[256];
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		snprintf(pattern, sizeof(pattern), HOST_ROOT "%s", list[i]);
		ret = each_path(pattern, dir, save);
	}
	return ret;
}

static int save_text(const char *dir, const char *name, const char *text)
{
	FILE *file = snapshot_create(dir, name);

	if (file)
		fputs(text, file);
	return snapshot_end_file(file, dir, name);
}

/* A device of KFD or of a GPU becomes a file with its number. */
static int save_device(const char *dir, const char *path)
{
	uint64_t device, kfd = 0;
	char text[32];

	if (shr_device_at(AT_FDCWD, path, 0, &device))
		return 0;
	shr_device_at(AT_FDCWD, HOST_ROOT "/dev/kfd", 0, &kfd);
	if (device != kfd && major(device) != DRM_MAJOR)
		return 0;
	snprintf(text, sizeof(text), "%u:%u\n", major(device), minor(device));
	return save_text(dir, path + strlen(HOST_ROOT), text);
}

static int save_pid_namespace(const char *dir)
{
	static const char path[] = HOST_ROOT "/proc/self/ns/pid";
	char text[64] = "";

	if (readlink(path, text, sizeof(text) - 1) <= 0)
		return 0;
	return save_text(dir, path + strlen(HOST_ROOT), text);
}

/* The path ends with a PID. */
static int save_process(const char *dir, const char *path)
{
	const char *pid = strrchr(path, '/') + 1;
	char file[128];
	size_t i;
	int ret;

	snprintf(file, sizeof(file), HOST_ROOT "/proc/%.16s/fd", pid);
	ret = save(dir, file);
	strcat(file, "/*");
	if (!ret)
		ret = each_path(file, dir, save_device);
	for (i = 0; i < ARRAY_SIZE(process_files) && !ret; i++) {
		snprintf(file, sizeof(file), HOST_ROOT "/proc/%.16s/%s", pid, process_files[i]);
		ret = save(dir, file);
	}
	return ret;
}

/*
 * Save one string of a JSON file alone, and give it to the caller, too: Docker keeps the
 * environment of a container beside its name.
 */
static int save_string(const char *dir, const char *path, const char *key, char *value, size_t size)
{
	struct json_object *all = json_object_from_file(path), *found = NULL;
	const char *below = path + strlen(HOST_ROOT);
	FILE *file;
	int ret = 0;

	if (json_object_is_type(all, json_type_object) &&
	    json_object_object_get_ex(all, key, &found) &&
	    json_object_is_type(found, json_type_string)) {
		snprintf(value, size, "%s", json_object_get_string(found));
		file = snapshot_create(dir, below);
		if (file)
			fprintf(file, "{\"%s\":%s}\n", key, json_object_to_json_string(found));
		ret = snapshot_end_file(file, dir, below);
	}
	json_object_put(all);
	return ret;
}

static int save_name(const char *dir, const char *path)
{
	char name[256];

	return save_string(dir, path, "Name", name, sizeof(name));
}

static int save_docker_names(const char *dir)
{
	char root[256] = "/var/lib/docker", pattern[512];
	int ret = save_string(dir, HOST_ROOT "/etc/docker/daemon.json", "data-root", root,
			      sizeof(root));

	snprintf(pattern, sizeof(pattern), HOST_ROOT "%s/containers/*/config.v2.json", root);
	return ret ? ret : each_path(pattern, dir, save_name);
}

/*
 * Save the files of this host that list, queues, monitor and doctor read,
 * each at its own path below the snapshot, where their --from reads them. One that is
 * not there is left out. 0, or the exit status.
 */
static int snapshot_save_host(const char *dir)
{
	int ret = save_list(dir, host_files, ARRAY_SIZE(host_files));

	if (!ret)
		ret = save_list(dir, named_files, ARRAY_SIZE(named_files));
	if (!ret)
		ret = save_device(dir, HOST_ROOT "/dev/kfd");
	if (!ret)
		ret = save_pid_namespace(dir);
	if (!ret)
		ret = save_docker_names(dir);
	return ret ? ret : each_path(HOST_ROOT SNAPSHOT_KFD "/proc/*", dir, save_process);
}

/* Save the processes that trace others. g reads the snapshot. */
static int snapshot_save_tracers(const char *dir, struct gpreempt *g,
				 const struct gpreempt_targets *targets)
{
	struct gpreempt_description who;
	char path[64];
	size_t i;
	int ret = 0;

	for (i = 0; i < targets->count && !ret; i++) {
		if (gp_identify(g, targets->targets[i].pid, &who) || !who.tracer)
			continue;
		snprintf(path, sizeof(path), HOST_ROOT "/proc/%d/comm", who.tracer);
		ret = save(dir, path);
		snprintf(path, sizeof(path), HOST_ROOT "/proc/%d/status", who.tracer);
		if (!ret)
			ret = save(dir, path);
	}
	return ret;
}

#define KMSG_LINE 8192
#define WORD_SIZE 256

/* The first line of a file without its end, or "-". */
static const char *first_line(char *buf, const char *dir, const char *name)
{
	size_t len;
	char *all = text_read_in(dir, name, &len);

	snprintf(buf, WORD_SIZE, "%.*s", all ? (int)strcspn(all, "\n") : 0, all ? all : "");
	free(all);
	return *buf ? buf : strcpy(buf, "-");
}

static void write_info(FILE *file, const char *tag)
{
	struct utsname host;
	char when[64], buf[WORD_SIZE];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	uname(&host);
	fprintf(file, SNAPSHOT_NAME " - version: " SNAPSHOT_VERSION "\n"
				    "# key value\n");
	fprintf(file, "time %s\nboot_ns %" PRIu64 "\ntag %s\n", when, shr_now_ns(),
		tag ? tag : "-");
	fprintf(file, "host %s\nkernel %s\n", host.nodename, host.release);
	fprintf(file, "amdgpu %s\n", first_line(buf, "/sys/module/amdgpu", "version"));
	fprintf(file, "amdgpu_srcversion %s\n",
		first_line(buf, "/sys/module/amdgpu", "srcversion"));
	fprintf(file, "gpreempt_module %s\n", first_line(buf, "/sys/module/gpreempt", "version"));
	fprintf(file, "gpreempt %s\nsimulated %d\n", gpreempt_version(), ctl_simulated());
}

/* Write the facts of KFD's sysfs about each queue: without root, without the module. */
static void write_sysfs(FILE *file, const char *in, const struct gpreempt_targets *targets)
{
	char gpu[WORD_SIZE], size[WORD_SIZE], type[WORD_SIZE], path[4096], queue[4096 + 256];
	struct dirent *entry;
	DIR *dir;
	size_t i;

	fprintf(file, "# pid qid gpu_id size type\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;

		snprintf(path, sizeof(path), "%s" SNAPSHOT_KFD "/proc/%d/queues", in, pid);
		dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			const char *q = entry->d_name;

			if (*q == '.')
				continue;
			snprintf(queue, sizeof(queue), "%s/%s", path, q);
			first_line(gpu, queue, "gpuid");
			fprintf(file, "%d %s 0x%lx %s %s\n", pid, q, strtoul(gpu, NULL, 10),
				first_line(size, queue, "size"), first_line(type, queue, "type"));
		}
		if (dir)
			closedir(dir);
	}
}

/* A process names itself: nothing of it ends a line or steers a terminal. */
static void put_clean(FILE *file, const char *text, bool one_word)
{
	char *clean = shr_must(shr_clean_copy(text, false)), *at;

	for (at = clean; *at; at++) {
		if (one_word && *at == ' ')
			fputs("\\040", file);
		else
			fputc(*at, file);
	}
	free(clean);
}

static void write_ps(struct gpreempt *g, FILE *file, const struct gpreempt_targets *targets)
{
	struct gpreempt_description who;
	struct gp_container box;
	size_t i;

	fprintf(file, "# pid start ns_pid container comm args\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;
		bool in = !gp_container(g, pid, &box);

		if (gpreempt_describe(g, pid, &who))
			continue;
		fprintf(file, "%d %" PRIu64 " %d ", pid, who.start, who.ns_pid);
		put_clean(file, in ? box.engine : "-", true);
		if (in) {
			fputc(':', file);
			put_clean(file, *box.name ? box.name : box.id, true);
		}
		fputc(' ', file);
		put_clean(file, *who.comm ? who.comm : "-", true);
		fputc(' ', file);
		put_clean(file, *who.command ? who.command : "-", false);
		fputc('\n', file);
	}
}

/* Copy the views, which are saved at their own path, to the place where decode and diff look. */
static int copy_views(const struct gpreempt_targets *targets, const char *dir)
{
	char from[4096], name[64];
	size_t i;
	int ret = 0;

	/* A process may have ended, and the module may not be there. */
	for (i = 0; i < targets->count && ret <= 0; i++) {
		snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/pid/%d/queues", dir,
			 targets->targets[i].pid);
		snprintf(name, sizeof(name), TEXT_QUEUES "%d", targets->targets[i].pid);
		ret = snapshot_copy(from, dir, name);
	}
	snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/processes", dir);
	if (ret <= 0)
		ret = snapshot_copy(from, dir, "processes");
	snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/nodes", dir);
	if (ret <= 0)
		ret = snapshot_copy(from, dir, "nodes");
	return ret > 0 ? ret : 0;
}

int snapshot_log_open(bool all)
{
	int fd = klog_open();

	/* Seek behind the cleared lines with SEEK_DATA, or to the end. */
	if (fd >= 0)
		lseek(fd, 0, all ? SEEK_DATA : SEEK_END);
	return fd;
}

/* Write the log: "6,1234,5678901,-;text", and lines that belong to it. */
static void write_log(FILE *file, int fd)
{
	char line[KMSG_LINE], *text;

	while (klog_record(fd, line, sizeof(line)) > 0) {
		unsigned long long us = 0;

		sscanf(line, "%*[^,],%*[^,],%llu", &us);
		text = strchr(line, ';');
		line[strcspn(line, "\n")] = '\0';
		fprintf(file, "[%5llu.%06llu] %s\n", us / 1000000, us % 1000000,
			text ? text + 1 : line);
	}
}

/* Write the list of the processes whose files are in the snapshot by now. */
static int write_processes(const char *dir)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.from = dir,
	};
	struct gpreempt_targets *targets;
	struct gpreempt *g;
	FILE *file;
	int ret;

	/* KFD has gone meanwhile. */
	if (gpreempt_new(&options, &g))
		return 0;
	if (gpreempt_processes(g, &targets, NULL)) {
		gpreempt_free(g);
		return 0;
	}
	ret = snapshot_save_tracers(dir, g, targets);
	if (!ret)
		ret = copy_views(targets, dir);
	if (!ret) {
		file = snapshot_create(dir, TEXT_SYSFS);
		if (file)
			write_sysfs(file, dir, targets);
		ret = snapshot_end_file(file, dir, TEXT_SYSFS);
	}
	if (!ret) {
		file = snapshot_create(dir, SNAPSHOT_PS);
		if (file)
			write_ps(g, file, targets);
		ret = snapshot_end_file(file, dir, SNAPSHOT_PS);
	}
	gpreempt_list_free(targets);
	gpreempt_free(g);
	return ret;
}

static int write_own(const char *dir, const char *tag, int log)
{
	FILE *file = snapshot_create(dir, SNAPSHOT_INFO);
	int ret;

	if (file)
		write_info(file, tag);
	ret = snapshot_end_file(file, dir, SNAPSHOT_INFO);
	if (!ret)
		ret = write_processes(dir);
	if (ret || log < 0)
		return ret;
	file = snapshot_create(dir, SNAPSHOT_LOG);
	if (file)
		write_log(file, log);
	return snapshot_end_file(file, dir, SNAPSHOT_LOG);
}

static int copy_text(const char *dir, int file)
{
	char from[128];

	snprintf(from, sizeof(from), TEXT_DIR "/%s", text_names[file]);
	return snapshot_copy(from, dir, text_names[file]);
}

/* Fill the directory. 0, or the exit status. */
static int fill(const char *dir, const char *tag, int log)
{
	/* Copy these two one right after the other: they are joined. */
	int ret = copy_text(dir, TEXT_MQDS);

	if (!ret)
		ret = copy_text(dir, TEXT_HQDS);
	if (ret < 0)
		return snapshot_fail(TEXT_DIR, -ret);
	if (!ret)
		ret = copy_text(dir, TEXT_RLS);
	if (ret <= 0)
		ret = snapshot_save_host(dir);
	return ret ? ret : write_own(dir, tag, log);
}

int snapshot_take(const char *dir, const char *tag, int log)
{
	int ret = ctl_need_root("read the driver's text");
	char *part = NULL;

	if (ret)
		return ret;
	if (access(TEXT_DIR, F_OK))
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "is amdgpu loaded, and debugfs mounted?",
				     "there is no " TEXT_DIR);
	ret = make_part(dir, &part);
	if (!ret) {
		ret = fill(part, tag, log);
		if (!ret && rename(part, dir))
			ret = snapshot_fail(dir, errno);
		if (ret)
			snapshot_remove(part);
	}
	free(part);
	return ret;
}

/* snapshot: one, or a baseline, a series and a last one. */

#define DEFAULT_EVERY (10 * NSEC_PER_SEC)
#define DEFAULT_COUNT 10
/* Time in which a Ctrl-C is noticed. */
#define NAP_NS (50 * NSEC_PER_MSEC)

struct snapshot_args {
	const char *output; /* directory; NULL: a new one */
	const char *tag;
	uint64_t every_ns;
	uint64_t count;
	char **command; /* NULL: none */
};

struct series {
	const struct snapshot_args *args;
	const char *dir;
	int log;	 /* descriptor of the kernel's; below 0: none */
	uint64_t number; /* number of the next snapshot's directory */
	bool ended;	 /* the command has ended, with this wait status */
	int status;
};

static volatile sig_atomic_t stopped;
static volatile pid_t child; /* the command; 0: none */

/* A terminal sends a Ctrl-C to the command itself. */
static void on_stop(int signal)
{
	stopped = 1;
	if (child && signal != SIGINT)
		kill(child, signal);
}

/* Is the series over, but for the final snapshot? */
static bool is_over(struct series *s)
{
	if (!child)
		return stopped;
	if (!s->ended)
		s->ended = waitpid(child, &s->status, WNOHANG) == child;
	return s->ended;
}

static void wait_until(struct series *s, uint64_t when)
{
	uint64_t now;

	while (!is_over(s) && (now = shr_now_ns()) < when)
		shr_sleep_ns(when - now < NAP_NS ? when - now : NAP_NS);
}

/* How many CP slots there are, and how many hold a queue. */
static void print_slots(const struct ctl_text *text)
{
	struct gp_text_check sum = ctl_text_check(text, 0);
	size_t i, slots = 0;

	for (i = 0; i < text->data->n_slots; i++)
		slots += text->data->slots[i].type == GP_TEXT_COMPUTE;
	if (sum.slots_active == GPREEMPT_UNKNOWN || !slots)
		printf("CP slots not known");
	else
		printf("%" PRId64 " of %zu CP slots active (%" PRId64 "%%)", sum.slots_active,
		       slots, 100 * sum.slots_active / (int64_t)slots);
}

static void say_what(const char *dir)
{
	struct ctl_text text;

	if (ctl_text_files(&dir, 1, &text))
		return;
	printf("%s: %zu processes, %zu queues, ", dir, text.data->n_processes, text.data->n_queues);
	print_slots(&text);
	putchar('\n');
	fflush(stdout);
	ctl_text_free(&text);
}

static int take(const char *dir, const char *tag, int log)
{
	int ret = snapshot_take(dir, tag, log);

	if (!ret)
		say_what(dir);
	return ret;
}

static int take_next(struct series *s, const char *name)
{
	char path[4096 + 64];

	snprintf(path, sizeof(path), "%s/%03" PRIu64 "-%s", s->dir, s->number++, name);
	return take(path, name, s->log);
}

/* Start the command. Its output is kept beside the snapshots. */
static int start_command(struct series *s)
{
	char path[4096 + 64];
	pid_t pid;
	int file;

	snprintf(path, sizeof(path), "%s/command.out", s->dir);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", path, strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(ctl_exec(s->args->command, file));
	close(file);
	if (pid < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -errno, 0);
	child = pid;
	return 0;
}

/*
 * Take a series: 000-baseline, then a sample each time, until there are enough, a Ctrl-C comes
 * or the command has ended, and a final one. A second Ctrl-C ends it at once.
 */
static int take_series(struct series *s)
{
	uint64_t every = s->args->every_ns ? s->args->every_ns : DEFAULT_EVERY;
	uint64_t left = s->args->count	 ? s->args->count :
			s->args->command ? UINT64_MAX :
					   DEFAULT_COUNT;
	static const struct sigaction action = {
		.sa_handler = on_stop,
		.sa_flags = (int)SA_RESETHAND,
	};
	uint64_t next = shr_now_ns();
	int ret;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = take_next(s, "baseline");
	if (!ret && s->args->command)
		ret = start_command(s);
	for (; !ret; left--) {
		next += every;
		if (left || !child)
			wait_until(s, next);
		if (!left || is_over(s))
			break;
		ret = take_next(s, s->args->tag ? s->args->tag : "sample");
	}
	/* Wait for the command, also when a snapshot could not be taken: it is not left behind. */
	if (child)
		wait_until(s, UINT64_MAX);
	return ret ? ret : take_next(s, "final");
}

static int run_snapshot(void *data)
{
	const struct snapshot_args *args = data;
	char dir[4096], when[64];
	time_t now = time(NULL);
	__cleanup_fd int log = -1;
	struct tm tm;
	bool series;
	int ret;

	child = stopped = 0;
	if (args->tag && strchr(args->tag, '/'))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "--tag: it becomes the name of a directory, "
				     "without /");
	strftime(when, sizeof(when), "gpreempt-snapshot-%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	snprintf(dir, sizeof(dir), "%s", args->output ? args->output : when);
	series = args->every_ns || args->count || args->command;
	if ((series || args->tag) && mkdir(dir, 0700) && errno != EEXIST)
		return snapshot_fail(dir, errno);
	log = snapshot_log_open(!series);
	if (series) {
		struct series s = { .args = args, .dir = dir, .log = log };

		ret = take_series(&s);
		if (!ret && child)
			ret = ctl_program_status(s.status);
	} else {
		if (args->tag) {
			size_t len = strlen(dir);

			snprintf(dir + len, sizeof(dir) - len, "/%s", args->tag);
		}
		ret = take(dir, args->tag, log);
	}
	return ret;
}

static const struct ctl_option options[] = {
	{ "output", CTL_FILE, offsetof(struct snapshot_args, output), "DIR",
	  "directory (-o DIR); default: a new one" },
	{ "tag", CTL_NAME, offsetof(struct snapshot_args, tag), "WORD",
	  "use a directory of that name below DIR" },
	{ "interval", CTL_DURATION, offsetof(struct snapshot_args, every_ns), "TIME",
	  "take a series, one every TIME (10s)" },
	{ "count", CTL_COUNT, offsetof(struct snapshot_args, count), "N",
	  "number in the series (10; any with a command), plus two" },
	{ 0 },
};

const struct ctl_command ctl_snapshot = {
	.name = "snapshot",
	.run = run_snapshot,
	.args_size = sizeof(struct snapshot_args),
	.words = CTL_NO_WORDS,
	.command = "COMMAND...",
	.command_at = offsetof(struct snapshot_args, command),
	.examples = "  gpreempt-lab snapshot -o before\n"
		    "  gpreempt-lab snapshot -o series --interval 10 --count 6\n",
	.options = options,
	.summary = "Save all text about queues and slots in a directory.",
	.details =
		"It contains the driver's mqds, hqds and rls, the module's view, KFD's sysfs,\n"
		"the GPU processes, versions, and the kernel log: in a series the new lines of\n"
		"each, else all since the log was last cleared (dmesg -C). decode and diff read\n"
		"such a directory, and list, queues, monitor and doctor do with --from DIR. It\n"
		"is plain text with names, users and command lines: look at it before you send it\n"
		"to others. Nothing is overwritten. After Ctrl-C a series ends with its final\n"
		"snapshot. One that is interrupted is half of a snapshot, DIR.part-PID, which no\n"
		"command reads.\n"
		"With a command there is a series while it runs: the first snapshot before it\n"
		"starts, the final one after its end. What it prints is kept in DIR/command.out,\n"
		"and the exit status is its own.\n",
};
