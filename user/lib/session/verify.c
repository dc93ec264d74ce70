// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Are the queues that shall be suspended out of the hardware?
 *
 * A "yes" speaks for all of them, in all contexts of the process: a queue that
 * was not seen, that is not suspended, or of which it is unknown whether a slot
 * holds it, leaves it open, and a queue that is seen in a slot, or with waves in
 * flight, is a contradiction whatever else was seen.
 */
#include "lib/observe/observe.h"
#include "lib/session/session.h"
#include "shared/clock.h"

struct check {
	const struct gpreempt_session *s;
	const struct gpreempt_view *view;
	struct gp_off off;
};

/* The driver holds the lock of a process for a moment at a time. */
#define STALE_TRIES    10
#define STALE_PAUSE_NS (2 * NSEC_PER_MSEC)

static const struct gpreempt_queue *find_row(const struct gpreempt_view *view, uint32_t qid)
{
	size_t i;

	/* Each context of a process counts its queues from 0. */
	for (i = 0; i < view->count; i++)
		if (view->queues[i].qid == qid && view->queues[i].context == GPREEMPT_UNKNOWN)
			return &view->queues[i];
	return NULL;
}

static void check_known(struct check *check, const struct gpreempt_session_queue *queue)
{
	const struct gpreempt_queue *row = find_row(check->view, queue->qid);

	/* Empty slots after a reset say nothing of a queue that hung. */
	if (row)
		gp_off_add(&check->off, check->view, row,
			   queue->held && queue->result != GPREEMPT_RESULT_FAILED);
	else
		check->off.open = true;
}

/*
 * A queue that the session does not know counts if a new queue like it is to be
 * suspended. It is younger than the last snapshot, or one of a further context,
 * which the debug interface neither shows nor suspends. So it is not suspended,
 * and that no slot holds it now says nothing of the next moment.
 */
static void check_unknown(struct check *check, const struct gpreempt_queue *row)
{
	const struct gpreempt_session_queue like = {
		.qid = row->qid,
		.gpu_id = row->gpu_id,
		.priority = row->priority,
	};

	if (gp_session_wants(check->s, &like))
		gp_off_add(&check->off, check->view, row, false);
}

static void check_rows(struct check *check)
{
	size_t i;

	for (i = 0; i < check->view->count; i++) {
		const struct gpreempt_queue *row = &check->view->queues[i];

		/* Of two with one number one is of a context without a name. */
		if (row->context != GPREEMPT_UNKNOWN || !gp_session_find(check->s, row->qid) ||
		    find_row(check->view, row->qid) != row)
			check_unknown(check, row);
	}
}

static bool is_stale(const struct gpreempt_view *view)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].age_ms > 0)
			return true;
	return false;
}

/* The view, and a list of now if it can be had. NULL: there is none. */
static struct gpreempt_view *read_view(const struct gpreempt_session *s)
{
	struct gpreempt_view *view;
	int tries;

	for (tries = 1;; tries++) {
		if (gpreempt_view_read(s->g, s->kfd.pid, &view, NULL))
			return NULL;
		if (tries == STALE_TRIES || !is_stale(view))
			return view;
		gpreempt_view_free(view);
		shr_sleep_ns(STALE_PAUSE_NS);
	}
}

enum gpreempt_verdict gpreempt_session_verify(struct gpreempt_session *s,
					      enum gpreempt_verified_by *by)
{
	struct gpreempt_view *view = read_view(s);
	struct check check = { .s = s, .view = view };
	size_t i;

	if (!view)
		return gp_off_verdict(&check.off, by);
	/* Queues that came since then are not in the list. */
	check.off.open = s->n_rules && is_stale(view);
	for (i = 0; i < s->count; i++)
		if (s->queues[i].held || s->queues[i].wanted)
			check_known(&check, &s->queues[i]);
	check_rows(&check);
	gpreempt_view_free(view);
	return gp_off_verdict(&check.off, by);
}
