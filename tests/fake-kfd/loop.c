// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "fake-kfd/loop.h"
#include "shared/util.h"

static int count_calls(const struct gp_loop *loop, const char *call)
{
	const char *at = loop->trace;
	size_t len = strlen(call);
	int n = 0;

	while ((at = strstr(at, call))) {
		if ((at == loop->trace || at[-1] == ' ') && at[len] == ' ')
			n++;
		at += len;
	}
	return n;
}

/* Note a call, and find out whether it has to fail. */
int gp_loop_enter(struct gp_loop *loop, const char *call)
{
	size_t i, used = strlen(loop->trace);
	int nth;

	if (loop->before)
		loop->before(loop, call);
	snprintf(loop->trace + used, sizeof(loop->trace) - used, "%s ", call);
	nth = count_calls(loop, call);
	for (i = 0; i < GP_LOOP_ERRORS; i++) {
		if (!loop->errors[i].call || strcmp(loop->errors[i].call, call))
			continue;
		if (!loop->errors[i].nth || loop->errors[i].nth == nth)
			return loop->errors[i].code;
	}
	return 0;
}

void gp_loop_stop(struct gp_loop *loop, int status)
{
	uint64_t one = 1;
	ssize_t ret;

	loop->stops[loop->n_stops++] = status;
	if (loop->stop_fd < 0)
		return;
	ret = write(loop->stop_fd, &one, sizeof(one));
	(void)ret;
}

static int loop_open_kfd(void *be)
{
	struct gp_loop *loop = be;
	int ret = gp_loop_enter(loop, "open");

	if (ret)
		return ret;
	ret = dup(STDERR_FILENO);
	return ret < 0 ? -errno : ret;
}

static int loop_ptrace(void *be, int request, pid_t pid, unsigned long data)
{
	struct gp_loop *loop = be;

	(void)pid;
	switch ((unsigned int)request) {
	case PTRACE_SEIZE:
		loop->seized = data;
		loop->tracer = gettid();
		return gp_loop_enter(loop, "seize");
	case PTRACE_INTERRUPT:
		/* The process stops at once. */
		gp_loop_stop(loop, 0x80057f);
		return gp_loop_enter(loop, "interrupt");
	case PTRACE_LISTEN:
		return gp_loop_enter(loop, "listen");
	case PTRACE_DETACH:
		loop->last_signal = data;
		return gp_loop_enter(loop, "detach");
	default:
		loop->last_signal = data;
		return gp_loop_enter(loop, "cont");
	}
}

static int loop_try_trace(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return 0;
}

static int loop_wait(void *be, pid_t pid, int *status)
{
	struct gp_loop *loop = be;
	int ret = gp_loop_enter(loop, "wait");

	if (ret)
		return ret;
	if (loop->gone)
		return -ECHILD;
	if (!loop->n_stops)
		return 0;
	*status = loop->stops[0];
	memmove(loop->stops, loop->stops + 1, --loop->n_stops * sizeof(loop->stops[0]));
	return pid;
}

static int loop_watch_start(void *be, pid_t pid, void **watch, int *fd)
{
	struct gp_loop *loop = be;
	int ret = gp_loop_enter(loop, "watch");

	(void)pid;
	if (ret)
		return ret;
	loop->stop_fd = eventfd(loop->n_stops, EFD_NONBLOCK | EFD_CLOEXEC);
	*watch = loop;
	*fd = loop->stop_fd;
	return 0;
}

static void loop_watch_next(void *be, void *watch)
{
	struct gp_loop *loop = be;
	uint64_t count;
	ssize_t ret;

	(void)watch;
	ret = read(loop->stop_fd, &count, sizeof(count));
	(void)ret;
}

static int loop_watch_stop(void *be, void *watch)
{
	struct gp_loop *loop = be;

	(void)watch;
	close(loop->stop_fd);
	loop->stop_fd = -1;
	return gp_loop_enter(loop, "unwatch");
}

