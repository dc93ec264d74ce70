// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots of a directory, in the order of time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "shared/util.h"

/* The members are the keys of JSON. */
struct series_row {
	const char *snapshot;
	int64_t processes;
	int64_t queues;
	int64_t slots_expected;
	int64_t slots_active;
	int64_t slots_without_owner;
	char *ids;
	char *came;
	char *went;
};

#define FIELD(member, title, what) OUT_FIELD(struct series_row, member, title, what)

static const struct out_field fields[] = {
	FIELD(snapshot, "SNAPSHOT", OUT_TEXT),	FIELD(processes, "PROCESSES", OUT_DEC),
	FIELD(queues, "QUEUES", OUT_DEC),	FIELD(slots_expected, "SLOTS", OUT_DEC),
	FIELD(slots_active, "ACTIVE", OUT_DEC), FIELD(slots_without_owner, NULL, OUT_DEC),
	FIELD(ids, "PID:QUEUE", OUT_LIST),	FIELD(came, "CAME", OUT_LIST),
	FIELD(went, "WENT", OUT_LIST),
};

static const struct out_table table = OUT_TABLE("snapshots", fields, struct series_row);

/*
 * A queue of any moment: its identity, how often it was there, and how the pointers of its slot
 * moved from the first moment in which it was in one to the last.
 */
struct seen_queue {
	int64_t pid;
	int64_t queue_id;
	int64_t ring;
	int64_t kfd_gpu_id;
	const char *type;
	int64_t priority;
	int64_t seen;	    /* moments */
	int64_t in_slots;   /* moments where it was in all its slots; or unknown */
	int64_t rptr_moved; /* dwords, or bytes of SDMA */
	int64_t wptr_moved;
	int64_t waiting_packets;   /* packets at last */
	int64_t not_moving;	   /* packets waited, and rptr stood, in the last two moments */
	const char *waiting_since; /* first moment of that wait, or NULL */
	/* Registers of its slot, and how many moments have them. */
	struct gp_text_regs first, last;
	int64_t samples;
	const char *waits; /* first moment from which on it waits at this rptr */
};

#define QUEUE(member, title, what) OUT_FIELD(struct seen_queue, member, title, what)

static const struct out_field queue_fields[] = {
	QUEUE(pid, "PID", OUT_DEC),
	QUEUE(queue_id, "QID", OUT_DEC),
	QUEUE(kfd_gpu_id, "KFD-ID", OUT_HEX),
	QUEUE(type, "TYPE", OUT_TEXT),
	QUEUE(priority, "PRIO", OUT_DEC),
	QUEUE(ring, "RING", OUT_HEX),
	QUEUE(seen, "SEEN", OUT_DEC),
	QUEUE(in_slots, "IN SLOTS", OUT_DEC),
	QUEUE(rptr_moved, "MOVED", OUT_DEC),
	QUEUE(wptr_moved, "ADDED", OUT_DEC),
	QUEUE(waiting_packets, "WAIT", OUT_DEC),
	QUEUE(not_moving, NULL, OUT_FLAG),
	QUEUE(waiting_since, NULL, OUT_TEXT),
};

static const struct out_table queues_table =
	OUT_TABLE("queues_seen", queue_fields, struct seen_queue);

struct series {
	struct text_moments moments;
	struct series_row *rows;
	size_t count;
	struct seen queues;
	uint64_t problems;
	/* Figures of the samples; of all moments if there is no sample. */
	size_t samples;
	double mean;
	int64_t least;
	int64_t most;
	int64_t same_ids;
};

static void append_id(char **list, int64_t pid, int64_t qid)
{
	text_append(list, "%" PRId64 ":%" PRId64, pid, qid);
}

static bool is_of(const struct gp_text_queue *queue, int64_t pid)
{
	return !pid || queue->pid == pid;
}

static void add_changes(const struct ctl_text *before, const struct ctl_text *text, int64_t pid,
			struct series_row *row)
{
	const struct diff_rows *all;
	struct diff diff;
	size_t i;

