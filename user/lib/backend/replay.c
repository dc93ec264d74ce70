// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A recording in place of the system.
 *
 * What is asked of the driver and of ptrace has to be asked in the recorded
 * order, for each process; anything else is -EBADMSG. What is read is given out
 * in the recorded order for each path, the last one again and again; a path that
 * was never read is not there. Calls of the driver take as long as they took.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "lib/backend/player.h"
#include "shared/clock.h"

/* A descriptor to close, where one was got. */
static int play_descriptor(struct player *p, const char *call, pid_t pid,
			   const char *key)
{
	const struct gp_record *record = gp_player_find(p, call, pid, key);
	int fd;

	if (!record)
		return -ENOENT;
	if (record->ret < 0)
		return record->ret;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int replay_open_kfd(void *be)
{
	return play_descriptor(be, "open", 0, "/dev/kfd");
}

static int play_trap(struct player *p, struct kfd_ioctl_dbg_trap_args *args,
		     uint64_t *ns)
{
	const struct gp_record *record;
	struct target *t;
	size_t room;
	void *buffer;

	if (!gp_trap_call(args))
		return 0;
	record = gp_player_take(p, gp_trap_call(args), args->pid);
	if (!record)
		return args->op == KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT ?
			       -EAGAIN :
			       -EBADMSG;
	*ns = record->ns;
	buffer = gp_trap_buffer(args, &room);
	if (record->len)
		memcpy(buffer, record->data,
		       record->len < room ? record->len : room);
	t = gp_player_target(p, args->pid);
	if (record->ret >= 0) {
		gp_trap_set_value(args, record->value);
		if (t && args->op == KFD_IOC_DBG_TRAP_ENABLE) {
			gp_player_close(&t->events);
			t->events = dup(args->enable.dbg_fd);
		} else if (t && args->op == KFD_IOC_DBG_TRAP_DISABLE) {
			gp_player_close(&t->events);
		}
	}
	gp_player_announce(p, t);
	return record->ret;
}

static int play_pause(struct player *p, const struct kfd_ioctl_criu_args *args,
		      uint64_t *ns)
{
	const struct gp_record *record;

	record = gp_player_take(p, gp_pause_call(args), args->pid);
	if (!record)
		return -EBADMSG;
	*ns = record->ns;
	gp_player_announce(p, gp_player_target(p, args->pid));
	return record->ret;
}

static int replay_ioctl(void *be, int fd, unsigned long request, void *arg)
{
	struct kfd_ioctl_get_version_args *version = arg;
	const struct gp_record *record;
	struct player *p = be;
	uint64_t ns = 0;
	int ret;

	(void)fd;
	if (request == AMDKFD_IOC_DBG_TRAP || request == AMDKFD_IOC_CRIU_OP) {
		pthread_mutex_lock(&p->lock);
		ret = request == AMDKFD_IOC_CRIU_OP ? play_pause(p, arg, &ns) :
						      play_trap(p, arg, &ns);
		pthread_mutex_unlock(&p->lock);
		if (ns)
			shr_sleep_ns(ns);
		return ret;
	}
	record = gp_player_find(p, "version", 0, "");
	if (!record)
		return -EBADMSG;
	version->major_version = record->value >> 16;
	version->minor_version = record->value & 0xffff;
	return record->ret;
}

static int replay_ptrace(void *be, int request, pid_t pid, unsigned long data)
{
	const struct gp_record *record;
	struct player *p = be;
	int ret = -EBADMSG;

	(void)data;
	pthread_mutex_lock(&p->lock);
	record = gp_player_take(p, gp_ptrace_call(request), pid);
	if (record) {
		ret = record->ret;
		gp_player_announce(p, gp_player_target(p, pid));
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static int replay_wait(void *be, pid_t pid, int *status)
{
	const struct gp_record *record;
	struct player *p = be;
	int ret = 0;

	pthread_mutex_lock(&p->lock);
	record = gp_player_take(p, "wait", pid);
	if (record) {
		ret = record->ret;
		*status = record->value;
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static int replay_watch_start(void *be, pid_t pid, void **watch, int *fd)
{
	struct player *p = be;
	struct target *t;
	int ret = 0;

	pthread_mutex_lock(&p->lock);
	t = gp_player_target(p, pid);
	if (t)
		t->stops = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!t || t->stops < 0)
		ret = -ENFILE;
	else
		gp_player_announce(p, t);
	pthread_mutex_unlock(&p->lock);
	if (ret)
		return ret;
	*watch = t;
	*fd = t->stops;
	return 0;
}

static void replay_watch_next(void *be, void *watch)
{
	struct player *p = be;
	struct target *t = watch;
	uint64_t count;
	ssize_t ret;

	pthread_mutex_lock(&p->lock);
	ret = read(t->stops, &count, sizeof(count));
	(void)ret;
	gp_player_announce(p, t);
	pthread_mutex_unlock(&p->lock);
}

static int replay_watch_stop(void *be, void *watch)
{
	struct player *p = be;
	struct target *t = watch;

	pthread_mutex_lock(&p->lock);
	gp_player_close(&t->stops);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static ssize_t play_bytes(struct player *p, const char *call, const char *path,
			  char *buf, size_t size)
{
	const struct gp_record *record = gp_player_find(p, call, 0, path);

	if (!record)
		return -ENOENT;
	if (record->ret < 0)
		return record->ret;
	size = record->len < size ? record->len : size;
	memcpy(buf, record->data, size);
	return size;
}

static ssize_t replay_read_file(void *be, const char *path, char *buf,
				size_t size)
{
	return play_bytes(be, "file", path, buf, size);
}

static ssize_t replay_read_link(void *be, const char *path, char *buf,
				size_t size)
{
	return play_bytes(be, "link", path, buf, size);
}

static int replay_list_dir(void *be, const char *path,
			   int (*fn)(void *arg, const char *name), void *arg)
{
	const struct gp_record *record = gp_player_find(be, "list", 0, path);
	char *names, *name, *rest = NULL;
	int ret;

	if (!record)
		return -ENOENT;
	if (record->ret < 0)
		return record->ret;
	names = strdup(record->data);
	if (!names)
		return -ENOMEM;
	ret = 0;
	for (name = strtok_r(names, "\n", &rest); name && !ret;
	     name = strtok_r(NULL, "\n", &rest))
		ret = fn(arg, name);
	free(names);
	return ret;
}

static int replay_read_memory(void *be, pid_t pid, uint64_t address, void *buf,
			      size_t size)
{
	const struct gp_record *record;
	char key[24];

	snprintf(key, sizeof(key), "0x%llx", (unsigned long long)address);
	record = gp_player_find(be, "memory", pid, key);
	if (!record)
		return -EFAULT;
	if (record->ret)
		return record->ret;
	if (record->len != size)
		return -EBADMSG;
	memcpy(buf, record->data, size);
	return 0;
}

static int replay_device_of(void *be, const char *path, uint64_t *device)
{
	const struct gp_record *record = gp_player_find(be, "device", 0, path);

	if (!record)
		return -ENOENT;
	*device = record->value;
	return record->ret;
}

static int replay_is_root(void *be)
{
	const struct gp_record *record = gp_player_find(be, "root", 0, "");

	return record ? record->ret : 0;
}

/* Older recordings do not have it. */
static int replay_ask_disable(void *be)
{
	const struct gp_record *record = gp_player_find(be, "disable", 0, "");

	return record ? record->ret : -ENOSYS;
}

static int replay_open_process(void *be, pid_t pid)
{
	return play_descriptor(be, "process", pid, "");
}

static int replay_take_device(void *be, pid_t pid, int process, int n,
			      uint64_t device)
{
	char key[16];

	(void)process;
	(void)device;
	snprintf(key, sizeof(key), "%d", n);
	return play_descriptor(be, "take", pid, key);
}

static int replay_try_trace(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return 0;
}

static bool replay_same_file(void *be, pid_t pid, int a, int b)
{
	(void)be;
	(void)pid;
	return a == b;
}

const struct gp_backend_ops gp_backend_replay = {
	.name = "replay",
	.open_kfd = replay_open_kfd,
	.ioctl = replay_ioctl,
	.ptrace = replay_ptrace,
	.try_trace = replay_try_trace,
	.wait = replay_wait,
	.watch_start = replay_watch_start,
	.watch_next = replay_watch_next,
	.watch_stop = replay_watch_stop,
	.read_file = replay_read_file,
	.read_root_file = replay_read_file,
	.read_link = replay_read_link,
	.list_dir = replay_list_dir,
	.read_memory = replay_read_memory,
	.device_of = replay_device_of,
	.is_root = replay_is_root,
	.ask_disable = replay_ask_disable,
	.open_process = replay_open_process,
	.take_device = replay_take_device,
	.same_file = replay_same_file,
};

int gp_replay_open(const char *path, void **be, unsigned int *line)
{
	struct player *player;
	int ret = gp_player_open(path, &player, line);

	if (!ret)
		*be = player;
	return ret;
}

int gp_replay_end(void *be)
{
	gp_player_free(be);
	return 0;
}
