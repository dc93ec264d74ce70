// SPDX-License-Identifier: GPL-2.0-only
#include "guard/report-pause.h"
#include "shared/macro.h"

#define FIRST_NS (10 * NSEC_PER_SEC)
#define LAST_NS	 (640 * NSEC_PER_SEC)

bool report_pause_over(struct report_pause *p, uint64_t now)
{
	if (now < p->until_ns)
		return false;
	p->ns = p->ns ? 2 * p->ns : FIRST_NS;
	if (p->ns > LAST_NS)
		p->ns = LAST_NS;
	p->until_ns = now + p->ns;
	return true;
}
