/* SPDX-License-Identifier: GPL-2.0-only */
/* Four GPU processes: in two containers of Docker, in one of a user's Podman, in none. */
#ifndef UNIT_SELECT_H
#define UNIT_SELECT_H

#include "unit.h"

#define ID_A   "aaaaaaaaaaaa1111111111111111111111111111111111111111111111111111"
#define ID_B   "aaaaaaaaaaaa2222222222222222222222222222222222222222222222222222"
#define ID_C   "c0ffee0000000000000000000000000000000000000000000000000000000000"
#define DOCKER "/var/lib/docker/containers/"

extern struct gpreempt_targets *found;
extern struct gpreempt_error err;

void select_setup(void);
void select_teardown(void);

/* The PIDs that a word names, or the reason in err. */
const char *pick(const char *word);
/* Processes that are chosen without a doubt. */
const char *pick_sure(const char *word);

#endif
