// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long queues have run although they are to be suspended, whatever the
 * reason, and how long their process waits for it: see release.c.
 */
#include <sys/ioctl.h>

#include "lib/session/session.h"
#include "shared/clock.h"

/*
 * Percent of the window, and how many times as long the process then waits: what
 * runs in the rest of the window adds up to less than a tenth of it.
 */
#define SUSPECT_PERCENT 5
#define SUSPECT_PACE	24
#define MOST_PERCENT	9
#define MOST_PACE	100
/* How long an unseen queue can have run when nothing else is held. */
#define UNSEEN_NS (25 * NSEC_PER_MSEC)
/* Without a new queue for so long, a process may be ending. */
#define QUIET_NS NSEC_PER_SEC

void gp_release_note_new(struct gpreempt_session *s, uint32_t qid)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	r->young[qid % GP_MAX_IDS] = true;
	r->made++;
	r->ended -= r->ended > 0;
	r->quiet_until = now + QUIET_NS;
	r->suspect_until = now + GP_METER_WINDOW;
	if (r->all)
		gp_session_look_fast(s);
}

void gp_release_start(struct gpreempt_session *s)
{
	int count = 0;

	ioctl(s->events, FIONREAD, &count);
	s->release.dispatched = shr_now_ns();
	s->release.missing = -count;
	s->release.late = 0;
}

/*
 * Whose queue was in no snapshot: the driver writes the event when the queue is
 * there already, so it may have been in that of the round before.
 */
static int64_t count_unseen(struct gp_release *r)
{
	int64_t count = r->missing, late = r->late;

	r->missing = 0;
	r->late = count < 0 ? -count : 0;
	return count - late;
}

/*
 * Those queues are gone. They may have run since the session last looked; when
 * nothing is held there is no timer, and an event wakes it at once.
 */
void gp_release_note_unseen(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns(), from = r->dispatched;
	int64_t count = count_unseen(r);

	if (count <= 0 || !s->n_rules)
		return;
	r->unseen += count;
	r->made += count;
	r->ended = 0;
	r->quiet_until = now + QUIET_NS;
	r->suspect_until = now + GP_METER_WINDOW;
	if (!gp_session_any_held(s) && from + UNSEEN_NS < now)
		from = now - UNSEEN_NS;
	gp_meter_add(&r->ran, from, now);
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

void gp_release_count(struct gpreempt_session *s, uint64_t now)
{
	gp_meter_set(&s->release.ran, any_runs(s), now);
}

static bool ran_percent(struct gpreempt_session *s, unsigned int percent, uint64_t now)
{
	struct gp_meter *ran = &s->release.ran;

	return gp_meter_recent(ran, now) >= GP_METER_WINDOW / 100 * percent;
}

bool gp_release_over_budget(struct gpreempt_session *s, uint64_t now)
{
	return ran_percent(s, now < s->release.suspect_until ? SUSPECT_PERCENT : MOST_PERCENT, now);
}

void gp_release_pace(struct gpreempt_session *s, uint64_t ns, uint64_t now)
{
	struct gp_release *r = &s->release;
	uint64_t most = GP_METER_WINDOW, pause;
	uint64_t times = ran_percent(s, MOST_PERCENT, now) ? MOST_PACE : SUSPECT_PACE;

	pause = ns < most / times ? ns * times : most;
	if (r->paced_until < now + pause)
		r->paced_until = now + pause;
}

int gp_release_report(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	bool over = ran_percent(s, SUSPECT_PERCENT, shr_now_ns());
	bool news = over && !r->over;

	r->over = over;
	return news ? GPREEMPT_EVENT_CHURN : 0;
}

void gpreempt_session_released(struct gpreempt_session *s, struct gpreempt_released *out)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	*out = (struct gpreempt_released){
		.window_ns = GP_METER_WINDOW,
		.recent_ns = gp_meter_recent(&r->ran, now),
		.total_ns = gp_meter_total(&r->ran, now),
		.destroyed = r->count,
		.returned = r->returned,
		.made = r->made,
		.unseen = r->unseen,
		.churn = ran_percent(s, SUSPECT_PERCENT, now),
	};
}
