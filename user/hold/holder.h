/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The holder: what "suspend" leaves behind.
 *
 * The driver resumes all queues when the process that suspended them ends. So two processes
 * stay: the worker traces the target and talks to the driver, the guardian watches the worker.
 * A worker that does not answer would make its target unkillable, so it is killed by the
 * guardian, or by its own dead man's switch; the queues then run. A guardian that is gone or
 * does not answer makes the worker leave.
 */
#ifndef HOLD_HOLDER_H
#define HOLD_HOLDER_H

#include <stdint.h>

#include <gpreempt/gpreempt.h>

#include "lib/preempt/wire.h"
#include "shared/socket.h"
#include "shared/util.h"
#include "escape.h"
#include "owner.h"
#include "run-dir.h"

#define HOLD_TITLE "gpreempt-hold" /* title of both processes in ps */

/* Fill in the reply with an error. */
void hold_reply_error(struct hold_reply *reply, const struct gpreempt_error *err);
void hold_reply_fail(struct hold_reply *reply, pid_t target, enum gpreempt_reason reason, int code,
		     const char *step);

/* The command's side */

/* The first on a socket that is there, which stays open. 0 or -errno. */
int hold_spawn_on(int lock, int report, pid_t target, const struct hold_request *request);
/*
 * Confirm that the user knows of the hold: close the descriptor. A holder whose command ends
 * before that releases its target: the user has no report.
 */
void hold_confirm(int fd);

/* The holder's side */

/* Descriptors and facts that guardian and worker are born with. */
struct hold_birth {
	pid_t target;
	int lock;
	int report; /* gets the reply to the first request; the guardian keeps it until the end */
	int beat;   /* between guardian and worker */
	pid_t guardian;
	pid_t worker; /* only the guardian knows */
	bool cgroup;
	const struct hold_request *request;
};

/* Message from the worker to the guardian. */
struct hold_beat {
	uint64_t silence_ns;   /* kill me when you hear nothing for longer */
	uint64_t lease_end_ns; /* kill me then, and some; 0: none */
};

/* These do not return. */
__attribute__((noreturn)) void hold_guardian(const struct hold_birth *birth);
__attribute__((noreturn)) void hold_worker(const struct hold_birth *birth);

#define HOLD_CLIENTS 8

struct hold_worker {
	const struct hold_birth *birth;
	struct heartbeat heartbeat;
	struct owner owner;
	uint64_t start; /* start time of the target, in clock ticks */
	uint64_t since_ns;
	uint64_t lease_end_ns; /* end of the lease, CLOCK_BOOTTIME; 0: no lease */
	struct ipc_server *server;
	char socket[64];  /* path */
	uint64_t beat_ns; /* time of the last beat */
	int confirm_fd;	  /* open until the user knows of the holder; else -1 */
	int signals;
	bool over;
};

/* Returns the owner's session; NULL: the target is paused, or the owner is closed. */
static inline struct gpreempt_session *hold_session(const struct hold_worker *w)
{
	return w->owner.method.keeper.session;
}

/* Do the request, and fill in the reply. */
void hold_answer(struct hold_worker *w, const struct hold_request *request,
		 struct hold_reply *reply);

/* worker.c: start the server of w->birth->target. */
int hold_listen(struct hold_worker *w);

#endif
