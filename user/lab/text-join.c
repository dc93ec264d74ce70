// SPDX-License-Identifier: LGPL-2.1-or-later
/* Join of slots and queues by the MQD's address and the ring, and the check that it holds. */
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "text.h"

/* Key of an MQD. A text of one moment has each key once. */
struct key {
	int64_t gpu_id;
	int64_t address;
	size_t mqd;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

struct keys {
	struct key *items;
	size_t count;
};

/* The MQDs of compute queues, sorted. */
static void make_keys(const struct gp_text_data *d, struct keys *keys)
{
	size_t i;

	keys->count = 0;
	keys->items = shr_must(calloc(d->n_mqds + 1, sizeof(*keys->items)));
	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_queue *queue = d->queues + d->mqds[i].queue;

		/* Address 0 is that of a queue that was never mapped. */
		if (d->mqds[i].regs.mqd > 0 && queue->type != GP_TEXT_DIQ)
			keys->items[keys->count++] = (struct key){
				queue->gpu_id,
				d->mqds[i].regs.mqd,
				i,
			};
	}
	qsort(keys->items, keys->count, sizeof(*keys->items), compare_keys);
}

static struct gp_text_mqd *find(const struct gp_text_data *d, const struct keys *keys,
				int64_t gpu_id, int64_t address)
{
	const struct key wanted = { gpu_id, address, 0 };
	const struct key *key =
		bsearch(&wanted, keys->items, keys->count, sizeof(*key), compare_keys);

	return key ? d->mqds + key->mqd : NULL;
}

static const char other_ring[] = "this slot has another ring than the MQD of its address: "
				 "mqds and hqds are not of one moment";

static void join_cp(struct gp_text *text, const struct keys *keys, struct gp_text_slot *slot)
{
	struct gp_text_mqd *mqd = find(&text->data, keys, slot->gpu_id, slot->regs.mqd);
	const char *wrong = NULL;

	if (!mqd)
		return;
	/*
	 * KFD gives the MQDs of a process that ended to the next one: only the
	 * ring says whether it is this queue.
	 */
	if (slot->regs.ring != mqd->regs.ring) {
		gp_text_problem_at(text, slot->file, slot->line, other_ring);
		return;
	}
	slot->owner = mqd->queue;
	mqd->slots++;
	if (mqd->slots > 1)
		wrong = "this MQD is in another slot, too";
	else if (mqd->xcc != slot->nth_xcc)
		wrong = "this MQD is one for another XCC";
	if (wrong)
		gp_text_problem_at(text, slot->file, slot->line, wrong);
}

/* Few: by the driver's number of the slot, and the ring. */
static void join_sdma(const struct gp_text_data *d, struct gp_text_slot *slot)
{
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		struct gp_text_mqd *mqd = d->mqds + i;
		const struct gp_text_queue *queue = d->queues + mqd->queue;

		if (queue->type != GP_TEXT_SDMA || queue->gpu_id != slot->gpu_id ||
		    mqd->regs.engine != slot->nth_xcc || mqd->regs.rlc != slot->queue ||
		    mqd->regs.ring != slot->regs.ring)
			continue;
		slot->owner = mqd->queue;
		mqd->slots++;
		return;
	}
}

static void join_slots(struct gp_text *text, const struct keys *keys)
{
	const struct gp_text_data *d = &text->data;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		if (d->slots[i].regs.active != 1)
			continue;
		if (d->slots[i].type == GP_TEXT_COMPUTE)
			join_cp(text, keys, d->slots + i);
		else if (d->slots[i].type == GP_TEXT_SDMA)
			join_sdma(d, d->slots + i);
	}
}

static void join_packets(const struct gp_text_data *d, const struct keys *keys)
{
	size_t i;

	for (i = 0; i < d->n_packets; i++) {
		struct gp_text_packet *packet = d->packets + i;
		const struct gp_text_mqd *mqd = find(d, keys, packet->gpu_id, packet->mqd);
		int64_t pasid;

		if (!mqd)
			continue;
		/* A packet has no ring: only the PASID can contradict. */
		pasid = d->queues[mqd->queue].pasid;
		if (pasid == GPREEMPT_UNKNOWN || pasid == packet->pasid)
			packet->queue = mqd->queue;
	}
}

