/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the programs of the bench share. They give up at the first error. */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gpreempt/gpreempt.h>

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* error: an errno value. */
__attribute__((noreturn)) static inline void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(error));
	exit(1);
}

__attribute__((noreturn)) static inline void die_of(const struct gpreempt_error *err)
{
	char text[512];

	gpreempt_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
	exit(1);
}

/* Returns zeroed memory. */
static inline void *get(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("memory", ENOMEM);
	return p;
}

#endif
