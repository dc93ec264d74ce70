// SPDX-License-Identifier: GPL-2.0-only
/* The comparison itself: by queue id, by ring, by hardware slot. */
#include <stdlib.h>

#include "ctl/text/diff.h"
#include "shared/macro.h"

#define CONSISTENT 0.8
#define PARTLY	   0.5

static const char *const in_words[] = { "a", "b", "both" };

static int compare_queues(const void *a, const void *b)
{
	const struct diff_queue *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	if (x->queue_id != y->queue_id)
		return x->queue_id < y->queue_id ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

static int compare_slots(const void *a, const void *b)
{
	const struct diff_slot *x = a, *y = b;
	const int64_t xs[] = { x->gpu_id, x->xcc, x->pipe, x->queue, x->side };
	const int64_t ys[] = { y->gpu_id, y->xcc, y->pipe, y->queue, y->side };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xs); i++)
		if (xs[i] != ys[i])
			return xs[i] < ys[i] ? -1 : 1;
	return 0;
}

/* Two entries of one thing become one. */
#define MERGE(rows, n, same, counts)                                \
	do {                                                        \
		size_t from, to = 0;                                \
		for (from = 0; from < (n); from++) {                \
			rows[to] = rows[from];                      \
			if (from + 1 < (n) &&                       \
			    (same)(rows + from, rows + from + 1)) { \
				from++;                             \
				rows[to].pid_b = rows[from].pid_b;  \
				rows[to].side = DIFF_BOTH;          \
			}                                           \
			(counts).of[rows[to].side]++;               \
			rows[to].in = in_words[rows[to].side];      \
			to++;                                       \
		}                                                   \
		(n) = to;                                           \
	} while (0)

static bool same_queue(const struct diff_queue *x, const struct diff_queue *y)
{
	return x->key == y->key && x->gpu_id == y->gpu_id &&
	       x->queue_id == y->queue_id && x->side != y->side;
}

static bool same_slot(const struct diff_slot *x, const struct diff_slot *y)
{
	return x->gpu_id == y->gpu_id && x->xcc == y->xcc &&
	       x->pipe == y->pipe && x->queue == y->queue && x->side != y->side;
}

static void add_queues(struct diff *diff, const struct ctl_text *text,
		       int64_t pid, enum diff_side side, bool by_pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++) {
		const struct ctl_id *id = text->ids + i;

		if (pid && id->pid != pid)
			continue;
		diff->queues[diff->n_queues++] = (struct diff_queue){
			.gpu_id = id->gpu_id,
			.queue_id = id->qid,
			.pid_a = side == DIFF_A ? id->pid : GPREEMPT_UNKNOWN,
			.pid_b = side == DIFF_B ? id->pid : GPREEMPT_UNKNOWN,
			.key = by_pid ? id->pid : 0,
			.side = side,
		};
	}
}

static void add_slots(struct diff *diff, const struct ctl_text *text,
		      int64_t pid, enum diff_side side)
{
	const struct gp_text_data *d = text->data;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		int64_t owner = s->owner < 0 ? GPREEMPT_UNKNOWN :
					       d->queues[s->owner].pid;

		if (s->type != GP_TEXT_COMPUTE || s->regs.active != 1 ||
		    (pid && owner != pid))
			continue;
		diff->slots[diff->n_slots++] = (struct diff_slot){
			.gpu_id = s->gpu_id,
			.xcc = s->xcc,
			.pipe = s->pipe,
			.queue = s->queue,
			.pid_a = side == DIFF_A ? owner : GPREEMPT_UNKNOWN,
			.pid_b = side == DIFF_B ? owner : GPREEMPT_UNKNOWN,
			.side = side,
		};
	}
}

double diff_overlap(const struct diff_counts *counts)
{
	uint64_t a = counts->of[DIFF_A] + counts->of[DIFF_BOTH];
	uint64_t b = counts->of[DIFF_B] + counts->of[DIFF_BOTH];
	uint64_t more = a > b ? a : b;

	return more ? (double)counts->of[DIFF_BOTH] / more : -1;
}

enum diff_verdict diff_judge(double overlap)
{
	if (overlap < 0)
		return DIFF_UNKNOWN;
	return overlap > CONSISTENT ? DIFF_CONSISTENT :
	       overlap > PARTLY	    ? DIFF_PARTLY :
				      DIFF_NOT;
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
		"consistent",
		"partly consistent",
		"not consistent",
		"unknown",
	};

	return names[verdict];
}

static int64_t ring_of(const struct ctl_text *text, size_t queue)
{
	const struct gp_text_queue *q = text->data->queues + queue;

	return q->n_mqds ? text->data->mqds[q->mqds].regs.ring :
			   GPREEMPT_UNKNOWN;
}

