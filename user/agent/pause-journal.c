// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "agent/holder-lock.h"
#include "agent/pause-journal.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/parse.h"
#include "shared/proc.h"

/* A record has one size, so that it can be written over on a full disk. */
#define ENTRY_SIZE 384
#define SUFFIX	   ".pause"
#define BOOT_SIZE  37 /* a UUID */

/* One that is being changed may be read in halves. */
#define READ_TRIES 20

static const char *const states[PAUSE_STATES] = {
	[PAUSE_BEGUN] = "begun",
	[PAUSE_KEPT] = "kept",
};

static void journal_path(pid_t target, char *buf, size_t size)
{
	snprintf(buf, size, HOLD_DIR "/%d" SUFFIX, target);
}

int pause_journal_list(int (*fn)(void *arg, pid_t target), void *arg)
{
	return hold_list_suffix(SUFFIX, fn, arg);
}

static int read_boot_id(char boot[BOOT_SIZE])
{
	ssize_t n = shr_read_start(boot, BOOT_SIZE, "/proc/sys/kernel/random/boot_id");

	if (n < 0)
		return n;
	return n == BOOT_SIZE - 1 ? 0 : -EIO;
}

/* The user that logged in, whatever sudo has made of it since. */
static uid_t login_uid(void)
{
	char text[16];
	uint64_t uid;

	if (shr_read_start(text, sizeof(text), "/proc/self/loginuid") > 0) {
		text[strcspn(text, "\n")] = '\0';
		/* The largest number stands for none. */
		if (!shr_parse_u64(text, UINT32_MAX - 1, &uid))
			return uid;
	}
	return getuid();
}

/* One word: what is no plain character becomes \ and three octal digits. */
static void escape(const char *name, char *buf, size_t size)
{
	size_t used = 0;

	for (; *name && used + 5 <= size; name++) {
		unsigned char c = *name;

		if (isgraph(c) && c != '\\')
			buf[used++] = c;
		else
			used += snprintf(buf + used, 5, "\\%03o", c);
	}
	buf[used] = '\0';
}

void pause_entry_init(struct pause_entry *e, pid_t pid, uint64_t start)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	*e = (struct pause_entry){
		.pid = pid,
		.start = start,
		.since_ns = shr_boottime_ns(),
		.by = getpid(),
		.uid = login_uid(),
	};
	escape(*name ? name : "?", e->comm, sizeof(e->comm));
}

/* The record of an entry: exactly ENTRY_SIZE bytes, and a NUL. */
static void format_entry(const struct pause_entry *e, const char *boot, char text[ENTRY_SIZE + 1])
{
	int len;

	len = snprintf(text, ENTRY_SIZE,
		       "gpreempt-pause 1 pid=%d start=%llu boot=%s state=%s "
		       "since_ns=%llu by=%d uid=%u comm=%s",
		       e->pid, (unsigned long long)e->start, boot, states[e->state],
		       (unsigned long long)e->since_ns, e->by, e->uid, e->comm);
	memset(text + len, ' ', ENTRY_SIZE - len);
	text[ENTRY_SIZE - 1] = '\n';
	text[ENTRY_SIZE] = '\0';
}

static int parse_entry(const char *text, struct pause_entry *e, char boot[BOOT_SIZE])
{
	unsigned long long start, since;
	char state[8], again[ENTRY_SIZE + 1];

	if (sscanf(text,
		   "gpreempt-pause 1 pid=%d start=%llu boot=%36s state=%7s "
		   "since_ns=%llu by=%d uid=%u comm=%63s",
		   &e->pid, &start, boot, state, &since, &e->by, &e->uid, e->comm) != 8)
		return -EPROTO;
	e->start = start;
	e->since_ns = since;
	for (e->state = 0; e->state < PAUSE_STATES; e->state++)
		if (!strcmp(states[e->state], state))
			break;
	if (e->state == PAUSE_STATES)
		return -EPROTO;
	/* There is one way to write an entry; all else is none. */
	format_entry(e, boot, again);
	return strcmp(text, again) ? -EPROTO : 0;
}

/* A file of ours alone, of that size. */
static bool is_record(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077) && st.st_nlink == 1 && st.st_size == ENTRY_SIZE;
}

static int read_once(pid_t target, struct pause_entry *e, char boot[BOOT_SIZE])
{
	__cleanup_fd int fd = -1;
	char path[64], text[ENTRY_SIZE + 1];

	journal_path(target, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EPROTO : -errno;
	if (!is_record(fd) || read(fd, text, ENTRY_SIZE) != ENTRY_SIZE)
		return -EPROTO;
	text[ENTRY_SIZE] = '\0';
	if (parse_entry(text, e, boot))
		return -EPROTO;
	return e->pid == target ? 0 : -EPROTO;
}

int pause_journal_read(pid_t target, struct pause_entry *e)
{
	char boot[BOOT_SIZE], now[BOOT_SIZE];
	int tries, ret;

	for (tries = 0;; tries++) {
		ret = read_once(target, e, boot);
		if (ret != -EPROTO || tries == READ_TRIES)
			break;
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	if (!ret)
		ret = read_boot_id(now);
	if (!ret && strcmp(boot, now))
		ret = -ESTALE;
	return ret;
}

/* Never in part: the whole record, or an error. */
static int write_record(int fd, const struct pause_entry *e)
{
	char text[ENTRY_SIZE + 1], boot[BOOT_SIZE];
	int ret = read_boot_id(boot);
	ssize_t n;

	if (ret)
		return ret;
	format_entry(e, boot, text);
	n = pwrite(fd, text, ENTRY_SIZE, 0);
	if (n < 0)
		return -errno;
	if (n != ENTRY_SIZE)
		return -ENOSPC;
	return fsync(fd) < 0 ? -errno : 0;
}

/* Its name is on the disk, too. */
static int sync_dir(void)
{
	__cleanup_fd int fd = open(HOLD_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int make_record(const char *next, const struct pause_entry *e)
{
	__cleanup_fd int fd = -1;

	/* Of a process that was killed here; we have the lock. */
	unlink(next);
	fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : write_record(fd, e);
}

int pause_journal_write(const struct pause_entry *e)
{
	char path[64], next[72];
	struct pause_entry old;
	int ret;

	ret = pause_journal_read(e->pid, &old);
	if (!ret && old.start == e->start)
		return -EALREADY;
	if (ret && ret != -ENOENT && ret != -ESTALE)
		return ret;
	journal_path(e->pid, path, sizeof(path));
	snprintf(next, sizeof(next), "%s.new", path);
	ret = make_record(next, e);
	if (!ret && rename(next, path) < 0)
		ret = -errno;
	if (ret) {
		unlink(next);
		return ret;
	}
	ret = sync_dir();
	if (ret)
		unlink(path);
	return ret;
}

int pause_journal_change(const struct pause_entry *e)
{
	__cleanup_fd int fd = -1;
	char path[64];

	journal_path(e->pid, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	return is_record(fd) ? write_record(fd, e) : -EPROTO;
}

int pause_journal_remove(pid_t target)
{
	char path[64];

	journal_path(target, path, sizeof(path));
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}
