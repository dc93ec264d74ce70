// SPDX-License-Identifier: GPL-2.0-only
/* The decoder for check_decode.py: an instruction as numbers. */
#include "wave.h"

const char *decode_numbers(const char *target, const u32 words[2], const char **name, s32 out[32]);

/*
 * NULL or a reason. 11 numbers of the instruction, then field, number and width of each operand, in
 * the order of LLVM's text, up to a width of 0.
 */
const char *decode_numbers(const char *target, const u32 words[2], const char **name, s32 out[32])
{
	struct wave_inst i;
	const char *why = wave_decode(wave_target(target), words, &i);
	const s32 numbers[] = { i.size,	 i.format, i.imm,    (s32)i.literal, i.abs,   i.neg,
				i.clamp, i.omod,   i.op_sel, i.op_sel_hi,    i.neg_hi };
	u32 order[8] = { 0 }, count = 0, k;

	*name = wave_op_name(i.op);
	if (why)
		return why;
	if (i.format == FLAT && i.width[DST] && i.row->slot[0].field != DST)
		order[count++] = DST;
	for (k = 0; k < ARRAY_SIZE(i.row->slot) && i.row->slot[k].file; k++)
		order[count++] = i.row->slot[k].field;
	if (i.format == SMEM)
		order[count++] = SRC1;
	if (i.format == FLAT)
		order[count++] = SRC2;
	memcpy(out, numbers, sizeof(numbers));
	out += ARRAY_SIZE(numbers);
	for (k = 0; k < count; k++) {
		if (order[k] != LITERAL && !i.width[order[k]])
			continue;
		*out++ = (s32)order[k];
		*out++ = order[k] == LITERAL ? IS_LITERAL : i.n[order[k]];
		*out++ = order[k] == LITERAL ? 1 : i.width[order[k]];
	}
	out[2] = 0;
	return NULL;
}
