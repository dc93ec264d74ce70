// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dumps: a line of one, "    00000020: 00000000 00000001 ...", of up to 8 words; and
 * all words of one, which become an MQD, a slot or packets. Problems are noted here.
 */
#include <errno.h>

#include "lib/text/parse.h"

#define DIGIT	  0x10 /* it is one */
#define WORDS_MAX 8
#define D(value)  (DIGIT | (value))

static const uint8_t digits[256] = {
	['0'] = D(0),  D(1),  D(2),	     D(3),  D(4),  D(5),  D(6),	 D(7),
	D(8),	       D(9),  ['a'] = D(10), D(11), D(12), D(13), D(14), D(15),
	['A'] = D(10), D(11), D(12),	     D(13), D(14), D(15),
};

/* Eight digits; *good loses DIGIT if one is none. */
static inline uint32_t word(const unsigned char *p, unsigned int *good)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 8; i++) {
		*good &= digits[p[i]];
		sum = (sum << 4) + digits[p[i]];
	}
	/* Less what DIGIT added at each place. */
	return sum - 0x111111110;
}

size_t gp_text_hex(struct gp_text *text, struct gp_line line, uint64_t *offset)
{
	uint32_t *out = text->words.items + text->words.count;
	const unsigned char *p = (const unsigned char *)line.at;
	const unsigned char *end = p + line.len;
	unsigned int good = DIGIT;
	size_t n;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (end - p < 18 || p[8] != ':' || (end - p - 9) % 9 || end - p > 9 + 9 * WORDS_MAX)
		return 0;
	*offset = word(p, &good);
	for (n = 0, p += 9; p < end; p += 9) {
		good &= *p == ' ' ? DIGIT : 0;
		out[n++] = word(p + 1, &good);
	}
	return good ? n : 0;
}

int gp_text_problem_at(struct gp_text *text, unsigned int file, uint64_t line, const char *what)
{
	struct gp_text_problem *problem;

	if (text->data.n_problems++ >= GP_TEXT_PROBLEMS)
		return 0;
	problem = shr_array_add(&text->data.problems, &text->data.kept, sizeof(*problem));
	if (!problem)
		return -ENOMEM;
	*problem = (struct gp_text_problem){ file, line, what };
	return 0;
}

int gp_text_problem(struct gp_text *text, uint64_t line, const char *what)
{
	return gp_text_problem_at(text, text->file, line, what);
}

/*
 * The driver (pqm_debugfs_mqds) sets the number of dumps at compute queues only,
 * and keeps it for the queues that it prints after one. An SDMA queue and a DIQ
 * have one MQD: further dumps are what is behind it in the pool of MQDs, which
 * are other queues', perhaps of another process.
 */
static bool is_of_others(const struct gp_text_queue *queue)
{
	return queue->n_mqds && (queue->type == GP_TEXT_SDMA || queue->type == GP_TEXT_DIQ);
}

static int end_mqd(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_queue *queue = gp_text_last(text, queues);
	struct gp_text_mqd *mqd;
	const char *wrong;

	if (is_of_others(queue))
		return 0;
	mqd = gp_text_add(text, mqds);
	if (!mqd)
		return -ENOMEM;
	mqd->queue = text->data.n_queues - 1;
	mqd->xcc = queue->n_mqds++;
	wrong = gp_text_regs(queue->type, true, words, count, &mqd->regs);
	if (queue->priority == GPREEMPT_UNKNOWN)
		queue->priority = mqd->regs.priority;
	return wrong ? gp_text_problem(text, text->first_line, wrong) : 0;
}

static int end_slot(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_slot *slot = gp_text_last(text, slots);
	const char *wrong;

	text->dumped = true;
	wrong = gp_text_regs(slot->type, false, words, count, &slot->regs);
	return wrong ? gp_text_problem(text, slot->line, wrong) : 0;
}

/*
 * The packets of a run list (rls). Facts from the driver: kfd_pm4_headers_ai.h
 * and kfd_pm4_headers_aldebaran.h. The first word of a packet has its type in
 * bits 31:30, its length less 2 in bits 29:16 and its opcode in bits 15:8.
 */
#define TYPE_3	      3
#define PROCESS_WORDS 2 /* the least that has what is decoded */
#define QUEUE_WORDS   5

static void decode(struct gp_text_packet *packet, const uint32_t *words, size_t count,
		   int64_t *pasid)
{
	packet->pasid = GPREEMPT_UNKNOWN;
	packet->doorbell = GPREEMPT_UNKNOWN;
	packet->mqd = GPREEMPT_UNKNOWN;
	packet->queue = -1;
	if (packet->op == GP_TEXT_MAP_PROCESS && count >= PROCESS_WORDS) {
		*pasid = words[1] & 0xffff;
		packet->pasid = *pasid;
	} else if (packet->op == GP_TEXT_MAP_QUEUES && count >= QUEUE_WORDS) {
		packet->pasid = *pasid;
		packet->doorbell = words[2] >> 2 & 0x3ffffff;
		packet->mqd = (uint64_t)words[4] << 32 | words[3];
	}
}

static int end_packets(struct gp_text *text, const uint32_t *words, size_t count)
{
	const struct gp_text_node *node = gp_text_last(text, nodes);
	struct gp_text_packet *packet;
	int64_t pasid = GPREEMPT_UNKNOWN;
	size_t at, len;

	for (at = 0; at < count; at += len) {
		uint64_t line = text->first_line + at / WORDS_MAX;

		len = (words[at] >> 16 & 0x3fff) + 2;
		if (words[at] >> 30 != TYPE_3)
			return gp_text_problem(text, line, "no packet where one must begin");
		if (len > count - at)
			return gp_text_problem(text, line, "the end of this packet is missing");
		packet = gp_text_add(text, packets);
		if (!packet)
			return -ENOMEM;
		packet->file = text->file;
		packet->line = line;
		packet->gpu_id = node->gpu_id;
		packet->op = words[at] >> 8 & 0xff;
		decode(packet, words + at, len, &pasid);
	}
	return 0;
}

int gp_text_end_dump(struct gp_text *text)
{
	const uint32_t *words = text->words.items;
	size_t count = text->words.count;
	int ret = 0;

	text->words.count = 0;
	if (!count)
		return 0;
	if (text->block == GP_BLOCK_QUEUE)
		ret = end_mqd(text, words, count);
	else if (text->block == GP_BLOCK_SLOT)
		ret = end_slot(text, words, count);
	else if (text->block == GP_BLOCK_NODE)
		ret = end_packets(text, words, count);
	return ret;
}
