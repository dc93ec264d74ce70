/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_GPU_USERS_H
#define CTL_GPU_USERS_H

#include <gpreempt/gpreempt.h>

/* 0, or the exit status after saying that there is no such GPU. */
int ctl_check_gpus(struct gpreempt *g, const struct gpreempt_filter *which);

/* Keep the processes that use the GPUs, or may; without GPUs, all. */
void ctl_keep_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
			struct gpreempt_targets *list);

/*
 * For scripts, the exit status: does one of the processes use the GPUs? @list NULL: does
 * any process?
 */
int ctl_has_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
		      const struct gpreempt_targets *list);

#endif
