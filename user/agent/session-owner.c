// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "agent/session-owner.h"
#include "shared/clock.h"

int session_owner_new(struct session_owner *o)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = heartbeat_busy,
		.data = o->heartbeat,
	};

	return gpreempt_new(&options, &o->g);
}

int session_owner_open(struct session_owner *o, struct gpreempt_error *err)
{
	int ret = o->g ? 0 : session_owner_new(o);

	if (!ret)
		return gpreempt_session_open(o->g, o->target, &o->session,
					     err);
	*err = (struct gpreempt_error){
		.code = ret,
		.reason = GPREEMPT_SYSTEM,
		.pid = o->target,
		.step = "setting up",
	};
	return ret;
}

void session_owner_close(struct session_owner *o)
{
	gpreempt_session_close(o->session);
	o->session = NULL;
	gpreempt_free(o->g);
	o->g = NULL;
}

static bool is_lost(const struct session_owner *o, int code)
{
	return code == -ENOTCONN &&
	       gpreempt_session_error(o->session)->reason == GPREEMPT_LOST;
}

/*
 * The session was lost: open it again, unless that happens too often. It may
 * be lost again while its queues are suspended.
 */
static int renew(struct session_owner *o)
{
	do {
		o->over = -ENOTCONN;
		if (!shr_loss_budget_spend(&o->losses, shr_now_ns()))
			return o->over;
		if (o->lost)
			o->lost(o->data, gpreempt_session_error(o->session));
		o->over = gpreempt_session_renew(o->session, NULL);
	} while (is_lost(o, o->over));
	return o->over;
}

int session_owner_dispatch(struct session_owner *o)
{
	int happened = 0, ret = o->over;

	if (ret)
		return ret;
	/*
	 * Once more after a renewal: it may have suspended queues, and a
	 * dispatch arms the session's timer.
	 */
	do {
		ret = gpreempt_session_dispatch(o->session);
		if (ret < 0)
			return ret;
		happened |= ret;
		if ((ret & GPREEMPT_EVENT_ENDED) ||
		    !(ret & GPREEMPT_EVENT_LOST))
			return happened;
		ret = renew(o);
	} while (!ret);
	return ret;
}

static int change(struct session_owner *o,
		  int (*call)(struct gpreempt_session *s,
			      const struct gpreempt_filter *which,
			      struct gpreempt_outcome *out),
		  const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	int ret = o->over;

	while (!ret) {
		ret = call(o->session, which, out);
		/* A session that is over for another reason stays so. */
		if (!is_lost(o, ret))
			return ret;
		ret = renew(o);
	}
	return ret;
}

int session_owner_suspend(struct session_owner *o,
			  const struct gpreempt_filter *which,
			  struct gpreempt_outcome *out)
{
	return change(o, gpreempt_session_suspend, which, out);
}

int session_owner_resume(struct session_owner *o,
			 const struct gpreempt_filter *which,
			 struct gpreempt_outcome *out)
{
	return change(o, gpreempt_session_resume, which, out);
}

int session_owner_refresh(struct session_owner *o)
{
	int ret = o->over;

	while (!ret) {
		ret = gpreempt_session_refresh(o->session);
		if (!is_lost(o, ret))
			return ret;
		ret = renew(o);
	}
	return ret;
}
