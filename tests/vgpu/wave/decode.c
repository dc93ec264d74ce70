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

/*
 * How the words of a format look: the bits by which it is known, its size without a literal, where
 * the opcode is, and where each operand: first bit, number of bits, what is added. The first that
 * fits is taken.
 */
/* clang-format off */
static const struct form {
	u32 mask, bits;
	u8 size, op_at, op_bits;
	struct {
		u8 at, bits;
		u16 base;
	} place[FIELDS];
} forms[FORMATS] = {
	[SOP1] = { 0xff800000, 0xbe800000, 4, 8, 8, { [DST] = { 16, 7 }, [SRC0] = { 0, 8 } } },
	[SOPC] = { 0xff800000, 0xbf000000, 4, 16, 7, { [SRC0] = { 0, 8 }, [SRC1] = { 8, 8 } } },
	[SOPP] = { 0xff800000, 0xbf800000, 4, 16, 7, { } },
	[SOPK] = { 0xf0000000, 0xb0000000, 4, 23, 5, { [DST] = { 16, 7 } } },
	[SOP2] = { 0xc0000000, 0x80000000, 4, 23, 7, { [DST] = { 16, 7 }, [SRC0] = { 0, 8 },
		   [SRC1] = { 8, 8 } } },
	[SMEM] = { 0xfc000000, 0xc0000000, 8, 18, 8, { [DST] = { 6, 7 }, [SRC0] = { 0, 6 } } },
	[VOP1] = { 0xfe000000, 0x7e000000, 4, 9, 8, { [DST] = { 17, 8 }, [SRC0] = { 0, 9 } } },
	[VOPC] = { 0xfe000000, 0x7c000000, 4, 17, 8, { [DST] = { 0, 0, VCC }, [SRC0] = { 0, 9 },
		   [SRC1] = { 9, 8, VGPR } } },
	[VOP2] = { 0x80000000, 0x00000000, 4, 25, 6, { [DST] = { 17, 8 }, [DST2] = { 0, 0, VCC },
		   [SRC0] = { 0, 9 }, [SRC1] = { 9, 8, VGPR }, [SRC2] = { 0, 0, VCC } } },
	[VOP3P] = { 0xff800000, 0xd3800000, 8, 16, 7, { [DST] = { 0, 8 }, [SRC0] = { 32, 9 },
		    [SRC1] = { 41, 9 }, [SRC2] = { 50, 9 } } },
	[VOP3] = { 0xfc000000, 0xd0000000, 8, 16, 10, { [DST] = { 0, 8 }, [DST2] = { 8, 7 },
		   [SRC0] = { 32, 9 }, [SRC1] = { 41, 9 }, [SRC2] = { 50, 9 } } },
	[DS] = { 0xfc000000, 0xd8000000, 8, 17, 8, { [DST] = { 56, 8, VGPR },
		 [SRC0] = { 32, 8, VGPR }, [SRC1] = { 40, 8, VGPR }, [SRC2] = { 48, 8, VGPR } } },
	[FLAT] = { 0xfc000000, 0xdc000000, 8, 18, 7, { [DST] = { 56, 8, VGPR },
		   [SRC0] = { 32, 8, VGPR }, [SRC1] = { 40, 8, VGPR }, [SRC2] = { 48, 7 } } },
	[MUBUF] = { 0xfc000000, 0xe0000000, 8, 18, 7, { [DST] = { 40, 8, VGPR },
		    [SRC0] = { 32, 8, VGPR }, [SRC1] = { 48, 5 }, [SRC2] = { 56, 8 } } },
};
/* clang-format on */

static void read_places(u64 x, struct wave_inst *i)
{
	const struct form *form = &forms[i->format];
	u32 f;

	i->size = form->size;
	for (f = 0; f < FIELDS; f++)
		i->n[f] = (u16)((x >> form->place[f].at & ((1u << form->place[f].bits) - 1)) +
				form->place[f].base);
}

static bool bit(u64 x, u32 n)
{
	return x >> n & 1;
}

/* VOP1, VOP2, VOPC with a word of DPP or SDWA, which has source 0. */
static void read_extra(u64 x, struct wave_inst *i)
{
	u32 second = i->n[SRC0] == IS_SDWA ? 28 : 22;

	i->size = 8;
	i->bare = i->n[SRC0];
	i->extra = (u32)(x >> 32);
	i->n[SRC0] = VGPR + (i->extra & 255);
	i->neg = (u8)(bit(i->extra, 20) | bit(i->extra, second) << 1);
	i->abs = (u8)(bit(i->extra, 21) | bit(i->extra, second + 1) << 1);
	if (i->bare == IS_DPP)
		return;
	if (bit(i->extra, 23))
		i->n[SRC0] -= VGPR;
	if (bit(i->extra, 31))
		i->n[SRC1] -= VGPR;
	if (i->format == VOPC) {
		i->n[DST] = bit(i->extra, 15) ? BITS(i->extra, 14, 8) : VCC;
	} else {
		i->clamp = bit(i->extra, 13);
		i->omod = i->extra >> 14 & 3;
	}
}

static void read_vop3(u64 x, struct wave_inst *i)
{
	i->neg = x >> 61;
	i->clamp = bit(x, 15);
	if (i->format == VOP3P) {
		i->neg_hi = x >> 8 & 7;
		i->op_sel = x >> 11 & 7;
		i->op_sel_hi = (u8)(bit(x, 14) << 2 | (x >> 59 & 3));
	} else if (!i->width[DST2]) {
		i->abs = x >> 8 & 7;
		i->op_sel = x >> 11 & 15;
	}
	if (i->format == VOP3)
		i->omod = x >> 59 & 3;
}

