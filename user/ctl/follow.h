/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of "follow". */
#ifndef CTL_FOLLOW_H
#define CTL_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "shared/cgroup.h"

#endif
