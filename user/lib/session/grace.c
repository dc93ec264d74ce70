// SPDX-License-Identifier: LGPL-2.1-or-later
/* Grace periods, in the driver's unit. */
#include <stdio.h>

#include "lib/observe/observe.h"
#include "lib/session/session.h"

#define CLOCKS_PER_UNIT 1024

/* The highest clock of the GPUs that a process may use, in MHz. */
struct clock {
	const struct gpreempt *g;
	uint64_t mhz;
};

static int look_at_gpu(void *arg, const char *name)
{
	struct clock *clock = arg;
	uint64_t gpu_id, mhz;

	if (gp_is_vram(name, &gpu_id) &&
	    !gp_gpu_property(clock->g, gpu_id, "max_engine_clk_fcompute", &mhz) && mhz > clock->mhz)
		clock->mhz = mhz;
	return 0;
}

int gpreempt_grace_units(struct gpreempt *g, pid_t pid, uint64_t ns, uint32_t *units,
			 struct gpreempt_error *err)
{
	static const char step[] = "looking for the GPUs' clocks";
	struct clock clock = { .g = g };
	unsigned __int128 clocks;
	char path[64];

	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", pid);
	g->ops->list_dir(g->be, path, look_at_gpu, &clock);
	if (!clock.mhz)
		return gp_error(err, -ENODATA, GPREEMPT_NO_CLOCK, pid, step);
	clocks = (unsigned __int128)ns * clock.mhz;
	clocks = (clocks + CLOCKS_PER_UNIT * 1000 - 1) / (CLOCKS_PER_UNIT * 1000);
	if (clocks > GPREEMPT_GRACE_MAX) {
		gp_error(err, -ERANGE, GPREEMPT_GRACE, pid, step);
		if (err)
			err->limit_ns = GPREEMPT_GRACE_MAX * CLOCKS_PER_UNIT * 1000ULL / clock.mhz;
		return -ERANGE;
	}
	*units = clocks ? clocks : 1;
	return 0;
}

int gpreempt_session_set_grace(struct gpreempt_session *s, uint32_t units)
{
	if (units > GPREEMPT_GRACE_MAX && units != GPREEMPT_GRACE_DEFAULT)
		return -ERANGE;
	s->grace = units ? units : 1;
	return 0;
}
