// SPDX-License-Identifier: GPL-2.0-only
/*
 * check-kernels TARGET HANDLER KERNELS.CO STEP [xnack-error]
 *
 * Runs the kernels of kernels.c: plain, with a preemption after every fifth instruction, and with
 * one at each STEP-th instruction boundary, with 1 at all. The results must be those that the CPU
 * computes here, and each wave's state the same after a preemption as before it. With xnack-error
 * the handler takes its path for waves after one: docs/vgpu.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "bench.h"

enum {
	N = 1021,
	M = 32,
	IN_B = 1 << 20,
	ANY = 3 << 19,
	OUT = 2 << 20,
	PAIRS = 1024,
	UNTOUCHED = 0x11111111,
	BYTE = 0x5c
};

struct data {
	const float *a, *b;
	const u32 *words; /* a, as numbers */
	const u32 *any;	  /* numbers for arithmetic: pairs of which one is PAIRS further on */
	const u32 *out;
};

static bool is_float(u32 bits, float expected)
{
	return !memcmp(&bits, &expected, sizeof(bits));
}

static bool check_vecadd(const struct data *d)
{
	u32 i = 0;

	while (i < N && is_float(d->out[i], d->a[i] + d->b[i]))
		i++;
	return i == N && d->out[N] == UNTOUCHED;
}

static bool check_fill(const struct data *d)
{
	const u8 *bytes = (const void *)d->out;
	u32 i = 0;

	while (i < N * 4 && bytes[i] == BYTE)
		i++;
	return i == N * 4 && d->out[N] == UNTOUCHED;
}

static bool check_reduce(const struct data *d)
{
	u32 sum = UNTOUCHED, i;

	for (i = 0; i < N; i++)
		sum += d->words[i];
	return *d->out == sum && d->out[1] == UNTOUCHED;
}

static bool check_product(const struct data *d)
{
	u32 i, k;

	for (i = 0; i < M * M; i++) {
		float sum = 0;

		for (k = 0; k < M; k++)
			sum += d->a[i / M * M + k] * d->b[k * M + i % M];
		if (!is_float(d->out[i], sum))
			return false;
	}
	return d->out[M * M] == UNTOUCHED;
}

static bool check_accs(const struct data *d)
{
	u32 t, i;

	for (t = 0; t < 512; t++) {
		u32 y = 0;

		for (i = 0; i < 20; i++)
			y = y * 31 + d->words[(t % 256 + i) & 255];
		if (d->out[t] != d->words[t % 256] * 4 + y)
			return false;
	}
	return d->out[512] == UNTOUCHED;
}

#define EXPECT(value) expected[k_++] = (wide)(value);

static bool check_arithmetic(const struct data *data, u32 pairs)
{
	const u8 *out = (const void *)data->out;
	wide expected[ARITHMETIC_COUNT];
	u32 n, k;

	for (n = 0; n < pairs; n++, out += sizeof(expected)) {
		ARITHMETIC_ALL(data->any[n], data->any[n + PAIRS], EXPECT);
		for (k = 0; k < ARITHMETIC_COUNT; k++)
			if (memcmp(&expected[k], out + k * sizeof(wide), sizeof(wide)))
				printf("result %u of %#x, %#x must be %#llx\n", k, data->any[n],
				       data->any[n + PAIRS], expected[k]);
		if (memcmp(expected, out, sizeof(expected)))
			return false;
	}
	return true;
}

static bool check_lanes(const struct data *d)
{
	return check_arithmetic(d, 128);
}

static bool check_shared(const struct data *d)
{
	return check_arithmetic(d, 8);
}

static bool check_moves(const struct data *data)
{
	const u8 *out = (const void *)data->out, *mine = out + 64 * 32;
	u32 t, word[64], total = UNTOUCHED;
	u8 bytes[32];

	for (t = 0; t < 64; t++) {
		u32 x = data->any[t], y = data->any[t + PAIRS];
		u64 sum, got[4];

		MOVE_ALL(, bytes, x, y);
		memcpy(got, out + t * 32, sizeof(got));
		sum = SUM_ALL(, bytes);
		memcpy(&word[t], bytes, 4);
		if (got[0] != sum || got[1] != sum || got[2] != data->any[63 - t])
			return false;
		total += x;
		word[t] = word[t] + y > x ? word[t] + y : x;
		if (memcmp(mine + t * 32 + 16, &word[t], 4) ||
		    memcmp(mine + t * 32 + 20, bytes + 4, 12))
			return false;
	}
	for (t = 0; t < 64; t++) {
		u64 expected = word[63 - t];

		if (memcmp(out + t * 32 + 24, &expected, 8))
			return false;
	}
	return !memcmp(out + 64 * 64, &total, 4);
}

