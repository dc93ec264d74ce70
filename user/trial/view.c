// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stage view of a trial: the view beside a queue that is known, by its ring, and beside the driver's
 * own text (mqds and hqds), which prints the registers themselves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"

#define TEXTS 10 /* comparisons with the text */

/* Reads of the view, and those in which something was so. */
struct reads {
	uint64_t *ns;
	size_t n;
	int64_t ring, slots, all_slots, waves, few, most;
};

static const struct gpreempt_queue *find_queue(const struct gpreempt_view *view,
					       const struct trial_work *w)
{
	size_t i;

	for (i = 0; view && i < view->count; i++)
		if (view->queues[i].ring == w->ring)
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
	q = find_queue(view, w);
	if (!q)
		return true;
	r->ring++;
	r->slots += q->active != GPREEMPT_UNKNOWN;
	r->all_slots += q->active != GPREEMPT_UNKNOWN && q->active == q->slots;
	r->waves += q->waves > 0;
	r->few += q->waves > 0 && q->waves <= w->waves;
	if (q->waves > r->most)
		r->most = q->waves;
	return true;
}

/* Registers that the module has read so far, for all who read its files. */
static int64_t registers_read(struct trial *t)
{
	__cleanup_list struct gpreempt_facts *stats = NULL;
	const struct gpreempt_fact *fact = NULL;

	if (!gpreempt_module_stats(t->g, &stats, NULL))
		fact = gp_facts_find(stats, "registers");
	return fact ? fact->number : GPREEMPT_UNKNOWN;
}

static void read_view(struct trial *t, const struct trial_work *w, struct reads *r, size_t count,
		      uint64_t until, struct json_object *run)
{
	int64_t registers = registers_read(t);
	struct shr_stats stats;
	struct json_object *o;

	while (r->n < count && shr_now_ns() < until && trial_sleep(t, NSEC_PER_MSEC))
		if (!read_once(t, w, r))
			break;
	if (!r->n)
		return;
	shr_stats(r->ns, r->n, &stats);
	o = out_json_stats(&stats);
	out_add(o, "registers",
		registers == GPREEMPT_UNKNOWN ?
			NULL :
			out_json_double((double)(registers_read(t) - registers) / r->n));
	out_add(o, "ring_found", out_json_number(r->ring));
	out_add(o, "slots_read", out_json_number(r->slots));
	out_add(o, "in_all_slots", out_json_number(r->all_slots));
	out_add(o, "with_waves", out_json_number(r->waves));
	out_add(o, "most_waves", out_json_number(r->most));
	out_add(run, "reads", o);
	trial_count(t->found, TRIAL_SLOTS, r->slots, r->all_slots);
	trial_count(t->found, TRIAL_WAVES, r->waves, r->few);
}

/* The driver's own text, register by register. */

enum use {
	KEY,   /* tells which row it is */
	FIXED, /* is the same at all times */
	MOVES, /* grows */
};

struct column {
	const char *key; /* key of "gpreempt-lab decode --json" */
	size_t at;	 /* in the view's struct */
	enum use use;
};

#define QUEUE(member) offsetof(struct gpreempt_queue, member)
#define SLOT(member)  offsetof(struct gpreempt_hqd, member)

static const struct column queue_columns[] = {
	{ "ring", QUEUE(ring), KEY },
	{ "kfd_gpu_id", QUEUE(gpu_id), FIXED },
	{ "mqd", QUEUE(mqd), FIXED },
	{ "ring_size", QUEUE(ring_size), FIXED },
	{ "doorbell", QUEUE(doorbell), FIXED },
	{ "priority", QUEUE(priority), FIXED },
	{ "cwsr", QUEUE(cwsr), FIXED },
	{ "cwsr_size", QUEUE(cwsr_size), FIXED },
	{ "slots_active", QUEUE(active), FIXED },
	{ "slots_expected", QUEUE(slots), FIXED },
	{ "rptr", QUEUE(rptr), MOVES },
	{ "wptr", QUEUE(wptr), MOVES },
	{ 0 },
};

