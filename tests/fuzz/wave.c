// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interpreter of waves: damaged code objects, words of any kind as a program and as a trap
 * handler. Each has a budget of instructions.
 */
#include <stdlib.h>

#include "group.h"

#include "fuzz.h"

enum { SIZE = 128 << 10, CODE = 64 << 10, STEPS = 300, WORDS = 48 };
static const u64 base = 0x7e0000000000;

static u8 memory[SIZE] __attribute__((aligned(8)));
static struct wave waves[2];
static const u32 origin[3]; /* the place of a workgroup */
static struct wave_gpu gpu = {
	.memory = memory, .address = base, .size = SIZE, .shared_base = 1ull << 48
};

static bool run_object(const struct fuzz_input *in, struct wave_group *g, u64 *seed)
{
	static const char *const names[] = { "lanes", "reduce", "mfma", "fill", "accs" };
	struct wave_launch l = { .size = { 70, 1, 1 }, .kernarg = base, .tba = base };
	u32 k;

	if (wave_object_load(&gpu, base, in->data, in->len) ||
	    wave_object_kernel(in->data, in->len, names[*seed % ARRAY_SIZE(names)], &l.kernel))
		return false;
	l.kernel.entry += base;
	if (wave_group_start(g, &gpu, &l, origin, seed))
		return false;
	for (k = 0; k < STEPS && !wave_group_refused(g) && wave_group_step(g, seed); k++)
		;
	return true;
}

/*
 * Any words, with registers of which some are addresses; the next one after each, whatever it did.
 * Then they are a trap handler.
 */
static void run_words(struct wave_group *g, u64 *seed)
{
	struct wave_launch l = { .size = { 64, 1, 1 },
				 .tba = base + CODE,
				 .save = base,
				 .save_size = CODE,
				 .budget = STEPS };
	struct wave *w = &waves[0];
	u32 k;

	if (wave_group_start(g, &gpu, &l, origin, seed))
		abort();
	for (k = 0; k < WORDS * 4; k++)
		memory[CODE + k] = (u8)w->v[7][k % 64];
	for (k = 0; k < SCALARS; k += 2) {
		w->s[k] &= 0x1fff8;
		w->s[k + 1] = (u32)(base >> 32);
	}
	for (k = 0; k < 256 * LANES; k++)
		w->v[k / LANES][k % LANES] = k / LANES & 1 ? (u32)(base >> 32) : k * 8 & 0xfff8;
	wave_put(w, EXEC, 2, *seed);
	w->pc = base + CODE;
	w->hw[HW_MODE] = *seed & 1 ? MODE_GPR_IDX : 0;
	g->lds_size = 4096;
	for (k = 0; k < WORDS; k++) {
		wave_step(w);
		w->state = WAVE_RUNS;
		w->pc = base + CODE + k * 4;
	}
	if (!wave_group_save(g, &l, seed))
		wave_group_restore(g, &l, seed);
}

bool fuzz_one(const struct fuzz_input *in)
{
	static struct wave_group g = { .wave = waves };
	u64 seed = fuzz_round * 0x9e3779b97f4a7c15 + 1;

	gpu.target = wave_target(fuzz_round & 2 ? "gfx942" : "gfx90a");
	if (fuzz_round & 1)
		return run_object(in, &g, &seed);
	run_words(&g, &seed);
	return false;
}
