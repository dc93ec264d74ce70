// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parser of the driver's mqds, hqds and rls: dumps, and the lines that name their owners. */
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "text.h"

static const char *const type_names[] = {
	[GP_TEXT_COMPUTE] = "compute", [GP_TEXT_SDMA] = "sdma",	  [GP_TEXT_DIQ] = "diq",
	[GP_TEXT_HIQ] = "hiq",	       [GP_TEXT_OTHER] = "other",
};

const char *gp_text_type_name(enum gp_text_type type)
{
	return type_names[type];
}

/*
 * Dumps: a line of one, "    00000020: 00000000 00000001 ...", of up to 8 words; and
 * all words of one, which become an MQD, a slot or packets.
 */

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

/* Read the words of a dump's line, behind those so far. Returns how many; 0: it is no such line. */
static size_t gp_text_hex(struct gp_text *text, struct gp_line line, uint64_t *offset)
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

static void gp_text_problem(struct gp_text *text, uint64_t line, const char *what)
{
	gp_text_problem_at(text, text->file, line, what);
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
 *   amdkfd/kfd_mqd_manager_v9.c, _v10, _v11, _v12: QUEUE_FULL_EN, bit 14 of
 *   CP_HQD_PQ_CONTROL, is set for AQL queues and no other.
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
	{ FIELD(aql), 17, 0, 14, 1, 0 },
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

static void decode_fields(const struct field *field, size_t n_fields, const uint32_t *words,
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

static void decode_registers(bool sdma, const uint32_t *words, size_t count,
			     struct gp_text_regs *regs)
{
	regs->known = 1;
	if (sdma)
		decode_fields(sdma_fields, ARRAY_SIZE(sdma_fields), words, count, regs);
	else
		decode_fields(cp_fields, ARRAY_SIZE(cp_fields), words, count, regs);
	ring_size(regs, !sdma);
}

static const char *cp_mqd(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	if (words[0] != MQD_HEADER || count > CP_MQD_WORDS)
		return "the layout of this MQD is not known";
	if (count < CP_REGS_AT + CP_REGS)
		return "too short an MQD, or one of a layout that is not known";
	decode_registers(false, words + CP_REGS_AT, count - CP_REGS_AT, regs);
	return count < CP_MQD_WORDS ? "the end of this MQD is missing" : NULL;
}

static const char *sdma_mqd(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	bool v10 = count == SDMA_V10_WORDS;
	const uint32_t *engine = words + SDMA_ENGINE_AT + (v10 ? 2 : 0);

	if (count > SDMA_V10_WORDS)
		return "the layout of this MQD is not known";
	decode_registers(true, words, count, regs);
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

/*
 * Decode the dump of an MQD or a slot; fields that are behind its end are unknown. Returns NULL
 * or the error in it.
 */
static const char *gp_text_regs(enum gp_text_type type, bool mqd, const uint32_t *words,
				size_t count, struct gp_text_regs *regs)
{
	size_t whole = type == GP_TEXT_SDMA ? SDMA_REGS : CP_REGS;

	gp_text_no_regs(regs);
	if (mqd && (type == GP_TEXT_COMPUTE || type == GP_TEXT_DIQ))
		return cp_mqd(words, count, regs);
	if (mqd)
		return type == GP_TEXT_SDMA ? sdma_mqd(words, count, regs) : NULL;
	if (type != GP_TEXT_SDMA && count > CP_REGS)
		return "more registers than a slot is known to have";
	decode_registers(type == GP_TEXT_SDMA, words, count, regs);
	return count < whole ? "registers of this slot are missing" : NULL;
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

/* End the dump, and decode it by its block. */
static void gp_text_end_dump(struct gp_text *text)
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

/* Heads: lines that name the owner of a dump. */

#define NUMBERS_MAX 4 /* with one that is left out */

static void problem_here(struct gp_text *text, const char *what)
{
	gp_text_problem(text, text->lines.number, what);
}

typedef void take_fn(struct gp_text *text, const int64_t *numbers, int arg);

static void add_queue(struct gp_text *text, enum gp_text_type type, int64_t gpu_id)
{
	const struct gp_text_process *process = gp_text_last(text, processes);
	struct gp_text_queue *queue = gp_text_add(text, queues);

	queue->type = type;
	queue->file = text->file;
	queue->line = text->lines.number;
	queue->gpu_id = gpu_id;
	queue->pid = text->have_process ? process->pid : GPREEMPT_UNKNOWN;
	queue->pasid = text->have_process ? process->pasid : GPREEMPT_UNKNOWN;
	/* Index of the process, until the join numbers the contexts. */
	queue->context = text->have_process ? (int64_t)text->data.n_processes - 1 :
					      GPREEMPT_UNKNOWN;
	queue->qid = GPREEMPT_UNKNOWN;
	queue->is_active = GPREEMPT_UNKNOWN;
	queue->priority = GPREEMPT_UNKNOWN;
	queue->slots_expected = GPREEMPT_UNKNOWN;
	queue->slots_active = GPREEMPT_UNKNOWN;
	queue->mqds = text->data.n_mqds;
	text->data.mqds_seen = true;
	text->block = GP_BLOCK_QUEUE;
}

static void take_process(struct gp_text *text, const int64_t *numbers, int is_pasid)
{
	struct gp_text_process *process = gp_text_add(text, processes);

	process->file = text->file;
	process->pid = numbers[0];
	/* The number is the first thread's PID from Linux 6.16 on, if not before. */
	process->pasid = is_pasid ? numbers[1] : GPREEMPT_UNKNOWN;
	text->have_process = true;
	text->have_node = false;
	text->data.mqds_seen = true;
}

static void take_queue(struct gp_text *text, const int64_t *numbers, int type)
{
	add_queue(text, type, numbers[0]);
}

static void take_queue_elsewhere(struct gp_text *text, const int64_t *numbers, int type)
{
	(void)numbers;
	add_queue(text, type, GPREEMPT_UNKNOWN);
	problem_here(text, "the GPU of this queue has no id that is known");
}

static void take_weird(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)numbers;
	(void)arg;
	problem_here(text, "the driver says: neither kernel nor user queue");
}

static void take_node(struct gp_text *text, const int64_t *numbers, int arg)
{
	struct gp_text_node *node = gp_text_add(text, nodes);

	(void)arg;
	node->gpu_id = numbers[0];
	text->have_node = true;
	text->have_process = false;
	text->block = GP_BLOCK_NODE;
	text->xccs = 0;
	text->first_engine = GPREEMPT_UNKNOWN;
}

static void take_note(struct gp_text *text, const int64_t *numbers, int note)
{
	(void)numbers;
	if (text->block != GP_BLOCK_NODE) {
		problem_here(text, "a line about a node that is not there");
		return;
	}
	gp_text_last(text, nodes)->note = note;
	text->data.hqds_seen |= note == GP_TEXT_STOPPED;
}

static void add_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
		     int64_t number)
{
	const struct gp_text_node *node = gp_text_last(text, nodes);
	bool known = text->have_node;
	struct gp_text_slot *slot = gp_text_add(text, slots);

	slot->type = type;
	slot->file = text->file;
	slot->line = text->lines.number;
	slot->gpu_id = known ? node->gpu_id : GPREEMPT_UNKNOWN;
	slot->xcc = xcc;
	slot->nth_xcc = GPREEMPT_UNKNOWN;
	slot->pipe = pipe;
	slot->queue = number;
	slot->owner = -1;
	text->dumped = false;
	gp_text_no_regs(&slot->regs);
	text->block = GP_BLOCK_SLOT;
	text->data.hqds_seen = true;
	if (!known)
		problem_here(text, "a slot of a node that is not there");
}

static void add_cp_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
			int64_t number)
{
	add_slot(text, type, xcc, pipe, number);
	/* The XCCs of a node need not begin with 0, but they come in order. */
	if (!text->xccs || text->last_xcc != xcc)
		text->xccs++;
	text->last_xcc = xcc;
	gp_text_last(text, slots)->nth_xcc = text->xccs - 1;
}

static void take_cp_slot(struct gp_text *text, const int64_t *numbers, int type)
{
	add_cp_slot(text, type, numbers[0], numbers[1], numbers[2]);
}

/* Take a slot of Linux up to 6.4, which has only one XCC and does not name it. */
static void take_cp_slot_one(struct gp_text *text, const int64_t *numbers, int type)
{
	add_cp_slot(text, type, 0, numbers[0], numbers[1]);
}

static void take_sdma_slot(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)arg;
	add_slot(text, GP_TEXT_SDMA, GPREEMPT_UNKNOWN, numbers[0], numbers[1]);
	/* The driver's own numbers begin with 0 on each node. */
	if (text->first_engine == GPREEMPT_UNKNOWN)
		text->first_engine = numbers[0];
	gp_text_last(text, slots)->nth_xcc = numbers[0] - text->first_engine;
}

