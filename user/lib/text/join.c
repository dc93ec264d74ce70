// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which slots hold which queue: by the address of the MQD, and the ring. */
#include <errno.h>
#include <stdlib.h>

#include "lib/text/parse.h"

/* What an MQD is found by. */
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
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->mqd > y->mqd) - (x->mqd < y->mqd);
}

struct keys {
	struct key *items;
	size_t count;
};

/* The MQDs of compute queues, sorted. */
static int make_keys(struct gp_text *text, struct keys *keys)
{
	const struct gp_text_queue *queues = text->queues.items;
	const struct gp_text_mqd *mqds = text->mqds.items;
	size_t i;

	keys->count = 0;
	keys->items = calloc(text->mqds.count + 1, sizeof(*keys->items));
	if (!keys->items)
		return -ENOMEM;
	for (i = 0; i < text->mqds.count; i++) {
		struct key *key = keys->items + keys->count;

		/* 0: a queue that was never mapped. */
		if (mqds[i].regs.mqd <= 0 ||
		    queues[mqds[i].queue].type == GP_TEXT_DIQ)
			continue;
		key->gpu_id = queues[mqds[i].queue].gpu_id;
		key->address = mqds[i].regs.mqd;
		key->mqd = i;
		keys->count++;
	}
	qsort(keys->items, keys->count, sizeof(*keys->items), compare_keys);
	return 0;
}

/* The first MQD of that address, or NULL. */
static struct gp_text_mqd *find(struct gp_text *text, const struct keys *keys,
				int64_t gpu_id, int64_t address)
{
	size_t low = 0, high = keys->count;
	struct key wanted = { gpu_id, address, 0 };

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(keys->items + middle, &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == keys->count || keys->items[low].gpu_id != gpu_id ||
	    keys->items[low].address != address)
		return NULL;
	return text->mqds.items + keys->items[low].mqd;
}

static const char other_ring[] =
	"this slot has another ring than the MQD of its address: "
	"mqds and hqds are not of one moment";

static int join_cp(struct gp_text *text, const struct keys *keys,
		   struct gp_text_slot *slot)
{
	struct gp_text_mqd *mqd =
		find(text, keys, slot->gpu_id, slot->regs.mqd);

	if (!mqd)
		return 0;
	/*
	 * KFD gives the MQDs of a process that ended to the next one: only the
	 * ring says whether it is this queue.
	 */
	if (slot->regs.ring != mqd->regs.ring)
		return gp_text_problem_at(text, slot->file, slot->line,
					  other_ring);
	slot->owner = mqd->queue;
	mqd->slots++;
	if (mqd->slots > 1)
		return gp_text_problem_at(text, slot->file, slot->line,
					  "this MQD is in another slot, too");
	if (mqd->xcc != slot->nth_xcc)
		return gp_text_problem_at(text, slot->file, slot->line,
					  "this MQD is one for another XCC");
	return 0;
}

/* Few: by the driver's number of the slot, and the ring. */
static void join_sdma(struct gp_text *text, struct gp_text_slot *slot)
{
	const struct gp_text_queue *queues = text->queues.items;
	struct gp_text_mqd *mqd = text->mqds.items;
	const struct gp_text_mqd *end = shr_end(&text->mqds);

	for (; mqd < end; mqd++) {
		if (queues[mqd->queue].type != GP_TEXT_SDMA ||
		    queues[mqd->queue].gpu_id != slot->gpu_id ||
		    mqd->regs.engine != slot->nth_xcc ||
		    mqd->regs.rlc != slot->queue ||
		    mqd->regs.ring != slot->regs.ring)
			continue;
		slot->owner = mqd->queue;
		mqd->slots++;
		return;
	}
}

static int join_slots(struct gp_text *text, const struct keys *keys)
{
	struct gp_text_slot *slot = text->slots.items;
	const struct gp_text_slot *end = shr_end(&text->slots);
	int ret = 0;

	for (; slot < end && !ret; slot++) {
		if (slot->regs.active != 1)
			continue;
		if (slot->type == GP_TEXT_COMPUTE)
			ret = join_cp(text, keys, slot);
		else if (slot->type == GP_TEXT_SDMA)
			join_sdma(text, slot);
	}
	return ret;
}

