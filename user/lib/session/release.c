// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Releasing the queues that their process destroys, and nothing more.
 *
 * A process could use that to run: it makes queues and destroys them, or names another queue
 * than the one that it destroys, or has a signal interrupt the driver. So a queue that was
 * released and is still there is given back to the driver for suspension: the driver refuses
 * one that is being destroyed (suspend_single_queue() in amdkfd/kfd_device_queue_manager.c),
 * and suspends any other. At first that has TRUST_NS time; of a process that has deceived us,
 * or makes queues, it is the next thing that is done. All time that queues run although they
 * are to be suspended is counted, whatever the reason, and the process pays for it when it has
 * made queues while it was held, or deceived us: above a part of the last ten seconds, it waits
 * a multiple of what the last release took before the next.
 *
 * One by one, each queue costs a look, two calls of the driver and two run
 * lists. A process that destroys MANY queues which were there when they were
 * suspended, and makes none, is ending: then all are released together, until
 * one of these is not so any more, or the budget is used up.
 */
#include "lib/session/session.h"
#include "shared/clock.h"

#define MANY 4
/* No host is so slow that the driver takes longer to destroy a queue. */
#define LONG_NS (200 * NSEC_PER_MSEC)
/* A process that never deceived us: its queue is gone by then, or it does now. */
#define TRUST_NS (20 * NSEC_PER_MSEC)
/* What a look and two calls of the driver for nothing cost us, at least. */
#define RETURN_NS (200 * NSEC_PER_USEC)

/*
 * Suspend again what is not being destroyed; the rest stays marked. Returns how
 * many were suspended, or -errno.
 */
static int take_back(struct gpreempt_session *s)
{
	size_t i;
	int ret, n = 0;

	/* A GPU that hangs is not asked again. */
	if (s->gpu_hung)
		return 0;
	for (i = 0; i < s->count; i++) {
		n += s->queues[i].being_destroyed;
		s->queues[i].being_destroyed = false;
	}
	ret = gp_session_apply(s);
	if (ret)
		return ret;
	for (i = 0; i < s->count; i++) {
		struct gpreempt_session_queue *queue = &s->queues[i];

		queue->being_destroyed = queue->wanted && !queue->held &&
					 queue->result == GPREEMPT_RESULT_REFUSED;
		n -= queue->being_destroyed;
	}
	return n > 0 ? n : 0;
}

/* The others too. Returns 0 or -errno. */
static int release_all(struct gpreempt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count && n < GP_MAX_IDS; i++) {
		if (!s->queues[i].held)
			continue;
		s->queues[i].being_destroyed = true;
		s->ids[n++] = s->queues[i].qid;
	}
	s->release.all = true;
	s->release.left = s->count;
	return gp_session_resume_ids(s, n);
}

static bool is_ending(struct gpreempt_session *s, uint64_t now)
{
	const struct gp_release *r = &s->release;

	return r->ended >= MANY && now >= r->quiet_until && now >= r->paced_until &&
	       gp_session_any_held(s) && !gp_release_over_budget(s, now);
}

/* What was not being destroyed is suspended again, and that has its price. */
static int confirm(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	int back = take_back(s);
	uint64_t now;

	r->confirm_at = 0;
	if (back <= 0)
		return back;
	now = shr_now_ns();
	r->returned += back;
	r->ended = 0;
	r->suspect_until = now + GP_METER_WINDOW;
	gp_release_pace(s, now - r->start + RETURN_NS, now);
	return 0;
}

int gp_release(struct gpreempt_session *s, size_t count)
{
	struct gp_release *r = &s->release;
	int ret;

	r->start = shr_now_ns();
	r->count += count;
	ret = gp_session_resume_ids(s, count);
	/* Each call of the driver delays the thread that destroys. */
	r->confirm_at = r->start + TRUST_NS;
	if (!ret && r->start < r->suspect_until)
		ret = confirm(s);
	return ret ? ret : GPREEMPT_EVENT_DESTROY;
}

/* All run: is it still so that the process is ending? */
static int check_all(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	bool fewer = s->count < r->left;

	r->left = s->count;
	if (now >= r->quiet_until && !gp_release_over_budget(s, now)) {
		if (fewer)
			gp_session_look_fast(s);
		if (now < s->fast_until)
			return 0;
	}
	r->all = false;
	r->ended = 0;
	return take_back(s);
}

/* The queues that were released one by one are gone. */
static void all_gone(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	uint64_t took = now - r->start;

	if (gp_release_over_budget(s, now) && (now < r->suspect_until || took > LONG_NS))
		gp_release_pace(s, took, now);
	r->start = 0;
}

/*
 * Is a queue that was released still there? The driver's sysfs knows without
 * the locks that the thread needs which destroys it.
 */
static bool any_gone(const struct gpreempt_session *s)
{
	char text[32];
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed &&
		    gp_read_small(s->g, text, sizeof(text), GP_SYSFS_PROC "/%d/queues/%u/gpuid",
				  s->kfd.pid, s->queues[i].qid) < 0)
			return true;
	return false;
}

/* Refresh, and count old queues that are gone. Returns 0 or -errno. */
static int refresh(struct gpreempt_session *s)
{
	uint32_t old[GP_MAX_IDS];
	size_t i, n = 0;
	int ret;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed &&
		    !s->release.young[s->queues[i].qid % GP_MAX_IDS])
			old[n++] = s->queues[i].qid;
	ret = gpreempt_session_refresh(s);
	for (i = 0; !ret && i < n; i++) {
		const struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, old[i]);
		s->release.ended += !queue || !queue->being_destroyed;
	}
	return ret;
}

/* Of queues that were released one by one. Returns 0 or -errno. */
static int check_some(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	int ret = 0;

	/* Interrupted after all, or never being destroyed. */
	if (gp_session_any_destroyed(s) &&
	    (r->confirm_at ? now >= r->confirm_at : now >= s->fast_until))
		ret = confirm(s);
	if (ret || gp_session_any_destroyed(s))
		return ret;
	if (r->start)
		all_gone(s, now);
	return is_ending(s, now) ? release_all(s) : 0;
}

int gp_release_check(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	size_t before = s->count;
	int ret;

	if (!gp_session_any_destroyed(s)) {
		if (now >= s->fast_until)
			r->ended = 0;
		r->all = false;
		return 0;
	}
	if (!r->all && now < s->fast_until && (!r->confirm_at || now < r->confirm_at) &&
	    !any_gone(s))
		return 0;
	ret = refresh(s);
	if (ret)
		return ret;
	now = shr_now_ns();
	ret = r->all ? check_all(s, now) : check_some(s, now);
	if (ret < 0)
		return ret;
	return s->count != before || !gp_session_any_destroyed(s) ? GPREEMPT_EVENT_QUEUES : 0;
}