/* The older text: a summary of it may have no "Compute queue" lines. */
static void take_old_id(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)arg;
	if (text->block != GP_BLOCK_QUEUE || gp_text_last(text, queues)->qid != GPREEMPT_UNKNOWN)
		add_queue(text, GP_TEXT_OTHER, GPREEMPT_UNKNOWN);
	gp_text_last(text, queues)->older = true;
	gp_text_last(text, queues)->qid = numbers[0];
}

/* Lines about a queue in the older text. */
enum old {
	OLD_PROCESS,
	OLD_ACTIVE,
	OLD_NOT_ACTIVE,
	OLD_PRIORITY,
};

static void take_old(struct gp_text *text, const int64_t *numbers, int what)
{
	struct gp_text_queue *queue = gp_text_last(text, queues);

	if (text->block != GP_BLOCK_QUEUE) {
		problem_here(text, "a line about a queue that is not there");
		return;
	}
	queue->older = true;
	switch (what) {
	case OLD_PROCESS:
		queue->pid = numbers[0];
		queue->pasid = numbers[1];
		queue->context = GPREEMPT_UNKNOWN;
		break;
	case OLD_PRIORITY:
		queue->priority = numbers[0];
		break;
	default:
		queue->is_active = what == OLD_ACTIVE;
	}
}