	diff_make(before, 0, text, 0, &diff);
	/* Rings for want of ids: a process has each ring once. "7:0", or "7@0x7f12". */
	all = diff.ids_known ? &diff.queues : &diff.rings;
	for (i = 0; i < all->n; i++) {
		const struct diff_row *q = all->rows + i;
		char **list = q->side == DIFF_A ? &row->went : &row->came;

		if ((pid && q->key[0] != pid) || q->side == DIFF_BOTH)
			continue;
		if (diff.ids_known)
			append_id(list, q->key[0], q->key[2]);
		else if (diff.queues_a != GPREEMPT_UNKNOWN && diff.queues_b != GPREEMPT_UNKNOWN)
			text_append(list, "%" PRId64 "@0x%" PRIx64, q->key[0], q->key[2]);
	}
	diff_free(&diff);
}

static void fill(const struct ctl_text *text, int64_t pid, struct series_row *row)
{
	struct gp_text_check sum = ctl_text_check(text, pid);
	size_t i;

	for (i = 0; i < text->data->n_processes; i++)
		row->processes += !pid || text->data->processes[i].pid == pid;
	for (i = 0; i < text->data->n_queues; i++)
		row->queues += is_of(text->data->queues + i, pid);
	if (!text->data->mqds_seen || text->data->several_moments)
		row->processes = row->queues = GPREEMPT_UNKNOWN;
	row->slots_expected = sum.slots_expected;
	row->slots_active = sum.slots_active;
	row->slots_without_owner = sum.slots_without_owner;
	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			append_id(&row->ids, text->ids[i].pid, text->ids[i].qid);
}

static struct seen_queue *find_queue(struct seen *seen, const struct seen_queue *like)
{
	struct seen_queue *queue;
	size_t i;

	for (i = 0; i < seen->count; i++) {
		queue = seen->items + i;
		if (queue->pid == like->pid && queue->kfd_gpu_id == like->kfd_gpu_id &&
		    queue->ring == like->ring &&
		    (queue->queue_id == like->queue_id || queue->queue_id == GPREEMPT_UNKNOWN ||
		     like->queue_id == GPREEMPT_UNKNOWN)) {
			if (queue->queue_id == GPREEMPT_UNKNOWN)
				queue->queue_id = like->queue_id;
			return queue;
		}
	}
	queue = shr_must(shr_add(seen));
	*queue = *like;
	return queue;
}

/*
 * The way of a pointer of 32 bits (CP) or 64 (SDMA), which goes round in its ring or does not. A
 * way back is that of another queue in the same place.
 */
static int64_t way_of(const struct gp_text_regs *regs, int64_t from, int64_t to)
{
	int64_t way = to - from;

	if (from < 0 || to < 0)
		return GPREEMPT_UNKNOWN;
	if (way < 0 && regs->aql == 1)
		way += 1ll << 32;
	else if (way < 0 && regs->aql == 0 && regs->ring_size > 0)
		way += regs->ring_size / (int64_t)sizeof(uint32_t);
	return way < 0 || way > INT32_MAX ? GPREEMPT_UNKNOWN : way;
}

/* Add a moment of a queue, whose slot has these registers, if it is in one. */
static struct seen_queue *add_queue(struct seen *seen, const struct seen_queue *like,
				    const struct gp_text_regs *now, const char *moment)
{
	struct seen_queue *queue = find_queue(seen, like);
	bool waits, still;

	queue->seen++;
	if (!now || now->rptr < 0 || now->wptr < 0)
		return queue;
	queue->waiting_packets = ctl_waiting(now);
	waits = queue->waiting_packets && now->rptr != now->wptr;
	still = waits && queue->waits && queue->last.rptr == now->rptr;
	if (!queue->samples++)
		queue->first = *now;
	queue->last = *now;
	if (!still)
		queue->waits = waits ? moment : NULL;
	if (queue->samples < 2)
		return queue;
	queue->rptr_moved = way_of(now, queue->first.rptr, now->rptr);
	queue->wptr_moved = way_of(now, queue->first.wptr, now->wptr);
	queue->not_moving = still;
	queue->waiting_since = still ? queue->waits : NULL;
	return queue;
}

