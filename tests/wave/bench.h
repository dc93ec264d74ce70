/* SPDX-License-Identifier: GPL-2.0-only */
/* A GPU in memory on which tests run kernels, with preemptions and a comparison after each. */
#ifndef WAVE_BENCH_H
#define WAVE_BENCH_H

#include "group.h"

/*
 * Without preemptions; with one after every EVERY-th instruction, going on with what was restored;
 * the same, going back to what was saved: so a barrier is passed also with EVERY 1.
 */
enum bench_how { BENCH_PLAIN, BENCH_GOES_ON, BENCH_GOES_BACK, BENCH_HOWS };

extern const char *const bench_hows[BENCH_HOWS];

struct bench {
	struct wave_gpu gpu;
	struct wave_group group;
	struct wave_launch launch;
	u64 code, data, args; /* addresses: the code object, memory of the kernel, its arguments */
	u64 seed;
	enum bench_how how;
	u64 every;
	bool xnack_error; /* waves are saved after one */
	/* Between save and restore; may be NULL. */
	void (*meanwhile)(struct bench *b);
	void *user;
	u64 instructions, preemptions, differ;
	char what[160]; /* the first difference, or why a run failed */
	void *file;	/* the code object */
	size_t file_len;
	struct wave *before; /* the group before a save */
	u8 lds_before[LDS_MAX];
};

enum { BENCH_DATA = 4 << 20 };

/* -ENOMEM, or -errno of the handler's file. */
int bench_open(struct bench *b, const char *target, const char *handler);
void bench_close(struct bench *b);
int bench_object(struct bench *b, const char *path);
void *bench_memory(const struct bench *b, u64 address);
/* Begin a line with the counts of all runs. */
void bench_print(const struct bench *b, const char *handler);
/* Run GROUPS workgroups of SIZE work-items; 0, or -errno with b->what. */
int bench_run(struct bench *b, const char *kernel, u32 lds, u32 groups, u32 size);

#endif
