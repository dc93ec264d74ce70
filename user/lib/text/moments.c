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

static size_t hash_key(const struct place *place, size_t mask)
{
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < KEY_MAX; i++) {
		hash = (hash ^ (uint64_t)place->key[i]) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash & mask;
}

/* The first place that was there before, NULL: each is there once. */
static int find_repeated(const struct places *places,
			 const struct place **repeated)
{
	size_t size = 16, i, at;
	uint32_t *table; /* index + 1 */

	*repeated = NULL;
	while (size < 2 * places->count)
		size *= 2;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (i = 0; i < places->count && !*repeated; i++) {
		const struct place *place = places->items + i;

		at = hash_key(place, size - 1);
		for (; table[at]; at = (at + 1) & (size - 1))
			if (!memcmp(places->items[table[at] - 1].key,
				    place->key, sizeof(place->key)))
				break;
		if (table[at])
			*repeated = place;
		table[at] = i + 1;
	}
	free(table);
	return 0;
}

static void add_mqds(const struct gp_text_data *d, struct places *places)
{
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_regs *regs = &d->mqds[i].regs;
		const struct gp_text_queue *queue =
			d->queues + d->mqds[i].queue;
		struct place place = {
			.key = { queue->type, queue->gpu_id },
			.file = queue->file,
			.line = queue->line,
		};

		if (queue->type == GP_TEXT_COMPUTE && regs->mqd > 0) {
			place.key[2] = regs->mqd;
		} else if (queue->type == GP_TEXT_SDMA && regs->ring > 0 &&
			   regs->engine >= 0) {
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

		if (slot->type == GP_TEXT_HIQ ||
		    slot->gpu_id == GPREEMPT_UNKNOWN)
			continue;
		places->items[places->count++] = (struct place){
			.key = { slot->type, slot->gpu_id, slot->xcc,
				 slot->pipe, slot->queue },
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
				.key = { d->packets[i].gpu_id,
					 d->packets[i].mqd },
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

static int find_of_kind(struct gp_text *text, const struct kind *kind,
			struct places *places)
{
	const struct place *repeated;
	int ret;

	places->count = 0;
	kind->add(&text->data, places);
	ret = find_repeated(places, &repeated);
	if (ret || !repeated)
		return ret;
	text->data.several_moments = true;
	return gp_text_problem_at(text, repeated->file, repeated->line,
				  kind->what);
}

int gp_text_find_moments(struct gp_text *text)
{
	const struct gp_text_data *d = &text->data;
	struct places places;
	int ret = 0;
	size_t i;

	places.items = calloc(d->n_mqds + d->n_slots + d->n_packets + 1,
			      sizeof(*places.items));
	if (!places.items)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(kinds) && !ret; i++)
		ret = find_of_kind(text, kinds + i, &places);
	free(places.items);
	return ret;
}
