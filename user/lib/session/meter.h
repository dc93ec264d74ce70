/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long something was so within the last ten seconds, and ever. */
#ifndef GP_SESSION_METER_H
#define GP_SESSION_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/clock.h"
#include "shared/macro.h"

#define GP_METER_SLOTS	 100
#define GP_METER_SLOT_NS (100 * NSEC_PER_MSEC)
#define GP_METER_WINDOW	 (GP_METER_SLOTS * GP_METER_SLOT_NS)

/* All 0: nothing was so yet. Times are of shr_now_ns(). */
struct gp_meter {
	uint64_t since;	 /* it is so since then; 0: it is not */
	uint64_t total;	 /* ns, up to since */
	uint64_t end;	 /* of what was last added to it */
	uint64_t newest; /* the number of the newest slot */
	/* By number; one more than the window, which begins within a slot. */
	uint64_t slot[GP_METER_SLOTS + 1];
};

/* It is so from now on, or it is not. */
void gp_meter_set(struct gp_meter *m, bool so, uint64_t now);
/* It was so from then on, too; what is counted already is not counted twice. */
void gp_meter_add(struct gp_meter *m, uint64_t from, uint64_t now);
/* How long it was so in the window that ends now, and ever. */
uint64_t gp_meter_recent(struct gp_meter *m, uint64_t now);
uint64_t gp_meter_total(struct gp_meter *m, uint64_t now);

#endif
