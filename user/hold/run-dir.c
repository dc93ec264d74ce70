// SPDX-License-Identifier: GPL-2.0-only
/* /run/gpreempt: the lock of a held target, and the journal of its pauses. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "shared/cgroup.h"
#include "shared/text.h"
#include "shared/util.h"
#include "run-dir.h"

const char *hold_role_name(enum hold_role role)
{
	static const char *const names[HOLD_ROLES] = {
		[HOLD_ROLE_HOLDER] = "suspend",	 [HOLD_ROLE_PREEMPT] = "preempt",
		[HOLD_ROLE_FOLLOW] = "follow",	 [HOLD_ROLE_GUARD] = "guard",
		[HOLD_ROLE_UNKNOWN] = "unknown",
	};

	return role < HOLD_ROLES && names[role] ? names[role] : "-";
}

/* run/gpreempt: the owner of each target. */

#define OWNER_FORMAT "gpreempt-lock 1 role=%u pid=%llu guardian=%llu since_ns=%llu uid=%u from="
#define OWNER_SIZE   224
#define SUFFIX	     ".lock"

/*
 * Tries for a lock: another command that looks at all owners takes it for a moment, when it
 * meets the file before its maker has locked it.
 */
#define LOCK_TRIES 20

#define RETRY_NS (2 * NSEC_PER_MSEC)

static void path_of(pid_t target, const char *suffix, char path[64])
{
	snprintf(path, 64, HOLD_DIR "/%d%s", target, suffix);
}

uint64_t hold_socket_inode(pid_t target)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), GP_HOLD_SOCKET, target);
	return lstat(path, &st) < 0 ? 0 : st.st_ino;
}

