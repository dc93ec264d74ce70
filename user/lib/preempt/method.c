// SPDX-License-Identifier: LGPL-2.1-or-later
/* Methods to hold a process, a session and a pause, as rows of one table. */
#include <unistd.h>

#include "lib/see/words.h"
#include "shared/util.h"
#include "method.h"
#include "session.h"

/* Method of a debug session, which is opened again when another process ends it. */

/* Losses in a row after which we give up. */
#define LOSSES 5
/* Time without a loss after which the earlier ones do not count. */
#define MEMORY_NS (10 * NSEC_PER_SEC)

static int open_session(struct gp_route *r)
{
	return gpreempt_session_open(r->g, r->pid, &r->keeper.session, &r->error);
}

static int close_session(struct gp_route *r)
{
	return gpreempt_session_close(r->keeper.session);
}

static bool is_lost(const struct gp_keeper *k, int code)
{
	return code == -ENOTCONN && k->session->error.reason == GPREEMPT_LOST;
}

/* Open the session again. It may be lost again while its queues are suspended. */
static int renew(struct gp_keeper *k)
{
	do {
		uint64_t now = shr_now_ns();

		if (now > k->last_ns + MEMORY_NS)
			k->losses = 0;
		k->last_ns = now;
		if (++k->losses > LOSSES)
			return k->over = gp_session_fail(k->session, -ENOTCONN, GPREEMPT_LOST,
							 "opening the session again");
		if (k->lost)
			k->lost(k->data, &k->session->error);
		k->over = gp_session_renew(k->session);
	} while (is_lost(k, k->over));
	return k->over;
}

static int session_dispatch(struct gp_route *r)
{
	struct gp_keeper *k = &r->keeper;
	int happened = 0, ret = k->over;

	if (ret)
		return ret;
	/*
	 * Dispatch once more after a renewal: it may have suspended queues, and a dispatch arms
	 * the session's timer.
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

static void session_prepare(struct gp_route *r, const struct gpreempt_filter *which)
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

static int session_suspend(struct gp_route *r, const struct gpreempt_filter *which,
			   struct gpreempt_outcome *out)
{
	int ret = change(&r->keeper, gpreempt_session_suspend, which, out);

	/* The call may not have been made: end the watch of the slots. */
	gp_session_finish_sampler(r->keeper.session, &(struct gpreempt_outcome){ 0 });
	return ret;
}

static int session_resume(struct gp_route *r, const struct gpreempt_filter *which,
			  struct gpreempt_outcome *out)
{
	return change(&r->keeper, gpreempt_session_resume, which, out);
}

/* Refresh a session: a function of the form that change() takes. */
static int refresh(struct gpreempt_session *s, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	(void)which;
	(void)out;
	return gp_session_refresh(s);
}

int gp_route_refresh(struct gp_route *r)
{
	return change(&r->keeper, refresh, NULL, NULL);
}

static enum gpreempt_verdict session_verify(struct gp_route *r, enum gpreempt_verified_by *by)
{
	return gpreempt_session_verify(r->keeper.session, by);
}

static int session_sample(struct gp_route *r, bool on)
{
	return gp_session_sample_slots(r->keeper.session,
				       on ? GPREEMPT_SAMPLE_ON : GPREEMPT_SAMPLE_OFF);
}

static void session_each_gpu(const struct gp_route *r, void (*fn)(void *data, uint32_t gpu_id),
			     void *data)
{
	const struct gpreempt_session *s = r->keeper.session;
	size_t i;

	for (i = 0; i < s->count; i++)
		fn(data, s->queues[i].gpu_id);
}

static const struct gp_route_ops session_ops = {
	.open = open_session,
	.close = close_session,
	.dispatch = session_dispatch,
	.prepare = session_prepare,
	.suspend = session_suspend,
	.resume = session_resume,
	.verify = session_verify,
	.sample = session_sample,
	.each_gpu = session_each_gpu,
};

/*
 * Held by a pause of the whole process. Between two calls nothing is attached to it:
 * its end is seen by a descriptor of the process.
 */

static int fail(struct gp_route *r, int code, enum gpreempt_reason reason, const char *step)
{
	return gp_error(&r->error, code, reason, r->pid, step);
}

static int read_view(struct gp_route *r)
{
	gpreempt_list_free(r->pause.view);
	r->pause.view = NULL;
	return gpreempt_view_read(r->g, r->pid, &r->pause.view, &r->error);
}

static int check(struct gp_route *r)
{
	static const char step[] = "looking at the process";
	int ret;

	ret = gpreempt_start_time(r->g, r->pid, &r->pause.start);
	if (ret)
		return fail(r, ret, ret == -ESRCH ? GPREEMPT_ENDED : GPREEMPT_SYSTEM, step);
	ret = gp_pause_check(r->g, r->pid, &r->error);
	if (ret)
		return ret;
	ret = read_view(r);
	/* The module tries for the lock of the process; the pause would wait for it. */
	if (ret == -EBUSY)
		return fail(r, ret, GPREEMPT_STUCK, "it holds a lock of the driver");
	/* Another program has paused it. */
	if (!ret && gp_view_paused(r->pause.view))
		ret = fail(r, -EBUSY, GPREEMPT_PAUSED, step);
	return ret;
}

int gp_route_pause_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	struct gp_route r = { .g = g, .pid = pid };
	int ret = check(&r);

	gpreempt_list_free(r.pause.view);
	if (ret)
		*err = r.error;
	return ret;
}

static void free_pause(struct gp_route *r)
{
	gp_sampler_stop(r->pause.sampler);
	gpreempt_list_free(r->pause.view);
	gp_pause_not_ready(&r->pause.ready);
	close(r->pause.ready.process);
}

