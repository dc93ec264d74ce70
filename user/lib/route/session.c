// SPDX-License-Identifier: LGPL-2.1-or-later
/* Held by a debug session, which is opened again when another process ends it. */
#include "lib/route/route.h"
#include "lib/session/session.h"
#include "shared/clock.h"

/* More losses than that in short order are too many. */
#define LOSSES 5
/* Losses are forgotten when there was none for so long. */
#define MEMORY_NS (10 * NSEC_PER_SEC)

static int open_session(struct gp_route *r)
{
	return gpreempt_session_open(r->g, r->pid, &r->keeper.session, &r->error);
}

static int close_session(struct gp_route *r)
{
	return gpreempt_session_close(r->keeper.session);
}

static int session_fd(const struct gp_route *r)
{
	return gpreempt_session_fd(r->keeper.session);
}

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
			return k->over = gp_session_fail(k->session, -ENOTCONN, GPREEMPT_LOST,
							 "opening the session again");
		if (k->lost)
			k->lost(k->data, &k->session->error);
		k->over = gpreempt_session_renew(k->session, NULL);
	} while (is_lost(k, k->over));
	return k->over;
}

static int dispatch(struct gp_route *r)
{
	struct gp_keeper *k = &r->keeper;
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
		if ((ret & GPREEMPT_EVENT_ENDED) || !(ret & GPREEMPT_EVENT_LOST))
			return happened;
		ret = renew(k);
	} while (!ret);
	return ret;
}

static void prepare(struct gp_route *r, const struct gpreempt_filter *which)
{
	gp_session_arm_sampler(r->keeper.session, which);
}

static int change(struct gp_keeper *k,
		  int (*call)(struct gpreempt_session *s, const struct gpreempt_filter *which,
			      struct gpreempt_outcome *out),
		  const struct gpreempt_filter *which, struct gpreempt_outcome *out)
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

static int suspend(struct gp_route *r, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	int ret = change(&r->keeper, gpreempt_session_suspend, which, out);

	/* When it did not come to the call. */
	gp_session_finish_sampler(r->keeper.session, &(struct gpreempt_outcome){ 0 });
	return ret;
}

static int resume(struct gp_route *r, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	return change(&r->keeper, gpreempt_session_resume, which, out);
}

/* Of the form that change() takes. */
static int refresh(struct gpreempt_session *s, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	(void)which;
	(void)out;
	return gpreempt_session_refresh(s);
}

int gp_route_refresh(struct gp_route *r)
{
	return change(&r->keeper, refresh, NULL, NULL);
}

static enum gpreempt_verdict verify(struct gp_route *r, enum gpreempt_verified_by *by)
{
	return gpreempt_session_verify(r->keeper.session, by);
}

static int sample(struct gp_route *r, bool on)
{
	return gpreempt_session_sample_slots(r->keeper.session,
					     on ? GPREEMPT_SAMPLE_ON : GPREEMPT_SAMPLE_OFF);
}

static void each_gpu(const struct gp_route *r, void (*fn)(void *data, uint32_t gpu_id), void *data)
{
	const struct gpreempt_session_queue *queues;
	size_t i, count;

	queues = gpreempt_session_queues(r->keeper.session, &count);
	for (i = 0; i < count; i++)
		fn(data, queues[i].gpu_id);
}

static const struct gpreempt_error *session_error(const struct gp_route *r)
{
	return gpreempt_session_error(r->keeper.session);
}

const struct gp_route_ops gp_route_session = {
	.open = open_session,
	.close = close_session,
	.fd = session_fd,
	.dispatch = dispatch,
	.prepare = prepare,
	.suspend = suspend,
	.resume = resume,
	.verify = verify,
	.sample = sample,
	.each_gpu = each_gpu,
	.error = session_error,
};

const struct gp_route_ops *const gp_routes[GPREEMPT_ROUTES] = {
	[GPREEMPT_ROUTE_DEBUG] = &gp_route_session,
	[GPREEMPT_ROUTE_PAUSE] = &gp_route_pause,
};