/* Arguments: pointers to a, b, any and out as the letters say, then numbers. */
static const struct kernel {
	const char *name, *pointers;
	u32 numbers[2];
	u32 groups, size;
	bool (*check)(const struct data *d);
} kernels[] = {
	{ "vecadd", "abo", { N }, 4, 256, check_vecadd },
	{ "fill", "o", { BYTE, N * 4 }, 2, 256, check_fill },
	{ "reduce", "ao", { N }, 2, 256, check_reduce },
	{ "gemm", "abo", { M }, 4, 256, check_product },
	{ "mfma", "abo", { M }, 4, 64, check_product },
	{ "accs", "ao", { 20 }, 2, 256, check_accs },
	{ "lanes", "no", { 0 }, 2, 64, check_lanes },
	{ "shared", "no", { 0 }, 8, 64, check_shared },
	{ "moves", "no", { 0 }, 1, 64, check_moves },
};

static struct data fresh(struct bench *b, const struct kernel *k)
{
	float *x = bench_memory(b, b->data), *y = bench_memory(b, b->data + IN_B);
	u8 *args = bench_memory(b, b->args);
	u32 *any = bench_memory(b, b->data + ANY), i;
	const char *p;

	for (i = 0; i < M * M; i++) {
		x[i] = (float)(i * 7 % 13) - 6;
		y[i] = (float)(i * 5 % 11) - 5;
	}
	for (i = 0; i < PAIRS * 2; i++) {
		u32 n = i % PAIRS, some = i * 0x9e3779b1u;

		any[i] = n < 8 ? (n & 1 ? ~0u : 0) >> (n & 2) << (n >> 2) : some ^ some >> 15;
	}
	memset(bench_memory(b, b->data + OUT), UNTOUCHED & 255, BENCH_DATA - OUT);
	for (p = k->pointers; *p; p++, args += 8) {
		u64 at = b->data + (*p == 'a' ? 0 : *p == 'b' ? IN_B : *p == 'n' ? ANY : OUT);

		memcpy(args, &at, 8);
	}
	memcpy(args, k->numbers, sizeof(k->numbers));
	return (struct data){ x, y, (const void *)x, any, bench_memory(b, b->data + OUT) };
}

/* Run a kernel in one way; print what was wrong. */
static bool run_kernel(struct bench *b, const struct kernel *k, enum bench_how how, u64 step)
{
	struct data data = fresh(b, k);
	u64 differ = b->differ;
	int status;

	b->how = how;
	b->every = how == BENCH_GOES_ON ? 5 : step;
	status = bench_run(b, k->name, 0, k->groups, k->size);
	if (!status && b->differ == differ && k->check(&data))
		return true;
	printf("%s, %s: %s%s\n", k->name, bench_hows[how],
	       status || b->differ != differ ? b->what : "the result is ",
	       status || b->differ != differ ? "" : "wrong");
	return false;
}

int main(int argc, char **argv)
{
	enum bench_how how;
	u32 wrong = 0, i;
	struct bench b;

	if (argc < 5 || bench_open(&b, argv[1], argv[2]) || bench_object(&b, argv[3])) {
		fprintf(stderr,
			"usage: check-kernels TARGET HANDLER KERNELS.CO STEP [xnack-error]\n");
		return 2;
	}
	b.xnack_error = argc > 5 && !strcmp(argv[5], "xnack-error");
	for (i = 0; i < ARRAY_SIZE(kernels); i++)
		for (how = 0; how < BENCH_HOWS; how++)
			wrong += !run_kernel(&b, &kernels[i], how, strtoull(argv[4], NULL, 0));
	bench_print(&b, argv[2]);
	printf("%u of %zu runs of kernels wrong\n", wrong, ARRAY_SIZE(kernels) * BENCH_HOWS);
	bench_close(&b);
	return wrong ? 1 : 0;
}
