/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pattern that waves of the witness keep in their registers, and what each wave writes at its
 * end. The kernel (witness.cl) and gpreempt-load share this file; it includes nothing.
 */
#ifndef TRIAL_WITNESS_H
#define TRIAL_WITNESS_H

#define WITNESS_LANES 64   /* in a wave; it is compiled for waves of 64 everywhere */
#define WITNESS_LDS   1024 /* bytes of LDS at least, for the wave's own result */

/* Kinds of places, in the order in which the witness looks at them. */
#define WITNESS_VGPR  0
#define WITNESS_AGPR  1
#define WITNESS_SGPR  2
#define WITNESS_WORD  3 /* a word of LDS; words of one lane, 256 bytes apart */
#define WITNESS_KINDS 4

/*
 * Kernels, by the vector registers of a lane in all: X(registers, VGPRs, AccVGPRs, waves). The
 * pattern is in so many of them, the others are the compiler's; so many waves fit into a SIMD.
 */
#define WITNESS_SIZES(X)  \
	X(32, 12, 0, 8)   \
	X(64, 40, 0, 8)   \
	X(128, 100, 0, 4) \
	X(256, 220, 0, 2) \
	X(512, 236, 256, 1)
#define WITNESS_SGPRS 40

/* A wave's result. All 0: the wave has not come to its end, or no code ran. */
struct witness_wave {
	unsigned int done; /* WITNESS_DONE */
	unsigned int rounds;
	unsigned int hash;   /* made of all values of all lanes at the end */
	unsigned int bad;    /* rounds in which a lane found a wrong value, over all lanes */
	unsigned int lane;   /* the lowest lane that found one, */
	unsigned int where;  /* the place that it found last, from 0 in the order of kinds, */
	unsigned int differ; /* and the bits that were wrong there */
	unsigned int spare;
};

#define WITNESS_DONE 0x474f4f44u

/* The value of a place is the seed of its work-item, or of its wave for SGPRs, and its key. */
static inline unsigned int witness_seed(unsigned int item)
{
	return (item + 1) * 0x9e3779b1u;
}

static inline unsigned int witness_key(unsigned int kind, unsigned int nth)
{
	return ((kind + 1) << 12 | nth) * 0x85ebca6bu;
}

static inline unsigned int witness_fold(unsigned int hash, unsigned int value)
{
	return (hash ^ value) * 0x01000193u;
}

#ifndef __OPENCL_C_VERSION__
/* The kernel's arguments; the first four are those that the virtual GPU of the tests knows. */
struct witness_args {
	unsigned long magic, duration_ns, cell, addend, out;
	unsigned int rounds, words, lds;
};

static const char *const witness_kinds[WITNESS_KINDS] = { "VGPR", "AccVGPR", "SGPR", "LDS word" };

/* Value of a place of a work-item. */
static inline unsigned int witness_value(unsigned int wave, unsigned int lane, unsigned int kind,
					 unsigned int nth)
{
	unsigned int item = kind == WITNESS_SGPR ? wave : wave * WITNESS_LANES + lane;

	return witness_seed(item) ^ witness_key(kind, nth);
}

/* The hash that a wave must have at its end. PLACES: how many of each kind have the pattern. */
static inline unsigned int witness_hash(const unsigned int places[WITNESS_KINDS], unsigned int wave)
{
	unsigned int hash = 0, lane, kind, nth;

	for (lane = 0; lane < WITNESS_LANES; lane++) {
		unsigned int one = 0;

		for (kind = 0; kind < WITNESS_KINDS; kind++)
			for (nth = 0; nth < places[kind]; nth++)
				one = witness_fold(one, witness_value(wave, lane, kind, nth));
		hash ^= one;
	}
	return hash;
}

/* Kind of the place that a wave has named; NTH becomes its number in that kind. */
static inline unsigned int witness_kind(const unsigned int places[WITNESS_KINDS], unsigned int *nth)
{
	unsigned int kind = 0;

	while (kind + 1 < WITNESS_KINDS && *nth >= places[kind])
		*nth -= places[kind++];
	return kind;
}
#endif

#endif
