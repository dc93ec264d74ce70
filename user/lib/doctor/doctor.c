// SPDX-License-Identifier: LGPL-2.1-or-later
/* All checks of a host, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "lib/doctor/doctor.h"

static const struct gp_doctor_check *const lists[] = {
	gp_driver_checks,
	gp_host_checks,
	gp_view_checks,
};

const char *gpreempt_health_name(enum gpreempt_health health)
{
	static const char *const names[] = {
		[GPREEMPT_HEALTH_OK] = "ok",
		[GPREEMPT_HEALTH_NOTE] = "note",
		[GPREEMPT_HEALTH_WARNING] = "warning",
		[GPREEMPT_HEALTH_FAILED] = "failed",
		[GPREEMPT_HEALTH_UNKNOWN] = "unknown",
	};

	return (size_t)health < ARRAY_SIZE(names) ? names[health] : "-";
}

int gpreempt_doctor(struct gpreempt *g, struct gpreempt_findings **out)
{
	struct gpreempt_findings *all = calloc(1, sizeof(*all));
	const struct gp_doctor_check *check;
	bool pause_only = false;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (check = lists[i]; check->name; check++)
			n++;
	if (all)
		all->findings = calloc(n, sizeof(*all->findings));
	if (!all || !all->findings) {
		free(all);
		return -ENOMEM;
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (check = lists[i]; check->name; check++) {
			struct gpreempt_finding *f;

			f = &all->findings[all->count++];
			f->name = check->name;
			if (check->debug && pause_only)
				gp_find_bad(f, GPREEMPT_HEALTH_NOTE, "",
					    "not checked: the driver has no "
					    "debug trap");
			else
				check->run(g, f);
			if (check->decides)
				pause_only = f->health ==
					     GPREEMPT_HEALTH_WARNING;
		}
	}
	*out = all;
	return 0;
}

enum gpreempt_class
gpreempt_findings_class(const struct gpreempt_findings *findings)
{
	enum gpreempt_class class = GPREEMPT_CLASS_DONE;
	size_t i;

	for (i = 0; i < findings->count; i++) {
		const struct gpreempt_finding *f = &findings->findings[i];

		if (f->health != GPREEMPT_HEALTH_FAILED)
			continue;
		if (f->failure == GPREEMPT_CLASS_UNSUPPORTED)
			return f->failure;
		class = f->failure;
	}
	return class;
}

void gpreempt_findings_free(struct gpreempt_findings *findings)
{
	if (!findings)
		return;
	free(findings->findings);
	free(findings);
}