/* Are all slots of a type on a node known? */
struct seen {
	int64_t gpu_id;
	enum gp_text_type type;
	bool all; /* there are some, and all can be read */
};

/* Queues come process by process, and have few nodes: the last answer is kept. */
static bool slots_are_known(const struct gp_text_data *d, struct seen *seen,
			    const struct gp_text_queue *queue)
{
	size_t i;

	if (seen->gpu_id == queue->gpu_id && seen->type == queue->type)
		return seen->all;
	*seen = (struct seen){ queue->gpu_id, queue->type, false };
	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *slot = d->slots + i;

		if (slot->gpu_id != queue->gpu_id || slot->type != queue->type)
			continue;
		seen->all = slot->regs.active != GPREEMPT_UNKNOWN;
		if (!seen->all)
			break;
	}
	return seen->all;
}

static void count_slots(const struct gp_text_data *d)
{
	struct seen seen = { .gpu_id = GPREEMPT_UNKNOWN };
	size_t i, j;

	for (i = 0; i < d->n_queues; i++) {
		struct gp_text_queue *queue = d->queues + i;
		bool in_slots = queue->type == GP_TEXT_COMPUTE || queue->type == GP_TEXT_SDMA;

		queue->slots_expected = !queue->n_mqds ? GPREEMPT_UNKNOWN :
					in_slots       ? (int64_t)queue->n_mqds :
							 0;
		if (!queue->n_mqds || d->several_moments || !in_slots ||
		    !slots_are_known(d, &seen, queue))
			continue;
		queue->slots_active = 0;
		for (j = 0; j < queue->n_mqds; j++)
			queue->slots_active += d->mqds[queue->mqds + j].slots;
	}
}

/* Order of processes: of two with one PID, the first one in the text has the lower address. */
static int compare_pids(const void *a, const void *b)
{
	const struct gp_text_process *x = *(struct gp_text_process *const *)a;
	const struct gp_text_process *y = *(struct gp_text_process *const *)b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x > y) - (x < y);
}

/* Number the contexts: the same PID again is another context of that process. */
static void number_contexts(const struct gp_text_data *d)
{
	struct gp_text_process **sorted = shr_must(calloc(d->n_processes + 1, sizeof(*sorted)));
	size_t i;

	for (i = 0; i < d->n_processes; i++)
		sorted[i] = d->processes + i;
	qsort(sorted, d->n_processes, sizeof(*sorted), compare_pids);
	for (i = 1; i < d->n_processes; i++)
		if (sorted[i]->file == sorted[i - 1]->file && sorted[i]->pid == sorted[i - 1]->pid)
			sorted[i]->context = sorted[i - 1]->context + 1;
	free(sorted);
	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].context != GPREEMPT_UNKNOWN)
			d->queues[i].context = d->processes[d->queues[i].context].context;
}

/*
 * Is the text of one moment? A slot, and an MQD of a node, is there only once.
 * An entry that comes twice was read twice, and a join would count it twice.
 */

#define KEY_MAX 5

struct place {
	int64_t key[KEY_MAX];
	unsigned int file;
	uint64_t line;
};

struct places {
	struct place *items;
	size_t count;
};

static bool is_before(const struct place *a, const struct place *b)
{
	return a->file != b->file ? a->file < b->file : a->line < b->line;
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int ret = memcmp(x->key, y->key, sizeof(x->key));

	return ret ? ret : is_before(y, x) - is_before(x, y);
}

/* The first in the text that was there before; NULL: each is there once. */
static const struct place *find_repeated(const struct places *places)
{
	const struct place *place = places->items, *first = NULL;
	size_t i;

	qsort(places->items, places->count, sizeof(*place), compare);
	for (i = 1, place++; i < places->count; i++, place++)
		if (!memcmp(place->key, place[-1].key, sizeof(place->key)) &&
		    (!first || is_before(place, first)))
			first = place;
	return first;
}

