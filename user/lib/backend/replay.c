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
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "lib/core/place.h"
#include "lib/backend/recording.h"
#include "shared/clock.h"

#define MAX_TARGETS 64

/* The ends of descriptors that the driver or the kernel would write to. */
struct target {
	pid_t pid;
	int events;
	int stops;
};

struct player {
	pthread_mutex_t lock;
	struct gp_record *records;
	size_t count;
	struct target targets[MAX_TARGETS];
};

/* Under the lock: what this process has to ask next. */
static struct gp_record *next_in_order(struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (!p->records[i].used && p->records[i].pid == pid &&
		    gp_record_in_order(&p->records[i]))
			return &p->records[i];
	return NULL;
}

static bool is_call(const struct gp_record *record, const char *call)
{
	return record && !strcmp(record->call, call);
}

static bool has_suspended(const struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->records[i].used && p->records[i].pid == pid &&
		    is_call(&p->records[i], "trap:suspend"))
			return true;
	return false;
}

/*
 * An event: the library asks what it was. When it has queues to suspend it
 * takes a snapshot first, and there may be nothing left to ask for.
 */
static bool is_event(const struct player *p, const struct gp_record *next)
{
	return is_call(next, "trap:query") ||
	       (is_call(next, "trap:snapshot") && has_suspended(p, next->pid));
}

static struct target *target_of(struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < MAX_TARGETS; i++) {
		if (!p->targets[i].pid)
			p->targets[i] = (struct target){ pid, -1, -1 };
		if (p->targets[i].pid == pid)
			return &p->targets[i];
	}
	return NULL;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Make the event that made the library ask: an event, a stop, or an end of the
 * session by another process, after which it asks whether there is one.
 */
static void announce(struct player *p, struct target *t)
{
	const struct gp_record *next = t ? next_in_order(p, t->pid) : NULL;
	uint64_t one = 1;
	ssize_t ret = 0;

	if (!next)
		return;
	if (t->events >= 0 && is_event(p, next))
		ret = write(t->events, ".", 1);
	else if (is_call(next, "wait") && t->stops >= 0)
		ret = write(t->stops, &one, sizeof(one));
	else if (is_call(next, "trap:probe"))
		close_fd(&t->events);
	(void)ret;
}

/* Of the calls that have an order. NULL: it is another one's turn. */
static struct gp_record *take(struct player *p, const char *call, pid_t pid)
{
	struct gp_record *next = next_in_order(p, pid);

	if (!next || strcmp(next->call, call))
		return NULL;
	next->used = true;
	return next;
}

/* Of the others: the next for this key, or the last once more. */
static const struct gp_record *find(struct player *p, const char *call,
				    pid_t pid, const char *key)
{
	struct gp_record *last = NULL;
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct gp_record *record = &p->records[i];

		if (record->pid != pid || strcmp(record->call, call) ||
		    strcmp(record->key, key))
			continue;
		last = record;
		if (!record->used)
			break;
	}
	if (last)
		last->used = true;
	return last;
}

static const struct gp_record *find_locked(struct player *p, const char *call,
					   pid_t pid, const char *key)
{
	const struct gp_record *record;

	pthread_mutex_lock(&p->lock);
	record = find(p, call, pid, key);
	pthread_mutex_unlock(&p->lock);
	return record;
}

