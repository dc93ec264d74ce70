// SPDX-License-Identifier: LGPL-2.1-or-later
/* When to look for queues that are being destroyed. */
#include <sys/timerfd.h>

#include "lib/session/session.h"
#include "shared/clock.h"

/* How often to look; and how often after one was found: there come more. */
#define PERIOD_NS     (10 * NSEC_PER_MSEC)
#define HOT_PERIOD_NS (NSEC_PER_MSEC / 2)
#define HOT_TIME_NS   (100 * NSEC_PER_MSEC)
/* With many threads a look takes long: spend a tenth of our time on it. */
#define COST_FACTOR   10
#define MAX_PERIOD_NS (25 * NSEC_PER_MSEC)

void gp_session_look_fast(struct gpreempt_session *s)
{
	s->fast_until = shr_now_ns() + HOT_TIME_NS;
	/* If it is armed, then for too late. */
	s->timer_armed = false;
}

static uint64_t next_period(const struct gpreempt_session *s)
{
	uint64_t now = shr_now_ns();
	bool hot = now < s->fast_until;
	uint64_t least = hot ? HOT_PERIOD_NS : PERIOD_NS;
	uint64_t period = s->cost * (hot ? 1 : COST_FACTOR);

	if (s->state == GP_SESSION_LOST)
		return HOT_TIME_NS;
	/* All run: what is to be seen is that they get fewer, and no new one. */
	if (s->release.all)
		return now < s->release.quiet_until ? HOT_PERIOD_NS : HOT_TIME_NS / 2;
	if (period < least)
		period = least;
	if (period > MAX_PERIOD_NS)
		period = MAX_PERIOD_NS;
	/* Nothing is released before then. */
	if (!gp_session_any_destroyed(s) && s->release.paced_until > now + period)
		period = s->release.paced_until - now;
	return period;
}

void gp_session_arm(struct gpreempt_session *s)
{
	struct itimerspec when = { 0 };
	/* Lost: it wakes the owner again and again, see the dispatch. */
	bool wanted = gp_session_any_held(s) || gp_session_any_destroyed(s) ||
		      s->state == GP_SESSION_LOST;

	if (s->timer < 0 || wanted == s->timer_armed)
		return;
	if (wanted)
		when.it_value = shr_timespec(next_period(s));
	timerfd_settime(s->timer, 0, &when, NULL);
	s->timer_armed = wanted;
}
