// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Releasing the queues that their process destroys, and nothing more.
 *
 * A process could use that to run: it makes queues and destroys them, or names
 * another queue than the one that it destroys, or has a signal interrupt the
 * driver. So a queue that was released is given back to the driver at once for
 * suspension: the driver refuses one that is being destroyed
 * (suspend_single_queue() in amdkfd/kfd_device_queue_manager.c), and suspends
 * any other. All time that queues run although they are to be suspended is
 * counted, whatever the reason, and the process pays for it when it has made
 * queues while it was held, or deceived us: above a part of the last ten seconds,
 * it waits a multiple of what the last release took before the next.
 *
 * One by one, each queue costs a look, two calls of the driver and two run
 * lists. A process that destroys MANY queues which were there when they were
 * suspended, and makes none, is ending: then all are released together, until
 * one of these is not so any more, or the budget is used up.
 */
#include "lib/session.h"
#include "shared/clock.h"

#define MANY 4
/*
 * Percent of the window, and how many times as long the process then waits: what
 * runs in the rest of the window adds up to less than a tenth of it.
 */
#define SUSPECT_PERCENT 5
#define SUSPECT_PACE 24
#define MOST_PERCENT 9
#define MOST_PACE 100
/* No host is so slow that the driver takes longer to destroy a queue. */
#define LONG_NS (200 * NSEC_PER_MSEC)
/* What a look and two calls of the driver for nothing cost us, at least. */
#define RETURN_NS (200 * NSEC_PER_USEC)
/* Without a new queue for so long, a process may be ending. */
#define QUIET_NS NSEC_PER_SEC

/* Which queues are young: were made while their process was held. */
static bool *young(struct gpreempt_session *s, uint32_t qid)
{
	return &s->release.young[qid % GP_MAX_IDS];
}

void gp_release_note_new(struct gpreempt_session *s, uint32_t qid)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	*young(s, qid) = true;
	r->made++;
	r->ended -= r->ended > 0;
	r->quiet_until = now + QUIET_NS;
	r->suspect_until = now + gp_meter_window(&r->ran);
	if (r->all)
		gp_session_hurry(s);
}

void gp_release_note_old(struct gpreempt_session *s, uint32_t qid)
{
	*young(s, qid) = false;
}

/* Does a queue run that is to be suspended? */
static bool any_runs(const struct gpreempt_session *s)
{
	size_t i;

	if (s->state != GP_SESSION_OPEN && s->state != GP_SESSION_LOST)
		return false;
	for (i = 0; i < s->count; i++)
		if (s->queues[i].wanted && !s->queues[i].held)
			return true;
	return false;
}

void gp_release_count(struct gpreempt_session *s)
{
	gp_meter_set(&s->release.ran, any_runs(s), shr_now_ns());
}

static bool ran_percent(struct gpreempt_session *s, unsigned int percent,
			uint64_t now)
{
	struct gp_meter *ran = &s->release.ran;

	return gp_meter_recent(ran, now) >=
	       gp_meter_window(ran) / 100 * percent;
}

static bool over_budget(struct gpreempt_session *s, uint64_t now)
{
	return ran_percent(s, now < s->release.suspect_until ?
			      SUSPECT_PERCENT : MOST_PERCENT, now);
}

/* No queue is released for a while: that is how long it has run since then. */
static void pace(struct gpreempt_session *s, uint64_t ns, uint64_t now)
{
	struct gp_release *r = &s->release;
	uint64_t most = gp_meter_window(&r->ran), pause;
	uint64_t times = ran_percent(s, MOST_PERCENT, now) ? MOST_PACE :
							     SUSPECT_PACE;

	pause = ns < most / times ? ns * times : most;
	if (r->paced_until < now + pause)
		r->paced_until = now + pause;
}

/*
 * Suspend again what is not being destroyed; the rest stays marked. Returns how
 * many were suspended, or -errno.
 */
