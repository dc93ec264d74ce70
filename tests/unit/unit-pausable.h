/* SPDX-License-Identifier: GPL-2.0-only */
/* The made-up process has /dev/kfd open and one queue: it can be paused. */
#ifndef UNIT_PAUSABLE_H
#define UNIT_PAUSABLE_H

#include "unit.h"

/* Its descriptor 7 is /dev/kfd, 0 is another device, and 9 is closed. */
void unit_open_kfd(pid_t pid);
/* After unit_setup_for() of that process, which has queue 0. */
void unit_make_pausable(pid_t pid);
/* No entry, no lock, no keeper: and it runs. */
void unit_expect_unpaused(pid_t pid);
/* The keepers of a pause that has ended need a moment for their own end. */
void unit_wait_until_free(pid_t pid);

#endif
