/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session of a process that has it for as long as it lives: with a handle on
 * the library whose busy times stop the heartbeat's clock.
 */
#ifndef AGENT_SESSION_OWNER_H
#define AGENT_SESSION_OWNER_H

#include <gpreempt/gpreempt.h>

#include "agent/heartbeat.h"

struct session_owner {
	/* Set by the caller: */
	pid_t target;
	struct heartbeat *heartbeat;   /* started; outlives the owner */
	struct gpreempt_keeper keeper; /* lost and data; its session is ours */

	struct gpreempt *g;
};

/*
 * All functions: the thread of the session. In the end, also after an error:
 * session_owner_close().
 */

/* The handle on the library alone, if there is none. 0 or -errno. */
int session_owner_new(struct session_owner *o);
/* The handle and the session. 0 or -errno, see *err. */
int session_owner_open(struct session_owner *o, struct gpreempt_error *err);
/* All queues run, the target is not traced any more. */
void session_owner_close(struct session_owner *o);

#endif
