// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workgroups: how hardware starts their waves, lets them take turns, and has them saved and
 * restored. The handler is the driver's; what CP and SPI do around it is our model, from the
 * handler's source and LLVM's "User Guide for AMDGPU Backend": docs/vgpu.md has the list.
 */
#include <errno.h>
#include <string.h>

#include "group.h"

/*
 * ALLOCATED: SGPRs of a wave on gfx9, with VCC and XNACK_MASK. STATE: bytes of registers of other
 * kinds in the save area. The handler has both. DEBUGGER: bytes behind each wave, as
 * register_address() of AMD's ROCdbgapi has them.
 */
enum { ALLOCATED = 112, STATE = 128, LDS_GRANULE = 512, DEBUGGER = 64 };
/* A bit of SPI's answer to MSG_SAVEWAVE: the first wave of a workgroup saves LDS. */
static const u64 FIRST_WAVE = 1ull << 58;

u32 wave_vgprs(const struct wave_kernel *k)
{
	return ((k->rsrc1 & 63) + 1) * 8;
}

u32 wave_arch_vgprs(const struct wave_kernel *k)
{
	return ((k->rsrc3 & 63) + 1) * 4;
}

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Registers of hardware that no program sets. */
static void give_resources(struct wave *w, const struct wave_launch *l)
{
	w->hw[HW_GPR_ALLOC] = (wave_vgprs(&l->kernel) / 8 - 1) << 6 |
			      (wave_arch_vgprs(&l->kernel) / 4 - 1) << 12 |
			      (ALLOCATED / 16 - 1) << 24;
	w->hw[HW_LDS_ALLOC] = w->group->lds_size / 256 << 12;
	w->hw[HW_TBA_LO] = (u32)(l->tba >> 8);
	w->hw[HW_TBA_HI] = (u32)(l->tba >> 40);
	w->hw[HW_TMA_LO] = (u32)(l->tma >> 8);
	w->hw[HW_TMA_HI] = (u32)(l->tma >> 40);
	w->hw[HW_XCC_ID] = l->xcc;
	w->hw[HW_STATUS] = STATUS_VALID;
}

/* SGPRs that the descriptor asks for, in their order, and the workgroup's number behind them. */
static void give_sgprs(struct wave *w, const struct wave_launch *l, const u32 at[3])
{
	const struct wave_kernel *k = &l->kernel;
	u32 s = k->properties & 1 ? 4 : 0, bit;

	for (; s < l->users; s++)
		w->s[s] = l->user[s];
	for (bit = 1; bit <= 5; bit++) {
		if (!(k->properties >> bit & 1))
			continue;
		wave_put(w, s, 2, bit == 1 ? l->packet : bit == 3 ? l->kernarg : 0);
		s += 2;
	}
	s += k->properties >> 6 & 1;
	for (bit = 0; bit < 3; bit++)
		if (k->rsrc2 >> (7 + bit) & 1)
			w->s[s++] = at[bit];
	/* SPI's for a debugger: group_ids() and position_in_group() of ROCdbgapi. */
	memcpy(&w->s[TTMP0 + 8], at, 3 * sizeof(*at));
	w->s[TTMP0 + 11] = (u32)(w - w->group->wave);
}

/* Has the grid this work-item of a workgroup? */
static bool in_grid(const struct wave_launch *l, const u32 at[3], const u32 id[3])
{
	u32 k;

	for (k = 0; k < 3; k++)
		if (l->grid[k] && (u64)at[k] * l->size[k] + id[k] >= l->grid[k])
			return false;
	return true;
}

/* Registers hold what other waves have left there: anything. */
static void start_wave(struct wave *w, const struct wave_launch *l, const u32 at[3], u32 items,
		       u64 *seed)
{
	u32 first = (u32)(w - w->group->wave) * LANES, x = l->size[0], y = l->size[1], lane;
	u64 exec = 0;

	for (lane = 0; lane < SCALARS; lane++)
		w->s[lane] = (u32)next_random(seed);
	for (lane = 0; lane < VGPRS_MAX * LANES; lane++)
		w->v[lane / LANES][lane % LANES] = (u32)next_random(seed);
	give_resources(w, l);
	w->hw[HW_MODE] = l->kernel.rsrc1 >> 12 & 0xff;
	w->pc = l->kernel.entry;
	give_sgprs(w, l, at);
	for (lane = 0; lane < LANES; lane++) {
		u32 item = first + lane, id[3] = { item % x, item / x % y, item / x / y };

		exec |= (u64)(item < items && in_grid(l, at, id)) << lane;
		w->v[0][lane] = id[0] | id[1] << 10 | id[2] << 20;
	}
	wave_put(w, EXEC, 2, exec);
}

int wave_group_start(struct wave_group *g, struct wave_gpu *gpu, const struct wave_launch *l,
		     const u32 at[3], u64 *seed)
{
	u64 items = (u64)l->size[0] * l->size[1] * l->size[2], lds = l->kernel.lds;
	u32 k;

	if (!items || l->size[0] > 1024 || l->size[1] > 1024 || items > LANES * WAVES_MAX ||
	    lds > LDS_MAX || wave_vgprs(&l->kernel) > VGPRS_MAX ||
	    wave_arch_vgprs(&l->kernel) > wave_vgprs(&l->kernel))
		return -E2BIG;
	g->gpu = gpu;
	g->waves = (u32)(items + LANES - 1) / LANES;
	g->lds_size = ((u32)lds + LDS_GRANULE - 1) / LDS_GRANULE * LDS_GRANULE;
	memset(g->lds, 0, sizeof(g->lds));
	for (k = 0; k < g->waves; k++) {
		memset(&g->wave[k], 0, sizeof(g->wave[k]));
		g->wave[k].group = g;
		start_wave(&g->wave[k], l, at, (u32)items, seed);
	}
	return 0;
}

