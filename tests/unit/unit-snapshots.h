/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory with a snapshot of a real driver, for decode and diff. */
#ifndef UNIT_SNAPSHOTS_H
#define UNIT_SNAPSHOTS_H

#include "unit-command.h"

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

/* It is "now": processes 144 and 156 with four queues. For command_teardown(). */
void snapshots_setup(void);

/* Its mqds, as of a process before that had the same MQDs and other rings. */
void make_other_rings(const char *path);

#endif
