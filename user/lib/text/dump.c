// SPDX-License-Identifier: LGPL-2.1-or-later
/* Words of a dump become an MQD, a slot or packets. */
#include <errno.h>

#include "lib/text/parse.h"

/*
 * The driver (pqm_debugfs_mqds) sets the number of dumps at compute queues only,
 * and keeps it for the queues that it prints after one. An SDMA queue and a DIQ
 * have one MQD: further dumps are what is behind it in the pool of MQDs, which
 * are other queues', perhaps of another process.
 */
static bool is_of_others(const struct gp_text_queue *queue)
{
	return queue->n_mqds &&
	       (queue->type == GP_TEXT_SDMA || queue->type == GP_TEXT_DIQ);
}

static int end_mqd(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_queue *queue = shr_last(&text->queues);
	enum gp_text_dump dump = GP_DUMP_OTHER;
	struct gp_text_mqd *mqd;
	const char *wrong;

	if (is_of_others(queue))
		return 0;
	mqd = shr_add(&text->mqds);
	if (!mqd)
		return -ENOMEM;
	if (queue->type == GP_TEXT_COMPUTE || queue->type == GP_TEXT_DIQ)
		dump = GP_DUMP_CP_MQD;
	else if (queue->type == GP_TEXT_SDMA)
		dump = GP_DUMP_SDMA_MQD;
	mqd->queue = text->queues.count - 1;
	mqd->xcc = queue->n_mqds++;
	mqd->line = text->first_line;
	mqd->words = text->first_word;
	mqd->n_words = count;
	wrong = gp_text_regs(dump, words, count, &mqd->regs);
	if (queue->priority == GPREEMPT_UNKNOWN)
		queue->priority = mqd->regs.priority;
	return wrong ? gp_text_problem(text, mqd->line, wrong) : 0;
}

static int end_slot(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_slot *slot = shr_last(&text->slots);
	const char *wrong;

	slot->words = text->first_word;
	slot->n_words = count;
	wrong = gp_text_regs(slot->type == GP_TEXT_SDMA ? GP_DUMP_SDMA_SLOT :
							  GP_DUMP_CP_SLOT,
			     words, count, &slot->regs);
	return wrong ? gp_text_problem(text, slot->line, wrong) : 0;
}

int gp_text_end_dump(struct gp_text *text)
{
	size_t first = text->first_word, count = text->words.count - first;
	const uint32_t *words;
	int ret = 0;

	if (!count)
		return 0;
	words = text->words.items + first;
	if (text->block == GP_BLOCK_QUEUE)
		ret = end_mqd(text, words, count);
	else if (text->block == GP_BLOCK_SLOT)
		ret = end_slot(text, words, count);
	else if (text->block == GP_BLOCK_NODE)
		ret = gp_text_packets(text, first, count);
	text->first_word = text->words.count;
	return ret;
}
