// SPDX-License-Identifier: LGPL-2.1-or-later
/* When the slots of suspended queues become inactive. */
#include "lib/session/sampler.h"
#include "lib/session/session.h"
#include "shared/list.h"

int gpreempt_session_sample_slots(struct gpreempt_session *s,
				  enum gpreempt_sampling mode)
{
	s->sampling = mode;
	return gp_sampler_switch(&s->sampler, mode != GPREEMPT_SAMPLE_OFF, s->g,
				 s->kfd.pid, &s->error);
}

static bool is_meant(const struct gpreempt_filter *which,
		     const struct gpreempt_session_queue *queue)
{
	return !which || ((!which->ids ||
			   shr_has(which->ids, which->n_ids, queue->qid)) &&
			  gp_filter_matches(which, queue));
}

void gp_session_arm_sampler(struct gpreempt_session *s,
			    const struct gpreempt_filter *which)
{
	uint32_t ids[GP_MAX_IDS];
	size_t i, n = 0;

	if (!s->sampler || s->sampling == GPREEMPT_SAMPLE_PAUSE ||
	    gp_sampler_armed(s->sampler))
		return;
	if (which && which->by_priority)
		gp_session_learn_priorities(s);
	for (i = 0; i < s->count; i++)
		if (!s->queues[i].held && is_meant(which, &s->queues[i]))
			ids[n++] = s->queues[i].qid;
	gp_sampler_arm(s->sampler, ids, n, s->sampling == GPREEMPT_SAMPLE_ON);
}

void gp_session_finish_sampler(struct gpreempt_session *s,
			       struct gpreempt_outcome *out)
{
	gp_sampler_finish(s->sampler,
			  out->ioctl_ns ? s->kfd.entry_ns : UINT64_MAX, out);
}