void gp_loop_set_file(struct gp_loop *loop, const char *path, const char *text)
{
	size_t i;

	for (i = 0; loop->files[i].path; i++)
		if (!strcmp(loop->files[i].path, path))
			break;
	loop->files[i].path = path;
	loop->files[i].text = text;
}

const char gp_loop_unclean[] = "";

unsigned int gp_loop_reads(const struct gp_loop *loop, const char *path)
{
	size_t i;

	for (i = 0; loop->files[i].path; i++)
		if (!strcmp(loop->files[i].path, path))
			return loop->files[i].reads;
	return 0;
}

static ssize_t loop_read_file(void *be, const char *path, char *buf, size_t size)
{
	struct gp_loop *loop = be;
	const char *text;
	size_t i, len;

	for (i = 0; i < GP_LOOP_FILES; i++) {
		if (!loop->files[i].path || strcmp(loop->files[i].path, path))
			continue;
		loop->files[i].reads++;
		text = loop->files[i].text;
		if (text == gp_loop_unclean)
			return -EUCLEAN;
		if (loop->view && strstr(path, "/gpreempt/") && strstr(path, "/queues"))
			text = loop->view(loop);
		if (!text)
			break;
		len = strlen(text);
		len = len < size ? len : size;
		memcpy(buf, text, len);
		return len;
	}
	return -ENOENT;
}

static ssize_t loop_read_root_file(void *be, const char *path, char *buf, size_t size)
{
	int ret = gp_loop_enter(be, "root-file");

	return ret ? ret : loop_read_file(be, path, buf, size);
}

static ssize_t loop_read_link(void *be, const char *path, char *buf, size_t size)
{
	struct gp_loop *loop = be;

	if (!strcmp(path, "/dev/kfd"))
		return loop->kfd ? -EINVAL : -ENOENT;
	return loop_read_file(be, path, buf, size);
}

static int loop_open_cgroups(void *be)
{
	struct gp_loop *loop = be;
	int fd;

	if (!loop->cgroups)
		return -ENOENT;
	fd = open(loop->cgroups, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* List a directory: a file whose name ends with "/", with a name a line. */
static int loop_list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name),
			 void *arg)
{
	char dir[256], text[256], *word, *rest = NULL;
	struct gp_loop *loop = be;
	ssize_t n;
	int ret = 0;

	if (loop->before_list)
		loop->before_list(loop);
	snprintf(dir, sizeof(dir), "%s/", path);
	n = loop_read_file(be, dir, text, sizeof(text) - 1);
	if (n < 0)
		return n;
	text[n] = '\0';
	for (word = strtok_r(text, "\n", &rest); word && !ret; word = strtok_r(NULL, "\n", &rest))
		ret = fn(arg, word);
	return ret;
}

/* The address that a thread's system call has is the id of its queue. */
static int loop_read_memory(void *be, pid_t pid, uint64_t address, void *buf, size_t size)
{
	struct kfd_ioctl_destroy_queue_args args = { .queue_id = address };

	(void)be;
	(void)pid;
	if (size != sizeof(args))
		return -EFAULT;
	memcpy(buf, &args, size);
	return 0;
}

static uint64_t loop_cpu_time(void *be, pid_t pid)
{
	const struct gp_loop *loop = be;

	(void)pid;
	return loop->cpu_ns;
}

/* A device is a file with its number as the text. */
static int loop_device_of(void *be, const char *path, uint64_t *device)
{
	char text[32];
	ssize_t n = 0;

	if (!strncmp(path, "/proc/", 6))
		n = gp_loop_enter(be, "device");
	if (!n)
		n = loop_read_file(be, path, text, sizeof(text) - 1);
	if (n < 0)
		return n;
	text[n] = '\0';
	*device = strtoull(text, NULL, 0);
	return 0;
}

static int loop_is_root(void *be)
{
	return ((struct gp_loop *)be)->root;
}

/* Answer like a driver that lets only the owner of a session, or a tracer, end it. */
static int loop_ask_disable(void *be)
{
	int ret = gp_loop_enter(be, "disable-of-other");

	return ret ? ret : -EPERM;
}

