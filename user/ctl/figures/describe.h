/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_DESCRIBE_H
#define CTL_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include <gpreempt/select.h>

struct ctl_described {
	int code;  /* 0, or -errno: it has ended */
	bool mute; /* its memory did not answer: no command line */
	struct gpreempt_description who;
};

/*
 * What gpreempt_describe() says of each process. A child reads the command lines, and is
 * left behind if it hangs (see find-targets.h); of a snapshot, this process does. NULL
 * without memory. For ctl_described_free(), with the same list.
 */
struct ctl_described *ctl_describe_all(struct gpreempt *g, const struct gpreempt_targets *list,
				       bool live);
void ctl_described_free(struct ctl_described *all, const struct gpreempt_targets *list);

#endif
