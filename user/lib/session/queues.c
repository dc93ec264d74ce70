// SPDX-License-Identifier: LGPL-2.1-or-later
/* Taking the queues of a process from the driver. */
#include <stdlib.h>

#include "lib/session/session.h"
#include "shared/clock.h"

#define SPARE_ROOM 16

static int grow(void *array, size_t size)
{
	void *bigger = realloc(*(void **)array, size);

	if (!bigger)
		return -ENOMEM;
	*(void **)array = bigger;
	return 0;
}

static int set_capacity(struct gpreempt_session *s, size_t capacity)
{
	if (grow(&s->queues, capacity * sizeof(*s->queues)) ||
	    grow(&s->spare, capacity * sizeof(*s->spare)) ||
	    grow(&s->snapshot, capacity * sizeof(*s->snapshot)))
		return -ENOMEM;
	s->capacity = capacity;
	return 0;
}

/* Types of the debug interface; they are not those of the view or of sysfs. */
static uint32_t queue_type(uint32_t type)
{
	switch (type) {
	case KFD_IOC_QUEUE_TYPE_COMPUTE:
		return GPREEMPT_QUEUE_COMPUTE_PM4;
	case KFD_IOC_QUEUE_TYPE_SDMA:
		return GPREEMPT_QUEUE_SDMA;
	case KFD_IOC_QUEUE_TYPE_SDMA_XGMI:
		return GPREEMPT_QUEUE_SDMA_XGMI;
	default:
		return GPREEMPT_QUEUE_COMPUTE_AQL;
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct kfd_queue_snapshot_entry *x = a, *y = b;

	return (x->queue_id > y->queue_id) - (x->queue_id < y->queue_id);
}

/* A new queue may have the number of one that we knew: that one is gone. */
static void forget_new(struct gpreempt_session *s, uint32_t copied)
{
	uint32_t i;

	for (i = 0; i < copied; i++) {
		struct gpreempt_session_queue *queue;

		if (!(s->snapshot[i].exception_status & KFD_EC_MASK(EC_QUEUE_NEW)))
			continue;
		s->release.missing--;
		queue = gp_session_find(s, s->snapshot[i].queue_id);
		if (queue)
			*queue = (struct gpreempt_session_queue){
				.qid = queue->qid,
			};
	}
}

/* What the rules say of queues that we did not know. */
static void judge_new(struct gpreempt_session *s, const bool *fresh)
{
	size_t i;

	if (gp_session_needs_priorities(s) && gp_session_learn_priorities(s))
		gp_log(s->g,
		       "process %d: the priorities of its new queues "
		       "are not known: those queues run",
		       s->kfd.pid);
	for (i = 0; i < s->count; i++) {
		if (!fresh[i])
			continue;
		s->queues[i].wanted = gp_session_wants(s, &s->queues[i]);
		s->fresh = true;
		if (s->queues[i].wanted)
			gp_release_note_new(s, s->queues[i].qid);
	}
}

/* Make the list of queues out of the snapshot, and keep what we knew. */
static void merge(struct gpreempt_session *s, uint32_t count)
{
	struct gpreempt_session_queue *queues = s->spare;
	bool fresh[GP_MAX_IDS];
	uint32_t i;

	if (count)
		qsort(s->snapshot, count, sizeof(*s->snapshot), compare_entries);
	for (i = 0; i < count; i++) {
		const struct kfd_queue_snapshot_entry *entry = &s->snapshot[i];
		const struct gpreempt_session_queue *old;

		old = gp_session_find(s, entry->queue_id);
		/* No node has the id 0: see forget_new(). */
		fresh[i] = !old || !old->gpu_id;
		queues[i] = !fresh[i] ? *old :
					(struct gpreempt_session_queue){
						.qid = entry->queue_id,
						.priority = GPREEMPT_UNKNOWN,
					};
		queues[i].gpu_id = entry->gpu_id;
		queues[i].type = queue_type(entry->queue_type);
	}
	s->spare = s->queues;
	s->queues = queues;
	s->count = count;
	judge_new(s, fresh);
	gp_release_count(s, shr_now_ns());
}

int gpreempt_session_refresh(struct gpreempt_session *s)
{
	static const char step[] = "asking for the queues";
	int ret;

	if (s->state == GP_SESSION_LOST || s->state == GP_SESSION_ENDED)
		return -ENOTCONN;
	for (;;) {
		uint32_t count = s->capacity;

		/* Only the queues that are copied are acknowledged. */
		ret = gp_kfd_snapshot(&s->kfd, true, s->snapshot, &count);
		if (ret)
			return gp_session_fail_trap(s, ret, step);
		if (count > GP_MAX_IDS)
			return gp_session_fail(s, -E2BIG, GPREEMPT_SYSTEM, step);
		forget_new(s, count < s->capacity ? count : s->capacity);
		if (count <= s->capacity) {
			merge(s, count);
			return 0;
		}
		ret = set_capacity(s, count + SPARE_ROOM);
		if (ret)
			return gp_session_fail(s, ret, GPREEMPT_SYSTEM, step);
	}
}