static int open_pause(struct gp_route *r)
{
	int ret;

	/* The descriptor comes first: then it is of the process of that time. */
	ret = r->g->ops->open_process(r->g->be, r->pid);
	if (ret < 0)
		return fail(r, ret, ret == -ESRCH ? GPREEMPT_NO_PROCESS : GPREEMPT_SYSTEM,
			    "opening the process");
	r->pause.ready.process = ret;
	ret = check(r);
	if (ret)
		free_pause(r);
	return ret;
}

static int unpause(struct gp_route *r, struct gp_pause_report *report)
{
	int ret = gp_unpause(r->g, r->pid, r->pause.start, report, &r->error);

	if (report)
		r->pause.return_ns = report->return_ns;
	if (!ret || ret == -ESRCH)
		r->pause.paused = false;
	return ret;
}

static int close_pause(struct gp_route *r)
{
	int ret = r->pause.paused ? unpause(r, NULL) : 0;

	free_pause(r);
	return ret == -ESRCH ? 0 : ret;
}

static int pause_dispatch(struct gp_route *r)
{
	if (!shr_readable(r->pause.ready.process, 0))
		return 0;
	r->pause.paused = false;
	fail(r, -ESRCH, GPREEMPT_ENDED, "looking at the process");
	return GPREEMPT_EVENT_ENDED;
}

/* Read the queues: the outcome counts those of this view, and the sampler watches them. */
static void pause_prepare(struct gp_route *r, const struct gpreempt_filter *which)
{
	const struct gpreempt_view *view;
	uint32_t ids[GP_MAX_IDS];
	size_t n;

	(void)which;
	if (!r->pause.paused)
		gp_pause_ready(r->g, &r->pause.ready);
	if (read_view(r) || !r->pause.sampler || r->pause.paused)
		return;
	view = r->pause.view;
	for (n = 0; n < view->count && n < GP_MAX_IDS; n++)
		ids[n] = view->queues[n].qid;
	gp_sampler_arm(r->pause.sampler, ids, n, true);
}

static size_t count_queues(const struct gp_route *r)
{
	return r->pause.view ? r->pause.view->count : 0;
}

/*
 * Pause the process. After an error the driver has restored the queues, or not: then it is paused
 * until an unpause succeeds, at the latest by its guardian. A process that another program had
 * paused is paused once now, as before.
 */
static int pause_it(struct gp_route *r, struct gp_pause_report *report)
{
	int ret = gp_pause(r->g, r->pid, r->pause.start, &r->pause.ready, report, &r->error);

	r->pause.return_ns = report->return_ns;
	if (!ret && report->before == GP_PAUSED_YES)
		return fail(r, -EBUSY, GPREEMPT_PAUSED, "pause");
	r->pause.paused = !ret;
	if (ret && report->before == GP_PAUSED_NO) {
		int undo = gp_unpause(r->g, r->pid, r->pause.start, NULL, NULL);

		r->pause.paused = undo && undo != -ESRCH;
	}
	return ret;
}

static int pause_suspend(struct gp_route *r, const struct gpreempt_filter *which,
			 struct gpreempt_outcome *out)
{
	struct gp_pause_report report = { 0 };
	int ret = 0;

	out->requested = count_queues(r);
	if (which && !gp_filter_is_all(which))
		ret = fail(r, -EINVAL, GPREEMPT_PAUSE_WHOLE, "pause");
	else if (!r->pause.paused)
		ret = pause_it(r, &report);
	out->ioctl_ns = report.ioctl_ns;
	gp_sampler_finish(r->pause.sampler, ret ? UINT64_MAX : report.entry_ns, out);
	out->done = ret ? 0 : out->requested;
	return ret;
}

static int pause_resume(struct gp_route *r, const struct gpreempt_filter *which,
			struct gpreempt_outcome *out)
{
	struct gp_pause_report report = { .before = GP_PAUSED_UNKNOWN };
	int ret;

	out->requested = count_queues(r);
	if (which && !gp_filter_is_all(which))
		return fail(r, -EINVAL, GPREEMPT_PAUSE_WHOLE, "unpause");
	ret = r->pause.paused ? unpause(r, &report) : 0;
	out->ioctl_ns = report.ioctl_ns;
	if (ret)
		return ret;
	out->done = out->requested;
	if (report.before == GP_PAUSED_NO)
		return fail(r, -ENOTCONN, GPREEMPT_UNPAUSED, "unpause");
	return 0;
}

static enum gpreempt_verdict pause_verify(struct gp_route *r, enum gpreempt_verified_by *by)
{
	*by = GPREEMPT_BY_NOTHING;
	return r->pause.paused ? gp_pause_verify(r->g, r->pid, NULL, by) : GPREEMPT_NOT_CHECKED;
}

static int pause_sample(struct gp_route *r, bool on)
{
	return gp_sampler_switch(&r->pause.sampler, on, r->g, r->pid, &r->error);
}

static void pause_each_gpu(const struct gp_route *r, void (*fn)(void *data, uint32_t gpu_id),
			   void *data)
{
	size_t i;

	for (i = 0; i < count_queues(r); i++)
		fn(data, r->pause.view->queues[i].gpu_id);
}

static const struct gp_route_ops pause_ops = {
	.open = open_pause,
	.close = close_pause,
	.dispatch = pause_dispatch,
	.prepare = pause_prepare,
	.suspend = pause_suspend,
	.resume = pause_resume,
	.verify = pause_verify,
	.sample = pause_sample,
	.each_gpu = pause_each_gpu,
};

const struct gp_route_ops *const gp_routes[GPREEMPT_ROUTES] = {
	[GPREEMPT_ROUTE_DEBUG] = &session_ops,
	[GPREEMPT_ROUTE_PAUSE] = &pause_ops,
};
