/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread that watches slots while another one is in the driver. */
#ifndef GP_SESSION_SAMPLER_H
#define GP_SESSION_SAMPLER_H

#include "lib/core/internal.h"

struct gp_sampler;

/* NULL: it is off. It takes the module. 0 or -errno. */
int gp_sampler_switch(struct gp_sampler **sampler, bool on, struct gpreempt *g, pid_t pid,
		      struct gpreempt_error *err);
/* NULL is allowed. */
void gp_sampler_stop(struct gp_sampler *sampler);

/* From now on; wait: returns when these queues have been looked at once. */
void gp_sampler_arm(struct gp_sampler *sampler, const uint32_t *ids, size_t count, bool wait);
bool gp_sampler_armed(const struct gp_sampler *sampler);

/*
 * If it is armed: the driver has returned; wait until no slot is active, but not for
 * long. @out stays as it is when none was seen to become inactive after @entry_ns.
 */
void gp_sampler_finish(struct gp_sampler *sampler, uint64_t entry_ns, struct gpreempt_outcome *out);

#endif