static void join_packets(struct gp_text *text, const struct keys *keys)
{
	struct gp_text_packet *packet = text->packets.items;
	const struct gp_text_packet *end = shr_end(&text->packets);
	const struct gp_text_queue *queues = text->queues.items;
	const struct gp_text_mqd *mqd;

	for (; packet < end; packet++) {
		int64_t pasid;

		if (packet->mqd == GPREEMPT_UNKNOWN)
			continue;
		mqd = find(text, keys, packet->gpu_id, packet->mqd);
		if (!mqd)
			continue;
		/* It has no ring: the PASID is all that can contradict. */
		pasid = queues[mqd->queue].pasid;
		if (pasid == GPREEMPT_UNKNOWN || pasid == packet->pasid)
			packet->queue = mqd->queue;
	}
}

/* What is there of a node's slots of a type. */
struct seen {
	const struct gp_text *text;
	int64_t gpu_id;
	enum gp_text_type type;
	bool all; /* there are some, and all can be read */
};

/* Queues come process by process, and have few nodes: the last answer is kept. */
static bool slots_are_known(struct seen *seen,
			    const struct gp_text_queue *queue)
{
	const struct gp_text_slot *slot = seen->text->slots.items;
	const struct gp_text_slot *end = shr_end(&seen->text->slots);

	if (seen->gpu_id == queue->gpu_id && seen->type == queue->type)
		return seen->all;
	seen->gpu_id = queue->gpu_id;
	seen->type = queue->type;
	seen->all = false;
	for (; slot < end; slot++) {
		if (slot->gpu_id != queue->gpu_id || slot->type != queue->type)
			continue;
		seen->all = slot->regs.active != GPREEMPT_UNKNOWN;
		if (!seen->all)
			break;
	}
	return seen->all;
}

static void count_slots(struct gp_text *text)
{
	struct gp_text_queue *queue = text->queues.items;
	const struct gp_text_queue *end = shr_end(&text->queues);
	const struct gp_text_mqd *mqds = text->mqds.items;
	struct seen seen = { .text = text, .gpu_id = GPREEMPT_UNKNOWN };
	size_t i;

	for (; queue < end; queue++) {
		bool in_slots = queue->type == GP_TEXT_COMPUTE ||
				queue->type == GP_TEXT_SDMA;

		queue->slots_expected = !queue->n_mqds ? GPREEMPT_UNKNOWN :
					in_slots ? (int64_t)queue->n_mqds :
						   0;
		if (!queue->n_mqds || text->data.several_moments || !in_slots ||
		    !slots_are_known(&seen, queue))
			continue;
		queue->slots_active = 0;
		for (i = 0; i < queue->n_mqds; i++)
			queue->slots_active += mqds[queue->mqds + i].slots;
	}
}

struct by_pid {
	struct gp_text_process *process;
	size_t nth;
};

static int compare_pids(const void *a, const void *b)
{
	const struct by_pid *x = a, *y = b;

	if (x->process->file != y->process->file)
		return x->process->file < y->process->file ? -1 : 1;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

/* The same pid again is another context of that process. */
static int number_contexts(struct gp_text *text)
{
	struct gp_text_process *processes = text->processes.items;
	struct gp_text_queue *queues = text->queues.items;
	size_t i, count = text->processes.count;
	struct by_pid *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		sorted[i] = (struct by_pid){ processes + i, i };
	qsort(sorted, count, sizeof(*sorted), compare_pids);
	for (i = 1; i < count; i++)
		if (sorted[i].process->file == sorted[i - 1].process->file &&
		    sorted[i].process->pid == sorted[i - 1].process->pid)
			sorted[i].process->context =
				sorted[i - 1].process->context + 1;
	free(sorted);
	for (i = 0; i < text->queues.count; i++)
		if (queues[i].context != GPREEMPT_UNKNOWN)
			queues[i].context =
				processes[queues[i].context].context;
	return 0;
}

int gp_text_join(struct gp_text *text)
{
	struct keys keys;
	int ret = gp_text_find_moments(text);

	if (!ret)
		ret = make_keys(text, &keys);
	if (ret)
		return ret;
	if (!text->data.several_moments) {
		ret = join_slots(text, &keys);
		join_packets(text, &keys);
	}
	if (!ret) {
		count_slots(text);
		ret = number_contexts(text);
	}
	free(keys.items);
	return ret;
}