static void take_remark(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)text;
	(void)numbers;
	(void)arg;
}

/*
 * Patterns: %d and %x are numbers, of which %- is left out; a space is one or more
 * of them, * is the rest. Lines are taken without the spaces around them.
 */
static const struct head {
	const char *pattern;
	take_fn *take;
	int arg;
	bool within; /* says more of the block that it is in */
} heads[] = {
	{ "Inst %d, CP Pipe %d, Queue %d", take_cp_slot, GP_TEXT_COMPUTE, false },
	{ "SDMA Engine %d, RLC %d", take_sdma_slot, 0, false },
	{ "Inst %d, HIQ on MEC %- Pipe %d Queue %d", take_cp_slot, GP_TEXT_HIQ, false },
	{ "Node %-, gpu_id %x:", take_node, 0, false },
	{ "CP Pipe %d, Queue %d", take_cp_slot_one, GP_TEXT_COMPUTE, false },
	{ "HIQ on MEC %- Pipe %d Queue %d", take_cp_slot_one, GP_TEXT_HIQ, false },
	{ "Device is stopped", take_note, GP_TEXT_STOPPED, true },
	{ "No active runlist", take_note, GP_TEXT_NO_LIST, true },
	{ "Process %d PASID 0x%x:", take_process, 1, false },
	{ "Process %d PASID %d:", take_process, 0, false },
	{ "Compute queue on device %x", take_queue, GP_TEXT_COMPUTE, false },
	{ "SDMA queue on device %x", take_queue, GP_TEXT_SDMA, false },
	{ "Compute queue on device *", take_queue_elsewhere, GP_TEXT_COMPUTE, false },
	{ "SDMA queue on device *", take_queue_elsewhere, GP_TEXT_SDMA, false },
	{ "DIQ on device %x", take_queue, GP_TEXT_DIQ, false },
	{ "Bad user queue type %- on device %x", take_queue, GP_TEXT_OTHER, false },
	{ "Bad kernel queue type %- on device %x", take_queue, GP_TEXT_OTHER, false },
	{ "Weird: Queue node with neither kernel nor user queue", take_weird, 0, false },
	{ "Queue ID: %d*", take_old_id, 0, true },
	{ "Process: pid %d pasid 0x%x*", take_old, OLD_PROCESS, true },
	{ "is active: yes*", take_old, OLD_ACTIVE, true },
	{ "is active: no*", take_old, OLD_NOT_ACTIVE, true },
	{ "priority: %d*", take_old, OLD_PRIORITY, true },
	{ "=== *", take_remark, 0, true },
};

static bool matches(const char *pattern, const char *p, const char *end, int64_t *numbers)
{
	uint64_t number;

	for (; *pattern; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern == '%') {
			pattern++;
			if (!gp_line_number(&p, end, *pattern == 'x' ? 16 : 10, UINT32_MAX,
					    &number))
				return false;
			*numbers = number;
			numbers += *pattern != '-';
			continue;
		}
		if (p == end || *p++ != *pattern)
			return false;
		while (*pattern == ' ' && p < end && *p == ' ')
			p++;
	}
	return p == end;
}

bool gp_text_is_head(const char *at, size_t len)
{
	int64_t numbers[NUMBERS_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++)
		if (!strchr(heads[i].pattern, '*') &&
		    matches(heads[i].pattern, at, at + len, numbers))
			return true;
	return false;
}

/* End a block, and report what its head promised and no line below it has. */
static void end_block(struct gp_text *text)
{
	const struct gp_text_queue *queue = gp_text_last(text, queues);
	enum gp_text_block block = text->block;

	gp_text_end_dump(text);
	text->block = GP_BLOCK_NONE;
	if (block == GP_BLOCK_SLOT && !text->dumped)
		gp_text_problem(text, gp_text_last(text, slots)->line,
				"no registers below this line");
	if (block != GP_BLOCK_QUEUE)
		return;
	if (!queue->n_mqds && !queue->older && queue->type != GP_TEXT_OTHER)
		gp_text_problem(text, queue->line, "no MQD below this line");
	if (queue->pid == GPREEMPT_UNKNOWN && !queue->older)
		gp_text_problem(text, queue->line, "a queue without a process");
}

