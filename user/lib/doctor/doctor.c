// SPDX-License-Identifier: LGPL-2.1-or-later
/* All checks of a host, one after the other. */
#include "lib/doctor/checks.h"
#include "lib/doctor/faults.h"

static const struct gp_doctor_check *const lists[] = {
	gp_driver_checks,
	gp_host_checks,
	gp_view_checks,
};

void gp_doctor(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
	       void *data)
{
	const struct gp_doctor_check *check;
	bool pause_only = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (check = lists[i]; check->name; check++) {
			struct gp_finding f = { .name = check->name };

			if (check->debug && pause_only)
				gp_find_bad(&f, GP_HEALTH_NOTE, "",
					    "not checked: the driver has no "
					    "debug trap");
			else
				check->run(g, &f);
			if (check->decides)
				pause_only = f.health == GP_HEALTH_WARNING;
			found(data, &f);
		}
	}
	gp_doctor_faults(g, found, data);
}
