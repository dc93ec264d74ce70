// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of queues that a session has: finding in it. */
#include "lib/session/session.h"

struct gpreempt_session_queue *gp_session_find(const struct gpreempt_session *s, uint32_t qid)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->queues[middle].qid == qid)
			return &s->queues[middle];
		if (s->queues[middle].qid < qid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct gpreempt_session_queue *gpreempt_session_queues(const struct gpreempt_session *s,
							     size_t *count)
{
	*count = s->count;
	return s->queues;
}

bool gp_session_any_held(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held)
			return true;
	return false;
}

bool gp_session_any_destroyed(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed)
			return true;
	return false;
}
