// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stage view of a trial: the view beside a queue that is known by its ring, and beside the driver's
 * own text (mqds and hqds), which prints the registers themselves.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"

#define TEXTS 10 /* comparisons with the text */

/* Reads of the view, and those in which something was so. */
struct reads {
	uint64_t *ns;
	size_t n;
	int64_t ring, slots, all_slots, waves, few, most;
	int64_t hardware; /* the last word for it */
};

static const struct gpreempt_queue *find_queue(const struct gpreempt_view *view, int64_t ring)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].ring == ring)
			return &view->queues[i];
	return NULL;
}

static bool read_once(struct trial *t, const struct trial_work *w, struct reads *r)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	uint64_t begin = shr_now_ns();
	const struct gpreempt_queue *q;
	struct gpreempt_error err;

	if (gpreempt_view_read(t->g, w->child.pid, &view, &err)) {
		gpreempt_error_text(&err, t->why, sizeof(t->why));
		return false;
	}
	r->ns[r->n++] = shr_now_ns() - begin;
	q = find_queue(view, w->ring);
	if (!q)
		return true;
	r->ring++;
	r->hardware = q->hardware;
	r->slots += q->active != GPREEMPT_UNKNOWN;
	r->all_slots += q->active != GPREEMPT_UNKNOWN && q->active == q->slots;
	r->waves += q->waves > 0;
	r->few += q->waves > 0 && q->waves <= w->waves;
	if (q->waves > r->most)
		r->most = q->waves;
	return true;
}

/* Registers that the module has read so far, for all who read its files. */
static double registers_read(struct trial *t)
{
	__cleanup_list struct gpreempt_facts *stats = NULL;
	const struct gpreempt_fact *fact = NULL;

	if (!gpreempt_module_stats(t->g, &stats, NULL))
		fact = gp_facts_find(stats, "registers");
	return fact ? fact->number : NAN; /* null in JSON */
}

static void read_view(struct trial *t, const struct trial_work *w, struct reads *r, size_t count,
		      uint64_t until, struct json_object *run)
{
	double registers = registers_read(t);
	struct shr_stats stats;
	struct json_object *o;

	while (r->n < count && shr_now_ns() < until && trial_sleep(t, NSEC_PER_MSEC))
		if (!read_once(t, w, r))
			break;
	if (!r->n)
		return;
	shr_stats(r->ns, r->n, &stats);
	o = out_json_stats(&stats);
	out_add(o, "register_reads", out_json_double((registers_read(t) - registers) / r->n));
	out_add(o, "ring_found", out_json_number(r->ring));
	out_add(o, "slots_read", out_json_number(r->slots));
	out_add(o, "in_all_slots", out_json_number(r->all_slots));
	out_add(o, "with_waves", out_json_number(r->waves));
	out_add(o, "most_waves", out_json_number(r->most));
	out_add(run, "reads", o);
	trial_count(t->found, TRIAL_SLOTS, r->slots, r->all_slots);
	trial_count(t->found, TRIAL_WAVES, r->waves, r->few);
}

/*
 * Rows of the view, with the keys that "gpreempt-lab decode --json" has for the driver's text. The
 * pointers of a queue at work are not among them: a ring may come round between two looks.
 */
#define QUEUE(key, member, kind) OUT_NAMED(key, struct gpreempt_queue, member, NULL, kind)
#define SLOT(member, kind)	 OUT_FIELD(struct gpreempt_hqd, member, NULL, kind)

static const struct out_field queue_fields[] = {
	QUEUE("kfd_gpu_id", gpu_id, OUT_HEX),
	QUEUE("ring", ring, OUT_HEX),
	QUEUE("mqd", mqd, OUT_HEX),
	QUEUE("ring_size", ring_size, OUT_DEC),
	QUEUE("doorbell", doorbell, OUT_HEX),
	QUEUE("priority", priority, OUT_DEC),
	QUEUE("cwsr", cwsr, OUT_HEX),
	QUEUE("cwsr_size", cwsr_size, OUT_DEC),
	QUEUE("slots_active", active, OUT_DEC),
	QUEUE("slots_expected", slots, OUT_DEC),
};

static const struct out_field slot_fields[] = {
	OUT_NAMED("kfd_gpu_id", struct gpreempt_hqd, gpu_id, NULL, OUT_HEX),
	SLOT(xcc, OUT_DEC),
	SLOT(pipe, OUT_DEC),
	SLOT(queue, OUT_DEC),
	SLOT(active, OUT_FLAG),
	SLOT(vmid, OUT_DEC),
	SLOT(doorbell, OUT_HEX),
};

static const struct out_table queue_table =
	OUT_TABLE("queues", queue_fields, struct gpreempt_queue);
static const struct out_table slot_table = OUT_TABLE("slots", slot_fields, struct gpreempt_hqd);

/* Looks while the load is at work: was it seen to be, and does the text agree? */
struct looks {
	int64_t n, busy, on_first, on_all;
	int64_t texts, compared, agree;
	char differs[160]; /* the first register that does not */
};

/* One look: the queue and its slots, by the two tables; and is it busy? NULL: not known. */
static struct json_object *look(struct trial *t, const struct trial_work *w, struct looks *l)
{
	__cleanup_list struct gpreempt_usages *usage = NULL;
	__cleanup_list struct gpreempt_view *view = NULL;
	__cleanup_list struct gpreempt_hqds *hqds = NULL;
	const struct gpreempt_queue *q = NULL;
	struct json_object *o, *slots;
	int64_t n = 0, with = 0;
	size_t i;

