// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is the text of one moment? A slot, and an MQD of a node, is there only once.
 * What comes twice was read twice, and a join would count it twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/parse.h"

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

static void add_mqds(struct gp_text *text, struct places *places)
{
	const struct gp_text_queue *queues = text->queues.items, *queue;
	const struct gp_text_mqd *mqd = text->mqds.items;
	const struct gp_text_mqd *end = shr_end(&text->mqds);

	for (; mqd < end; mqd++) {
		struct place *place = places->items + places->count;

		queue = queues + mqd->queue;
		*place = (struct place){
			.key = { queue->type, queue->gpu_id },
			.file = queue->file,
			.line = queue->line,
		};
		if (queue->type == GP_TEXT_COMPUTE && mqd->regs.mqd > 0) {
			place->key[2] = mqd->regs.mqd;
		} else if (queue->type == GP_TEXT_SDMA && mqd->regs.ring > 0 &&
			   mqd->regs.engine >= 0) {
			/* Their text does not have their own address. */
			place->key[2] = (uint64_t)mqd->regs.engine << 32 |
					mqd->regs.rlc;
			place->key[3] = mqd->regs.ring;
			place->key[4] = queue->pid;
		} else {
			continue;
		}
		places->count++;
	}
}

static void add_slots(struct gp_text *text, struct places *places)
{
	const struct gp_text_slot *slot = text->slots.items;
	const struct gp_text_slot *end = shr_end(&text->slots);

	for (; slot < end; slot++) {
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

static void add_packets(struct gp_text *text, struct places *places)
{
	const struct gp_text_packet *packet = text->packets.items;
	const struct gp_text_packet *end = shr_end(&text->packets);

	for (; packet < end; packet++) {
		if (packet->mqd <= 0)
			continue;
		places->items[places->count++] = (struct place){
			.key = { packet->gpu_id, packet->mqd },
			.file = packet->file,
			.line = packet->line,
		};
	}
}

static const struct kind {
	void (*add)(struct gp_text *text, struct places *places);
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
	kind->add(text, places);
	ret = find_repeated(places, &repeated);
	if (ret || !repeated)
		return ret;
	text->data.several_moments = true;
	return gp_text_problem_at(text, repeated->file, repeated->line,
				  kind->what);
}

int gp_text_find_moments(struct gp_text *text)
{
	struct places places;
	size_t most = text->mqds.count;
	int ret = 0;
	size_t i;

	if (text->slots.count > most)
		most = text->slots.count;
	if (text->packets.count > most)
		most = text->packets.count;
	places.items = calloc(most + 1, sizeof(*places.items));
	if (!places.items)
		return -ENOMEM;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds) && !ret; i++)
		ret = find_of_kind(text, kinds + i, &places);
	free(places.items);
	return ret;
}
