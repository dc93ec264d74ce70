/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef OUTPUT_NEXT_STEP_H
#define OUTPUT_NEXT_STEP_H

#include <gpreempt/gpreempt.h>

/* What to do about an error: a clause, perhaps with a command. */
void ctl_next_step(const struct gpreempt_error *err, char *buf, size_t size);

/* What a system call that failed with this -errno wants; NULL: that is not known. */
const char *ctl_want(int code);

#endif
