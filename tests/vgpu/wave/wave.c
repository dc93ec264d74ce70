// SPDX-License-Identifier: GPL-2.0-only
/* One wave: memory, scalar operands, one step, and the entry of a trap. */
#include <stdarg.h>
#include <stdio.h>

#include "wave.h"

void wave_refuse(struct wave *w, const char *format, ...)
{
	va_list args;

	if (w->state == WAVE_REFUSED)
		return;
	va_start(args, format);
	vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
	w->state = WAVE_REFUSED;
}

void *gpu_memory(const struct wave_gpu *gpu, u64 address, u64 len)
{
	u64 at = address - gpu->address;

	if (gpu->map)
		return gpu->map(address, len);
	return at < gpu->size && len <= gpu->size - at ? gpu->memory + at : NULL;
}

void *wave_memory(struct wave *w, u64 address, u64 len)
{
	void *p = gpu_memory(w->group->gpu, address, len);

	if (!p)
		wave_refuse(w, "no memory at %#llx", (unsigned long long)address);
	return p;
}

u32 wave_reverse_bits(u32 x)
{
	u32 r = 0, k;

	for (k = 0; k < 32; k++)
		r |= (x >> k & 1) << (31 - k);
	return r;
}

u64 wave_signed_field(u64 x, u32 first, u32 bits)
{
	u64 field = (u64)((s64)x >> first);

	if (!bits || bits >= 64)
		return bits ? field : 0;
	return (u64)((s64)(field << (64 - bits)) >> (64 - bits));
}

/* -- scalar operands ---------------------------------------------------------- */

/* Constants of the manual's table of scalar operands; the last is 1 / (2 * pi). */
static u64 constant(struct wave *w, u32 n, bool wide)
{
	static const double floats[] = { .5, -.5, 1, -1, 2, -2, 4, -4, 0.15915494309189532 };

	if (n <= 192)
		return n - 128;
	if (n <= 208)
		return wide ? 192 - (u64)n : (u32)(192 - n);
	if (n >= 240 && n < 240 + ARRAY_SIZE(floats))
		return wide ? AS(u64, floats[n - 240]) : AS(u32, (float)floats[n - 240]);
	switch (n) {
	case APERTURE:
		return w->group->gpu->shared_base >> (wide ? 0 : 32);
	case 251:
		return !wave_pair(w, VCC);
	case 252:
		return !wave_pair(w, EXEC);
	case 253:
		return w->scc;
	}
	wave_refuse(w, "scalar operand %u is not modelled", n);
	return 0;
}

u64 wave_scalar(struct wave *w, const struct wave_inst *i, enum wave_field field)
{
	u32 n = i->n[field];
	bool wide = i->width[field] == 2;

	if (n < SCALARS)
		return wide ? wave_pair(w, n) : w->s[n];
	return n == IS_LITERAL ? i->literal : constant(w, n, wide);
}

/* Trap temporaries are for the trap handler only. */
static void put(struct wave *w, u32 n, u64 value)
{
	bool trap = n >= TTMP0 && n < TTMP0 + TTMPS;

	if (!trap || w->hw[HW_STATUS] & STATUS_PRIV)
		w->s[n] = (u32)value;
}

void wave_put(struct wave *w, u32 n, u32 width, u64 value)
{
	put(w, n, value);
	if (width == 2)
		put(w, n + 1, value >> 32);
}

/* -- steps ----------------------------------------------------------------------- */

/* With MODE.GPR_IDX_EN, M0 has an index for vector registers, and bits for which operands. */
static void index_registers(struct wave *w, struct wave_inst *i)
{
	static const u8 bit_of[FIELDS] = { [DST] = 15, [SRC0] = 12, [SRC1] = 13, [SRC2] = 14 };
	u32 f;

	for (f = 0; f < FIELDS; f++) {
		u32 n = i->n[f] + (w->s[M0] & 255);

		if (!bit_of[f] || !i->width[f] || i->n[f] < VGPR || !(w->s[M0] >> bit_of[f] & 1))
			continue;
		if (n / 256 != i->n[f] / 256u || n % 256 + i->width[f] > 256)
			wave_refuse(w, "%s: index %u", wave_op_name(i->op), w->s[M0] & 255);
		else
			i->n[f] = (u16)n;
	}
}

static wave_run *find_run(u32 op)
{
	wave_run *run = scalar_run(op) ? scalar_run(op) : vector_run(op);

	return run ? run : memory_run(op);
}

bool wave_executes(u32 op)
{
	return find_run(op);
}

void wave_step(struct wave *w)
{
	u64 pc = w->pc & ~3ull;
	const u32 *first = wave_memory(w, pc, 4), *second = gpu_memory(w->group->gpu, pc + 4, 4);
	struct wave_inst i;
	u32 words[2];
	const char *why;
	wave_run *run;

	if (!first)
		return;
	words[0] = *first;
	words[1] = second ? *second : 0;
	why = wave_decode(w->group->gpu->target, words, &i);
	if (why) {
		wave_refuse(w, "%s, at %#llx: %08x %08x", why, (unsigned long long)w->pc, words[0],
			    words[1]);
		return;
	}
	w->count++;
	w->pc += i.size;
	if (w->hw[HW_MODE] & MODE_VSKIP && i.format >= VOP1)
		return;
	if (w->hw[HW_MODE] & MODE_GPR_IDX && i.format >= VOP1 && i.format <= VOP3)
		index_registers(w, &i);
	run = find_run(i.op);
	if (!run)
		wave_refuse(w, "%s is not executed here", wave_op_name(i.op));
	if (w->state != WAVE_REFUSED)
		run(w, &i);
}

void wave_trap(struct wave *w)
{
	w->s[TTMP0] = (u32)w->pc;
	w->s[TTMP0 + 1] = w->pc >> 32 & 0xffff;
	w->hw[HW_STATUS] |= STATUS_PRIV;
	w->pc = ((u64)w->hw[HW_TBA_HI] << 32 | w->hw[HW_TBA_LO]) << 8;
}
