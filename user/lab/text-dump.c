// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dumps: a line of one, "    00000020: 00000000 00000001 ...", of up to 8 words; and
 * all words of one, which become an MQD, a slot or packets. Problems are noted here.
 */
#include <string.h>

#include "shared/util.h"
#include "text.h"

#define DIGIT	  0x10 /* mark of a digit in the table */
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
	/* Take off the marks that DIGIT added at each place. */
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

void gp_text_problem_at(struct gp_text *text, unsigned int file, uint64_t line, const char *what)
{
	struct gp_text_problem *problem;

	if (text->data.n_problems++ >= GP_TEXT_PROBLEMS)
		return;
	problem = shr_must(shr_array_add(&text->data.problems, &text->data.kept, sizeof(*problem)));
	*problem = (struct gp_text_problem){ file, line, what };
}

void gp_text_problem(struct gp_text *text, uint64_t line, const char *what)
{
	gp_text_problem_at(text, text->file, line, what);
}

/*
 * Are the further dumps of other queues? The driver (pqm_debugfs_mqds) sets the number of dumps
 * at compute queues only, and keeps it for the queues that it prints after one. An SDMA queue
 * and a DIQ have one MQD: their further dumps show the memory behind it in the pool of MQDs,
 * which is other queues', perhaps of another process.
 */
static bool is_of_others(const struct gp_text_queue *queue)
{
	return queue->n_mqds && (queue->type == GP_TEXT_SDMA || queue->type == GP_TEXT_DIQ);
}

static void end_mqd(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_queue *queue = gp_text_last(text, queues);
	struct gp_text_mqd *mqd;
	const char *wrong;

	if (is_of_others(queue))
		return;
	mqd = gp_text_add(text, mqds);
	mqd->queue = text->data.n_queues - 1;
	mqd->xcc = queue->n_mqds++;
	wrong = gp_text_regs(queue->type, true, words, count, &mqd->regs);
	if (queue->priority == GPREEMPT_UNKNOWN)
		queue->priority = mqd->regs.priority;
	if (wrong)
		gp_text_problem(text, text->first_line, wrong);
}

static void end_slot(struct gp_text *text, const uint32_t *words, size_t count)
{
	struct gp_text_slot *slot = gp_text_last(text, slots);
	const char *wrong;

	text->dumped = true;
	wrong = gp_text_regs(slot->type, false, words, count, &slot->regs);
	if (wrong)
		gp_text_problem(text, slot->line, wrong);
}

/*
 * The packets of a run list (rls). Facts from the driver: kfd_pm4_headers_ai.h
 * and kfd_pm4_headers_aldebaran.h. The first word of a packet has its type in
 * bits 31:30, its length less 2 in bits 29:16 and its opcode in bits 15:8.
 */
#define TYPE_3	      3
#define PROCESS_WORDS 2 /* words up to the last decoded one */
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

static void end_packets(struct gp_text *text, const uint32_t *words, size_t count)
{
	const struct gp_text_node *node = gp_text_last(text, nodes);
	struct gp_text_packet *packet;
	int64_t pasid = GPREEMPT_UNKNOWN;
	const char *wrong = NULL;
	size_t at, len;

	for (at = 0; at < count; at += len) {
		uint64_t line = text->first_line + at / WORDS_MAX;

		len = (words[at] >> 16 & 0x3fff) + 2;
		if (words[at] >> 30 != TYPE_3)
			wrong = "no packet where one must begin";
		else if (len > count - at)
			wrong = "the end of this packet is missing";
		if (wrong) {
			gp_text_problem(text, line, wrong);
			return;
		}
		packet = gp_text_add(text, packets);
		packet->file = text->file;
		packet->line = line;
		packet->gpu_id = node->gpu_id;
		packet->op = words[at] >> 8 & 0xff;
		decode(packet, words + at, len, &pasid);
	}
}

void gp_text_end_dump(struct gp_text *text)
{
	const uint32_t *words = text->words.items;
	size_t count = text->words.count;

	text->words.count = 0;
	if (!count)
		return;
	if (text->block == GP_BLOCK_QUEUE)
		end_mqd(text, words, count);
	else if (text->block == GP_BLOCK_SLOT)
		end_slot(text, words, count);
	else if (text->block == GP_BLOCK_NODE)
		end_packets(text, words, count);
}

/*
 * Fields in the registers of a slot, and in an MQD. Facts from the driver:
 *
 *   amd/include/v9_structs.h, v10_, v11_, v12_: in all four the compute MQD is
 *   512 words, and words 128 to 183 are the 56 registers, in their order, that
 *   hqds prints of a CP slot. Linux 6.12, compared with 6.18 and 7.3.
 *   struct v9_sdma_mqd, v11_, v12_ (128 words), v10_ (130 words): words 0 to 6
 *   are the first registers that hqds prints of an SDMA slot. The doorbell is
 *   in word 22, 19 and 17, which the text does not tell apart, but for v10.
 */

#define MQD_HEADER	  0xc0310800
#define CP_MQD_WORDS	  512
#define CP_REGS_AT	  128
#define CP_REGS		  56
#define SDMA_REGS	  7
#define SDMA_MQD_WORDS	  128
#define SDMA_V10_WORDS	  130
#define SDMA_ENGINE_AT	  126 /* and the RLC behind it; v10: two further */
#define SDMA_V10_DOORBELL 22
#define DOORBELL_MASK	  0x3ffffff
#define RING_SIZE_MAX	  40 /* a power of two, in words */

