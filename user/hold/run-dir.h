/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /run/gpreempt: a lock file for each target that is held, which names the
 * process that holds it, and a socket beside it if that is a holder's.
 */
#ifndef HOLD_RUN_DIR_H
#define HOLD_RUN_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/core.h>

#include "lib/preempt/wire.h"
#include "shared/util.h"

enum hold_role {
	HOLD_ROLE_NONE, /* the command that makes a holder */
	HOLD_ROLE_HOLDER,
	HOLD_ROLE_PREEMPT,
	HOLD_ROLE_FOLLOW,
	HOLD_ROLE_GUARD,
	HOLD_ROLE_UNKNOWN, /* never written: the lock does not tell */
	HOLD_ROLES,
};

/* The command that has it; "-" for none. */
const char *hold_role_name(enum hold_role role);

/*
 * The terminal from which a process was asked for, as "pts/3", or without one the systemd unit;
 * "": neither is known. Of printable ASCII without spaces, and cut.
 */
#define HOLD_FROM_SIZE 48
/* Find it: behind the name in /proc/PID/stat, and in the path of the cgroup. */
void hold_find_from(const char *stat, const char *cgroup, char from[HOLD_FROM_SIZE]);

/* The process that has the lock of a target. */
struct hold_owner {
	enum hold_role role;
	uint64_t pid;	   /* PID of the worker, or of the command */
	uint64_t guardian; /* PID of the guardian; of guard, for its worker; 0: none */
	/* Filled in by hold_take() and hold_write_owner(): */
	uint64_t since_ns; /* CLOCK_BOOTTIME */
	uid_t uid;	   /* user of the login, if there was one */
	char from[HOLD_FROM_SIZE];
};

/* Make the directory, and check that it is ours alone. 0 or -errno. */
int hold_dir_prepare(void);
/* A descriptor; the lock lasts until all copies of it are closed. */
int hold_lock(pid_t target);
/*
 * Write the owner's record. 0 or -errno. Over an earlier record it needs no room on the disk, and
 * keeps its @from: a holder has left the terminal and the cgroup of the command that took the lock.
 */
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
 * Read the owner's record. 0, also when the lock is held by HOLD_ROLE_UNKNOWN; -ENOENT when it
 * is free (leftovers are removed), or -errno.
 */
int hold_read_owner(pid_t target, struct hold_owner *owner);
/*
 * The patience with an owner that begins or ends, from the lock of its target to its socket, or
 * from a pause to the lock: its dead man's switch has fallen by then. Sleeps for a moment; false
 * when the patience is over. *@deadline_ns is 0 at first.
 */
#define HOLD_PATIENCE_NS (5 * NSEC_PER_SEC)
bool hold_retry(uint64_t *deadline_ns);
/*
 * Wait a bounded time until the owner that has this PID gives the lock back: another
 * one may follow at once. 0: until no process has it. Has it ended?
 */
bool hold_wait_for_end(pid_t target, uint64_t pid);
/* Calls fn for each target with a lock file. */
int hold_list(int (*fn)(void *arg, pid_t target), void *arg);
/* Do the same for each file PID and that suffix. */
int hold_list_suffix(const char *suffix, int (*fn)(void *arg, pid_t target), void *arg);
/* Returns the inode of the target's socket; 0: there is none. */
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

/*
 * The journal of paused processes: a file for each in /run/gpreempt.
 *
 * The driver keeps a process paused when the process that paused it dies. So an
 * entry is on disk before the ioctl, and is removed after the process runs again:
 * what is paused by us can be found and undone by any gpreempt-ctl. A pause without an
 * owner, which would have the target's lock, waits for that.
 *
 * Lock order: the lock of the target is taken before its entry is written or removed; no
 * process waits for a lock while it has one. Reading takes no lock.
 */

#define PAUSE_MAX_COMM 64 /* 15 bytes, each up to four characters; NUL */

struct pause_entry {
	pid_t pid;	   /* the target */
	uint64_t start;	   /* when it started, clock ticks since boot */
	uint64_t since_ns; /* CLOCK_BOOTTIME */
	/* The process that paused it, for people: */
	pid_t by;
	uid_t uid; /* user of the login, if there was one */
	char comm[PAUSE_MAX_COMM];
};

