/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_TOP_GATHER_H
#define CTL_TOP_GATHER_H

#include "ctl/figures/sampler.h"
#include "ctl/top/model.h"

/*
 * Copy what the sampler has seen since the last time, one point of the history, and
 * begin its next interval. Call it after ctl_sampler_refresh(). 0 or -ENOMEM.
 */
int top_gather(struct top_model *m, struct ctl_sampler *s);

/* Read the queues of that process for its page. 0 or -ENOMEM. */
int top_gather_queues(struct top_model *m, struct gpreempt *g, int64_t pid);

#endif
