/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_input {
	size_t len;
	uint8_t data[64 * 1024] __attribute__((aligned(8)));
};

/* The round that is being run. */
extern uint64_t fuzz_round;

/* Give the input to a parser, which must stay whole; did it take the input? */
bool fuzz_one(const struct fuzz_input *in);

/* Fuzzers that share a file: fuzz.mk makes one of them fuzz_one() in each program. */
bool fuzz_host(const struct fuzz_input *in);
bool fuzz_oci(const struct fuzz_input *in);
bool fuzz_report(const struct fuzz_input *in);
bool fuzz_results(const struct fuzz_input *in);
bool fuzz_cgroup(const struct fuzz_input *in);
bool fuzz_engines(const struct fuzz_input *in);

#endif /* FUZZ_H */