/* Take a line that is no dump. */
static void gp_text_head(struct gp_text *text, struct gp_line line)
{
	const char *p = line.at, *end = p + line.len;
	int64_t numbers[NUMBERS_MAX];
	const struct head *head;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end)
		return;
	for (head = heads; head < heads + ARRAY_SIZE(heads); head++) {
		if (!matches(head->pattern, p, end, numbers))
			continue;
		if (head->within)
			gp_text_end_dump(text);
		else
			end_block(text);
		text->garbled = false;
		text->orphans_told = false;
		text->data.known_lines++;
		text->content |= head->take != take_remark;
		head->take(text, numbers, head->arg);
		return;
	}
	text->garbled = true;
	text->content = true;
	problem_here(text, "not a line that the driver prints");
}

/* Lines, words of dumps, and the parser as a whole. */

/* A dump starts: at 0 in mqds and rls, anywhere in hqds. */
static void start_dump(struct gp_text *text, uint64_t offset)
{
	text->first_line = text->lines.number;
	text->next_offset = offset;
	if (offset && text->block != GP_BLOCK_SLOT)
		problem_here(text, "the start of this dump is missing");
}

/*
 * Check an offset. The addresses in a slot's dump may jump, as the registers do. In the others
 * an offset of 0 starts the MQD of the next XCC.
 */
static void check_offset(struct gp_text *text, uint64_t offset)
{
	bool first = !text->words.count;

	if (!first && (offset == text->next_offset || text->block == GP_BLOCK_SLOT))
		return;
	if (offset && !first) {
		problem_here(text, "this dump does not go on where it stopped");
		text->next_offset = offset;
		return;
	}
	gp_text_end_dump(text);
	start_dump(text, offset);
}

/* Is this dump still of the block before the unreadable line, which may have been a head? */
static bool goes_on(const struct gp_text *text, uint64_t offset)
{
	if (text->words.count)
		return offset == text->next_offset;
	return text->block == GP_BLOCK_NODE && !offset;
}

/* Report a dump without a head, once for each head that is missing. */
static void take_orphan(struct gp_text *text)
{
	end_block(text);
	if (!text->orphans_told)
		problem_here(text, "a dump without a line that says of what");
	text->orphans_told = true;
}

static void take_words(struct gp_text *text, size_t count, uint64_t offset)
{
	bool lost = text->block == GP_BLOCK_NONE || (text->garbled && !goes_on(text, offset));

	text->garbled = false;
	text->content = true;
	if (lost) {
		take_orphan(text);
		return;
	}
	text->data.known_lines++;
	check_offset(text, offset);
	text->next_offset = offset + count * sizeof(uint32_t);
	text->words.count += count;
}

static void take_line(void *data, struct gp_line line)
{
	struct gp_text *text = data;
	uint64_t offset;
	size_t count;

	if (shr_array_room(&text->words.items, text->words.count, 8, sizeof(uint32_t)))
		abort();
	count = gp_text_hex(text, line, &offset);
	if (count)
		take_words(text, count, offset);
	else
		gp_text_head(text, line);
	if (line.cut)
		problem_here(text,
			     line.too_long ? "too long a line" : "the file ends within this line");
}

struct gp_text *gp_text_new(void)
{
	struct gp_text *text = shr_must(calloc(1, sizeof(*text)));

	text->lines.take = take_line;
	text->lines.data = text;
	return text;
}

void gp_text_free(struct gp_text *text)
{
	if (!text)
		return;
	free(text->data.processes);
	free(text->data.queues);
	free(text->data.mqds);
	free(text->data.nodes);
	free(text->data.slots);
	free(text->data.packets);
	free(text->data.problems);
	free(text->words.items);
	gp_lines_free(&text->lines);
	free(text);
}

void gp_text_feed(struct gp_text *text, const char *data, size_t len)
{
	gp_lines_feed(&text->lines, data, len);
}

void gp_text_end(struct gp_text *text)
{
	gp_lines_end(&text->lines);
	end_block(text);
	/* An idle driver's is empty; hqds and rls name each node at least. */
	text->data.mqds_seen |= !text->content;
	text->content = false;
	text->garbled = false;
	text->have_process = false;
	text->have_node = false;
	text->orphans_told = false;
	text->file++;
}

const struct gp_text_data *gp_text_get(const struct gp_text *text)
{
	return &text->data;
}
