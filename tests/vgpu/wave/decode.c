// SPDX-License-Identifier: GPL-2.0-only
/*
 * From words to an instruction: format, opcode, operands, modifiers. Opcodes and the widths of
 * operands are LLVM's (tables.h); the places of fields are those of the manual's chapter
 * "Microcode Formats". No register beyond a file passes.
 */
#include <string.h>

#include "wave.h"
#include "tables.h"

static const char *const names[OP_COUNT] = {
#define NAME(name) [OP_##name] = #name,
	WAVE_OPS(NAME)
};

const char *wave_op_name(u32 op)
{
	return op < OP_COUNT && names[op] ? names[op] : "no opcode";
}

const struct wave_target *wave_target(const char *name)
{
	const struct wave_target *t = wave_targets;

	while (t->name && strcmp(t->name, name))
		t++;
	return t->name ? t : NULL;
}

/* Format, opcode, and the bytes without a literal. */
static bool find_format(u32 word, struct wave_inst *i, u32 *op)
{
	i->size = 4;
	if (!(word >> 31)) {
		*op = word >> 25;
		i->format = *op == 0x3f ? VOP1 : *op == 0x3e ? VOPC : VOP2;
		if (i->format != VOP2)
			*op = i->format == VOP1 ? BITS(word, 16, 9) : BITS(word, 24, 17);
		return true;
	}
	if (word >> 30 == 2) {
		u32 k = word >> 23;

		i->format = k == 0x17d ? SOP1 : k == 0x17e ? SOPC : k == 0x17f ? SOPP : SOP2;
		*op = i->format == SOP1 ? BITS(word, 15, 8) :
		      i->format == SOP2 ? BITS(word, 29, 23) :
					  BITS(word, 22, 16);
		if (i->format == SOP2 && word >> 28 == 0xb) {
			i->format = SOPK;
			*op = BITS(word, 27, 23);
		}
		return true;
	}
	i->size = 8;
	*op = BITS(word, 24, 18);
	switch (word >> 26) {
	case 0x30:
		i->format = SMEM;
		*op = BITS(word, 25, 18);
		return true;
	case 0x34:
		i->format = word >> 23 == 0x1a7 ? VOP3P : VOP3;
		*op = i->format == VOP3P ? BITS(word, 22, 16) : BITS(word, 25, 16);
		return true;
	case 0x36:
		i->format = DS;
		*op = BITS(word, 24, 17);
		return true;
	case 0x37:
		i->format = FLAT;
		return true;
	case 0x38:
		i->format = MUBUF;
		return true;
	}
	return false;
}

static void read_scalar(const u32 w[2], struct wave_inst *i)
{
	i->n[SRC0] = w[0] & 255;
	i->n[SRC1] = w[0] >> 8 & 255;
	i->n[DST] = BITS(w[0], 22, 16);
	i->imm = (int16_t)w[0];
}

static void read_smem(const u32 w[2], struct wave_inst *i)
{
	bool has_imm = w[0] >> 17 & 1;

	i->n[DST] = BITS(w[0], 12, 6);
	i->n[SRC0] = (w[0] & 63) * 2;
	i->n[SRC1] = w[0] >> 14 & 1 ? w[1] >> 25 : w[1] & 127;
	i->imm = has_imm ? (s32)(w[1] << 11) >> 11 : 0;
}

/* VOP1, VOP2, VOPC: source 0 may be in the word that follows. */
static void read_vop(const u32 w[2], struct wave_inst *i)
{
	u32 n = w[0] & 511;

	i->n[SRC0] = n;
	i->n[SRC1] = VGPR + BITS(w[0], 16, 9);
	i->n[SRC2] = i->n[DST2] = VCC;
	i->n[DST] = i->format == VOPC ? VCC : BITS(w[0], 24, 17);
	if (n != IS_SDWA && n != IS_DPP)
		return;
	i->size = 8;
	i->bare = n;
	i->extra = w[1];
	i->n[SRC0] = VGPR + (w[1] & 255);
	if (n == IS_DPP) {
		i->neg = (w[1] >> 20 & 1) | (w[1] >> 22 & 1) << 1;
		i->abs = (w[1] >> 21 & 1) | (w[1] >> 23 & 1) << 1;
		return;
	}
	i->neg = (w[1] >> 20 & 1) | (w[1] >> 28 & 1) << 1;
	i->abs = (w[1] >> 21 & 1) | (w[1] >> 29 & 1) << 1;
	if (w[1] >> 23 & 1)
		i->n[SRC0] -= VGPR;
	if (w[1] >> 31)
		i->n[SRC1] -= VGPR;
	if (i->format == VOPC) {
		i->n[DST] = w[1] >> 15 & 1 ? BITS(w[1], 14, 8) : VCC;
	} else {
		i->clamp = w[1] >> 13 & 1;
		i->omod = w[1] >> 14 & 3;
	}
}

