// SPDX-License-Identifier: GPL-2.0-only
/* The comparison itself: by queue id, by ring, by hardware slot. */
#include <stdlib.h>
#include <string.h>

#include "ctl/text/diff.h"

#define CONSISTENT 0.8
#define PARTLY	   0.5

static int compare_keys(const struct diff_row *x, const struct diff_row *y)
{
	size_t i;

	for (i = 0; i < DIFF_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int ret = compare_keys(x, y);

	return ret ? ret : (x->side > y->side) - (x->side < y->side);
}

/* Two entries of one thing become one. */
static void merge(struct diff_rows *all)
{
	static const char *const words[] = { "a", "b", "both" };
	struct diff_row *to = all->rows, *from = to, *end = to + all->n;

	qsort(all->rows, all->n, sizeof(*all->rows), compare_rows);
	for (; from < end; from++, to++) {
		*to = *from;
		if (from + 1 < end && from->side != from[1].side && !compare_keys(from, from + 1)) {
			from++;
			to->pid_b = from->pid_b;
			to->side = DIFF_BOTH;
		}
		all->counts.of[to->side]++;
		to->in = words[to->side];
	}
	all->n = to - all->rows;
}

static void add(struct diff_rows *all, enum diff_side side, int64_t pid,
		const int64_t key[DIFF_KEYS])
{
	struct diff_row *row = all->rows + all->n++;

	*row = (struct diff_row){
		.pid_a = side == DIFF_A ? pid : GPREEMPT_UNKNOWN,
		.pid_b = side == DIFF_B ? pid : GPREEMPT_UNKNOWN,
		.side = side,
	};
	memcpy(row->key, key, sizeof(row->key));
}

static void add_queues(struct diff_rows *queues, const struct ctl_text *text, int64_t pid,
		       enum diff_side side, bool by_pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++) {
		const struct ctl_id *id = text->ids + i;
		const int64_t key[DIFF_KEYS] = {
			by_pid ? id->pid : 0,
			id->gpu_id,
			id->qid,
		};

		if (!pid || id->pid == pid)
			add(queues, side, id->pid, key);
	}
}

static void add_slots(struct diff_rows *slots, const struct ctl_text *text, int64_t pid,
		      enum diff_side side)
{
	const struct gp_text_data *d = text->data;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		const int64_t key[DIFF_KEYS] = { s->gpu_id, s->xcc, s->pipe, s->queue };
		int64_t owner = s->owner < 0 ? GPREEMPT_UNKNOWN : d->queues[s->owner].pid;

		if (s->type == GP_TEXT_COMPUTE && s->regs.active == 1 && (!pid || owner == pid))
			add(slots, side, owner, key);
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
	return overlap > CONSISTENT ? DIFF_CONSISTENT : overlap > PARTLY ? DIFF_PARTLY : DIFF_NOT;
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

/* Queues of a side, and their rings. Unknown without mqds. */
static int64_t add_rings(struct diff_rows *rings, const struct ctl_text *text, int64_t pid,
			 enum diff_side side)
{
	int64_t queues = 0;
	size_t i;

	if (!text->data->mqds_seen || text->data->several_moments)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < text->data->n_queues; i++) {
		const struct gp_text_queue *q = text->data->queues + i;
		const int64_t key[DIFF_KEYS] = { q->pid, q->gpu_id, ctl_ring_of(text->data, q) };

		if (pid && q->pid != pid)
			continue;
		queues++;
		if (key[2] != GPREEMPT_UNKNOWN)
			add(rings, side, q->pid, key);
	}
	return queues;
}

/* A ring is an address of its process: of two processes it says nothing. */
static bool rings_known(const struct diff *diff)
{
	return diff->queues_a != GPREEMPT_UNKNOWN && diff->queues_b != GPREEMPT_UNKNOWN &&
	       diff->queues_a + diff->queues_b == (int64_t)diff->rings.n && !diff->other_process;
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
	return ctl_ids_known(text, pid) || (text->data->mqds_seen && !text->data->n_queues) ||
	       (pid && text->data->mqds_seen && !decode_has_pid(text, pid));
}

static void make_room(struct diff_rows *all, size_t count)
{
	all->rows = shr_must(calloc(count + 1, sizeof(*all->rows)));
}

void diff_make(const struct ctl_text *a, int64_t pid_a, const struct ctl_text *b, int64_t pid_b,
	       struct diff *diff)
{
	/* Of all processes: the process is part of a queue's key, too. */
	bool by_pid = !pid_a && !pid_b;

	*diff = (struct diff){ .other_process = pid_a != pid_b };
	make_room(&diff->queues, a->n_ids + b->n_ids);
	make_room(&diff->slots, a->data->n_slots + b->data->n_slots);
	make_room(&diff->rings, a->data->n_queues + b->data->n_queues);
	add_queues(&diff->queues, a, pid_a, DIFF_A, by_pid);
	add_queues(&diff->queues, b, pid_b, DIFF_B, by_pid);
	add_slots(&diff->slots, a, pid_a, DIFF_A);
	add_slots(&diff->slots, b, pid_b, DIFF_B);
	diff->queues_a = add_rings(&diff->rings, a, pid_a, DIFF_A);
	diff->queues_b = add_rings(&diff->rings, b, pid_b, DIFF_B);
	diff->rings_known = rings_known(diff);
	diff->slots_known = slots_known(a, pid_a) && slots_known(b, pid_b);
	diff->ids_known = ids_known(a, pid_a) && ids_known(b, pid_b);
	merge(&diff->queues);
	merge(&diff->slots);
	merge(&diff->rings);
}

void diff_free(struct diff *diff)
{
	free(diff->queues.rows);
	free(diff->slots.rows);
	free(diff->rings.rows);
}
