/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory with a snapshot of a real driver, for decode and diff. */
#ifndef UNIT_SNAPSHOTS_H
#define UNIT_SNAPSHOTS_H

#include "unit-command.h"

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

/* The last stdout, after read_json(). */
extern struct json_object *json;
void read_json(void);

/* It is "now": processes 144 and 156 with four queues. */
void snapshots_setup(void);
void snapshots_teardown(void);

/* Its mqds, with other rings of compute queues. */
void make_other_rings(const char *path);

#endif
