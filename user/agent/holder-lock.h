/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /run/gpreempt: a lock file for each target that is held, which names the
 * process that holds it, and a socket beside it if that is a holder's.
 */
#ifndef AGENT_HOLDER_LOCK_H
#define AGENT_HOLDER_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/hold.h"
#include "shared/array.h"

enum hold_role {
	HOLD_ROLE_NONE, /* the command that makes a holder */
	HOLD_ROLE_HOLDER,
	HOLD_ROLE_PREEMPT,
	HOLD_ROLE_FOLLOW,
	HOLD_ROLE_GUARD,
	HOLD_ROLE_UNKNOWN, /* never written: the lock does not tell */
	HOLD_ROLES,
};

/* The process that has the lock of a target. */
struct hold_owner {
	enum hold_role role;
	uint64_t pid;	   /* of the worker, or of the command */
	uint64_t guardian; /* 0: none; of a guard's worker: the guard */
};

/* Make the directory, and check that it is ours alone. 0 or -errno. */
int hold_dir_prepare(void);
/* A descriptor; the lock lasts until all copies of it are closed. */
int hold_lock(pid_t target);
/* 0 or -errno. Over an earlier record it needs no room on the disk. */
int hold_write_owner(int lock, const struct hold_owner *owner);
/*
 * The lock of a target, with that owner written. -EWOULDBLOCK: another process
 * has it; or another -errno, and the lock is not taken.
 */
int hold_take(pid_t target, const struct hold_owner *owner);
/*
 * Give the lock back. The last owner of a copy of it removes the files of the target,
 * if it comes here; else the next reader does.
 */
void hold_drop(pid_t target, int lock);
/*
 * 0, also when the lock is held by HOLD_ROLE_UNKNOWN; -ENOENT when it is free
 * (leftovers are removed), or -errno.
 */
int hold_read_owner(pid_t target, struct hold_owner *owner);
/*
 * Wait a bounded time until the owner that has this PID gives the lock back: another
 * one may follow at once. 0: until no process has it. Has it ended?
 */
bool hold_wait_for_end(pid_t target, uint64_t pid);
/* Calls fn for each target with a lock file. */
int hold_list(int (*fn)(void *arg, pid_t target), void *arg);
/* The same for each with a file PID and that suffix. */
int hold_list_suffix(const char *suffix, int (*fn)(void *arg, pid_t target), void *arg);
/* Of the socket of a target; 0: there is none. */
uint64_t hold_socket_inode(pid_t target);

struct hold_owned {
	pid_t target;
	struct hold_owner owner;
};

/* All owners, read when the first process is asked about. All 0 at first. */
struct hold_owners {
	bool known;
	bool lost; /* no memory */
	SHR_ARRAY(struct hold_owned, list);
};

/*
 * Is this process a holder, or another owner of a target? By the lock file that it has
 * open, where the file does not name its owner. @owners is a struct hold_owners. Of the
 * form that gpreempt_select() takes.
 */
bool hold_skip_owner(void *owners, pid_t pid);
/* The next question reads the files again. */
void hold_owners_free(struct hold_owners *o);

#endif
