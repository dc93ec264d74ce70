// SPDX-License-Identifier: GPL-2.0-only
/* Apart from unit.c, which the programs of tests/fuzz/ do not need. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit-limits.h"

struct limits {
	_Atomic unsigned long long ns[UNIT_LIMITS];
	atomic_uint asked[UNIT_LIMITS];
};

/* Children share them. */
static struct limits *shared;

unsigned long long unit_limit(enum unit_limit which)
{
	atomic_fetch_add(&shared->asked[which], 1);
	return atomic_load(&shared->ns[which]);
}

void unit_set_limit(enum unit_limit which, unsigned long long ns)
{
	atomic_store(&shared->ns[which], ns);
}

unsigned int unit_limit_asked(enum unit_limit which)
{
	return atomic_load(&shared->asked[which]);
}

void unit_answers(bool answers)
{
	unit_set_limit(UNIT_CHILD, answers ? UNIT_LIMIT_NS : 1000000000ULL);
	while (!answers)
		pause();
}

void unit_reset_limits(void)
{
	int i;

	for (i = 0; i < UNIT_LIMITS; i++)
		unit_set_limit(i, i == UNIT_SILENCE ? UNIT_SILENCE_NS : UNIT_LIMIT_NS);
}

__attribute__((constructor)) static void share_limits(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		abort();
	unit_reset_limits();
}