bool wave_is_live(const struct wave *w)
{
	return w->state == WAVE_RUNS || w->state == WAVE_AT_BARRIER;
}

bool wave_group_step(struct wave_group *g, u64 *seed)
{
	u32 n = (u32)(next_random(seed) >> 32) % g->waves, k;

	for (k = 0; k < g->waves; k++) {
		struct wave *w = &g->wave[(n + k) % g->waves];

		if (w->state == WAVE_RUNS) {
			wave_step(w);
			return true;
		}
	}
	return false;
}

const struct wave *wave_group_refused(const struct wave_group *g)
{
	u32 k;

	for (k = 0; k < g->waves; k++)
		if (g->wave[k].state == WAVE_REFUSED)
			return &g->wave[k];
	return NULL;
}

static bool is_in_handler(const struct wave *w)
{
	return wave_is_live(w) && w->hw[HW_STATUS] & STATUS_PRIV;
}

/* A wave that the handler can go on with, or that is to enter it; NULL: none. */
static struct wave *pick_wave(struct wave_group *g, u64 *seed)
{
	u32 n = (u32)(next_random(seed) >> 32) % g->waves, k;

	for (k = 0; k < g->waves; k++) {
		struct wave *w = &g->wave[(n + k) % g->waves];

		if (wave_save_is_due(w) || (is_in_handler(w) && w->state == WAVE_RUNS))
			return w;
	}
	return NULL;
}

/* Waves follow one another without a gap. */
static u64 wave_bytes(const struct wave_group *g, const struct wave_kernel *k, bool first)
{
	return wave_vgprs(k) * LANES * 4 + ALLOCATED * 4 + STATE + (first ? g->lds_size : 0) +
	       DEBUGGER;
}

/* Bytes of the save area that the waves need which are to enter the handler. */
static u64 bytes_due(const struct wave_group *g, const struct wave_kernel *kernel)
{
	u64 bytes = 0;
	u32 k;

	for (k = 0; k < g->waves; k++)
		if (wave_save_is_due(&g->wave[k]))
			bytes += wave_bytes(g, kernel, !bytes);
	return bytes;
}

u64 wave_group_saved(const struct wave_group *g, const struct wave_kernel *kernel)
{
	u64 bytes = 0;
	u32 k;

	for (k = 0; k < g->waves; k++)
		if (g->wave[k].state == WAVE_SAVED)
			bytes += wave_bytes(g, kernel, !bytes);
	return bytes;
}

u64 wave_place(const struct wave *w)
{
	return w->save & ~FIRST_WAVE;
}

void wave_set_place(struct wave *w, u64 at, bool first)
{
	w->save = at | (first ? FIRST_WAVE : 0);
}

/*
 * Enter the handler. The first wave that does has the highest place, as
 * control_stack_iterate() of ROCdbgapi has it, and saves LDS. A wave that waits at a barrier has
 * not passed it, and comes to it again.
 */
static void enter_handler(struct wave *w, const struct wave_launch *l, u64 *end, bool first)
{
	struct wave_group *g = w->group;

	*end -= wave_bytes(g, &l->kernel, first);
	wave_set_place(w, *end, first);
	if (w->state == WAVE_AT_BARRIER)
		w->pc -= 4;
	if (g->entered) {
		g->entered[w - g->wave] = *w;
		memcpy(g->lds_entered, g->lds, sizeof(g->lds));
	}
	w->state = WAVE_RUNS;
	w->hw[HW_TRAPSTS] |= TRAPSTS_SAVECTX;
	wave_trap(w);
}

/* Let the waves run until none is in the handler, nor is to enter it. */
static int run_handler(struct wave_group *g, const struct wave_launch *l, u64 *seed)
{
	u64 due = bytes_due(g, &l->kernel), end = l->save + due;
	u32 step, k;
	int status = due > l->save_size ? -ENOSPC : 0;

	for (step = 0; step < l->budget * g->waves && !status; step++) {
		struct wave *w = pick_wave(g, seed);
		u64 turn = l->lag ? next_random(seed) >> 32 : 0;

		if (!w)
			break;
		if (!wave_save_is_due(w) || (turn % (l->lag + 1) == 1 && w->state == WAVE_RUNS))
			wave_step(w);
		else if (turn % (l->lag + 1) == 0)
			enter_handler(w, l, &end, end == l->save + due);
	}
	for (k = 0; k < g->waves && !status; k++)
		if (g->wave[k].state == WAVE_REFUSED || is_in_handler(&g->wave[k]))
			status = -EIO;
	return status;
}

int wave_group_save(struct wave_group *g, const struct wave_launch *l, u64 *seed)
{
	u32 k;

	for (k = 0; k < g->waves; k++) {
		g->wave[k].save = SAVE_IS_DUE;
		if (g->entered)
			g->entered[k].state = WAVE_ENDED;
	}
	return run_handler(g, l, seed);
}

int wave_group_restore(struct wave_group *g, const struct wave_launch *l, u64 *seed)
{
	u32 k;

	for (k = 0; k < g->waves; k++) {
		struct wave *w = &g->wave[k];

		if (w->state != WAVE_SAVED)
			continue;
		memset(w->hw, 0, sizeof(w->hw));
		give_resources(w, l);
		w->hw[HW_STATUS] |= STATUS_PRIV;
		wave_put(w, EXEC, 2, w->save);
		w->pc = l->tba + 4; /* the handler's second entry */
		w->state = WAVE_RUNS;
	}
	return run_handler(g, l, seed);
}
