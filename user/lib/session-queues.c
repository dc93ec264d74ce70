// SPDX-License-Identifier: LGPL-2.1-or-later
/* The queues that a session knows, suspending and resuming them. */
#include <stdlib.h>

#include "lib/session.h"
#include "shared/clock.h"

#define SPARE_ROOM 16

struct gpreempt_session_queue *
gp_session_find(const struct gpreempt_session *s, uint32_t qid)
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

void gp_session_all_run(struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		s->queues[i].held = false;
}

const struct gpreempt_session_queue *
gpreempt_session_queues(const struct gpreempt_session *s, size_t *count)
{
	*count = s->count;
	return s->queues;
}

static int grow(void *array, size_t size)
{
	void *bigger = realloc(*(void **)array, size);

	if (!bigger)
		return -ENOMEM;
	*(void **)array = bigger;
	return 0;
}

static int make_room(struct gpreempt_session *s, size_t room)
{
	if (grow(&s->queues, room * sizeof(*s->queues)) ||
	    grow(&s->spare, room * sizeof(*s->spare)) ||
	    grow(&s->snapshot, room * sizeof(*s->snapshot)))
		return -ENOMEM;
	s->room = room;
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

		if (!(s->snapshot[i].exception_status &
		      KFD_EC_MASK(EC_QUEUE_NEW)))
			continue;
		queue = gp_session_find(s, s->snapshot[i].queue_id);
		if (queue)
			*queue = (struct gpreempt_session_queue){
				.qid = queue->qid,
				.wanted = s->follow,
			};
	}
}

/* Make the list of queues out of the snapshot, and keep what we knew. */
static void merge(struct gpreempt_session *s, uint32_t count)
{
	struct gpreempt_session_queue *queues = s->spare;
	uint32_t i;

	if (count)
		qsort(s->snapshot, count, sizeof(*s->snapshot),
		      compare_entries);
	for (i = 0; i < count; i++) {
		const struct kfd_queue_snapshot_entry *entry = &s->snapshot[i];
		const struct gpreempt_session_queue *old;

		old = gp_session_find(s, entry->queue_id);
		queues[i] = old ? *old : (struct gpreempt_session_queue){
			.qid = entry->queue_id,
			.wanted = s->follow,
		};
		queues[i].gpu_id = entry->gpu_id;
		queues[i].type = queue_type(entry->queue_type);
	}
	s->spare = s->queues;
	s->queues = queues;
	s->count = count;
}

int gpreempt_session_refresh(struct gpreempt_session *s)
{
	static const char step[] = "asking for the queues";
	int ret;

	if (s->state == GP_SESSION_LOST || s->state == GP_SESSION_ENDED)
		return -ENOTCONN;
	for (;;) {
		uint32_t count = s->room;

		/* Only the queues that are copied are acknowledged. */
		ret = gp_kfd_snapshot(&s->kfd, true, s->snapshot, &count);
		if (ret)
			return gp_session_fail_trap(s, ret, step);
		if (count > GP_MAX_IDS)
			return gp_session_fail(s, -E2BIG, GPREEMPT_SYSTEM,
					       step);
		forget_new(s, count < s->room ? count : s->room);
		if (count <= s->room) {
			merge(s, count);
			return 0;
		}
		ret = make_room(s, count + SPARE_ROOM);
		if (ret)
			return gp_session_fail(s, ret, GPREEMPT_SYSTEM, step);
	}
}

/* Put the ids that the driver has to suspend into s->ids. */
static size_t collect_wanted(struct gpreempt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].wanted && !s->queues[i].held &&
		    !s->queues[i].leaving)
			s->ids[n++] = s->queues[i].qid;
	return n;
}

static size_t collect_held(struct gpreempt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held)
			s->ids[n++] = s->queues[i].qid;
	return n;
}

/*
 * Note what became of each id. The driver marks a queue as suspended before
 * the hardware fails to let go of it: such a queue has to be resumed too.
 */
static void judge(struct gpreempt_session *s, size_t n, bool suspend,
		  struct gpreempt_outcome *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		enum gpreempt_result result = gp_kfd_judge(&s->ids[i]);
		struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, s->ids[i]);
		if (queue) {
			queue->result = result;
			queue->held = suspend &&
				      result != GPREEMPT_RESULT_REFUSED;
		}
		out->done += result == GPREEMPT_RESULT_DONE;
		out->refused += result == GPREEMPT_RESULT_REFUSED;
		out->failed += result == GPREEMPT_RESULT_FAILED;
	}
}

