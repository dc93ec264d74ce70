// SPDX-License-Identifier: LGPL-2.1-or-later
/* The system itself, and a file that gets what it said. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backend/recording.h"
#include "shared/clock.h"

struct recorder {
	pthread_mutex_t lock;
	FILE *file;
	int error; /* of writing: the first */
};

static const struct gp_backend_ops *const live = &gp_backend_live;

static void note(struct recorder *r, const char *call, pid_t pid,
		 const char *key, int64_t ret, uint64_t ns, uint64_t value,
		 const void *data, size_t len)
{
	struct gp_record record = {
		.pid = pid,
		.key = (char *)key,
		.ret = ret,
		.ns = ns,
		.value = value,
		.data = (char *)data,
		.len = len,
	};

	snprintf(record.call, sizeof(record.call), "%s", call);
	pthread_mutex_lock(&r->lock);
	if (!r->error)
		r->error = gp_record_write(r->file, &record);
	pthread_mutex_unlock(&r->lock);
}

static int record_open_kfd(void *be)
{
	int ret = live->open_kfd(NULL);

	note(be, "open", 0, "/dev/kfd", ret < 0 ? ret : 0, 0, 0, NULL, 0);
	return ret;
}

static int record_trap(void *be, int fd, struct kfd_ioctl_dbg_trap_args *args)
{
	uint64_t start = shr_now_ns(), ns;
	size_t len, room;
	void *buffer;
	int ret;

	gp_trap_buffer(args, &room);
	ret = live->ioctl(NULL, fd, AMDKFD_IOC_DBG_TRAP, args);
	ns = shr_now_ns() - start;
	/* That there is nothing is not worth a line: see the replay. */
	if (ret == -EAGAIN || !gp_trap_call(args))
		return ret;
	buffer = gp_trap_buffer(args, &len);
	/* The driver counts more queues than it had room for. */
	if (len > room)
		len = room;
	note(be, gp_trap_call(args), args->pid, NULL, ret, ns,
	     gp_trap_value(args), buffer, ret < 0 ? 0 : len);
	return ret;
}

/* Who is asked for is in the arguments for this: the driver needs it not. */
static int record_pause(void *be, int fd, struct kfd_ioctl_criu_args *args)
{
	uint64_t start = shr_now_ns();
	pid_t pid = args->pid;
	int ret = live->ioctl(NULL, fd, AMDKFD_IOC_CRIU_OP, args);

	note(be, gp_pause_call(args), pid, NULL, ret, shr_now_ns() - start, 0,
	     NULL, 0);
	return ret;
}

static int record_ioctl(void *be, int fd, unsigned long request, void *arg)
{
	const struct kfd_ioctl_get_version_args *version = arg;
	int ret;

	if (request == AMDKFD_IOC_DBG_TRAP)
		return record_trap(be, fd, arg);
	if (request == AMDKFD_IOC_CRIU_OP)
		return record_pause(be, fd, arg);
	ret = live->ioctl(NULL, fd, request, arg);
	note(be, "version", 0, NULL, ret, 0,
	     (uint64_t)version->major_version << 16 | version->minor_version,
	     NULL, 0);
	return ret;
}

static int record_ptrace(void *be, int request, pid_t pid, unsigned long data)
{
	int ret = live->ptrace(NULL, request, pid, data);

	note(be, gp_ptrace_call(request), pid, NULL, ret, 0, data, NULL, 0);
	return ret;
}

static int record_wait(void *be, pid_t pid, int *status)
{
	int ret = live->wait(NULL, pid, status);

	if (ret)
		note(be, "wait", pid, NULL, ret, 0, ret > 0 ? *status : 0, NULL,
		     0);
	return ret;
}

static int record_watch_start(void *be, pid_t pid, void **watch, int *fd)
{
	(void)be;
	return live->watch_start(NULL, pid, watch, fd);
}

static void record_watch_next(void *be, void *watch)
{
	(void)be;
	live->watch_next(NULL, watch);
}

static int record_watch_stop(void *be, void *watch)
{
	(void)be;
	return live->watch_stop(NULL, watch);
}

static ssize_t record_read_file(void *be, const char *path, char *buf,
				size_t size)
{
	ssize_t ret = live->read_file(NULL, path, buf, size);

	note(be, "file", 0, path, ret, 0, 0, buf, ret > 0 ? ret : 0);
	return ret;
}

static ssize_t record_read_root_file(void *be, const char *path, char *buf,
				     size_t size)
{
	ssize_t ret = live->read_root_file(NULL, path, buf, size);

	note(be, "file", 0, path, ret, 0, 0, buf, ret > 0 ? ret : 0);
	return ret;
}

