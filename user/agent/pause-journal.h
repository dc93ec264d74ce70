/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal of paused processes: a file for each in /run/gpreempt.
 *
 * The driver keeps a process paused when the process that paused it dies. So an
 * entry is on disk before the ioctl, and is removed after the process runs again:
 * what is paused by us can be found and undone by any gpreempt-ctl.
 *
 * Lock order: the lock of the target (holder-lock.h) is taken before its entry is written,
 * changed or removed; no process waits for a lock while it has one. Reading takes no lock.
 */
#ifndef AGENT_PAUSE_JOURNAL_H
#define AGENT_PAUSE_JOURNAL_H

#include <stdint.h>
#include <sys/types.h>

enum pause_state {
	PAUSE_BEGUN, /* undone with its owner, which has the target's lock */
	PAUSE_KEPT,  /* until resume; no process stays behind */
	PAUSE_STATES,
};

#define PAUSE_MAX_COMM 64 /* 15 bytes, each up to four characters; NUL */

struct pause_entry {
	pid_t pid;	/* of the target */
	uint64_t start; /* when it started, clock ticks since boot */
	enum pause_state state;
	uint64_t since_ns; /* CLOCK_BOOTTIME */
	/* Who paused it, for people: */
	pid_t by;
	uid_t uid; /* of the login, if there was one */
	char comm[PAUSE_MAX_COMM];
};

/* This process as the one that pauses, now: pid and start are the caller's. */
void pause_entry_init(struct pause_entry *e, pid_t pid, uint64_t start);

/*
 * Write the entry of a target that has none, or one of an earlier boot or of an
 * earlier process with that number. The caller has the target's lock. 0;
 * -EALREADY: it is paused already; -EPROTO: the file there is none of ours; or
 * another -errno. After an error nothing has changed.
 */
int pause_journal_write(const struct pause_entry *e);
/* Over the entry that is there: it needs no room on the disk. 0 or -errno. */
int pause_journal_change(const struct pause_entry *e);
/*
 * 0; -ENOENT: there is none; -ESTALE: it is of an earlier boot; -EPROTO: the file is none of
 * ours, or is damaged; or another -errno. Never follows a link, never waits.
 */
int pause_journal_read(pid_t target, struct pause_entry *e);
/* The caller has the target's lock. 0 or -errno; none there is no error. */
int pause_journal_remove(pid_t target);
/* Calls fn for each target with a file in the journal, as hold_list() does. */
int pause_journal_list(int (*fn)(void *arg, pid_t target), void *arg);

#endif