static void add_mqds(const struct gp_text_data *d, struct places *places)
{
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_regs *regs = &d->mqds[i].regs;
		const struct gp_text_queue *queue = d->queues + d->mqds[i].queue;
		struct place place = {
			.key = { queue->type, queue->gpu_id },
			.file = queue->file,
			.line = queue->line,
		};

		if (queue->type == GP_TEXT_COMPUTE && regs->mqd > 0) {
			place.key[2] = regs->mqd;
		} else if (queue->type == GP_TEXT_SDMA && regs->ring > 0 && regs->engine >= 0) {
			/* Their text does not have their own address. */
			place.key[2] = (uint64_t)regs->engine << 32 | regs->rlc;
			place.key[3] = regs->ring;
			place.key[4] = queue->pid;
		} else {
			continue;
		}
		places->items[places->count++] = place;
	}
}

static void add_slots(const struct gp_text_data *d, struct places *places)
{
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *slot = d->slots + i;

		if (slot->type == GP_TEXT_HIQ || slot->gpu_id == GPREEMPT_UNKNOWN)
			continue;
		places->items[places->count++] = (struct place){
			.key = { slot->type, slot->gpu_id, slot->xcc, slot->pipe, slot->queue },
			.file = slot->file,
			.line = slot->line,
		};
	}
}

static void add_packets(const struct gp_text_data *d, struct places *places)
{
	size_t i;

	for (i = 0; i < d->n_packets; i++)
		if (d->packets[i].mqd > 0)
			places->items[places->count++] = (struct place){
				.key = { d->packets[i].gpu_id, d->packets[i].mqd },
				.file = d->packets[i].file,
				.line = d->packets[i].line,
			};
}

static const struct kind {
	void (*add)(const struct gp_text_data *d, struct places *places);
	const char *what;
} kinds[] = {
	{ add_mqds, "this queue is in the text twice: text of more than one "
		    "moment, which is not joined" },
	{ add_slots, "this slot is in the text twice: text of more than one "
		     "moment, which is not joined" },
	{ add_packets, "this queue is in the run list twice: text of more than "
		       "one moment, which is not joined" },
};

static void find_of_kind(struct gp_text *text, const struct kind *kind, struct places *places)
{
	const struct place *repeated;

	places->count = 0;
	kind->add(&text->data, places);
	repeated = find_repeated(places);
	if (!repeated)
		return;
	text->data.several_moments = true;
	gp_text_problem_at(text, repeated->file, repeated->line, kind->what);
}

/* Set several_moments if something is in it twice. */
static void gp_text_find_moments(struct gp_text *text)
{
	const struct gp_text_data *d = &text->data;
	struct places places;
	size_t i;

	places.items =
		shr_must(calloc(d->n_mqds + d->n_slots + d->n_packets + 1, sizeof(*places.items)));
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		find_of_kind(text, kinds + i, &places);
	free(places.items);
}

void gp_text_join(struct gp_text *text)
{
	const struct gp_text_data *d = gp_text_get(text);
	struct keys keys;

	gp_text_find_moments(text);
	make_keys(d, &keys);
	if (!d->several_moments) {
		join_slots(text, &keys);
		join_packets(d, &keys);
	}
	count_slots(d);
	number_contexts(d);
	free(keys.items);
}

/* Do queues and slots add up? */

/* Sums for an XCC, of MQDs and slots. */
struct entry {
	int64_t gpu_id;
	int64_t xcc;
	int64_t mqds;
	int64_t slots;
	int64_t unreadable; /* slots without registers */
	int64_t active;
	int64_t without_owner;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->xcc > y->xcc) - (x->xcc < y->xcc);
}

static void add(struct entry *to, const struct entry *from)
{
	to->mqds += from->mqds;
	to->slots += from->slots;
	to->unreadable += from->unreadable;
	to->active += from->active;
	to->without_owner += from->without_owner;
}