/* One ioctl for the n ids in s->ids. */
static int call(struct gpreempt_session *s, size_t n, bool suspend,
		struct gpreempt_outcome *out)
{
	uint64_t start;
	int ret;

	out->requested += n;
	/* The driver takes an empty list for all queues. */
	if (!n)
		return 0;
	start = shr_now_ns();
	ret = suspend ? gp_kfd_suspend(&s->kfd, s->ids, n) :
			gp_kfd_resume(&s->kfd, s->ids, n);
	out->ioctl_ns = shr_now_ns() - start;
	if (ret == -EPERM)
		return gp_session_fail(s, ret, GPREEMPT_RUNTIME_OFF,
				       "suspending the queues");
	if (ret < 0)
		return gp_session_fail_trap(s, ret, suspend ?
					    "suspending the queues" :
					    "resuming the queues");
	judge(s, n, suspend, out);
	return 0;
}

/* The ids that are not as they should be go to s->ids, the rest is done. */
static size_t collect_ids(struct gpreempt_session *s, const uint32_t *ids,
			  size_t count, bool suspend,
			  struct gpreempt_outcome *out)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, ids[i]);
		if (queue)
			queue->wanted = suspend;
		if (queue && queue->held == suspend) {
			out->requested++;
			out->done++;
		} else {
			s->ids[n++] = ids[i];
		}
	}
	return n;
}

static void want_all(struct gpreempt_session *s, bool wanted)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		s->queues[i].wanted = wanted;
	s->follow = wanted;
}

static int change(struct gpreempt_session *s, const uint32_t *ids,
		  size_t count, bool suspend, struct gpreempt_outcome *out)
{
	struct gpreempt_outcome outcome = { 0 };
	size_t n;
	int ret;

	if (ids && count > GP_MAX_IDS)
		return gp_session_fail(s, -E2BIG, GPREEMPT_SYSTEM,
				       "collecting the queues");
	if (s->state != GP_SESSION_OPEN)
		return -ENOTCONN;
	if (ids) {
		n = collect_ids(s, ids, count, suspend, &outcome);
		if (!suspend)
			s->follow = false;
	} else {
		want_all(s, suspend);
		n = suspend ? collect_wanted(s) : collect_held(s);
	}
	ret = call(s, n, suspend, &outcome);
	if (!ret && out)
		*out = outcome;
	return ret;
}

int gpreempt_session_suspend(struct gpreempt_session *s, const uint32_t *ids,
			     size_t count, struct gpreempt_outcome *out)
{
	return change(s, ids, count, true, out);
}

int gpreempt_session_resume(struct gpreempt_session *s, const uint32_t *ids,
			    size_t count, struct gpreempt_outcome *out)
{
	return change(s, ids, count, false, out);
}

int gp_session_apply(struct gpreempt_session *s)
{
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	/* Without a runtime there is nothing to suspend yet. */
	if (s->state != GP_SESSION_OPEN ||
	    s->runtime != DEBUG_RUNTIME_STATE_ENABLED)
		return 0;
	ret = call(s, collect_wanted(s), true, &outcome);
	if (!ret && outcome.requested)
		gp_log(s->g, "process %d: suspended %zu of %zu new queues",
		       s->kfd.pid, outcome.done, outcome.requested);
	return ret;
}

int gp_session_let_go(struct gpreempt_session *s, size_t count)
{
	struct gpreempt_outcome outcome = { 0 };

	return call(s, count, false, &outcome);
}

enum gpreempt_verdict gpreempt_session_verify(struct gpreempt_session *s)
{
	/* Until a suspended queue is seen, there is nothing to verify. */
	enum gpreempt_verdict verdict = GPREEMPT_NOT_CHECKED;
	struct gpreempt_view *view;
	size_t i;

	if (gpreempt_view_read(s->g, s->kfd.pid, &view, NULL))
		return GPREEMPT_NOT_CHECKED;
	for (i = 0; i < s->count; i++) {
		const struct gpreempt_queue *queue;

		if (!s->queues[i].held)
			continue;
		queue = gpreempt_view_find(view, s->queues[i].qid);
		if (!queue || queue->active == GPREEMPT_UNKNOWN) {
			verdict = GPREEMPT_NOT_CHECKED;
			break;
		}
		if (queue->active > 0)
			verdict = GPREEMPT_CONTRADICTED;
		else if (verdict == GPREEMPT_NOT_CHECKED)
			verdict = GPREEMPT_VERIFIED;
	}
	gpreempt_view_free(view);
	return verdict;
}