int hold_dir_prepare(void)
{
	struct stat st;

	if (mkdir(HOLD_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	/* Reject a directory that another user has made. */
	if (lstat(HOLD_DIR, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if ((st.st_mode & 0777) != 0700 && chmod(HOLD_DIR, 0700) < 0)
		return -errno;
	return 0;
}

int hold_lock(pid_t target)
{
	char path[64];
	int tries, fd;

	path_of(target, SUFFIX, path);
	for (tries = 0;; tries++) {
		fd = shr_lock_file(path);
		if (fd != -EWOULDBLOCK || tries >= LOCK_TRIES)
			return fd;
		shr_sleep_ns(NSEC_PER_MSEC);
	}
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

void hold_find_from(const char *stat, const char *cgroup, char from[HOLD_FROM_SIZE])
{
	const char *state = shr_stat_state(stat), *part;
	unsigned int tty = 0;
	size_t len, i;

	*from = '\0';
	/* Packed as by new_encode_dev() of the kernel; 136 is a pseudo-terminal. */
	if (state && sscanf(state, "%*c %*d %*d %*d %u", &tty) == 1 && (tty >> 8 & 0xfff) == 136) {
		snprintf(from, HOLD_FROM_SIZE, "pts/%u", (tty & 0xff) | (tty >> 12 & 0xfff00));
		return;
	}
	/* The last unit counts. A user chooses the name of a cgroup below its own. */
	for (part = cgroup; *part; part += len + (part[len] == '/')) {
		len = strcspn(part, "/");
		if (!shr_ends_with(part, len, ".service") && !shr_ends_with(part, len, ".scope"))
			continue;
		for (i = 0; i < len && i < HOLD_FROM_SIZE - 1; i++)
			from[i] = isgraph((unsigned char)part[i]) ? part[i] : '?';
		from[i] = '\0';
	}
}

/* A holder of an earlier version has written no time, no user and not from where. */
static int parse_owner(const char *text, struct hold_owner *owner)
{
	unsigned long long pid, guardian, since_ns = 0;
	unsigned int role, uid = -1;
	char from[HOLD_FROM_SIZE] = "";

	if (sscanf(text, OWNER_FORMAT "%47s", &role, &pid, &guardian, &since_ns, &uid, from) < 3 ||
	    role >= HOLD_ROLE_UNKNOWN)
		return -EPROTO;
	*owner = (struct hold_owner){
		.role = role,
		.pid = pid,
		.guardian = guardian,
		.since_ns = since_ns,
		.uid = uid,
	};
	if (strcmp(from, "-"))
		strcpy(owner->from, from);
	return 0;
}

/*
 * A record has one size, filled up with spaces: to write another one over it
 * needs no room on a disk that is full.
 */
int hold_write_owner(int lock, const struct hold_owner *owner)
{
	struct hold_owner before = *owner;
	char text[OWNER_SIZE + 1] = "";
	ssize_t n;
	int len;

	if (!*owner->from && pread(lock, text, OWNER_SIZE, 0) > 0)
		parse_owner(text, &before);
	len = snprintf(text, sizeof(text), OWNER_FORMAT "%s\n", owner->role,
		       (unsigned long long)owner->pid, (unsigned long long)owner->guardian,
		       (unsigned long long)shr_boottime_ns(), login_uid(), before.from);
	memset(text + len, ' ', sizeof(text) - len);
	n = pwrite(lock, text, OWNER_SIZE, 0);
	if (n < 0)
		return -errno;
	return n == OWNER_SIZE ? 0 : -ENOSPC;
}

int hold_take(pid_t target, const struct hold_owner *owner)
{
	char cgroup[SHR_CGROUP_PATH], stat[512];
	struct hold_owner from = *owner;
	int lock = hold_lock(target), ret;

	if (lock < 0)
		return lock;
	shr_read_start(stat, sizeof(stat), "/proc/self/stat");
	shr_cgroup_of(0, cgroup, sizeof(cgroup));
	hold_find_from(stat, cgroup, from.from);
	/* Nothing is kept of a record that was left. */
	if (!*from.from)
		strcpy(from.from, "-");
	ret = hold_write_owner(lock, &from);
	if (!ret)
		return lock;
	hold_drop(target, lock);
	return ret;
}

/*
 * Remove the file of a lock that no process has: take the lock for that moment. Without the
 * lock, the file could be that of the next owner.
 */
static int remove_free(pid_t target, int fd, const char *path)
{
	char socket[64];

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (!shr_lock_is_at(fd, path))
		return -ESTALE;
	snprintf(socket, sizeof(socket), GP_HOLD_SOCKET, target);
	unlink(socket);
	unlink(path);
	return 0;
}

void hold_drop(pid_t target, int lock)
{
	__cleanup_fd int fd = -1;
	char path[64];

	close(lock);
	path_of(target, SUFFIX, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		remove_free(target, fd, path);
}

/*
 * Read the owner once. 0, -ENOENT when the lock is free, -EPROTO: it does not name its owner,
 * -ESTALE: it was removed, and there may be another one.
 */
static int read_owner_once(pid_t target, struct hold_owner *owner)
{
	__cleanup_fd int fd = -1;
	char path[64], text[OWNER_SIZE + 1];
	ssize_t n;
	int ret;

	path_of(target, SUFFIX, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	ret = remove_free(target, fd, path);
	if (ret != -EWOULDBLOCK)
		return ret ? ret : -ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return parse_owner(text, owner);
}

int hold_read_owner(pid_t target, struct hold_owner *owner)
{
	int tries, ret;

	/* Just taken: its owner is about to write. */
	for (tries = 0;; tries++) {
		do {
			ret = read_owner_once(target, owner);
		} while (ret == -ESTALE);
		if (ret != -EPROTO)
			return ret;
		if (tries == LOCK_TRIES)
			break;
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	*owner = (struct hold_owner){ .role = HOLD_ROLE_UNKNOWN, .uid = -1 };
	return 0;
}

int hold_list_suffix(const char *suffix, int (*fn)(void *arg, pid_t target), void *arg)
{
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	dir = opendir(HOLD_DIR);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!ret && (entry = readdir(dir))) {
		char name[32], *dot;
		uint64_t pid;

		snprintf(name, sizeof(name), "%.31s", entry->d_name);
		dot = strchr(name, '.');
		if (!dot || strcmp(dot, suffix))
			continue;
		*dot = '\0';
		if (!shr_parse_u64(name, INT32_MAX, &pid))
			ret = fn(arg, pid);
	}
	closedir(dir);
	return ret;
}

int hold_list(int (*fn)(void *arg, pid_t target), void *arg)
{
	return hold_list_suffix(SUFFIX, fn, arg);
}

/*
 * Does the process have the lock? Another one may have taken it at once, and has perhaps written
 * nothing so far.
 */
static bool has_lock(pid_t target, uint64_t pid)
{
	struct hold_owner owner;
	int ret = hold_read_owner(target, &owner);

	return ret != -ENOENT && (!pid || ret || owner.pid == pid || owner.role == HOLD_ROLE_NONE);
}

bool hold_retry(uint64_t *deadline_ns)
{
	uint64_t now = shr_now_ns();

	if (!*deadline_ns)
		*deadline_ns = now + HOLD_PATIENCE_NS;
	if (now > *deadline_ns)
		return false;
	shr_sleep_ns(RETRY_NS);
	return true;
}

bool hold_wait_for_end(pid_t target, uint64_t pid)
{
	uint64_t deadline = 0;

	while (has_lock(target, pid))
		if (!hold_retry(&deadline))
			return false;
	return true;
}

/* Has this process the lock file of the target open? */
static bool has_open(pid_t pid, pid_t target)
{
	char path[64], fds[32];
	struct stat lock, st;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	path_of(target, SUFFIX, path);
	snprintf(fds, sizeof(fds), "/proc/%d/fd", pid);
	if (stat(path, &lock) < 0)
		return false;
	dir = opendir(fds);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = !fstatat(dirfd(dir), entry->d_name, &st, 0) && st.st_dev == lock.st_dev &&
			st.st_ino == lock.st_ino;
	closedir(dir);
	return found;
}

static bool is_owner(const struct hold_owned *o, pid_t pid)
{
	if (o->owner.role == HOLD_ROLE_UNKNOWN)
		return has_open(pid, o->target);
	return o->owner.pid == (uint64_t)pid || o->owner.guardian == (uint64_t)pid;
}

static int add_owner(void *arg, pid_t target)
{
	struct hold_owners *o = arg;
	struct hold_owned one = { .target = target }, *added;

	if (hold_read_owner(target, &one.owner))
		return 0;
	added = shr_add(&o->list);
	if (!added)
		return -ENOMEM;
	*added = one;
	return 0;
}

bool hold_skip_owner(void *data, pid_t pid)
{
	struct hold_owners *o = data;
	bool found;
	size_t i;

	if (!o->known)
		o->lost = hold_list(add_owner, o) == -ENOMEM;
	o->known = true;
	/* A list that is incomplete for want of memory may lack any process. */
	found = o->lost;
	for (i = 0; i < o->list.count && !found; i++)
		found = is_owner(&o->list.items[i], pid);
	return found;
}

void hold_owners_free(struct hold_owners *o)
{
	free(o->list.items);
	*o = (struct hold_owners){ 0 };
}

/* All records have one size: a file of another one is none. */
#define ENTRY_SIZE     384
#define JOURNAL_SUFFIX ".pause"
#define BOOT_SIZE      37 /* a UUID */

/* A record that is removed while it is read has no name any more: read again so often. */
#define READ_TRIES 20

int pause_journal_list(int (*fn)(void *arg, pid_t target), void *arg)
{
	return hold_list_suffix(JOURNAL_SUFFIX, fn, arg);
}

static int read_boot_id(char boot[BOOT_SIZE])
{
	ssize_t n = shr_read_start(boot, BOOT_SIZE, "/proc/sys/kernel/random/boot_id");

	if (n < 0)
		return n;
	return n == BOOT_SIZE - 1 ? 0 : -EIO;
}

/* Escape a name to one word: a character that is not plain becomes \ and three octal digits. */
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
		       "gpreempt-pause 1 pid=%d start=%llu boot=%s since_ns=%llu by=%d uid=%u "
		       "comm=%s",
		       e->pid, (unsigned long long)e->start, boot, (unsigned long long)e->since_ns,
		       e->by, e->uid, e->comm);
	memset(text + len, ' ', ENTRY_SIZE - len);
	text[ENTRY_SIZE - 1] = '\n';
	text[ENTRY_SIZE] = '\0';
}

static int parse_entry(const char *text, struct pause_entry *e, char boot[BOOT_SIZE])
{
	unsigned long long start, since;
	char again[ENTRY_SIZE + 1];

	if (sscanf(text,
		   "gpreempt-pause 1 pid=%d start=%llu boot=%36s since_ns=%llu by=%d uid=%u "
		   "comm=%63s",
		   &e->pid, &start, boot, &since, &e->by, &e->uid, e->comm) != 7)
		return -EPROTO;
	e->start = start;
	e->since_ns = since;
	/* An entry has only one valid form. */
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

	path_of(target, JOURNAL_SUFFIX, path);
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

static int make_record(const char *next, const struct pause_entry *e)
{
	__cleanup_fd int fd = -1;

	/* Remove the file of a process that was killed here: we have its lock now. */
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
	path_of(e->pid, JOURNAL_SUFFIX, path);
	snprintf(next, sizeof(next), "%s.new", path);
	ret = make_record(next, e);
	if (!ret && rename(next, path) < 0)
		ret = -errno;
	if (ret) {
		unlink(next);
		return ret;
	}
	/* Its name is on the disk, too. */
	ret = shr_flush(HOLD_DIR);
	if (ret)
		unlink(path);
	return ret;
}

int pause_journal_remove(pid_t target)
{
	char path[64];

	path_of(target, JOURNAL_SUFFIX, path);
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* Judge the entry by all but the lock. */
static enum pause_finding find_entry(struct gpreempt *g, struct hold_state *s)
{
	struct gpreempt_error err;
	uint64_t start;
	int ret = pause_journal_read(s->pid, &s->entry);

	if (ret == -ENOENT)
		return PAUSE_NONE;
	if (ret == -ESTALE)
		return PAUSE_STALE;
	if (ret == -EPROTO)
		return PAUSE_DAMAGED;
	if (!ret)
		ret = gpreempt_start_time(g, s->pid, &start);
	/* The number is another process's by now. */
	if (!ret && start != s->entry.start)
		ret = -ESRCH;
	/* A container has other numbers and start times of processes. */
	if (ret == -ESRCH && ctl_is_host(g, &err))
		return PAUSE_STALE;
	s->code = ret == -ESRCH ? -EXDEV : ret;
	return s->code ? PAUSE_UNREAD : PAUSE_WAITS;
}

void hold_look_locked(struct gpreempt *g, pid_t target, struct hold_state *out)
{
	*out = (struct hold_state){ .pid = target };
	out->finding = find_entry(g, out);
}

void hold_look(struct gpreempt *g, pid_t target, struct hold_state *out)
{
	int ret;

	hold_look_locked(g, target, out);
	ret = hold_read_owner(target, &out->owner);
	out->owned = !ret;
	/* A lock lasts as long as the last process that has it. */
	if (out->finding == PAUSE_WAITS && ret != -ENOENT)
		out->finding = PAUSE_ANSWERED;
}

struct pids {
	SHR_ARRAY(int64_t, list);
};

static int add_pid(void *arg, pid_t target)
{
	struct pids *all = arg;
	int64_t *pid = shr_add(&all->list);

	if (!pid)
		return -ENOMEM;
	*pid = target;
	return 0;
}

int hold_look_all(struct gpreempt *g, int (*fn)(void *arg, const struct hold_state *s), void *arg)
{
	struct pids all = { .list.count = 0 };
	int64_t *pid, *last;
	struct hold_state s;
	int ret = hold_list(add_pid, &all);

	if (!ret)
		ret = pause_journal_list(add_pid, &all);
	pid = all.list.items;
	last = shr_end(&all.list);
	if (pid)
		qsort(pid, all.list.count, sizeof(*pid), shr_compare_first);
	for (; pid < last && !ret; pid++) {
		/* Most have a lock and an entry. */
		if (pid + 1 < last && pid[0] == pid[1])
			continue;
		hold_look(g, *pid, &s);
		ret = fn(arg, &s);
	}
	free(all.list.items);
	return ret;
}

static bool is_paused(const struct hold_state *s)
{
	return s->finding == PAUSE_ANSWERED || s->finding == PAUSE_WAITS;
}

static bool has_owner(const struct hold_state *s)
{
	return s->owned && s->owner.role != HOLD_ROLE_NONE;
}

const char *hold_method(const struct hold_state *s)
{
	if (is_paused(s))
		return "pause";
	return has_owner(s) && s->owner.role != HOLD_ROLE_UNKNOWN ? "debug" : NULL;
}

const char *hold_role_of(const struct hold_state *s)
{
	return has_owner(s) ? hold_role_name(s->owner.role) : is_paused(s) ? "pause" : NULL;
}

int64_t hold_since(const struct hold_state *s)
{
	uint64_t since = is_paused(s) ? s->entry.since_ns : has_owner(s) ? s->owner.since_ns : 0;

	return since ? (int64_t)(shr_boottime_ns() - since) : GPREEMPT_UNKNOWN;
}

int64_t hold_uid(const struct hold_state *s)
{
	uid_t uid = is_paused(s) ? s->entry.uid : has_owner(s) ? s->owner.uid : (uid_t)-1;

	return uid == (uid_t)-1 ? GPREEMPT_UNKNOWN : (int64_t)uid;
}

const char *hold_release_command(const struct hold_owner *owner, pid_t target,
				 char buf[HOLD_MAX_COMMAND])
{
	*buf = '\0';
	switch (owner->role) {
	case HOLD_ROLE_HOLDER:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl resume %d", target);
		break;
	case HOLD_ROLE_GUARD:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl guard release %d", target);
		break;
	case HOLD_ROLE_PREEMPT:
	case HOLD_ROLE_FOLLOW:
		/* These processes release the target however they end. */
		snprintf(buf, HOLD_MAX_COMMAND, "kill %llu", (unsigned long long)owner->pid);
		break;
	default:
		break;
	}
	return buf;
}

uint64_t hold_command_of(const struct hold_owner *owner)
{
	return owner->role == HOLD_ROLE_GUARD ? owner->guardian : owner->pid;
}

const char *hold_owner_text(const struct hold_owner *owner, char buf[HOLD_OWNER_TEXT])
{
	bool from = *owner->from;

	snprintf(buf, HOLD_OWNER_TEXT, "gpreempt-ctl %s (%llu)%s%s", hold_role_name(owner->role),
		 (unsigned long long)hold_command_of(owner), from ? " from " : "", owner->from);
	return buf;
}
