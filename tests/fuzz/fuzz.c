// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small fuzzer: takes a seed file, changes some bytes of it, gives it to a parser that was
 * built with sanitizers. What is changed follows from the number of the round, so that a
 * failure can be repeated: FUZZ_ROUND=n runs that one alone. Half of the rounds have the same
 * numbers each time, from 0 on. The other half follows them; with FUZZ_FROM=n it begins at n,
 * and with FUZZ_RANDOM=1 at a number that changes from run to run. The number is printed.
 *
 *   fuzz ROUNDS SEED-FILE...
 *
 * The parser is fuzz_one(), which each program of this directory has its own of.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fuzz.h"

#define MAX_CHANGES 8

static const char *const words[] = {
	"\n",
	"\n\n",
	" ",
	"  ",
	"#",
	"-",
	"0",
	"0x",
	"0x0",
	"4294967295",
	"18446744073709551615",
	"99999999999999999999",
	"-1",
	"version: ",
	"1.0",
	"2.0",
	"qid",
	"gpu_id",
	"vm",
	",",
	"\\",
	"\xff",
	"\"",
	":",
	"{",
	"}",
	"[",
	"NaN",
	"1e999",
	"/",
	"/..",
};

uint64_t fuzz_round;

static uint64_t state;

static uint32_t roll(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return below ? (uint32_t)(state >> 33) % below : 0;
}

static void replace(struct fuzz_input *in, size_t at, size_t drop, const void *with, size_t len)
{
	if (drop > in->len - at)
		drop = in->len - at;
	if (in->len - drop + len > sizeof(in->data))
		return;
	memmove(in->data + at + len, in->data + at + drop, in->len - at - drop);
	memcpy(in->data + at, with, len);
	in->len += len - drop;
}

static void change(struct fuzz_input *in)
{
	const char *word = words[roll(sizeof(words) / sizeof(words[0]))];
	size_t at = roll(in->len + 1);
	char copy[256];
	size_t len, from;

	switch (roll(6)) {
	case 0: /* a bit */
		if (at < in->len)
			in->data[at] ^= 1u << roll(8);
		break;
	case 1: /* a byte, or what a number in a header could be */
		if (at < in->len)
			in->data[at] = roll(4) ? roll(256) : 0xff;
		break;
	case 2: /* something that means something */
		replace(in, at, roll(4), word, strlen(word));
		break;
	case 3: /* missing */
		replace(in, at, roll(64), "", 0);
		break;
	case 4: /* cut off */
		in->len = at;
		break;
	default: /* said twice */
		from = roll(in->len + 1);
		len = roll(sizeof(copy));
		if (len > in->len - from)
			len = in->len - from;
		memcpy(copy, in->data + from, len);
		replace(in, at, 0, copy, len);
	}
}

#define MAX_SEEDS 16

static struct fuzz_input seeds[MAX_SEEDS];

static void load(const char *path, struct fuzz_input *in)
{
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(1);
	}
	in->len = fread(in->data, 1, sizeof(in->data), file);
	fclose(file);
}

/* How many of these rounds made an input that the parser took. */
static uint64_t run(uint64_t first, uint64_t count, int n_seeds)
{
	static struct fuzz_input in;
	uint64_t round, taken = 0;
	uint32_t changes;

	for (round = first; round < first + count; round++) {
		in.len = seeds[round % n_seeds].len;
		memcpy(in.data, seeds[round % n_seeds].data, in.len);
		state = round;
		for (changes = 1 + roll(MAX_CHANGES); changes; changes--)
			change(&in);
		/* Leave the round for a reader of a core or of a sanitizer's report. */
		fuzz_round = round;
		taken += fuzz_one(&in);
	}
	return taken;
}

/* Choose where the second half of the rounds begins; it can be another place in each run. */
static uint64_t pick_start(uint64_t follows)
{
	const char *set = getenv("FUZZ_FROM");
	uint32_t number = 0;

	if (set)
		return strtoull(set, NULL, 10);
	if (!getenv("FUZZ_RANDOM"))
		return follows;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		perror("fuzz: getrandom");
		exit(1);
	}
	return (uint64_t)number << 16;
}

/* Print the round as the last word of a sanitizer or of a failed check. */
static void tell_round(void)
{
	fprintf(stderr, "fuzz: FUZZ_ROUND=%llu\n", (unsigned long long)fuzz_round);
}

void __asan_on_error(void);
void __asan_on_error(void)
{
	tell_round();
}

void __ubsan_on_report(void);
void __ubsan_on_report(void)
{
	tell_round();
}

static void on_abort(int signal)
{
	(void)signal;
	tell_round();
}

int main(int argc, char **argv)
{
	const char *only = getenv("FUZZ_ROUND");
	uint64_t rounds, from, taken;
	int i, n = argc - 2;

	if (n < 1 || n > MAX_SEEDS)
		return 2;
	for (i = 0; i < n; i++)
		load(argv[2 + i], &seeds[i]);
	signal(SIGABRT, on_abort);
	if (only) {
		run(strtoull(only, NULL, 10), 1, n);
		return 0;
	}
	rounds = strtoull(argv[1], NULL, 10);
	from = pick_start(rounds - rounds / 2);
	taken = run(0, rounds - rounds / 2, n);
	taken += run(from, rounds / 2, n);
	printf("%s: %llu rounds, half of them from %llu on; %llu inputs taken\n", argv[0],
	       (unsigned long long)rounds, (unsigned long long)from, (unsigned long long)taken);
	/* None at all: then nothing behind the first check was tried. */
	return !taken;
}
