/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory for experiments, on the made-up system. */
#ifndef UNIT_EXPERIMENT_H
#define UNIT_EXPERIMENT_H

#include "unit-command.h"

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

void experiment_setup(void);
void experiment_teardown(void);

/* The first lines of a plan. */
#define PLAN                                               \
	"runs 2\nconcurrent 1\namd_log 4\nduration_ns 0\n" \
	"a touch ran; exec sleep 9\nb ./b\n"

/* The plan of the experiment "e", with these lines. */
void write_plan(const char *more);

#endif
