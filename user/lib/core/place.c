// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a file of a user, in a process that is that user.
 *
 * A process and not a thread: an open() below a FUSE mount waits for as long
 * as the owner of the mount likes, and from the moment that the mount's server
 * has read the request not even SIGKILL ends the wait. A thread that waits so
 * would keep its whole process from ending, with /dev/kfd and all locks open,
 * and what is suspended would stay so. The process that waits here has nothing
 * open but what it reads, and is abandoned; GP_PLACE_STUCK of them at most.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/core/bare.h"
#include "lib/core/place.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define GP_PLACE_STUCK 8
#define MAX_ENTRIES    1024 /* of a directory; what follows is not seen */
#define END_NS	       (20 * NSEC_PER_MSEC) /* for a process that is done */

/* What the two processes share. */
struct answer {
	ssize_t ret;
	struct gp_file_id id;
	char text[];
};

/*
 * Of this process, as its children are: those that did not answer, to be reaped
 * when they end. 0: free, -1: in use.
 */
static struct {
	pthread_mutex_t lock;
	pid_t pid[GP_PLACE_STUCK];
} stuck = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* As the wrapper that glibc 2.36 does not have. */
static int open_below(int base, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, base, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* -EALREADY when it is what the caller knows. */
static int check_file(int fd, const struct gp_place *place, size_t size,
		      struct gp_file_id *id)
{
	struct gp_file_id now;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (place->directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_uid != place->uid)
		return -EACCES;
	if (!place->directory && (uint64_t)st.st_size > size)
		return -EFBIG;
	memset(&now, 0, sizeof(now));
	now.dev = st.st_dev;
	now.ino = st.st_ino;
	now.mtime_ns =
		st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_mtim.tv_nsec;
	now.size = st.st_size;
	if (!memcmp(&now, id, sizeof(now)))
		return -EALREADY;
	*id = now;
	return 0;
}

static ssize_t read_text(int fd, char *buf, size_t size)
{
	size_t used = 0;

	for (;;) {
		char more;
		ssize_t n;

		n = read(fd, used < size ? buf + used : &more,
			 used < size ? size - used : 1);
		if (n < 0)
			return -errno;
		if (!n)
			return used;
		if (used == size)
			return -EFBIG;
		used += n;
	}
}

/* readdir() takes memory, which another thread may have been taking. */
static ssize_t read_names(int fd, char *buf, size_t size)
{
	struct entry {
		uint64_t ino;
		int64_t off;
		unsigned short len;
		unsigned char type;
		char name[];
	};
	struct entry *entry;
	char some[4096] __attribute__((aligned(_Alignof(struct entry))));
	size_t used = 0, count = 0;

	for (;;) {
		long at, n = syscall(SYS_getdents64, fd, some, sizeof(some));

		if (n <= 0)
			return n ? -errno : (ssize_t)used;
		for (at = 0; at < n; at += entry->len) {
			size_t len;

			entry = (struct entry *)(some + at);
			len = strlen(entry->name);
			if (count++ == MAX_ENTRIES || used + len + 1 > size)
				return used;
			if (*entry->name == '.' || strchr(entry->name, '\n'))
				continue;
			memcpy(buf + used, entry->name, len);
			used += len;
			buf[used++] = '\n';
		}
	}
}

/*
 * By file descriptor, since the check must be of what is opened then: to open
 * a device can already do something.
 */
static int open_again(int fd)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static ssize_t read_place(const struct gp_place *place, struct gp_file_id *id,
			  char *buf, size_t size)
{
	__cleanup_fd int base = -1, fd = -1, again = -1;
	int ret;

	base = open(place->base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return -errno;
	fd = open_below(base, place->path,
			place->directory ? O_RDONLY | O_DIRECTORY : O_PATH);
	if (fd < 0)
		return fd;
	ret = check_file(fd, place, size, id);
	if (ret)
		return ret;
	if (place->directory)
		return read_names(fd, buf, size);
	again = open_again(fd);
	return again < 0 ? again : read_text(again, buf, size);
}

/* Of this thread, which is the only one: glibc's would ask the others. */
static int become(const struct gp_place *place)
{
	/* Nothing of ours may be read by the user that we become. */
	if (prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	if (geteuid() == place->uid)
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) ||
	    syscall(SYS_setresgid, place->gid, place->gid, place->gid) ||
	    syscall(SYS_setresuid, place->uid, place->uid, place->uid))
		return -errno;
	/* Changing the ids has set it as fs.suid_dumpable says. */
	return prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

/* What the other process is to do: see gp_bare_start(). */
struct question {
	const struct gp_place *place;
	struct answer *answer;
	size_t size;
};

static void give_answer(void *arg)
{
	const struct question *q = arg;
	ssize_t ret = become(q->place);

	/* A change of the ids undoes it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!ret)
		ret = read_place(q->place, &q->answer->id, q->answer->text,
				 q->size);
	q->answer->ret = ret;
	ret = write(GP_BARE_PIPE, "", 1);
	_exit(ret != 1);
}

static void reap_stuck(void)
{
	size_t i;

	for (i = 0; i < GP_PLACE_STUCK; i++)
		if (stuck.pid[i] > 0 && gp_bare_reap(stuck.pid[i]))
			stuck.pid[i] = 0;
}

/* Before a process is made. An index in the table, or -EBUSY. */
static int take_slot(void)
{
	int i;

	pthread_mutex_lock(&stuck.lock);
	reap_stuck();
	for (i = 0; i < GP_PLACE_STUCK && stuck.pid[i]; i++)
		;
	if (i < GP_PLACE_STUCK)
		stuck.pid[i] = -1;
	pthread_mutex_unlock(&stuck.lock);
	return i < GP_PLACE_STUCK ? i : -EBUSY;
}

/* 0: free again. Else a process that has not ended. */
static void set_slot(int slot, pid_t pid)
{
	pthread_mutex_lock(&stuck.lock);
	stuck.pid[slot] = pid;
	pthread_mutex_unlock(&stuck.lock);
}

static ssize_t ask(struct question *q, int slot)
{
	struct gp_bare other;
	int ret;

	ret = gp_bare_start(&other, give_answer, q);
	if (ret) {
		set_slot(slot, 0);
		return ret;
	}
	ret = gp_bare_wait(&other, GP_PLACE_WAIT_NS);
	set_slot(slot, gp_bare_end(&other, END_NS) ? 0 : other.pid);
	return ret;
}

static ssize_t read_as_user(const struct gp_place *place, struct gp_file_id *id,
			    char *buf, size_t size)
{
	struct question q = { .place = place, .size = size };
	struct answer *answer;
	int slot = take_slot();
	ssize_t ret;

	if (slot < 0)
		return slot;
	answer = mmap(NULL, sizeof(*answer) + size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answer == MAP_FAILED) {
		set_slot(slot, 0);
		return -ENOMEM;
	}
	answer->id = *id;
	q.answer = answer;
	ret = ask(&q, slot);
	if (!ret)
		ret = answer->ret;
	if (ret > (ssize_t)size)
		ret = -EIO;
	if (ret >= 0) {
		*id = answer->id;
		memcpy(buf, answer->text, ret);
	}
	munmap(answer, sizeof(*answer) + size);
	return ret;
}

ssize_t gp_place_read(const struct gp_place *place, struct gp_file_id *id,
		      char *buf, size_t size)
{
	/* What root keeps for itself is no stranger's. */
	if (!place->uid)
		return read_place(place, id, buf, size);
	return read_as_user(place, id, buf, size);
}
