// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The packets of a run list (rls). Facts from the driver: kfd_pm4_headers_ai.h
 * and kfd_pm4_headers_aldebaran.h. The first word of a packet has its type in
 * bits 31:30, its length less 2 in bits 29:16 and its opcode in bits 15:8.
 */
#include <errno.h>

#include "lib/text/parse.h"

#define TYPE_3	      3
#define LINE_WORDS    8
#define PROCESS_WORDS 2 /* the least that has what is decoded */
#define QUEUE_WORDS   5

static void decode(struct gp_text_packet *packet, const uint32_t *words,
		   int64_t *pasid)
{
	packet->pasid = GPREEMPT_UNKNOWN;
	packet->doorbell = GPREEMPT_UNKNOWN;
	packet->mqd = GPREEMPT_UNKNOWN;
	packet->queue = -1;
	if (packet->op == GP_TEXT_MAP_PROCESS &&
	    packet->n_words >= PROCESS_WORDS) {
		*pasid = words[1] & 0xffff;
		packet->pasid = *pasid;
	} else if (packet->op == GP_TEXT_MAP_QUEUES &&
		   packet->n_words >= QUEUE_WORDS) {
		packet->pasid = *pasid;
		packet->doorbell = words[2] >> 2 & 0x3ffffff;
		packet->mqd = (uint64_t)words[4] << 32 | words[3];
	}
}

int gp_text_packets(struct gp_text *text, size_t first, size_t count)
{
	const struct gp_text_node *node = shr_last(&text->nodes);
	const uint32_t *words = text->words.items + first;
	struct gp_text_packet *packet;
	int64_t pasid = GPREEMPT_UNKNOWN;
	size_t at, len;

	for (at = 0; at < count; at += len) {
		uint64_t line = text->first_line + at / LINE_WORDS;

		len = (words[at] >> 16 & 0x3fff) + 2;
		if (words[at] >> 30 != TYPE_3)
			return gp_text_problem(text, line,
					       "no packet where one must begin");
		if (len > count - at)
			return gp_text_problem(text, line,
					       "the end of this packet is missing");
		packet = shr_add(&text->packets);
		if (!packet)
			return -ENOMEM;
		packet->file = text->file;
		packet->line = line;
		packet->node = node->node;
		packet->gpu_id = node->gpu_id;
		packet->op = words[at] >> 8 & 0xff;
		packet->words = first + at;
		packet->n_words = len;
		decode(packet, words + at, &pasid);
	}
	return 0;
}