/* Fill in this process as the one that pauses, now: pid and start are the target's. */
void pause_entry_init(struct pause_entry *e, pid_t pid, uint64_t start);

/*
 * Write the entry of a target that has none, or one of an earlier boot or of an earlier process
 * with that number. The caller has the target's lock. 0; -EALREADY: it is paused already; -EPROTO:
 * the file there is none of ours; or another -errno. After an error nothing has changed.
 */
int pause_journal_write(const struct pause_entry *e);
/*
 * 0; -ENOENT: there is none; -ESTALE: it is of an earlier boot; -EPROTO: the file is none of
 * ours, or is damaged; or another -errno. Never follows a link, never waits.
 */
int pause_journal_read(pid_t target, struct pause_entry *e);
/* The caller has the target's lock. 0 or -errno; none there is no error. */
int pause_journal_remove(pid_t target);
/* Calls fn for each target with a file in the journal, as hold_list() does. */
int pause_journal_list(int (*fn)(void *arg, pid_t target), void *arg);

/*
 * The answer to "who holds it, by which method, since when, for whom" that all commands print,
 * from the lock and the journal. Only gpreempt.ko sees a pause of another program, and only the
 * holder knows its lease and its queues.
 */

enum pause_finding {
	PAUSE_NONE,	/* no entry */
	PAUSE_ANSWERED, /* a living process has the lock, and undoes it */
	PAUSE_WAITS,	/* its owner is gone: repair undoes it */
	PAUSE_STALE,	/* its process or its boot is over; the entry is removed */
	PAUSE_DAMAGED,	/* the file is none of ours, or is damaged */
	PAUSE_UNREAD,	/* see the code */
	PAUSE_FINDINGS,
};

struct hold_state {
	pid_t pid;
	bool owned;		    /* a process has the lock: */
	struct hold_owner owner;    /* role 0: a command that begins or ends a hold */
	enum pause_finding finding; /* state of the entry in the journal */
	struct pause_entry entry;   /* for PAUSE_ANSWERED, _WAITS */
	int code;		    /* error of PAUSE_UNREAD */
};

/* Look at the lock and the entry of a target. Changes nothing. */
void hold_look(struct gpreempt *g, pid_t target, struct hold_state *out);
/* Look at the entry of a target whose lock the caller has. */
void hold_look_locked(struct gpreempt *g, pid_t target, struct hold_state *out);
/* Look at each target with a lock or an entry, once, by PID, until fn returns other than 0. */
int hold_look_all(struct gpreempt *g, int (*fn)(void *arg, const struct hold_state *s), void *arg);
/* "debug", "pause", or NULL: no program of ours holds it, or it is not known which one. */
const char *hold_method(const struct hold_state *s);
/* The role of its owner; "pause": it was left paused; NULL: no program of ours holds it. */
const char *hold_role_of(const struct hold_state *s);
/* How long it has been held so; GPREEMPT_UNKNOWN, as for a holder of an earlier version. */
int64_t hold_since(const struct hold_state *s);
/* The user for whom it is held; -1: not known. */
int64_t hold_uid(const struct hold_state *s);

#define HOLD_MAX_COMMAND 64

/* The command that makes the owner release the target; "" for none. */
const char *hold_release_command(const struct hold_owner *owner, pid_t target,
				 char buf[HOLD_MAX_COMMAND]);
/* Returns the PID whose end releases the target: the user's command. */
uint64_t hold_command_of(const struct hold_owner *owner);
/* Print it for a sentence: "gpreempt-ctl suspend (4711) from pts/3". Returns buf. */
#define HOLD_OWNER_TEXT (HOLD_FROM_SIZE + 64)
const char *hold_owner_text(const struct hold_owner *owner, char buf[HOLD_OWNER_TEXT]);

/* Formats of sentences that several commands print; %d is the target. */
#define TEXT_PAUSE_DAMAGED HOLD_DIR "/%d.pause is damaged, or no entry of ours"
#define NEXT_PAUSE_DAMAGED "look at it, and remove it"

#endif