static const struct column slot_columns[] = {
	{ "kfd_gpu_id", SLOT(gpu_id), KEY },   { "xcc", SLOT(xcc), KEY },
	{ "pipe", SLOT(pipe), KEY },	       { "queue", SLOT(queue), KEY },
	{ "active", SLOT(active), FIXED },     { "vmid", SLOT(vmid), FIXED },
	{ "doorbell", SLOT(doorbell), FIXED }, { "rptr", SLOT(rptr), MOVES },
	{ "wptr", SLOT(wptr), MOVES },	       { 0 },
};

static int64_t in_row(const void *row, const struct column *c)
{
	return *(const int64_t *)((const char *)row + c->at);
}

/* Numbers in hexadecimal are text. */
static int64_t in_text(struct json_object *row, const struct column *c)
{
	struct json_object *value = json_object_object_get(row, c->key);

	if (!value)
		return GPREEMPT_UNKNOWN;
	return json_object_is_type(value, json_type_string) ?
		       strtoll(json_object_get_string(value), NULL, 0) :
		       json_object_get_int64(value);
}

/* Returns the row of the text that is the view's, or NULL. */
static struct json_object *find_row(struct json_object *rows, const struct column *c,
				    const void *row)
{
	size_t i, n = rows ? json_object_array_length(rows) : 0;
	const struct column *key;

	for (i = 0; i < n; i++) {
		struct json_object *at = json_object_array_get_idx(rows, i);

		for (key = c; key->use == KEY && in_row(row, key) == in_text(at, key);)
			key++;
		if (key->use != KEY)
			return at;
	}
	return NULL;
}

struct agreement {
	int64_t looks, compared, agree;
	char differs[160]; /* the first register that does not */
};

/* The text is from between two looks at the view: a register that changed meanwhile is left out. */
static void compare(struct agreement *a, const struct column *c, const void *before,
		    const void *after, struct json_object *rows)
{
	struct json_object *text = find_row(rows, c, before);

	a->compared += !text;
	if (!text && !*a->differs)
		snprintf(a->differs, sizeof(a->differs), "the text has no %s %#" PRIx64, c->key,
			 in_row(before, c));
	for (; text && c->key; c++) {
		int64_t low = in_row(before, c), high = in_row(after, c), value = in_text(text, c);

		if (c->use == KEY || low < 0 || high < 0 || value < 0 ||
		    (c->use == MOVES ? low > high : low != high))
			continue;
		a->compared++;
		if (value >= low && value <= high)
			a->agree++;
		else if (!*a->differs)
			snprintf(a->differs, sizeof(a->differs),
				 "%s: %#" PRIx64 ", and in the text %#" PRIx64, c->key, low, value);
	}
}

/* A look at a queue and its slots. */
struct look {
	struct gpreempt_view *view;
	struct gpreempt_hqds *hqds;
	const struct gpreempt_queue *queue; /* NULL: they could not be read */
};

/* Looks while the load is at work, and those in which it was seen to be. */
struct busy {
	int64_t looks, busy, on_first, on_all;
};

/* Returns the slot of the queue that is the same one, or NULL; with NULL the first one. */
static const struct gpreempt_hqd *find_slot(const struct look *l, const struct gpreempt_hqd *same)
{
	const struct column *key;
	size_t i;

	for (i = 0; i < l->hqds->count; i++) {
		const struct gpreempt_hqd *slot = &l->hqds->hqds[i];

		key = slot_columns;
		while (same && key->use == KEY && in_row(slot, key) == in_row(same, key))
			key++;
		if (slot->qid == l->queue->qid && (!same || key->use != KEY))
			return slot;
	}
	return NULL;
}

