// SPDX-License-Identifier: GPL-2.0-only
/* /run/gpreempt: who holds which target. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "ctl/hold.h"
#include "shared/clock.h"
#include "shared/parse.h"

#define OWNER_FORMAT "gpreempt-lock 1 role=%u pid=%llu guardian=%llu\n"
#define SUFFIX ".lock"

/*
 * Another command that looks at all owners has a lock for a moment, when it
 * meets the file before its maker has locked it.
 */
#define LOCK_TRIES 20

static void lock_path(pid_t target, char *buf, size_t size)
{
	snprintf(buf, size, HOLD_DIR "/%d" SUFFIX, target);
}

const char *hold_role_name(enum hold_role role)
{
	static const char *const names[HOLD_ROLES] = {
		[HOLD_ROLE_HOLDER] = "suspend",
		[HOLD_ROLE_PREEMPT] = "preempt",
		[HOLD_ROLE_FOLLOW] = "follow",
		[HOLD_ROLE_GUARD] = "guard",
	};

	return role < HOLD_ROLES && names[role] ? names[role] : "-";
}

const char *hold_let_go_command(const struct hold_owner *owner, pid_t target,
				char buf[HOLD_MAX_COMMAND])
{
	*buf = '\0';
	switch (owner->role) {
	case HOLD_ROLE_HOLDER:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl resume %d",
			 target);
		break;
	case HOLD_ROLE_GUARD:
		snprintf(buf, HOLD_MAX_COMMAND, "gpreempt-ctl release %d",
			 target);
		break;
	case HOLD_ROLE_PREEMPT:
	case HOLD_ROLE_FOLLOW:
		/* They let go at any end of theirs. */
		snprintf(buf, HOLD_MAX_COMMAND, "kill %llu",
			 (unsigned long long)owner->pid);
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

void hold_taken_text(const struct hold_owner *owner, pid_t target, char *buf,
		     size_t size)
{
	char command[HOLD_MAX_COMMAND];

	hold_let_go_command(owner, target, command);
	/* What is only on its way in or out has not said who it is. */
	if (!*command)
		snprintf(buf, size, "process %d is being held or let go by "
			 "another gpreempt-ctl\ntry again", target);
	else
		snprintf(buf, size,
			 "process %d is held by gpreempt-ctl %s (%llu)\n"
			 "%s: %s", target, hold_role_name(owner->role),
			 (unsigned long long)hold_command_of(owner),
			 owner->role == HOLD_ROLE_HOLDER ||
			 owner->role == HOLD_ROLE_GUARD ?
			 "let go first" : "wait for it, or end it", command);
}

void hold_socket_path(pid_t target, char *buf, size_t size)
{
	snprintf(buf, size, HOLD_DIR "/%d.sock", target);
}

uint64_t hold_socket_inode(pid_t target)
{
	char path[64];
	struct stat st;

	hold_socket_path(target, path, sizeof(path));
	return lstat(path, &st) < 0 ? 0 : st.st_ino;
}

int hold_dir_prepare(void)
{
	struct stat st;

	if (mkdir(HOLD_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	/* Not one that somebody else has put there. */
	if (lstat(HOLD_DIR, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if ((st.st_mode & 0777) != 0700 && chmod(HOLD_DIR, 0700) < 0)
		return -errno;
	return 0;
}

/* Whoever had the lock before may have removed the file. */
static bool still_there(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !stat(path, &there) &&
	       ours.st_ino == there.st_ino;
}

int hold_lock(pid_t target)
{
	char path[64];
	int tries;

	lock_path(target, path, sizeof(path));
	for (tries = 0;; tries++) {
		int fd, ret;

		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			  0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			ret = -errno;
			close(fd);
			if (ret != -EWOULDBLOCK || tries >= LOCK_TRIES)
				return ret;
			shr_sleep_ns(NSEC_PER_MSEC);
			continue;
		}
		if (still_there(fd, path))
			return fd;
		close(fd);
	}
}

int hold_write_owner(int lock, const struct hold_owner *owner)
{
	char text[128];
	int len;

	len = snprintf(text, sizeof(text), OWNER_FORMAT, owner->role,
		       (unsigned long long)owner->pid,
		       (unsigned long long)owner->guardian);
	if (ftruncate(lock, 0) < 0 || pwrite(lock, text, len, 0) != len)
		return -EIO;
	return 0;
}

static int parse_owner(const char *text, struct hold_owner *owner)
{
	unsigned long long pid, guardian;
	unsigned int role;

	if (sscanf(text, OWNER_FORMAT, &role, &pid, &guardian) != 3)
		return -EPROTO;
	owner->role = role;
	owner->pid = pid;
	owner->guardian = guardian;
	return 0;
}

int hold_read_owner(pid_t target, struct hold_owner *owner)
{
	__cleanup_fd int fd = -1;
	char path[64], text[128];
	ssize_t n;

	lock_path(target, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		/* Its owner was killed. */
		if (still_there(fd, path))
			hold_forget(target);
		return -ENOENT;
	}
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	/* Just taken: its owner has not written yet. */
	if (parse_owner(text, owner))
		*owner = (struct hold_owner){ .role = HOLD_ROLE_NONE };
	return 0;
}

int hold_list(int (*fn)(void *arg, pid_t target), void *arg)
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
		if (!dot || strcmp(dot, SUFFIX))
			continue;
		*dot = '\0';
		if (!shr_parse_u64(name, INT32_MAX, &pid))
			ret = fn(arg, pid);
	}
	closedir(dir);
	return ret;
}

void hold_forget(pid_t target)
{
	char path[64];

	hold_socket_path(target, path, sizeof(path));
	unlink(path);
	lock_path(target, path, sizeof(path));
	unlink(path);
}

static int compare_owner(void *arg, pid_t target)
{
	uint64_t pid = *(pid_t *)arg;
	struct hold_owner owner;

	if (hold_read_owner(target, &owner))
		return 0;
	return owner.pid == pid || owner.guardian == pid;
}

bool hold_is_holder(pid_t pid)
{
	return hold_list(compare_owner, &pid) > 0;
}
