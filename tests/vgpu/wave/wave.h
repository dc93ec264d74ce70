/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waves of gfx90a and gfx942: one wave, its registers, and one instruction of its program.
 *
 * Facts of the instruction set: AMD's "Instinct MI300 CDNA3 Instruction Set Architecture", and
 * LLVM's disassembler, of which gen_ops.py makes ops.h and tables.h. A program is hostile: each
 * address and each register number is checked, and what is not executed is refused by its name.
 */
#ifndef WAVE_H
#define WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ops.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
/* The bits of X as a value of another type. */
#define AS(type, x)                                                                  \
	({                                                                           \
		__typeof__(x) x_ = (x);                                              \
		type y_ = 0;                                                         \
		memcpy(&y_, &x_, sizeof(x_) < sizeof(y_) ? sizeof(x_) : sizeof(y_)); \
		y_;                                                                  \
	})
#define BITS(x, hi, lo) ((x) >> (lo) & (u32)((1ull << ((hi) - (lo) + 1)) - 1))

/* clang-format off */
#define WAVE_OP(name) OP_##name,
enum wave_op { OP_none, WAVE_OPS(WAVE_OP) OP_COUNT };

/* In the order in which a word is compared with them. */
enum wave_format {
	SOP1, SOPC, SOPP, SOPK, SOP2, SMEM, VOP1, VOPC, VOP2, VOP3P, VOP3, DS, FLAT, MUBUF, FORMATS
};

/* Operands of an instruction. */
enum wave_field { DST, DST2, SRC0, SRC1, SRC2, FIELDS, LITERAL = FIELDS };

/* Numbers of operands: scalar registers, constants, and from 256 on vector registers. */
enum {
	SGPRS = 102, VCC = 106, TTMP0 = 108, TTMPS = 16, M0 = 124, EXEC = 126, SCALARS = 128,
	APERTURE = 235, IS_SDWA = 249, IS_DPP = 250, IS_LITERAL = 255,
	VGPR = 256, AGPR = 512, OPERANDS = 768
};

/* Hardware registers by number, and bits of them, as s_getreg has them. */
enum {
	HW_MODE = 1, HW_STATUS, HW_TRAPSTS, HW_HW_ID, HW_GPR_ALLOC, HW_LDS_ALLOC, HW_IB_STS,
	HW_TBA_LO = 16, HW_TBA_HI, HW_TMA_LO, HW_TMA_HI, HW_XCC_ID,
	HW_REGISTERS = 64,
	STATUS_SCC = 1 << 0, STATUS_PRIV = 1 << 5, STATUS_EXECZ = 1 << 9, STATUS_VCCZ = 1 << 10,
	STATUS_VALID = 1 << 16, TRAPSTS_SAVECTX = 1 << 10, TRAPSTS_XNACK_ERROR = 1 << 28,
	MODE_GPR_IDX = 1 << 27, MODE_VSKIP = 1 << 28
};

enum { LDS_MAX = 65536, WAVES_MAX = 16, VGPRS_MAX = 512, LANES = 64 };
enum wave_state { WAVE_RUNS, WAVE_AT_BARRIER, WAVE_ENDED, WAVE_SAVED, WAVE_REFUSED };
/* clang-format on */

/* An opcode's operands, in the order of LLVM's text: field, file (s, v, a, k: literal), width. */
struct wave_row {
	u16 op;
	struct {
		u8 field;
		char file;
		u8 width;
	} slot[5];
};

struct wave_target {
	const char *name;
	struct {
		const struct wave_row *rows;
		u32 count;
	} formats[FORMATS];
};

