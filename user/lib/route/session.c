// SPDX-License-Identifier: LGPL-2.1-or-later
/* Held by a debug session, which is opened again when another process ends it. */
#include "lib/route/route.h"
#include "lib/session/session.h"

static int open_session(struct gp_route *r)
{
	return gpreempt_session_open(r->g, r->pid, &r->keeper.session,
				     &r->error);
}

static int close_session(struct gp_route *r)
{
	return gpreempt_session_close(r->keeper.session);
}

static int session_fd(const struct gp_route *r)
{
	return gpreempt_session_fd(r->keeper.session);
}

static int dispatch(struct gp_route *r)
{
	return gp_keeper_dispatch(&r->keeper);
}

static void prepare(struct gp_route *r, const struct gpreempt_filter *which)
{
	gp_session_arm_sampler(r->keeper.session, which);
}

static int suspend(struct gp_route *r, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	int ret = gp_keeper_suspend(&r->keeper, which, out);

	/* When it did not come to the call. */
	gp_session_finish_sampler(r->keeper.session,
				  &(struct gpreempt_outcome){ 0 });
	return ret;
}

static int resume(struct gp_route *r, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	return gp_keeper_resume(&r->keeper, which, out);
}

static enum gpreempt_verdict verify(struct gp_route *r)
{
	return gpreempt_session_verify(r->keeper.session);
}

static int sample(struct gp_route *r, bool on)
{
	return gpreempt_session_sample_slots(r->keeper.session,
					     on ? GPREEMPT_SAMPLE_ON :
						  GPREEMPT_SAMPLE_OFF);
}

static void each_gpu(const struct gp_route *r,
		     void (*fn)(void *data, uint32_t gpu_id), void *data)
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