static int replay_open_kfd(void *be)
{
	const struct gp_record *record;
	int fd;

	record = find_locked(be, "open", 0, "/dev/kfd");
	if (!record)
		return -ENOENT;
	if (record->ret < 0)
		return record->ret;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int play_trap(struct player *p, struct kfd_ioctl_dbg_trap_args *args,
		     uint64_t *ns)
{
	const struct gp_record *record;
	struct target *t;
	size_t room;
	void *buffer;

	record = take(p, gp_trap_call(args), args->pid);
	if (!record)
		return args->op == KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT ?
		       -EAGAIN : -EBADMSG;
	*ns = record->ns;
	buffer = gp_trap_buffer(args, &room);
	if (record->len)
		memcpy(buffer, record->data,
		       record->len < room ? record->len : room);
	t = target_of(p, args->pid);
	if (record->ret >= 0) {
		gp_trap_set_value(args, record->value);
		if (t && args->op == KFD_IOC_DBG_TRAP_ENABLE) {
			close_fd(&t->events);
			t->events = dup(args->enable.dbg_fd);
		} else if (t && args->op == KFD_IOC_DBG_TRAP_DISABLE) {
			close_fd(&t->events);
		}
	}
	announce(p, t);
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
	if (request == AMDKFD_IOC_DBG_TRAP) {
		pthread_mutex_lock(&p->lock);
		ret = play_trap(p, arg, &ns);
		pthread_mutex_unlock(&p->lock);
		if (ns)
			shr_sleep_ns(ns);
		return ret;
	}
	record = find_locked(p, "version", 0, "");
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
	record = take(p, gp_ptrace_call(request), pid);
	if (record) {
		ret = record->ret;
		announce(p, target_of(p, pid));
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
	record = take(p, "wait", pid);
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
	t = target_of(p, pid);
	if (t)
		t->stops = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!t || t->stops < 0)
		ret = -ENFILE;
	else
		announce(p, t);
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
	announce(p, t);
	pthread_mutex_unlock(&p->lock);
}

static int replay_watch_stop(void *be, void *watch)
{
	struct player *p = be;
	struct target *t = watch;

	pthread_mutex_lock(&p->lock);
	close_fd(&t->stops);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static ssize_t play_bytes(struct player *p, const char *call, const char *path,
			  char *buf, size_t size)
{
	const struct gp_record *record = find_locked(p, call, 0, path);

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
	const struct gp_record *record = find_locked(be, "list", 0, path);
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

static ssize_t replay_read_place(void *be, const struct gp_place *place,
				 struct gp_file_id *id, char *buf, size_t size)
{
	char path[512];

	memset(id, 0, sizeof(*id));
	snprintf(path, sizeof(path), "%s/%s", place->base, place->path);
	return play_bytes(be, place->directory ? "list" : "file", path, buf,
			  size);
}

static int replay_read_memory(void *be, pid_t pid, uint64_t address, void *buf,
			      size_t size)
{
	const struct gp_record *record;
	char key[24];

	snprintf(key, sizeof(key), "0x%llx", (unsigned long long)address);
	record = find_locked(be, "memory", pid, key);
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
	const struct gp_record *record = find_locked(be, "device", 0, path);

	if (!record)
		return -ENOENT;
	*device = record->value;
	return record->ret;
}

static int replay_is_root(void *be)
{
	const struct gp_record *record = find_locked(be, "root", 0, "");

	return record ? record->ret : 0;
}

/* Older recordings do not have it. */
static int replay_ask_disable(void *be)
{
	const struct gp_record *record = find_locked(be, "disable", 0, "");

	return record ? record->ret : -ENOSYS;
}

const struct gp_backend_ops gp_backend_replay = {
	.name = "replay",
	.open_kfd = replay_open_kfd,
	.ioctl = replay_ioctl,
	.ptrace = replay_ptrace,
	.wait = replay_wait,
	.watch_start = replay_watch_start,
	.watch_next = replay_watch_next,
	.watch_stop = replay_watch_stop,
	.read_file = replay_read_file,
	.read_link = replay_read_link,
	.list_dir = replay_list_dir,
	.read_place = replay_read_place,
	.read_memory = replay_read_memory,
	.device_of = replay_device_of,
	.is_root = replay_is_root,
	.ask_disable = replay_ask_disable,
};

int gp_replay_open(const char *path, void **be, unsigned int *line)
{
	struct player *p = calloc(1, sizeof(*p));
	FILE *f;
	int ret;

	*line = 0;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	f = fopen(path, "re");
	if (!f) {
		ret = -errno;
		gp_replay_end(p);
		return ret;
	}
	ret = gp_recording_read(f, &p->records, &p->count, line);
	fclose(f);
	if (ret) {
		gp_replay_end(p);
		return ret;
	}
	*be = p;
	return 0;
}

int gp_replay_end(void *be)
{
	struct player *p = be;
	size_t i;

	for (i = 0; i < MAX_TARGETS && p->targets[i].pid; i++) {
		close_fd(&p->targets[i].events);
		close_fd(&p->targets[i].stops);
	}
	for (i = 0; i < p->count; i++)
		gp_record_free(&p->records[i]);
	pthread_mutex_destroy(&p->lock);
	free(p->records);
	free(p);
	return 0;
}
