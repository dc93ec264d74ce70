// SPDX-License-Identifier: GPL-2.0-only
/*
 * Types of which tests/kmod/check-btf knows the texts. Compiled with -gbtf, it is
 * what the parser is asked about.
 */
#include <stdbool.h>

enum small { SMALL_ZERO, SMALL_SEVEN = 7 };
enum __attribute__((mode(DI))) wide { WIDE_ONE = 1, WIDE_HUGE = 0x100000000 };

struct device;

struct hooks {
	__typeof__(int (*)(struct device *d, unsigned int pipe, unsigned int (**dump)[2],
			   unsigned int *n)) dump;
	bool (*test)(const struct device *d, unsigned long ring, unsigned int inst);
	void (*none)(void);
	const void *opaque;
	struct hooks *next;
	struct device *volatile table[4];
	enum small small;
	enum wide wide;
} object;
