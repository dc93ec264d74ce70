// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is the text of one moment? A slot, and an MQD of a node, is there only once.
 * What comes twice was read twice, and a join would count it twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/parse.h"
#include "shared/macro.h"

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

static int find_of_kind(struct gp_text *text, const struct kind *kind, struct places *places)
{
	const struct place *repeated;

	places->count = 0;
	kind->add(&text->data, places);
	repeated = find_repeated(places);
	if (!repeated)
		return 0;
	text->data.several_moments = true;
	return gp_text_problem_at(text, repeated->file, repeated->line, kind->what);
}

int gp_text_find_moments(struct gp_text *text)
{
	const struct gp_text_data *d = &text->data;
	struct places places;
	int ret = 0;
	size_t i;

	places.items = calloc(d->n_mqds + d->n_slots + d->n_packets + 1, sizeof(*places.items));
	if (!places.items)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(kinds) && !ret; i++)
		ret = find_of_kind(text, kinds + i, &places);
	free(places.items);
	return ret;
}
