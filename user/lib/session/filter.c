// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which queues a suspend or resume means, and what it means for new ones. */
#include <string.h>

#include "lib/session/session.h"
#include "shared/list.h"

bool gp_filter_is_all(const struct gpreempt_filter *which)
{
	return !which->ids && !which->by_priority && !which->n_gpu_ids;
}

bool gp_filter_matches(const struct gpreempt_filter *which,
		       const struct gpreempt_session_queue *queue)
{
	if (which->n_gpu_ids && !shr_has(which->gpu_ids, which->n_gpu_ids, queue->gpu_id))
		return false;
	return !which->by_priority || (queue->priority >= (int64_t)which->priority_min &&
				       queue->priority <= (int64_t)which->priority_max);
}

/* The rule as a filter, to compare and to match it. */
static struct gpreempt_filter filter_of(const struct gp_rule *rule)
{
	return (struct gpreempt_filter){
		.by_priority = rule->by_priority,
		.priority_min = rule->priority_min,
		.priority_max = rule->priority_max,
		.gpu_ids = rule->gpu_ids,
		.n_gpu_ids = rule->n_gpus,
	};
}

static bool same_rule(const struct gp_rule *a, const struct gp_rule *b)
{
	return a->by_priority == b->by_priority && a->priority_min == b->priority_min &&
	       a->priority_max == b->priority_max && a->n_gpus == b->n_gpus &&
	       !memcmp(a->gpu_ids, b->gpu_ids, a->n_gpus * sizeof(a->gpu_ids[0]));
}

/* A later rule about the same queues takes the place of an earlier one. */
static void remove_rule(struct gpreempt_session *s, const struct gp_rule *rule)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_rules; i++)
		if (!same_rule(&s->rules[i], rule))
			s->rules[n++] = s->rules[i];
	s->n_rules = n;
}

int gp_session_add_rule(struct gpreempt_session *s, const struct gpreempt_filter *which,
			bool suspend)
{
	struct gp_rule rule;

	/* Most suspends and resumes are of all: as little as it takes. */
	if (gp_filter_is_all(which)) {
		if (!s->first_is_all)
			s->rules[0] = (struct gp_rule){ .suspend = true };
		s->first_is_all = true;
		s->n_rules = suspend;
		return 0;
	}
	s->first_is_all = false;
	rule = (struct gp_rule){ .suspend = suspend };
	if (which->by_priority) {
		rule.by_priority = true;
		rule.priority_min = which->priority_min;
		rule.priority_max = which->priority_max;
	}
	rule.n_gpus = which->n_gpu_ids;
	if (rule.n_gpus)
		memcpy(rule.gpu_ids, which->gpu_ids, rule.n_gpus * sizeof(rule.gpu_ids[0]));
	remove_rule(s, &rule);
	/* Without any, new queues run. */
	if (!s->n_rules && !suspend)
		return 0;
	if (s->n_rules == GP_MAX_RULES)
		return gp_session_fail(s, -ENOSPC, GPREEMPT_SYSTEM,
				       "remembering which new queues are meant");
	s->rules[s->n_rules++] = rule;
	return 0;
}

bool gp_session_wants(const struct gpreempt_session *s, const struct gpreempt_session_queue *queue)
{
	size_t i;

	for (i = s->n_rules; i--;) {
		struct gpreempt_filter which = filter_of(&s->rules[i]);

		if (gp_filter_matches(&which, queue))
			return s->rules[i].suspend;
	}
	return false;
}

bool gp_session_needs_priorities(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->n_rules; i++)
		if (s->rules[i].by_priority)
			return true;
	return false;
}

static bool priorities_known(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].priority == GPREEMPT_UNKNOWN)
			return false;
	return true;
}

int gp_session_learn_priorities(struct gpreempt_session *s)
{
	struct gpreempt_view *view;
	size_t i;

	if (priorities_known(s))
		return 0;
	if (!gpreempt_view_read(s->g, s->kfd.pid, &view, NULL)) {
		for (i = 0; i < s->count; i++) {
			const struct gpreempt_queue *queue;

			queue = gpreempt_view_find(view, s->queues[i].qid);
			if (queue)
				s->queues[i].priority = queue->priority;
		}
		gpreempt_view_free(view);
	}
	if (priorities_known(s))
		return 0;
	return gp_session_fail(s, -ENODATA, GPREEMPT_NO_MODULE, "choosing queues by priority");
}
