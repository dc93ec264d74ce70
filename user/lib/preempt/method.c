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

static int open_session(struct gp_method *m)
{
	return gpreempt_session_open(m->g, m->pid, &m->keeper.session, &m->error);
}

static int close_session(struct gp_method *m)
{
	return gpreempt_session_close(m->keeper.session);
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

static int session_dispatch(struct gp_method *m)
{
	struct gp_keeper *k = &m->keeper;
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

static void session_prepare(struct gp_method *m, const struct gpreempt_filter *which)
{
	gp_session_arm_sampler(m->keeper.session, which);
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

static int session_suspend(struct gp_method *m, const struct gpreempt_filter *which,
			   struct gpreempt_outcome *out)
{
	int ret = change(&m->keeper, gpreempt_session_suspend, which, out);

	/* The call may not have been made: end the watch of the slots. */
	gp_session_finish_sampler(m->keeper.session, &(struct gpreempt_outcome){ 0 });
	return ret;
}

static int session_resume(struct gp_method *m, const struct gpreempt_filter *which,
			  struct gpreempt_outcome *out)
{
	return change(&m->keeper, gpreempt_session_resume, which, out);
}

/* Refresh a session: a function of the form that change() takes. */
static int refresh(struct gpreempt_session *s, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	(void)which;
	(void)out;
	return gp_session_refresh(s);
}

int gp_method_refresh(struct gp_method *m)
{
	return change(&m->keeper, refresh, NULL, NULL);
}

static enum gpreempt_verdict session_verify(struct gp_method *m, enum gpreempt_verified_by *by)
{
	return gpreempt_session_verify(m->keeper.session, by);
}

static int session_sample(struct gp_method *m, bool on)
{
	return gp_session_sample_slots(m->keeper.session,
				       on ? GPREEMPT_SAMPLE_ON : GPREEMPT_SAMPLE_OFF);
}

static void session_each_gpu(const struct gp_method *m, void (*fn)(void *data, uint32_t gpu_id),
			     void *data)
{
	const struct gpreempt_session *s = m->keeper.session;
	size_t i;

	for (i = 0; i < s->count; i++)
		fn(data, s->queues[i].gpu_id);
}

static const struct gp_method_ops session_ops = {
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

static int fail(struct gp_method *m, int code, enum gpreempt_reason reason, const char *step)
{
	return gp_error(&m->error, code, reason, m->pid, step);
}

static int read_view(struct gp_method *m)
{
	gpreempt_list_free(m->pause.view);
	m->pause.view = NULL;
	return gpreempt_view_read(m->g, m->pid, &m->pause.view, &m->error);
}

static int check(struct gp_method *m)
{
	static const char step[] = "looking at the process";
	int ret;

	ret = gpreempt_start_time(m->g, m->pid, &m->pause.start);
	if (ret)
		return fail(m, ret, ret == -ESRCH ? GPREEMPT_ENDED : GPREEMPT_SYSTEM, step);
	ret = gp_pause_check(m->g, m->pid, &m->error);
	if (ret)
		return ret;
	ret = read_view(m);
	/* The module tries for the lock of the process; the pause would wait for it. */
	if (ret == -EBUSY)
		return fail(m, ret, GPREEMPT_STUCK, "it holds a lock of the driver");
	/* Another program has paused it. */
	if (!ret && gp_view_paused(m->pause.view))
		ret = fail(m, -EBUSY, GPREEMPT_PAUSED, step);
	return ret;
}

int gp_method_pause_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	struct gp_method m = { .g = g, .pid = pid };
	int ret = check(&m);

	gpreempt_list_free(m.pause.view);
	if (ret)
		*err = m.error;
	return ret;
}

static void free_pause(struct gp_method *m)
{
	gp_sampler_stop(m->pause.sampler);
	gpreempt_list_free(m->pause.view);
	gp_pause_not_ready(&m->pause.ready);
	close(m->pause.ready.process);
}

static int open_pause(struct gp_method *m)
{
	int ret;

	/* The descriptor comes first: then it is of the process of that time. */
	ret = m->g->ops->open_process(m->g->be, m->pid);
	if (ret < 0)
		return fail(m, ret, ret == -ESRCH ? GPREEMPT_NO_PROCESS : GPREEMPT_SYSTEM,
			    "opening the process");
	m->pause.ready.process = ret;
	ret = check(m);
	if (ret)
		free_pause(m);
	return ret;
}

static int unpause(struct gp_method *m, struct gp_pause_report *report)
{
	int ret = gp_unpause(m->g, m->pid, m->pause.start, report, &m->error);

	if (report)
		m->pause.return_ns = report->return_ns;
	if (!ret || ret == -ESRCH)
		m->pause.paused = false;
	return ret;
}

static int close_pause(struct gp_method *m)
{
	int ret = m->pause.paused ? unpause(m, NULL) : 0;

	free_pause(m);
	return ret == -ESRCH ? 0 : ret;
}

static int pause_dispatch(struct gp_method *m)
{
	if (!shr_readable(m->pause.ready.process, 0))
		return 0;
	m->pause.paused = false;
	fail(m, -ESRCH, GPREEMPT_ENDED, "looking at the process");
	return GPREEMPT_EVENT_ENDED;
}

/* Read the queues: the outcome counts those of this view, and the sampler watches them. */
static void pause_prepare(struct gp_method *m, const struct gpreempt_filter *which)
{
	const struct gpreempt_view *view;
	uint32_t ids[GP_MAX_IDS];
	size_t n;

	(void)which;
	if (!m->pause.paused)
		gp_pause_ready(m->g, &m->pause.ready);
	if (read_view(m) || !m->pause.sampler || m->pause.paused)
		return;
	view = m->pause.view;
	for (n = 0; n < view->count && n < GP_MAX_IDS; n++)
		ids[n] = view->queues[n].qid;
	gp_sampler_arm(m->pause.sampler, ids, n, true);
}

static size_t count_queues(const struct gp_method *m)
{
	return m->pause.view ? m->pause.view->count : 0;
}

/*
 * Pause the process. After an error the driver has restored the queues, or not: then it is paused
 * until an unpause succeeds, at the latest by its guardian. A process that another program had
 * paused is paused once now, as before.
 */
static int pause_it(struct gp_method *m, struct gp_pause_report *report)
{
	int ret = gp_pause(m->g, m->pid, m->pause.start, &m->pause.ready, report, &m->error);

	m->pause.return_ns = report->return_ns;
	if (!ret && report->before == GP_PAUSED_YES)
		return fail(m, -EBUSY, GPREEMPT_PAUSED, "pause");
	m->pause.paused = !ret;
	if (ret && report->before == GP_PAUSED_NO) {
		int undo = gp_unpause(m->g, m->pid, m->pause.start, NULL, NULL);

		m->pause.paused = undo && undo != -ESRCH;
	}
	return ret;
}

static int pause_suspend(struct gp_method *m, const struct gpreempt_filter *which,
			 struct gpreempt_outcome *out)
{
	struct gp_pause_report report = { 0 };
	int ret = 0;

	out->requested = count_queues(m);
	if (which && !gp_filter_is_all(which))
		ret = fail(m, -EINVAL, GPREEMPT_PAUSE_WHOLE, "pause");
	else if (!m->pause.paused)
		ret = pause_it(m, &report);
	out->ioctl_ns = report.ioctl_ns;
	gp_sampler_finish(m->pause.sampler, ret ? UINT64_MAX : report.entry_ns, out);
	out->done = ret ? 0 : out->requested;
	return ret;
}

static int pause_resume(struct gp_method *m, const struct gpreempt_filter *which,
			struct gpreempt_outcome *out)
{
	struct gp_pause_report report = { .before = GP_PAUSED_UNKNOWN };
	int ret;

	out->requested = count_queues(m);
	if (which && !gp_filter_is_all(which))
		return fail(m, -EINVAL, GPREEMPT_PAUSE_WHOLE, "unpause");
	ret = m->pause.paused ? unpause(m, &report) : 0;
	out->ioctl_ns = report.ioctl_ns;
	if (ret)
		return ret;
	out->done = out->requested;
	if (report.before == GP_PAUSED_NO)
		return fail(m, -ENOTCONN, GPREEMPT_UNPAUSED, "unpause");
	return 0;
}

static enum gpreempt_verdict pause_verify(struct gp_method *m, enum gpreempt_verified_by *by)
{
	*by = GPREEMPT_BY_NOTHING;
	return m->pause.paused ? gp_pause_verify(m->g, m->pid, NULL, by) : GPREEMPT_NOT_CHECKED;
}

static int pause_sample(struct gp_method *m, bool on)
{
	return gp_sampler_switch(&m->pause.sampler, on, m->g, m->pid, &m->error);
}

static void pause_each_gpu(const struct gp_method *m, void (*fn)(void *data, uint32_t gpu_id),
			   void *data)
{
	size_t i;

	for (i = 0; i < count_queues(m); i++)
		fn(data, m->pause.view->queues[i].gpu_id);
}

static const struct gp_method_ops pause_ops = {
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

const struct gp_method_ops *const gp_methods[GPREEMPT_METHODS] = {
	[GPREEMPT_METHOD_DEBUG] = &session_ops,
	[GPREEMPT_METHOD_PAUSE] = &pause_ops,
};