static size_t collect(const struct gp_text_data *d, int64_t pid, struct entry *out)
{
	bool all = pid <= 0;
	struct entry *at = out;
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_queue *queue = d->queues + d->mqds[i].queue;

		if (queue->type == GP_TEXT_COMPUTE && (all || queue->pid == pid))
			*at++ = (struct entry){
				.gpu_id = queue->gpu_id,
				.xcc = d->mqds[i].xcc,
				.mqds = 1,
			};
	}
	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *slot = d->slots + i;
		bool active = slot->regs.active == 1;
		bool owned = slot->owner >= 0;

		if (slot->type == GP_TEXT_COMPUTE)
			*at++ = (struct entry){
				.gpu_id = slot->gpu_id,
				.xcc = slot->nth_xcc,
				.slots = 1,
				.unreadable = slot->regs.active == GPREEMPT_UNKNOWN,
				.active = active &&
					  (all || (owned && d->queues[slot->owner].pid == pid)),
				.without_owner = active && all && !owned,
			};
	}
	return at - out;
}

/* Sort the entries, and sum up those of each XCC. Returns how many are left. */
static size_t sum_up(struct entry *entries, size_t count)
{
	size_t i, kept = 0;

	qsort(entries, count, sizeof(*entries), compare_entries);
	for (i = 0; i < count; i++) {
		if (kept && !compare_entries(entries + kept - 1, entries + i))
			add(entries + kept - 1, entries + i);
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* Make the check from the sums. A number that is not known is not 0. */
static struct gp_text_check judge(const struct gp_text_data *d, int64_t pid,
				  const struct entry *entry, bool slots_known)
{
	bool mqds_known = d->mqds_seen && !d->several_moments;

	/* A text of several moments has slots twice: do not count them. */
	slots_known &= !d->several_moments;
	if (pid > 0)
		slots_known &= mqds_known;
	return (struct gp_text_check){
		.gpu_id = entry->gpu_id,
		.xcc = entry->xcc,
		.queues = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_expected = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_active = slots_known ? entry->active : GPREEMPT_UNKNOWN,
		.slots_without_owner = slots_known && mqds_known ? entry->without_owner :
								   GPREEMPT_UNKNOWN,
	};
}

/* Are MQDs missing? Without them the number of XCCs of a queue is unknown. */
static bool mqds_are_missing(const struct gp_text_data *d, int64_t pid)
{
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].type == GP_TEXT_COMPUTE && !d->queues[i].n_mqds &&
		    (pid <= 0 || d->queues[i].pid == pid))
			return true;
	return false;
}

static int64_t count_queues(const struct gp_text_data *d, int64_t pid)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		count += d->queues[i].type == GP_TEXT_COMPUTE &&
			 (pid <= 0 || d->queues[i].pid == pid);
	return count;
}

void gp_text_check(struct gp_text *text, int64_t pid, struct gp_text_check *sum,
		   struct gp_text_check **by_xcc, size_t *count)
{
	const struct gp_text_data *d = gp_text_get(text);
	struct entry all = { .gpu_id = GPREEMPT_UNKNOWN, .xcc = GPREEMPT_UNKNOWN };
	struct gp_text_check *out;
	struct entry *entries;
	bool all_known = d->hqds_seen;
	size_t i, n;

	entries = shr_must(calloc(d->n_mqds + d->n_slots + 1, sizeof(*entries)));
	n = sum_up(entries, collect(d, pid, entries));
	out = shr_must(calloc(n + 1, sizeof(*out)));
	for (i = 0; i < n; i++) {
		bool known = entries[i].slots && !entries[i].unreadable;

		add(&all, entries + i);
		out[i] = judge(d, pid, entries + i, known);
		all_known &= known;
	}
	free(entries);
	*sum = judge(d, pid, &all, all_known);
	/* A queue has an MQD for each XCC, and is one queue. */
	if (sum->queues != GPREEMPT_UNKNOWN)
		sum->queues = count_queues(d, pid);
	if (mqds_are_missing(d, pid))
		sum->slots_expected = GPREEMPT_UNKNOWN;
	if (by_xcc) {
		*by_xcc = out;
		*count = n;
	} else {
		free(out);
	}
}