static int take_back(struct gpreempt_session *s)
{
	size_t i;
	int ret, n = 0;

	/* A GPU that hangs is not asked again. */
	if (s->hung)
		return 0;
	for (i = 0; i < s->count; i++) {
		n += s->queues[i].leaving;
		s->queues[i].leaving = false;
	}
	ret = gp_session_apply(s);
	if (ret)
		return ret;
	for (i = 0; i < s->count; i++) {
		struct gpreempt_session_queue *queue = &s->queues[i];

		queue->leaving = queue->wanted && !queue->held &&
				 queue->result == GPREEMPT_RESULT_REFUSED;
		n -= queue->leaving;
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
		s->queues[i].leaving = true;
		s->ids[n++] = s->queues[i].qid;
	}
	s->release.all = true;
	s->release.left = s->count;
	return gp_session_let_go(s, n);
}

/* Destroyed queues that were there when their process was suspended. */
static void count_old(struct gpreempt_session *s, const uint32_t *qids,
		      size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, qids[i]);
		if (queue && queue->leaving && !*young(s, qids[i]))
			s->release.ended++;
	}
}

static bool is_ending(struct gpreempt_session *s, uint64_t now)
{
	const struct gp_release *r = &s->release;

	return r->ended >= MANY && now >= r->quiet_until &&
	       now >= r->paced_until && !over_budget(s, now);
}

int gp_release(struct gpreempt_session *s, size_t count)
{
	struct gp_release *r = &s->release;
	uint32_t qids[GP_MAX_IDS];
	uint64_t start = shr_now_ns(), now;
	int ret, back;
	size_t i;

	for (i = 0; i < count; i++)
		qids[i] = s->ids[i];
	r->start = start;
	r->count += count;
	ret = gp_session_let_go(s, count);
	if (ret)
		return ret;
	back = take_back(s);
	if (back < 0)
		return back;
	now = shr_now_ns();
	if (back) {
		r->returned += back;
		r->suspect_until = now + gp_meter_window(&r->ran);
		pace(s, now - start + RETURN_NS, now);
	}
	count_old(s, qids, count);
	if (is_ending(s, now))
		ret = release_all(s);
	return ret ? ret : GPREEMPT_EVENT_DESTROY;
}

/* All run: is it still so that the process is ending? */
static int check_all(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	bool fewer = s->count < r->left;

	r->left = s->count;
	if (now >= r->quiet_until && !over_budget(s, now)) {
		if (fewer)
			gp_session_hurry(s);
		if (now < s->hot_until)
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

	if (over_budget(s, now) &&
	    (now < r->suspect_until || took > LONG_NS))
		pace(s, took, now);
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
		if (s->queues[i].leaving &&
		    gp_read_small(s->g, text, sizeof(text), GP_SYSFS_PROC
				  "/%d/queues/%u/gpuid", s->kfd.pid,
				  s->queues[i].qid) < 0)
			return true;
	return false;
}

int gp_release_check(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	size_t before = s->count;
	int ret;

	if (!gp_session_any_leaving(s)) {
		if (now >= s->hot_until)
			r->ended = 0;
		r->all = false;
		return 0;
	}
	if (!r->all && now < s->hot_until && !any_gone(s))
		return 0;
	ret = gpreempt_session_refresh(s);
	if (ret)
		return ret;
	now = shr_now_ns();
	if (r->all)
		ret = check_all(s, now);
	/* Interrupted after all: that can be suspended again. */
	else if (now >= s->hot_until)
		ret = take_back(s);
	if (ret < 0)
		return ret;
	if (gp_session_any_leaving(s))
		return s->count != before ? GPREEMPT_EVENT_QUEUES : 0;
	if (r->start)
		all_gone(s, now);
	return GPREEMPT_EVENT_QUEUES;
}

int gp_release_report(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	bool over = ran_percent(s, SUSPECT_PERCENT, shr_now_ns());
	bool news = over && !r->over;

	r->over = over;
	return news ? GPREEMPT_EVENT_CHURN : 0;
}

void gpreempt_session_released(struct gpreempt_session *s,
			       struct gpreempt_released *out)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	*out = (struct gpreempt_released){
		.window_ns = gp_meter_window(&r->ran),
		.recent_ns = gp_meter_recent(&r->ran, now),
		.total_ns = gp_meter_total(&r->ran, now),
		.destroyed = r->count,
		.returned = r->returned,
		.made = r->made,
		.churn = ran_percent(s, SUSPECT_PERCENT, now),
	};
}