struct ring {
	int64_t pid;
	int64_t gpu_id;
	int64_t ring;
	enum diff_side side;
};

static int compare_rings(const void *a, const void *b)
{
	const struct ring *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

/* Queues of a side, and their rings. Unknown without mqds. */
static int64_t add_rings(const struct ctl_text *text, int64_t pid,
			 enum diff_side side, struct ring *rings, size_t *count)
{
	int64_t queues = 0;
	size_t i;

	if (!text->data->mqds_seen || text->data->several_moments)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < text->data->n_queues; i++) {
		const struct gp_text_queue *q = text->data->queues + i;

		if (pid && q->pid != pid)
			continue;
		queues++;
		if (ring_of(text, i) != GPREEMPT_UNKNOWN)
			rings[(*count)++] = (struct ring){
				q->pid,
				q->gpu_id,
				ring_of(text, i),
				side,
			};
	}
	return queues;
}

/* A ring is an address of its process: of two processes it says nothing. */
static void compare_by_ring(const struct ctl_text *a, int64_t pid_a,
			    const struct ctl_text *b, int64_t pid_b,
			    struct diff *diff)
{
	struct ring *rings =
		shr_must(calloc(a->data->n_queues + b->data->n_queues + 1,
				sizeof(*rings)));
	size_t i, count = 0;

	diff->queues_a = add_rings(a, pid_a, DIFF_A, rings, &count);
	diff->queues_b = add_rings(b, pid_b, DIFF_B, rings, &count);
	diff->rings_known = diff->queues_a != GPREEMPT_UNKNOWN &&
			    diff->queues_b != GPREEMPT_UNKNOWN &&
			    diff->queues_a + diff->queues_b == (int64_t)count &&
			    pid_a == pid_b;
	qsort(rings, count, sizeof(*rings), compare_rings);
	for (i = 0; i < count; i++) {
		bool both = i + 1 < count &&
			    rings[i].side != rings[i + 1].side &&
			    rings[i].pid == rings[i + 1].pid &&
			    rings[i].gpu_id == rings[i + 1].gpu_id &&
			    rings[i].ring == rings[i + 1].ring;

		diff->ring_counts.of[both ? DIFF_BOTH : rings[i].side]++;
		i += both;
	}
	free(rings);
}

/* Whose slots they are is asked only when one process is compared. */
static bool slots_known(const struct ctl_text *text, int64_t pid)
{
	const struct gp_text_data *d = text->data;
	size_t i;

	if (!d->hqds_seen || d->several_moments || (pid && !d->mqds_seen))
		return false;
	for (i = 0; i < d->n_slots; i++)
		if (d->slots[i].type == GP_TEXT_COMPUTE &&
		    d->slots[i].regs.active == GPREEMPT_UNKNOWN)
			return false;
	return true;
}

/* That a process is not in mqds is known of it, too: it has no queue. */
static bool ids_known(const struct ctl_text *text, int64_t pid)
{
	return ctl_ids_known(text, pid) ||
	       (text->data->mqds_seen && !text->data->n_queues) ||
	       (pid && text->data->mqds_seen && !decode_has_pid(text, pid));
}

void diff_make(const struct ctl_text *a, int64_t pid_a,
	       const struct ctl_text *b, int64_t pid_b, struct diff *diff)
{
	/* Of all processes: the process is part of a queue's key, too. */
	bool by_pid = !pid_a && !pid_b;

	*diff = (struct diff){ 0 };
	diff->queues = shr_must(calloc(a->n_ids + b->n_ids + 1,
				       sizeof(*diff->queues)));
	diff->slots = shr_must(calloc(a->data->n_slots + b->data->n_slots + 1,
				      sizeof(*diff->slots)));
	add_queues(diff, a, pid_a, DIFF_A, by_pid);
	add_queues(diff, b, pid_b, DIFF_B, by_pid);
	add_slots(diff, a, pid_a, DIFF_A);
	add_slots(diff, b, pid_b, DIFF_B);
	qsort(diff->queues, diff->n_queues, sizeof(*diff->queues),
	      compare_queues);
	qsort(diff->slots, diff->n_slots, sizeof(*diff->slots), compare_slots);
	MERGE(diff->queues, diff->n_queues, same_queue, diff->queue_counts);
	MERGE(diff->slots, diff->n_slots, same_slot, diff->slot_counts);
	diff->other_process = pid_a != pid_b;
	diff->slots_known = slots_known(a, pid_a) && slots_known(b, pid_b);
	diff->ids_known = ids_known(a, pid_a) && ids_known(b, pid_b);
	compare_by_ring(a, pid_a, b, pid_b, diff);
}

void diff_free(struct diff *diff)
{
	free(diff->queues);
	free(diff->slots);
}
