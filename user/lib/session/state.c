// SPDX-License-Identifier: LGPL-2.1-or-later
/* What has become of a session: its error, and that its queues run again. */
#include "lib/session/session.h"
#include "shared/clock.h"

int gp_session_fail(struct gpreempt_session *s, int code, enum gpreempt_reason reason,
		    const char *step)
{
	return gp_error(&s->error, code, reason, s->kfd.pid, step);
}

void gp_session_all_run(struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		s->queues[i].held = false;
	gp_release_count(s, shr_now_ns());
}

int gp_session_fail_trap(struct gpreempt_session *s, int code, const char *step)
{
	switch (code) {
	case -ESRCH:
		return gp_session_fail(s, code, GPREEMPT_ENDED, step);
	case -EINVAL:
		/* The driver knows of no session: another process disabled it. */
		s->state = GP_SESSION_LOST;
		s->enabled = false;
		gp_session_all_run(s);
		return gp_session_fail(s, -ENOTCONN, GPREEMPT_LOST, step);
	default:
		return gp_session_fail(s, code, GPREEMPT_SYSTEM, step);
	}
}