static void read_vop3(const u32 w[2], struct wave_inst *i)
{
	i->n[DST] = w[0] & 255;
	i->n[SRC0] = w[1] & 511;
	i->n[SRC1] = w[1] >> 9 & 511;
	i->n[SRC2] = w[1] >> 18 & 511;
	i->neg = w[1] >> 29;
	i->clamp = w[0] >> 15 & 1;
	if (i->format == VOP3P) {
		i->neg_hi = w[0] >> 8 & 7;
		i->op_sel = w[0] >> 11 & 7;
		i->op_sel_hi = (w[0] >> 14 & 1) << 2 | (w[1] >> 27 & 3);
		return;
	}
	i->omod = w[1] >> 27 & 3;
	i->n[DST2] = BITS(w[0], 14, 8);
	i->abs = w[0] >> 8 & 7;
	i->op_sel = w[0] >> 11 & 15;
}

/* Matrices: bits say which operands are AccVGPRs. */
static void read_matrix(const u32 w[2], struct wave_inst *i)
{
	u32 accumulators = w[0] >> 15 & 1 ? AGPR - VGPR : 0;

	i->clamp = false;
	i->op_sel = i->op_sel_hi = i->neg_hi = 0;
	i->imm = BITS(w[0], 14, 8); /* CBSZ and ABID: broadcast of blocks, which is refused */
	i->n[DST] += accumulators;
	if (i->n[SRC2] >= VGPR)
		i->n[SRC2] += accumulators;
	if (i->n[SRC0] >= VGPR)
		i->n[SRC0] += w[1] >> 27 & 1 ? AGPR - VGPR : 0;
	if (i->n[SRC1] >= VGPR)
		i->n[SRC1] += w[1] >> 28 & 1 ? AGPR - VGPR : 0;
}

static void read_memory(const u32 w[2], struct wave_inst *i)
{
	u32 acc = (i->format == DS ? w[0] >> 25 & 1 : w[1] >> 23 & 1) ? AGPR : VGPR;

	i->n[SRC0] = VGPR + (w[1] & 255);
	i->n[SRC1] = acc + BITS(w[1], 15, 8);
	i->n[DST] = acc + (w[1] >> 24);
	if (i->format == DS) {
		i->n[SRC2] = acc + BITS(w[1], 23, 16);
		i->imm = w[0] & 0xffff;
		return;
	}
	i->returns = w[0] >> (i->format == FLAT ? 16 : 14) & 1;
	if (i->format == FLAT) {
		i->n[SRC2] = BITS(w[1], 22, 16);
		i->flat = !(w[0] >> 14 & 3);
		i->imm = (s32)(w[0] << 19) >> 19;
		return;
	}
	i->imm = w[0] & 4095;
	i->offen = w[0] >> 12 & 1;
	i->idxen = w[0] >> 13 & 1;
	i->lds = w[0] >> 16 & 1;
	i->n[DST] = i->n[SRC1];
	i->n[SRC1] = BITS(w[1], 20, 16) * 4;
	i->n[SRC2] = w[1] >> 24;
}

/* FLAT: an address of 64 bits, or a scalar one and an offset. Atomics may return a value. */
static void adjust_flat(struct wave_inst *i)
{
	bool scalar = !i->flat && i->n[SRC2] != 127;
	u8 data = i->width[SRC1];

	i->width[SRC0] = scalar ? 1 : 2;
	i->width[SRC2] = scalar ? 2 : 0;
	if (strstr(wave_op_name(i->op), "atomic") && i->returns)
		i->width[DST] = strstr(wave_op_name(i->op), "cmpswap") ? data / 2 : data;
}

