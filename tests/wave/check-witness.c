// SPDX-License-Identifier: GPL-2.0-only
/*
 * check-witness TARGET HANDLER WITNESS.CO REGISTERS
 *
 * Runs the witness of gpreempt-load: all waves must come to the hash that gpreempt-load expects,
 * also with preemptions. Then one bit of one register is changed in the save area, for each kind
 * of place: the wave whose it is must name that lane, that place and that bit, and no other wave
 * may be wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial/witness.h"
#include "bench.h"

enum { WAVES = 4, ROUNDS = 3, WORDS = 4, OUT = 4096, EVERY = 61, ADDEND = 7 };

#define SIZE_ROW(size, vgprs, agprs, waves) { size, { vgprs, agprs, WITNESS_SGPRS, WORDS } },
static const struct size {
	u32 registers;
	u32 places[WITNESS_KINDS];
} sizes[] = { WITNESS_SIZES(SIZE_ROW) };

/* A bit to change, when the value is at one place in the save area and no more. */
struct flip {
	u32 wave, lane, kind, nth, bit;
	bool done;
};

static void flip_bit(struct bench *b)
{
	struct flip *f = b->user;
	u32 value = witness_value(f->wave, f->lane, f->kind, f->nth), count = 0, *at = NULL;
	u32 *p = bench_memory(b, b->launch.save);
	u64 saved = wave_group_saved(&b->group, &b->launch.kernel), k;

	for (k = 0; k < saved / sizeof(*p); k++)
		if (p[k] == value && !count++)
			at = &p[k];
	if (count != 1)
		return;
	*at ^= 1u << f->bit;
	f->done = true;
	b->every = UINT64_MAX;
}

static int run(struct bench *b, enum bench_how how)
{
	struct witness_args args = { .cell = b->data,
				     .addend = ADDEND,
				     .out = b->data + OUT,
				     .rounds = ROUNDS,
				     .words = WORDS };

	memset(bench_memory(b, b->data), 0, OUT + WAVES * sizeof(struct witness_wave));
	memcpy(bench_memory(b, b->args), &args, sizeof(args));
	b->how = how;
	b->every = EVERY;
	return bench_run(b, "witness", WITNESS_LDS, WAVES, WITNESS_LANES);
}

/* How many waves are not right, and the last of them. */
static u32 judge(const struct bench *b, const struct size *size, struct witness_wave *wrong,
		 u32 *of)
{
	const u8 *out = bench_memory(b, b->data + OUT);
	u32 count = 0, k;

	for (k = 0; k < WAVES; k++) {
		struct witness_wave w;

		memcpy(&w, out + k * sizeof(w), sizeof(w));
		if (w.done == WITNESS_DONE && !w.bad && w.rounds == ROUNDS &&
		    w.hash == witness_hash(size->places, k))
			continue;
		*wrong = w;
		*of = k;
		count++;
	}
	return count;
}

static bool check_right(struct bench *b, const struct size *size, enum bench_how how)
{
	u32 of, wrong = run(b, how) ? WAVES : judge(b, size, &(struct witness_wave){ 0 }, &of);
	u64 cell;

	memcpy(&cell, bench_memory(b, b->data), sizeof(cell));
	if (!wrong && !b->differ && cell == ADDEND)
		return true;
	printf("%s: %u waves of %u wrong: %s\n", bench_hows[how], wrong, WAVES, b->what);
	return false;
}

static bool check_flip(struct bench *b, const struct size *size, u32 kind)
{
	struct flip f = { .wave = 2,
			  .lane = kind == WITNESS_SGPR ? 0 : 17,
			  .kind = kind,
			  .nth = size->places[kind] / 2,
			  .bit = 9 };
	struct witness_wave w = { 0 };
	u32 of = WAVES, nth, found, wrong;

	b->user = &f;
	b->meanwhile = flip_bit;
	wrong = run(b, BENCH_GOES_ON) ? WAVES : judge(b, size, &w, &of);
	b->meanwhile = NULL;
	nth = w.where;
	found = witness_kind(size->places, &nth);
	if (f.done && wrong == 1 && of == f.wave && w.bad && w.lane == f.lane && found == kind &&
	    nth == f.nth && w.differ == 1u << f.bit)
		return true;
	printf("bit %u of %s %u of lane %u of wave %u was changed%s, %u waves wrong: ", f.bit,
	       witness_kinds[kind], f.nth, f.lane, f.wave, f.done ? "" : " NOT", wrong);
	printf("wave %u lane %u %s %u bits %#x in %u rounds\n", of, w.lane, witness_kinds[found],
	       nth, w.differ, w.bad);
	return false;
}

int main(int argc, char **argv)
{
	u32 registers = argc > 4 ? (u32)atoi(argv[4]) : 0, i, wrong = 0, noticed = 0, kinds = 0;
	const struct size *size = NULL;
	struct bench b;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i].registers == registers)
			size = &sizes[i];
	if (!size || bench_open(&b, argv[1], argv[2]) || bench_object(&b, argv[3])) {
		fprintf(stderr, "usage: check-witness TARGET HANDLER WITNESS.CO REGISTERS\n");
		return 2;
	}
	wrong += !check_right(&b, size, BENCH_PLAIN);
	wrong += !check_right(&b, size, BENCH_GOES_ON);
	bench_print(&b, argv[2]);
	for (i = 0; i < WITNESS_KINDS; i++) {
		kinds += size->places[i] > 0;
		noticed += size->places[i] && check_flip(&b, size, i);
	}
	printf("%u of 2 runs of the witness of %u registers wrong, %u of %u changed bits named\n",
	       wrong, registers, noticed, kinds);
	bench_close(&b);
	return wrong || noticed < kinds ? 1 : 0;
}
