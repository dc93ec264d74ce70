/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each process that has the session of one target does in the same way:
 * it opens the session, attends to its events, and opens it again when another
 * process has ended it.
 */
#ifndef AGENT_SESSION_OWNER_H
#define AGENT_SESSION_OWNER_H

#include <gpreempt/gpreempt.h>

#include "agent/heartbeat.h"
#include "shared/loss-budget.h"

struct session_owner {
	/* Set by the caller: */
	pid_t target;
	struct heartbeat *heartbeat;	/* started; outlives the owner */
	/* The session was lost, and why; it is renewed now. Or NULL. */
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;

	struct gpreempt *g;
	struct gpreempt_session *session;	/* NULL: closed */
	struct shr_loss_budget losses;
	int over;		/* -errno: lost, and not renewed */
};

/*
 * All functions: the thread of the session. In the end, also after an error:
 * session_owner_close().
 */

/* The handle on the library alone. 0 or -errno. */
int session_owner_new(struct session_owner *o);
/* The handle, if there is none, and the session. 0 or -errno, see *err. */
int session_owner_open(struct session_owner *o, struct gpreempt_error *err);
/* All queues run, the target is not traced any more. */
void session_owner_close(struct session_owner *o);

/*
 * As gpreempt_session_dispatch(). A session that was lost is renewed: after
 * GPREEMPT_EVENT_LOST the queues are again as they were wanted. -ENOTCONN: it
 * was lost too often; or another -errno of the renewal. All later calls return
 * the same then: what was wanted must not be done without the caller's
 * knowledge.
 */
int session_owner_dispatch(struct session_owner *o);

/*
 * As gpreempt_session_suspend() and _resume(). A session that was lost is
 * renewed, and the call is made again: what the renewal has suspended is not
 * counted in *out.
 */
int session_owner_suspend(struct session_owner *o,
			  const struct gpreempt_filter *which,
			  struct gpreempt_outcome *out);
int session_owner_resume(struct session_owner *o,
			 const struct gpreempt_filter *which,
			 struct gpreempt_outcome *out);
/* As gpreempt_session_refresh(), after a renewal if it was lost. */
int session_owner_refresh(struct session_owner *o);

#endif