static ssize_t loop_pause_twice(void *be, char *text, size_t size)
{
	int ret = gp_loop_enter(be, "pause-twice");

	return ret ? ret :
		     snprintf(text, size,
			      "gpreempt-gpus - version: 2.0\n"
			      "# gpu_id vm context evictions\n0xf7bc 0 - %d\n",
			      ((struct gp_loop *)be)->pause_counts ? 2 : 1);
}

void gp_loop_end_process(struct gp_loop *loop)
{
	uint64_t one = 1;
	ssize_t ret;

	ret = write(loop->end_fd, &one, sizeof(one));
	(void)ret;
}

/* PIDs from here on are of processes that only the tests know. */
#define MADE_UP 4194200

static int loop_open_process(void *be, pid_t pid)
{
	struct gp_loop *loop = be;
	int ret = gp_loop_enter(loop, "process");

	if (!ret && pid != loop->pid)
		ret = -ESRCH;
	if (ret)
		return ret;
	if (pid < MADE_UP) {
		ret = shr_pidfd_open(pid);
		return ret < 0 ? -errno : ret;
	}
	/* A child that has closed all descriptors has a process of its own. */
	if (loop->end_fd < 0 || fcntl(loop->end_fd, F_GETFD) < 0)
		loop->end_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ret = dup(loop->end_fd);
	return ret < 0 ? -errno : ret;
}

/*
 * Take the device that the number leads to now; for a process without files, the one that we
 * look for.
 */
static int loop_take_device(void *be, pid_t pid, int process, int n, uint64_t device)
{
	struct gp_loop *loop = be;
	char path[64], text[32];
	ssize_t len;
	int ret = gp_loop_enter(loop, "take");

	(void)process;
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, n);
	len = loop_read_file(loop, path, text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = '\0';
		if (strtoull(text, NULL, 0) != device)
			return -ENODEV;
	}
	loop->taken = n;
	/* A helper process has no standard files. */
	ret = eventfd(0, EFD_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

static bool loop_same_file(void *be, pid_t pid, int a, int b)
{
	(void)be;
	(void)pid;
	return a == b;
}

const struct gp_backend_ops gp_backend_loop = {
	.open_kfd = loop_open_kfd,
	.ioctl = gp_loop_ioctl,
	.ptrace = loop_ptrace,
	.try_trace = loop_try_trace,
	.wait = loop_wait,
	.watch_start = loop_watch_start,
	.watch_next = loop_watch_next,
	.watch_stop = loop_watch_stop,
	.read_file = loop_read_file,
	.read_root_file = loop_read_root_file,
	.read_link = loop_read_link,
	.open_cgroups = loop_open_cgroups,
	.list_dir = loop_list_dir,
	.read_memory = loop_read_memory,
	.cpu_time = loop_cpu_time,
	.device_of = loop_device_of,
	.is_root = loop_is_root,
	.ask_disable = loop_ask_disable,
	.pause_twice = loop_pause_twice,
	.open_process = loop_open_process,
	.take_device = loop_take_device,
	.same_file = loop_same_file,
};

void gp_loop_fail(struct gp_loop *loop, const char *call, int nth, int code)
{
	size_t i;

	for (i = 0; loop->errors[i].call; i++)
		;
	loop->errors[i].call = call;
	loop->errors[i].nth = nth;
	loop->errors[i].code = code;
}

void gp_loop_init(struct gp_loop *loop, pid_t pid)
{
	memset(loop, 0, sizeof(*loop));
	loop->pid = pid;
	loop->root = true;
	loop->kfd = true;
	loop->minor = 17;
	loop->opened = true;
	loop->runtime = DEBUG_RUNTIME_STATE_ENABLED;
	loop->dbg_fd = -1;
	loop->stop_fd = -1;
	loop->end_fd = -1;
}

void gp_loop_end(struct gp_loop *loop)
{
	if (loop->end_fd >= 0)
		close(loop->end_fd);
	if (loop->dbg_fd >= 0)
		close(loop->dbg_fd);
}