struct wave_inst {
	const struct wave_row *row;
	u16 op;		  /* enum wave_op */
	u8 format, size;  /* in bytes */
	u16 n[FIELDS];	  /* numbers of operands */
	u8 width[FIELDS]; /* their registers; 0: there is no such operand */
	u32 bare, extra;  /* IS_DPP or IS_SDWA: SRC0 is in a word of its own, which is extra */
	u32 literal;
	s32 imm; /* SIMM16, or the offset of a memory address */
	u8 abs, neg, neg_hi, op_sel, op_sel_hi, omod; /* bit k is source k's */
	bool clamp, flat, returns, offen, idxen, lds;
};

/* The GPU's memory, and what all waves on it share. */
struct wave_gpu {
	const struct wave_target *target;
	u8 *memory; /* bytes that are at this address */
	u64 address, size;
	void *(*map)(u64 address, u64 len); /* NULL: the memory is in one piece, as above */
	u64 shared_base;		    /* LDS in the flat address space: bits 63:32 */
	u64 clock;			    /* s_memrealtime, 100 MHz */
};

/* Waves that share LDS and barriers. */
struct wave_group {
	struct wave_gpu *gpu;
	u8 lds[LDS_MAX];
	u32 lds_size; /* bytes, allocated */
	u32 waves;
	struct wave *wave;
	/* NULL, or a copy of each wave as it entered the handler, and of LDS then. */
	struct wave *entered;
	u8 *lds_entered;
};

struct wave {
	struct wave_group *group;
	u64 pc;
	u32 s[SCALARS]; /* by operand number: SGPRs, VCC, TTMPs, M0, EXEC */
	u32 hw[HW_REGISTERS];
	bool scc;
	enum wave_state state;
	u64 save;		 /* SPI's answer to MSG_SAVEWAVE, which it writes to EXEC */
	u64 count;		 /* instructions so far */
	char why[96];		 /* the reason for WAVE_REFUSED */
	u32 v[VGPRS_MAX][LANES]; /* VGPRs, and from 256 on AccVGPRs */
};

/* NULL: no such target. */
const struct wave_target *wave_target(const char *name);
const char *wave_op_name(u32 op);
/* A reason why these are no instruction, or NULL. */
const char *wave_decode(const struct wave_target *target, const u32 words[2], struct wave_inst *i);
/* Is an instruction of this opcode executed here? */
bool wave_executes(u32 op);
/* Execute one instruction, or set WAVE_REFUSED and why. */
void wave_step(struct wave *w);
/* Enter the trap handler at TBA. */
void wave_trap(struct wave *w);
/* LEN bytes of memory at a GPU's address, or NULL. */
void *gpu_memory(const struct wave_gpu *gpu, u64 address, u64 len);

/* For the files of the interpreter. */

__attribute__((format(printf, 2, 3))) void wave_refuse(struct wave *w, const char *format, ...);
/* The same as gpu_memory(); NULL: the wave is refused. */
void *wave_memory(struct wave *w, u64 address, u64 len);
/* A scalar source of 32 or 64 bits. */
u64 wave_scalar(struct wave *w, const struct wave_inst *i, enum wave_field field);
void wave_put(struct wave *w, u32 n, u32 width, u64 value);
u32 wave_reverse_bits(u32 x);
u64 wave_signed_field(u64 x, u32 first, u32 bits);

/* The function of an opcode; NULL: it has none in this file. */
typedef void wave_run(struct wave *w, const struct wave_inst *i);
wave_run *scalar_run(u32 op), *vector_run(u32 op), *memory_run(u32 op);

/* A wave that is to be saved, and is not yet in the handler. */
#define SAVE_IS_DUE (~0ull)
static inline bool wave_save_is_due(const struct wave *w)
{
	return w->state <= WAVE_AT_BARRIER && w->save == SAVE_IS_DUE;
}

static inline u64 wave_pair(const struct wave *w, u32 n)
{
	return w->s[n] | (u64)w->s[n + 1] << 32;
}

#define FOR_LANES(l, mask) \
	for (u64 m_ = (mask), l = 0; m_ && (l = (u64)__builtin_ctzll(m_), 1); m_ &= m_ - 1)

#endif