/* Matrices: bits say which operands are AccVGPRs. */
static void read_matrix(u64 x, struct wave_inst *i)
{
	static const u8 bit_of[FIELDS] = { [DST] = 15, [SRC0] = 59, [SRC1] = 60, [SRC2] = 15 };
	u32 f;

	i->clamp = false;
	i->op_sel = i->op_sel_hi = i->neg_hi = 0;
	i->imm = x >> 8 & 127; /* CBSZ and ABID: broadcast of blocks, which is refused */
	for (f = 0; f < FIELDS; f++)
		if (bit_of[f] && i->n[f] >= VGPR && bit(x, bit_of[f]))
			i->n[f] += AGPR - VGPR;
}

static void read_memory(u64 x, struct wave_inst *i)
{
	bool acc = bit(x, i->format == DS ? 25 : 55);

	if (acc && i->format != MUBUF)
		i->n[SRC1] += AGPR - VGPR;
	if (acc)
		i->n[DST] += AGPR - VGPR;
	if (i->format == DS) {
		i->n[SRC2] += acc ? AGPR - VGPR : 0;
		i->imm = x & 0xffff;
	} else if (i->format == FLAT) {
		i->returns = bit(x, 16);
		i->flat = !(x >> 14 & 3);
		i->imm = (s32)((u32)x << 19) >> 19;
	} else {
		i->returns = bit(x, 14);
		i->imm = x & 4095;
		i->offen = bit(x, 12);
		i->idxen = bit(x, 13);
		i->lds = bit(x, 16);
		i->n[SRC1] *= 4;
		i->width[SRC0] = i->offen + i->idxen;
		i->width[DST] = i->lds ? 0 : i->width[DST];
	}
}

static void read_smem(u64 x, struct wave_inst *i)
{
	i->n[SRC0] *= 2;
	i->n[SRC1] = bit(x, 14) ? x >> 57 : x >> 32 & 127;
	i->width[SRC1] = bit(x, 14) || !bit(x, 17);
	i->imm = bit(x, 17) ? (s32)((u32)(x >> 32) << 11) >> 11 : 0;
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
		return i->format <= VOP2 && !i->bare;
	return n <= 208 || (n >= APERTURE && n <= 248 && n != 239) || (n >= 251 && n <= 253);
}

/* NULL, or why an operand of that file is none that hardware has. */
static const char *check_operand(const struct wave_inst *i, u32 f, char file)
{
	/* LLVM was shown vector registers as sources, which may also be scalar ones. */
	bool any = f >= SRC0 && i->format >= VOP1 && i->format <= VOP3;
	u32 n = i->n[f];

	if (n < VGPR)
		return (file == 's' || any) && valid_scalar(i, f) ? NULL : "no scalar operand";
	if (file == 's' && (f < SRC0 || i->format != VOP3))
		return "a vector register in place of a scalar one";
	return n % 256 + i->width[f] <= 256 && n < OPERANDS ? NULL : "no such vector register";
}

/* Width of each operand, and its file; what is a vector register by its place gets its number. */
static void read_slots(u64 x, struct wave_inst *i, char file[FIELDS], bool matrix)
{
	u32 k;

	for (k = 0; k < ARRAY_SIZE(i->row->slot) && i->row->slot[k].file; k++) {
		u32 f = i->row->slot[k].field;

		if (f == LITERAL || (f >= SRC0 && i->n[f] == IS_LITERAL)) {
			i->size = 8;
			i->literal = (u32)(x >> 32);
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

static const char *read_operands(u64 x, struct wave_inst *i)
{
	const struct wave_row *row = i->row;
	bool matrix = i->format == VOP3P && row->slot[1].file == 'a' && row->slot[3].file;
	char file[FIELDS] = { [DST] = 'v', [SRC1] = 's', [SRC2] = 's' };
	const char *why = NULL;
	u32 f;

	read_slots(x, i, file, matrix);
	i->imm = (int16_t)x;
	if (i->format == SMEM)
		read_smem(x, i);
	else if (i->format == VOP3 || i->format == VOP3P)
		read_vop3(x, i);
	else if (i->format > VOP3)
		read_memory(x, i);
	if (matrix)
		read_matrix(x, i);
	if (i->format == FLAT)
		adjust_flat(i);
	for (f = 0; f < FIELDS && !why; f++)
		if (i->width[f])
			why = check_operand(i, f, file[f]);
	return why;
}

const char *wave_decode(const struct wave_target *target, const u32 words[2], struct wave_inst *i)
{
	u64 x = words[0] | (u64)words[1] << 32;
	const struct form *form = forms;
	u32 op;

	memset(i, 0, sizeof(*i));
	while (form < forms + FORMATS && (words[0] & form->mask) != form->bits)
		form++;
	if (form == forms + FORMATS)
		return "no format";
	i->format = (u8)(form - forms);
	op = words[0] >> form->op_at & ((1u << form->op_bits) - 1);
	if (op >= target->formats[i->format].count || !target->formats[i->format].rows[op].op)
		return "no opcode";
	i->row = &target->formats[i->format].rows[op];
	i->op = i->row->op;
	if (i->format == FLAT && (words[0] >> 14 & 3) == 1)
		return "scratch memory";
	read_places(x, i);
	if (i->format >= VOP1 && i->format <= VOP2 &&
	    (i->n[SRC0] == IS_SDWA || i->n[SRC0] == IS_DPP))
		read_extra(x, i);
	return read_operands(x, i);
}