static bool valid_scalar(const struct wave_inst *i, u32 f)
{
	u32 n = i->n[f], width = i->width[f];
	bool source = f >= SRC0;

	if (n < SCALARS) {
		u32 end = width <= 2 ? SCALARS : n < TTMP0 ? SGPRS : TTMP0 + TTMPS;

		return n + width <= end && !(n & (width > 2 ? 3 : width - 1u));
	}
	if (!source || width > 2)
		return false;
	if (n == IS_LITERAL)
		return i->format <= VOPC && !i->bare;
	return n <= 208 || (n >= APERTURE && n <= 248 && n != 239) || (n >= 251 && n <= 253);
}

/* NULL, or why an operand of that file is none that hardware has. */
static const char *check_operand(const struct wave_inst *i, u32 f, char file)
{
	/* LLVM was shown vector registers as sources, which may also be scalar ones. */
	bool any = f >= SRC0 && i->format >= VOP2 && i->format <= VOP3P;
	u32 n = i->n[f];

	if (n < VGPR)
		return (file == 's' || any) && valid_scalar(i, f) ? NULL : "no scalar operand";
	if (file == 's' && (f < SRC0 || i->format != VOP3))
		return "a vector register in place of a scalar one";
	return n % 256 + i->width[f] <= 256 && n < OPERANDS ? NULL : "no such vector register";
}

/* Width of each operand, and its file; what is a vector register by its place gets its number. */
static void read_slots(const u32 w[2], struct wave_inst *i, char file[FIELDS], bool matrix)
{
	u32 k;

	for (k = 0; k < ARRAY_SIZE(i->row->slot) && i->row->slot[k].file; k++) {
		u32 f = i->row->slot[k].field;

		if (f == LITERAL || (f >= SRC0 && i->n[f] == IS_LITERAL)) {
			i->size = 8;
			i->literal = w[1];
		}
		if (f == LITERAL)
			continue;
		file[f] = i->row->slot[k].file;
		i->width[f] = i->row->slot[k].width;
		if (f == DST && file[f] != 's' && i->n[f] < VGPR)
			i->n[f] += VGPR;
		if (file[f] == 'a' && !matrix && i->n[f] >= VGPR && i->n[f] < AGPR)
			i->n[f] += AGPR - VGPR;
	}
}

static const char *read_operands(const u32 w[2], struct wave_inst *i)
{
	const struct wave_row *row = i->row;
	bool matrix = i->format == VOP3P && row->slot[1].file == 'a' && row->slot[3].file;
	char file[FIELDS] = { [DST] = 'v', [SRC1] = 's', [SRC2] = 's' };
	const char *why = NULL;
	u32 f;

	read_slots(w, i, file, matrix);
	if (i->format == VOP3 && i->width[DST2])
		i->abs = i->op_sel = 0;
	if (matrix)
		read_matrix(w, i);
	if (i->format == FLAT)
		adjust_flat(i);
	if (i->format == SMEM)
		i->width[SRC1] = w[0] >> 14 & 1 || !(w[0] >> 17 & 1);
	if (i->format == MUBUF)
		i->width[SRC0] = i->offen + i->idxen;
	if (i->format == MUBUF && i->lds)
		i->width[DST] = 0;
	for (f = 0; f < FIELDS && !why; f++)
		if (i->width[f])
			why = check_operand(i, f, file[f]);
	return why;
}

const char *wave_decode(const struct wave_target *target, const u32 words[2], struct wave_inst *i)
{
	static void (*const read[FORMATS])(const u32 w[2], struct wave_inst *i) = {
		[SOP2] = read_scalar, [SOPK] = read_scalar,  [SOP1] = read_scalar,
		[SOPC] = read_scalar, [SOPP] = read_scalar,  [SMEM] = read_smem,
		[VOP2] = read_vop,    [VOP1] = read_vop,     [VOPC] = read_vop,
		[VOP3] = read_vop3,   [VOP3P] = read_vop3,   [DS] = read_memory,
		[FLAT] = read_memory, [MUBUF] = read_memory,
	};
	u32 op;

	memset(i, 0, sizeof(*i));
	if (!find_format(words[0], i, &op))
		return "no format";
	if (op >= target->formats[i->format].count)
		return "no opcode";
	i->row = &target->formats[i->format].rows[op];
	i->op = i->row->op;
	if (!i->op)
		return "no opcode";
	if (i->format == FLAT && (words[0] >> 14 & 3) == 1)
		return "scratch memory";
	read[i->format](words, i);
	return read_operands(words, i);
}