static ssize_t record_read_link(void *be, const char *path, char *buf,
				size_t size)
{
	ssize_t ret = live->read_link(NULL, path, buf, size);

	note(be, "link", 0, path, ret, 0, 0, buf, ret > 0 ? ret : 0);
	return ret;
}

/* The names go to the caller, and into a list. */
struct names {
	FILE *file;
	int (*fn)(void *arg, const char *name);
	void *arg;
};

static int note_name(void *arg, const char *name)
{
	struct names *names = arg;

	fprintf(names->file, "%s\n", name);
	return names->fn(names->arg, name);
}

static int record_list_dir(void *be, const char *path,
			   int (*fn)(void *arg, const char *name), void *arg)
{
	struct names names = { .fn = fn, .arg = arg };
	char *text = NULL;
	size_t len = 0;
	int ret;

	names.file = open_memstream(&text, &len);
	if (!names.file)
		return -ENOMEM;
	ret = live->list_dir(NULL, path, note_name, &names);
	fclose(names.file);
	/* What the caller said is not the system's. */
	note(be, "list", 0, path, ret < 0 ? ret : 0, 0, 0, text, len);
	free(text);
	return ret;
}

static int record_read_memory(void *be, pid_t pid, uint64_t address, void *buf,
			      size_t size)
{
	int ret = live->read_memory(NULL, pid, address, buf, size);
	char key[24];

	snprintf(key, sizeof(key), "0x%llx", (unsigned long long)address);
	note(be, "memory", pid, key, ret, 0, 0, buf, ret ? 0 : size);
	return ret;
}

static int record_device_of(void *be, const char *path, uint64_t *device)
{
	int ret = live->device_of(NULL, path, device);

	note(be, "device", 0, path, ret, 0, ret ? 0 : *device, NULL, 0);
	return ret;
}

static int record_is_root(void *be)
{
	int ret = live->is_root(NULL);

	note(be, "root", 0, NULL, ret, 0, 0, NULL, 0);
	return ret;
}

static int record_ask_disable(void *be)
{
	int ret = live->ask_disable(NULL);

	note(be, "disable", 0, NULL, ret, 0, 0, NULL, 0);
	return ret;
}

static int record_open_process(void *be, pid_t pid)
{
	int ret = live->open_process(NULL, pid);

	note(be, "process", pid, NULL, ret < 0 ? ret : 0, 0, 0, NULL, 0);
	return ret;
}

static int record_take_device(void *be, pid_t pid, int process, int n,
			      uint64_t device)
{
	int ret = live->take_device(NULL, pid, process, n, device);
	char key[16];

	snprintf(key, sizeof(key), "%d", n);
	note(be, "take", pid, key, ret < 0 ? ret : 0, 0, 0, NULL, 0);
	return ret;
}

static int record_try_trace(void *be, pid_t pid)
{
	(void)be;
	return live->try_trace(NULL, pid);
}

static bool record_same_file(void *be, pid_t pid, int a, int b)
{
	(void)be;
	return live->same_file(NULL, pid, a, b);
}

const struct gp_backend_ops gp_backend_record = {
	.name = "record",
	.open_kfd = record_open_kfd,
	.ioctl = record_ioctl,
	.ptrace = record_ptrace,
	.try_trace = record_try_trace,
	.wait = record_wait,
	.watch_start = record_watch_start,
	.watch_next = record_watch_next,
	.watch_stop = record_watch_stop,
	.read_file = record_read_file,
	.read_root_file = record_read_root_file,
	.read_link = record_read_link,
	.list_dir = record_list_dir,
	.read_memory = record_read_memory,
	.device_of = record_device_of,
	.is_root = record_is_root,
	.ask_disable = record_ask_disable,
	.open_process = record_open_process,
	.take_device = record_take_device,
	.same_file = record_same_file,
};

int gp_record_open(const char *path, void **be)
{
	struct recorder *r = calloc(1, sizeof(*r));
	char text[256];
	int fd;

	if (!r)
		return -ENOMEM;
	/* It has what only root may read. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	r->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!r->file) {
		int ret = -errno;

		if (fd >= 0)
			close(fd);
		free(r);
		return ret;
	}
	pthread_mutex_init(&r->lock, NULL);
	fprintf(r->file, GP_RECORDING_NAME " - version: " GP_RECORDING_VERSION
					   "\n# " GP_RECORDING_COLUMNS "\n");
	/* So that a recording says which kernel it is from. */
	record_read_file(r, "/proc/version", text, sizeof(text));
	*be = r;
	return 0;
}

int gp_record_end(void *be)
{
	struct recorder *r = be;
	int ret = r->error;

	if (fclose(r->file) && !ret)
		ret = -errno;
	pthread_mutex_destroy(&r->lock);
	free(r);
	return ret;
}
