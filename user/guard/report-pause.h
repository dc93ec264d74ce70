/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports of what may come and go all the time: the second one comes 10 s after
 * the first one at the earliest, the third 20 s after that, and so on.
 */
#ifndef GUARD_REPORT_PAUSE_H
#define GUARD_REPORT_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero before the first report. */
struct report_pause {
	uint64_t until_ns;
	uint64_t ns; /* that grows with each report, up to 640 s */
};

/* True: report it now. */
bool report_pause_over(struct report_pause *p, uint64_t now);

#endif
