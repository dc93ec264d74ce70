// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the registers of a slot, and an MQD, say. Facts from the driver:
 *
 *   amd/include/v9_structs.h, v10_, v11_, v12_: in all four the compute MQD is
 *   512 words, and words 128 to 183 are the 56 registers, in their order, that
 *   hqds prints of a CP slot. Linux 6.12, compared with 6.18 and 7.3.
 *   struct v9_sdma_mqd, v11_, v12_ (128 words), v10_ (130 words): words 0 to 6
 *   are the first registers that hqds prints of an SDMA slot. The doorbell is
 *   in word 22, 19 and 17, which the text does not tell apart, but for v10.
 */
#include <string.h>

#include "lib/text/parse.h"
#include "shared/macro.h"

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
	uint32_t mask;	    /* of the lower one, once shifted right */
	unsigned char left; /* of both together */
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

static void decode(const struct field *field, size_t n_fields, const uint32_t *words, size_t count,
		   struct gp_text_regs *regs)
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
	decode(cp_fields, ARRAY_SIZE(cp_fields), words, count, regs);
	ring_size(regs, 1);
}

static void sdma(const uint32_t *words, size_t count, struct gp_text_regs *regs)
{
	regs->known = 1;
	decode(sdma_fields, ARRAY_SIZE(sdma_fields), words, count, regs);
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
	/* All bits set is GPREEMPT_UNKNOWN in each. */
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