struct field {
	size_t offset;	      /* in struct gp_text_regs */
	unsigned char lo, hi; /* registers; hi 0: only one */
	unsigned char right;
	uint32_t mask;	    /* bits of the lower register, once shifted right */
	unsigned char left; /* shift of both registers together */
};

#define FIELD(name) offsetof(struct gp_text_regs, name)
#define ALL	    0xffffffff

static const struct field cp_fields[] = {
	{ FIELD(mqd), 0, 1, 0, ALL, 0 },
	{ FIELD(active), 2, 0, 0, 1, 0 },
	{ FIELD(vmid), 3, 0, 0, 0xf, 0 },
	{ FIELD(priority), 6, 0, 0, 0xf, 0 },
	{ FIELD(ring), 8, 9, 0, ALL, 8 },
	{ FIELD(rptr), 10, 0, 0, ALL, 0 },
	{ FIELD(doorbell), 15, 0, 2, DOORBELL_MASK, 0 },
	{ FIELD(ring_size), 17, 0, 0, 0x3f, 0 },
	{ FIELD(cwsr), 43, 44, 0, ALL, 0 },
	{ FIELD(cwsr_size), 49, 0, 0, ALL, 0 },
	{ FIELD(wptr), 54, 55, 0, ALL, 0 },
};

static const struct field sdma_fields[] = {
	{ FIELD(active), 0, 0, 0, 1, 0 }, { FIELD(ring_size), 0, 0, 1, 0x1f, 0 },
	{ FIELD(ring), 1, 2, 0, ALL, 8 }, { FIELD(rptr), 3, 4, 0, ALL, 0 },
	{ FIELD(wptr), 5, 6, 0, ALL, 0 },
};

static void set(struct gp_text_regs *regs, size_t offset, uint64_t value)
{
	int64_t number = value > INT64_MAX ? GPREEMPT_UNKNOWN : (int64_t)value;

	memcpy((char *)regs + offset, &number, sizeof(number));
}

static void decode_register(const struct field *field, size_t n_fields, const uint32_t *words,
			    size_t count, struct gp_text_regs *regs)
{
	uint64_t value;

	for (; n_fields--; field++) {
		if (field->lo >= count || field->hi >= count)
			continue;
		value = words[field->lo] >> field->right & field->mask;
		if (field->hi)
			value |= (uint64_t)words[field->hi] << 32;
		set(regs, field->offset, value << field->left);
	}
}

/* A power of two, less @less, into bytes. */
static void ring_size(struct gp_text_regs *regs, unsigned int less)
{
	int64_t log2 = regs->ring_size + less;

	if (regs->ring_size != GPREEMPT_UNKNOWN)
		regs->ring_size = log2 > RING_SIZE_MAX ? GPREEMPT_UNKNOWN : 4ll << log2;
}

static void cp(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	regs->known = 1;
	decode_register(cp_fields, ARRAY_SIZE(cp_fields), words, count, regs);
	ring_size(regs, 1);
}

static void sdma(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	regs->known = 1;
	decode_register(sdma_fields, ARRAY_SIZE(sdma_fields), words, count, regs);
	ring_size(regs, 0);
}

static const char *cp_mqd(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	if (words[0] != MQD_HEADER || count > CP_MQD_WORDS)
		return "the layout of this MQD is not known";
	if (count < CP_REGS_AT + CP_REGS)
		return "too short an MQD, or one of a layout that is not known";
	cp(words + CP_REGS_AT, count - CP_REGS_AT, regs);
	return count < CP_MQD_WORDS ? "the end of this MQD is missing" : NULL;
}

static const char *sdma_mqd(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	bool v10 = count == SDMA_V10_WORDS;
	const uint32_t *engine = words + SDMA_ENGINE_AT + (v10 ? 2 : 0);

	if (count > SDMA_V10_WORDS)
		return "the layout of this MQD is not known";
	sdma(words, count, regs);
	if (!v10 && count != SDMA_MQD_WORDS)
		return "the end of this MQD is missing";
	regs->engine = engine[0];
	regs->rlc = engine[1];
	if (v10)
		regs->doorbell = words[SDMA_V10_DOORBELL] >> 2 & DOORBELL_MASK;
	return NULL;
}

void gp_text_no_regs(struct gp_text_regs *regs)
{
	/* Set all bits: that is GPREEMPT_UNKNOWN in each member. */
	memset(regs, 0xff, sizeof(*regs));
	regs->known = 0;
}

const char *gp_text_regs(enum gp_text_type type, bool mqd, const uint32_t *words, size_t count,
			 struct gp_text_regs *regs)
{
	size_t whole = type == GP_TEXT_SDMA ? SDMA_REGS : CP_REGS;

	gp_text_no_regs(regs);
	if (mqd && (type == GP_TEXT_COMPUTE || type == GP_TEXT_DIQ))
		return cp_mqd(words, count, regs);
	if (mqd)
		return type == GP_TEXT_SDMA ? sdma_mqd(words, count, regs) : NULL;
	if (type != GP_TEXT_SDMA && count > CP_REGS)
		return "more registers than a slot is known to have";
	if (type == GP_TEXT_SDMA)
		sdma(words, count, regs);
	else
		cp(words, count, regs);
	return count < whole ? "registers of this slot are missing" : NULL;
}
