// SPDX-License-Identifier: LGPL-2.1-or-later
/* A session that is opened again when another process has ended it. */
#include "lib/session/keeper.h"
#include "lib/session/session.h"
#include "shared/clock.h"

/* More losses than that in short order are too many. */
#define LOSSES 5
/* Losses are forgotten when there was none for so long. */
#define MEMORY_NS (10 * NSEC_PER_SEC)

/* False: it was lost too often. */
static bool spend_loss(struct gp_keeper *k, uint64_t now)
{
	if (now > k->last_ns + MEMORY_NS)
		k->losses = 0;
	k->last_ns = now;
	return ++k->losses <= LOSSES;
}

static bool is_lost(const struct gp_keeper *k, int code)
{
	return code == -ENOTCONN && k->session->error.reason == GPREEMPT_LOST;
}

/* It may be lost again while its queues are suspended. */
static int renew(struct gp_keeper *k)
{
	do {
		if (!spend_loss(k, shr_now_ns()))
			return k->over =
				       gp_session_fail(k->session, -ENOTCONN,
						       GPREEMPT_LOST,
						       "opening the session again");
		if (k->lost)
			k->lost(k->data, &k->session->error);
		k->over = gpreempt_session_renew(k->session, NULL);
	} while (is_lost(k, k->over));
	return k->over;
}

int gp_keeper_dispatch(struct gp_keeper *k)
{
	int happened = 0, ret = k->over;

	if (ret)
		return ret;
	/*
	 * Once more after a renewal: it may have suspended queues, and a
	 * dispatch arms the session's timer.
	 */
	do {
		ret = gpreempt_session_dispatch(k->session);
		if (ret < 0)
			return ret;
		happened |= ret;
		if ((ret & GPREEMPT_EVENT_ENDED) ||
		    !(ret & GPREEMPT_EVENT_LOST))
			return happened;
		ret = renew(k);
	} while (!ret);
	return ret;
}

static int change(struct gp_keeper *k,
		  int (*call)(struct gpreempt_session *s,
			      const struct gpreempt_filter *which,
			      struct gpreempt_outcome *out),
		  const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	int ret = k->over;

	while (!ret) {
		ret = call(k->session, which, out);
		/* A session that is over for another reason stays so. */
		if (!is_lost(k, ret))
			return ret;
		ret = renew(k);
	}
	return ret;
}

int gp_keeper_suspend(struct gp_keeper *k, const struct gpreempt_filter *which,
		      struct gpreempt_outcome *out)
{
	return change(k, gpreempt_session_suspend, which, out);
}

int gp_keeper_resume(struct gp_keeper *k, const struct gpreempt_filter *which,
		     struct gpreempt_outcome *out)
{
	return change(k, gpreempt_session_resume, which, out);
}

/* Of the form that change() takes. */
static int refresh(struct gpreempt_session *s,
		   const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	(void)which;
	(void)out;
	return gpreempt_session_refresh(s);
}

int gp_keeper_refresh(struct gp_keeper *k)
{
	return change(k, refresh, NULL, NULL);
}