	if (!gpreempt_view_read(t->g, w->child.pid, &view, NULL) &&
	    !gpreempt_hqds_read(t->g, w->child.pid, &hqds, NULL) &&
	    !gpreempt_usage_read(t->g, w->child.pid, &usage, NULL))
		q = find_queue(view, w->ring);
	if (!q)
		return NULL;
	o = json_object_new_object();
	slots = json_object_new_array();
	out_add(o, queue_table.name, out_json_rows(&queue_table, q, 1));
	out_add(o, slot_table.name, slots);
	for (i = 0; i < hqds->count; i++) {
		const struct gpreempt_hqd *slot = &hqds->hqds[i];

		if (slot->qid != q->qid || slot->active != 1)
			continue;
		json_object_array_add(slots, out_json_row(&slot_table, slot));
		with += slot->waves > 0;
		l->on_first += !n++ && with;
	}
	for (i = 0; i < usage->count; i++)
		if (usage->usages[i].gpu_id == q->gpu_id)
			l->busy += usage->usages[i].busy == 1;
	l->on_all += n && with == n;
	l->n++;
	return o;
}

/* Returns the row that has the same keys, or NULL. */
static struct json_object *same_row(const struct out_table *table, struct json_object *in,
				    struct json_object *row)
{
	struct json_object *rows = json_object_object_get(in, table->name), *at;
	size_t n = rows ? json_object_array_length(rows) : 0, i, j;
	size_t keys = table == &slot_table ? 4 : 2; /* columns that tell which row it is */

	for (i = 0; i < n; i++) {
		at = json_object_array_get_idx(rows, i);
		for (j = 0; j < keys; j++)
			if (trial_int(at, table->fields[j].name) !=
			    trial_int(row, table->fields[j].name))
				break;
		if (j == keys)
			return at;
	}
	return NULL;
}

/* The text is from between two looks at the view: a register that changed meanwhile is left out. */
static void compare(struct looks *l, const struct out_table *table, struct json_object *before,
		    struct json_object *after, struct json_object *text)
{
	struct json_object *rows = json_object_object_get(before, table->name);
	size_t i, j;

	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		struct json_object *later = same_row(table, after, row);
		struct json_object *theirs = same_row(table, text, row);

		for (j = 0; later && j < table->n_fields; j++) {
			const char *key = table->fields[j].name;
			int64_t low = trial_int(row, key), high = trial_int(later, key);
			int64_t value = trial_int(theirs, key);

			/* A row that is not in the text differs in all. */
			if (low < 0 || (theirs && value < 0) || low != high)
				continue;
			l->compared++;
			if (value == low)
				l->agree++;
			else if (!*l->differs)
				snprintf(l->differs, sizeof(l->differs),
					 "%s %#" PRIx64 ", in the text %#" PRIx64, key, low, value);
		}
	}
}

static void compare_text(struct trial *t, const struct trial_work *w, uint64_t until,
			 struct json_object *run)
{
	char pid[24], *argv[] = { (char *)t->lab, "decode", "--json", "--pid", pid, NULL };
	struct json_object *before, *after, *text, *o = json_object_new_object();
	struct looks l = { 0 };
	int i, status;

	snprintf(pid, sizeof(pid), "%d", w->child.pid);
	for (i = 0; i < TEXTS && shr_now_ns() < until && !t->stopped; i++) {
		before = look(t, w, &l);
		text = trial_ask(t, argv, 10 * NSEC_PER_SEC, &status);
		after = look(t, w, &l);
		if (text)
			*t->why = '\0'; /* lines of others that it could not read */
		if (before && text && after) {
			l.texts++;
			compare(&l, &queue_table, before, after, text);
			compare(&l, &slot_table, before, after, text);
		}
		json_object_put(before);
		json_object_put(text);
		json_object_put(after);
	}
	out_add(o, "looks", out_json_number(l.n));
	out_add(o, "busy", out_json_number(l.busy));
	out_add(o, "on_first_xcc", out_json_number(l.on_first));
	out_add(o, "on_all_xccs", out_json_number(l.on_all));
	out_add(o, "texts", out_json_number(l.texts));
	out_add(o, "compared", out_json_number(l.compared));
	out_add(o, "agree", out_json_number(l.agree));
	out_add(o, "differs", out_json_text(*l.differs ? l.differs : NULL));
	out_add(run, "looks", o);
	trial_count(t->found, TRIAL_TEXT, l.compared, l.agree);
}

enum trial_result trial_view(struct trial *t, const struct trial_stage *stage,
			     const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	struct reads r = { .ns = shr_must(calloc(stage->cycles, sizeof(*r.ns))) };
	uint64_t begin = shr_now_ns();
	char word[32];

	read_view(t, w, &r, stage->cycles, begin + ns / 2, run);
	free(r.ns);
	if (!r.slots) {
		if (r.ring && r.hardware != GPREEMPT_UNKNOWN)
			snprintf(t->why, sizeof(t->why),
				 "no slots were read: the hardware is \"%s\"",
				 gpreempt_word(GPREEMPT_WORD_HARDWARE, r.hardware));
		else if (!*t->why)
			snprintf(t->why, sizeof(t->why), TRIAL_NO_SLOTS);
		return r.n ? TRIAL_LACKS : TRIAL_FAILED;
	}
	compare_text(t, w, begin + ns, run);
	snprintf(word, sizeof(word), "%" PRId64 "-waves", w->waves);
	trial_snapshot(t, word);
	return TRIAL_DONE;
}