static void count_busy(const struct look *l, const struct gpreempt_usages *usage, struct busy *b)
{
	const struct gpreempt_hqd *first = find_slot(l, NULL);
	bool all = first;
	size_t i;

	for (i = 0; i < l->hqds->count; i++)
		all &= l->hqds->hqds[i].qid != l->queue->qid || l->hqds->hqds[i].waves > 0;
	for (i = 0; i < usage->count; i++)
		if (usage->usages[i].gpu_id == l->queue->gpu_id)
			b->busy += usage->usages[i].busy == 1;
	b->looks++;
	b->on_first += first && first->waves > 0;
	b->on_all += all;
}

static void look_at(struct trial *t, const struct trial_work *w, struct look *l, struct busy *b)
{
	__cleanup_list struct gpreempt_usages *usage = NULL;

	*l = (struct look){ 0 };
	if (!gpreempt_view_read(t->g, w->child.pid, &l->view, NULL) &&
	    !gpreempt_hqds_read(t->g, w->child.pid, &l->hqds, NULL) &&
	    !gpreempt_usage_read(t->g, w->child.pid, &usage, NULL))
		l->queue = find_queue(l->view, w);
	if (l->queue)
		count_busy(l, usage, b);
}

static void compare_look(struct agreement *a, const struct look *before, const struct look *after,
			 struct json_object *text)
{
	struct json_object *slots = json_object_object_get(text, "slots");
	size_t i;

	a->looks++;
	compare(a, queue_columns, before->queue, after->queue,
		json_object_object_get(text, "queues"));
	for (i = 0; i < before->hqds->count; i++) {
		const struct gpreempt_hqd *slot = &before->hqds->hqds[i];
		const struct gpreempt_hqd *later = find_slot(after, slot);

		if (slot->qid == before->queue->qid && slot->active == 1 && later)
			compare(a, slot_columns, slot, later, slots);
	}
}

static void compare_text(struct trial *t, const struct trial_work *w, uint64_t until,
			 struct json_object *run)
{
	char pid[24], *argv[] = { (char *)t->lab, "decode", "--json", "--pid", pid, NULL };
	struct json_object *text, *o = json_object_new_object();
	struct agreement a = { 0 };
	struct busy b = { 0 };
	int i, j, status;

	snprintf(pid, sizeof(pid), "%d", w->child.pid);
	for (i = 0; i < TEXTS && shr_now_ns() < until && !t->stopped; i++) {
		struct look looks[2];

		look_at(t, w, &looks[0], &b);
		text = trial_ask(t, argv, 10 * NSEC_PER_SEC, &status);
		look_at(t, w, &looks[1], &b);
		if (text && looks[0].queue && looks[1].queue)
			compare_look(&a, &looks[0], &looks[1], text);
		json_object_put(text);
		for (j = 0; j < 2; j++) {
			gpreempt_list_free(looks[j].view);
			gpreempt_list_free(looks[j].hqds);
		}
	}
	out_add(o, "looks", out_json_number(a.looks));
	out_add(o, "compared", out_json_number(a.compared));
	out_add(o, "agree", out_json_number(a.agree));
	out_add(o, "differs", out_json_text(*a.differs ? a.differs : NULL));
	out_add(run, "text", o);
	o = json_object_new_object();
	out_add(o, "looks", out_json_number(b.looks));
	out_add(o, "busy", out_json_number(b.busy));
	out_add(o, "on_first_xcc", out_json_number(b.on_first));
	out_add(o, "on_all_xccs", out_json_number(b.on_all));
	out_add(run, "busy", o);
	trial_count(t->found, TRIAL_TEXT, a.compared, a.agree);
}

enum trial_result trial_view(struct trial *t, const struct trial_stage *stage,
			     const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	struct reads r = { .ns = shr_must(calloc(stage->cycles, sizeof(*r.ns))) };
	uint64_t begin = shr_now_ns();

	read_view(t, w, &r, stage->cycles, begin + ns / 2, run);
	free(r.ns);
	if (!r.slots) {
		if (!*t->why)
			snprintf(t->why, sizeof(t->why), TRIAL_NO_SLOTS);
		return r.n ? TRIAL_LACKS : TRIAL_FAILED;
	}
	compare_text(t, w, begin + ns, run);
	return TRIAL_DONE;
}