static struct seen_queue new_queue(enum gp_text_type type, int64_t gpu_id, int64_t ring,
				   int64_t priority)
{
	return (struct seen_queue){
		.pid = GPREEMPT_UNKNOWN,
		.queue_id = GPREEMPT_UNKNOWN,
		.kfd_gpu_id = gpu_id,
		.ring = ring,
		.type = gp_text_type_name(type),
		.priority = priority,
		.in_slots = GPREEMPT_UNKNOWN,
		.rptr_moved = GPREEMPT_UNKNOWN,
		.wptr_moved = GPREEMPT_UNKNOWN,
		.waiting_packets = GPREEMPT_UNKNOWN,
		.not_moving = GPREEMPT_UNKNOWN,
	};
}

void seen_add(struct seen *seen, const struct ctl_text *text, int64_t pid, const char *moment)
{
	const struct gp_text_data *d = text->data;
	const struct gp_text_queue *q = d->queues;
	const struct gp_text_slot *slot = d->slots;
	struct seen_queue like, *queue;
	size_t i;

	for (i = 0; i < d->n_queues; i++, q++) {
		if (!is_of(q, pid))
			continue;
		like = new_queue(q->type, q->gpu_id, ctl_ring_of(d, q), q->priority);
		like.pid = q->pid;
		like.queue_id = q->qid;
		queue = add_queue(seen, &like, ctl_regs_now(d, i), moment);
		if (q->slots_active != GPREEMPT_UNKNOWN && queue->in_slots == GPREEMPT_UNKNOWN)
			queue->in_slots = 0;
		queue->in_slots += q->slots_active > 0 && q->slots_active == q->slots_expected;
	}
	if (d->mqds_seen || d->several_moments)
		return;
	/* The active slots on the first XCC stand for their queues. */
	for (i = 0; i < d->n_slots; i++, slot++) {
		if (slot->regs.active != 1 || slot->type == GP_TEXT_HIQ ||
		    (slot->type == GP_TEXT_COMPUTE && slot->nth_xcc))
			continue;
		like = new_queue(slot->type, slot->gpu_id, slot->regs.ring, slot->regs.priority);
		add_queue(seen, &like, &slot->regs, moment);
	}
}

static void print_not_moving(const struct seen_queue *queue, bool first)
{
	printf("%s", first ? "" : ", ");
	if (queue->pid == GPREEMPT_UNKNOWN)
		printf("ring 0x%" PRIx64, queue->ring);
	else if (queue->queue_id == GPREEMPT_UNKNOWN)
		printf("%" PRId64 "@0x%" PRIx64, queue->pid, queue->ring);
	else
		printf("%" PRId64 ":%" PRId64, queue->pid, queue->queue_id);
	if (queue->waiting_packets == GPREEMPT_UNKNOWN)
		printf(" (since %s)", queue->waiting_since);
	else
		printf(" (%" PRId64 " packets, since %s)", queue->waiting_packets,
		       queue->waiting_since);
}

void seen_print(enum out_mode mode, const struct seen *seen)
{
	size_t i, known = 0, n = 0;

	if (seen->count) {
		putchar('\n');
		out_rows(mode, &queues_table, seen->items, seen->count);
	}
	printf("\nwaiting and not moving: ");
	for (i = 0; i < seen->count; i++) {
		known += seen->items[i].samples > 1;
		if (seen->items[i].not_moving == 1)
			print_not_moving(seen->items + i, !n++);
	}
	puts(n ? "" : known ? "none" : "not known: no queue is in a slot in two of them");
}

struct json_object *seen_json(const struct seen *seen)
{
	return out_json_rows(&queues_table, seen->items, seen->count);
}

/* Is the moment a sample? Moments before and after the program do not show its use. */
static bool is_sample(const struct series *series, size_t i)
{
	return series->moments.items[i].when == TEXT_SAMPLE;
}

