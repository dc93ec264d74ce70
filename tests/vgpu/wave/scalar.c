// SPDX-License-Identifier: GPL-2.0-only
/* Scalar instructions: SOP1, SOP2, SOPC, SOPK, SOPP. */
#include "wave.h"

enum { MSG_SAVEWAVE = 4 };

static u64 bit_field(u64 x, u32 first, u32 bits)
{
	return bits ? x >> first & (~0ull >> (bits < 64 ? 64 - bits : 0)) : 0;
}

static u32 hwreg_mask(u32 simm)
{
	return (u32)((1ull << ((simm >> 11 & 31) + 1)) - 1) << (simm >> 6 & 31);
}

/* SIMM16 of s_getreg and s_setreg: number, first bit, bits - 1. */
static u32 hwreg_get(struct wave *w, u32 simm)
{
	u32 id = simm & 63, value = w->hw[id];

	if (id == HW_STATUS)
		value |= (w->scc ? STATUS_SCC : 0u) | (wave_pair(w, EXEC) ? 0u : STATUS_EXECZ) |
			 (wave_pair(w, VCC) ? 0u : STATUS_VCCZ);
	return (value & hwreg_mask(simm)) >> (simm >> 6 & 31);
}

static void hwreg_set(struct wave *w, u32 simm, u64 value)
{
	const u32 derived = STATUS_SCC | STATUS_EXECZ | STATUS_VCCZ;
	u32 id = simm & 63, mask = hwreg_mask(simm), bits = (u32)value << (simm >> 6 & 31);

	if (id == HW_STATUS) {
		if (mask & STATUS_SCC)
			w->scc = bits & STATUS_SCC;
		mask &= ~(STATUS_PRIV | STATUS_VALID | derived);
	}
	w->hw[id] = (w->hw[id] & ~mask) | (bits & mask);
}

static void put_result(struct wave *w, const struct wave_inst *i, u64 value)
{
	wave_put(w, i->n[DST], i->width[DST], value);
}

static void save_exec(struct wave *w, const struct wave_inst *i, u64 now)
{
	put_result(w, i, wave_pair(w, EXEC));
	wave_put(w, EXEC, 2, now);
	w->scc = now;
}

/* 108 and above are no registers of a wave that has 112: they read as 0. */
static u64 indexed_source(struct wave *w, const struct wave_inst *i)
{
	u32 n = i->n[SRC0] + (w->s[M0] & 255);

	if (n + i->width[SRC0] > TTMP0)
		return 0;
	return i->width[SRC0] == 2 ? wave_pair(w, n) : w->s[n];
}

static void put_indexed(struct wave *w, const struct wave_inst *i, u64 value)
{
	u32 n = i->n[DST] + (w->s[M0] & 255);

	if (n + i->width[DST] <= TTMP0)
		wave_put(w, n, i->width[DST], value);
}

static void return_from_trap(struct wave *w, u64 pc)
{
	w->pc = pc & 0xffffffffffff;
	w->hw[HW_STATUS] &= ~(u32)STATUS_PRIV;
}

static void set_mode(struct wave *w, u32 bit, bool on)
{
	w->hw[HW_MODE] = (w->hw[HW_MODE] & ~bit) | (on ? bit : 0);
}

static void gpr_index_on(struct wave *w, u64 index, u32 operands)
{
	set_mode(w, MODE_GPR_IDX, true);
	w->s[M0] = (w->s[M0] & ~0xf0ffu) | (index & 255) | (operands & 15) << 12;
}

/*
 * Stop running. A barrier that all waves have reached, or that the last one has left, is over. One
 * that is to be saved has not reached it.
 */
static void leave(struct wave *w, enum wave_state state)
{
	struct wave_group *g = w->group;
	u32 k;

	w->state = state;
	for (k = 0; k < g->waves; k++)
		if (g->wave[k].state == WAVE_RUNS || wave_save_is_due(&g->wave[k]))
			return;
	for (k = 0; k < g->waves; k++)
		if (g->wave[k].state == WAVE_AT_BARRIER)
			g->wave[k].state = WAVE_RUNS;
}

static void send_message(struct wave *w, u32 message)
{
	if (message == MSG_SAVEWAVE)
		wave_put(w, EXEC, 2, w->save);
}

static void branch(struct wave *w, s32 words, bool taken)
{
	if (taken)
		w->pc += (u64)(s64)words * 4;
}

/* clang-format off */
/* The sources and what else an opcode's line may name. */
#define FUNCTION(name, act)                                                                       \
	static void name(struct wave *w, const struct wave_inst *i)                               \
	{                                                                                         \
		u64 a = i->width[SRC0] ? wave_scalar(w, i, SRC0) : 0, exec = wave_pair(w, EXEC);  \
		u64 b = i->width[SRC1] ? wave_scalar(w, i, SRC1) : 0;                             \
		u64 d = i->width[DST] ? wave_scalar(w, i, DST) : 0;                               \
		s32 k = i->imm;                                                                   \
		(void)a, (void)b, (void)d, (void)k, (void)exec;                                   \
		act;                                                                              \
	}
#define CUT(r)		       ((r) << (i->width[DST] == 2 ? 0 : 32))
#define PUT(name, value)       FUNCTION(name, put_result(w, i, (u64)(value)))
#define TEST(name, value) \
	FUNCTION(name, u64 r = (u64)(value); put_result(w, i, r); w->scc = CUT(r))
#define SCC(name, value, cond) \
	FUNCTION(name, u64 r = (u64)(value); w->scc = cond; put_result(w, i, r))
#define SET(name, cond)	       FUNCTION(name, w->scc = cond)
#define DO(name, act)	       FUNCTION(name, act)
#define TESTS(name, value)	TEST(name##_b32, value) TEST(name##_b64, value)
#define PUTS(name, value)	PUT(name##_b32, value) PUT(name##_b64, value)
#define NOTHING(name)		DO(name, (void)w)
#define CONDITIONS(name, type, x, y) \
	SET(name##_eq_##type, x == y) SET(name##_lg_##type, x != y) SET(name##_gt_##type, x > y) \
	SET(name##_ge_##type, x >= y) SET(name##_lt_##type, x < y) SET(name##_le_##type, x <= y)
#include "scalar-ops.h"
#undef FUNCTION
#define FUNCTION(name, act) [OP_##name] = name,
static wave_run *const runs[OP_COUNT] = {
#include "scalar-ops.h"
};
/* clang-format on */

wave_run *scalar_run(u32 op)
{
	return runs[op];
}