static void sum_up(struct series *series)
{
	const char *ids = NULL;
	bool all = true, known = true;
	double sum = 0;
	size_t i;

	for (i = 0; i < series->count; i++)
		all &= !is_sample(series, i);
	series->same_ids = 1;
	for (i = 0; i < series->count; i++) {
		const struct series_row *row = series->rows + i;

		if (!all && !is_sample(series, i))
			continue;
		if (row->queues == GPREEMPT_UNKNOWN)
			continue;
		if (!series->samples || row->queues < series->least)
			series->least = row->queues;
		if (!series->samples || row->queues > series->most)
			series->most = row->queues;
		sum += row->queues;
		known &= !row->queues || row->ids;
		if (series->samples && strcmp(ids ? ids : "", row->ids ? row->ids : ""))
			series->same_ids = 0;
		ids = row->ids;
		series->samples++;
	}
	if (!known || !series->samples)
		series->same_ids = GPREEMPT_UNKNOWN;
	series->mean = series->samples ? sum / series->samples : 0;
}

static void print_json(const struct series *series)
{
	struct json_object *object = json_object_new_object();
	struct json_object *sum = json_object_new_object();
	bool known = series->samples;

	out_add(object, table.name, out_json_rows(&table, series->rows, series->count));
	out_add(object, queues_table.name, seen_json(&series->queues));
	out_add(sum, "samples", out_json_number(series->samples));
	out_add(sum, "queues_mean", known ? out_json_double(series->mean) : NULL);
	out_add(sum, "queues_least", known ? out_json_number(series->least) : NULL);
	out_add(sum, "queues_most", known ? out_json_number(series->most) : NULL);
	out_add(sum, "stable", !known ? NULL : out_json_flag(series->least == series->most));
	out_add(sum, "same_ids", out_json_flag(series->same_ids));
	out_add(object, "summary", sum);
	out_json_print(object);
}

static void print_text(enum out_mode mode, const struct series *series)
{
	out_rows(mode, &table, series->rows, series->count);
	seen_print(mode, &series->queues);
	if (!series->samples) {
		printf("Queues: not known\n");
		return;
	}
	printf("Queues of %zu samples: mean %.1f, least %" PRId64 ", most %" PRId64 ": %s\n",
	       series->samples, series->mean, series->least, series->most,
	       series->least == series->most ? "stable" : "not stable");
	printf("Queue ids of all samples: %s\n", series->same_ids == GPREEMPT_UNKNOWN ?
							 "not known" :
						 series->same_ids ? "the same" :
								    "not the same");
}

/* Read all snapshots, one after the other. 0, or the exit status. */
static int read_series(struct series *series, int64_t pid)
{
	struct ctl_text text = { 0 }, before = { 0 };
	size_t i;
	int ret = 0;

	for (i = 0; i < series->count && !ret; i++) {
		ret = ctl_text_moment(series->moments.items + i, &text);
		if (ret)
			break;
		series->rows[i].snapshot = series->moments.items[i].name;
		fill(&text, pid, series->rows + i);
		seen_add(&series->queues, &text, pid, series->rows[i].snapshot);
		if (i)
			add_changes(&before, &text, pid, series->rows + i);
		series->problems += text.data->n_problems;
		if (before.text)
			ctl_text_free(&before);
		before = text;
	}
	if (before.text)
		ctl_text_free(&before);
	return ret;
}

static void free_series(struct series *series)
{
	size_t i;

	for (i = 0; i < series->count; i++) {
		free(series->rows[i].ids);
		free(series->rows[i].came);
		free(series->rows[i].went);
	}
	free(series->rows);
	free(series->queues.items);
	text_moments_free(&series->moments);
}

int decode_series(enum out_mode mode, uint64_t pid, const char *dir)
{
	struct series series = { 0 };
	int ret;

	if (!strcmp(dir, "-"))
		return -1;
	text_moments_find(dir, &series.moments);
	series.count = series.moments.count;
	if (series.count < 2) {
		text_moments_free(&series.moments);
		return -1;
	}
	text_moments_note(&series.moments);
	series.rows = shr_must(calloc(series.count + 1, sizeof(*series.rows)));
	ret = read_series(&series, pid);
	if (!ret) {
		sum_up(&series);
		if (mode == OUT_JSON)
			print_json(&series);
		else
			print_text(mode, &series);
	}
	if (series.problems)
		ctl_note("%" PRIu64 " problems in the text: gpreempt-lab decode "
			 "lists those of one snapshot",
			 series.problems);
	if (!ret && series.problems)
		ret = GPREEMPT_CLASS_PARTIAL;
	free_series(&series);
	return ret;
}
