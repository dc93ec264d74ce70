/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_EVENTS_H
#define GP_EVENTS_H

#include <linux/types.h>

/**
 * gp_events_start() - hear of new and ended GPU processes
 * @notify:	called after each; in the context of a probe, so it must not
 *		sleep
 *
 * Return: true when @notify is called from now on, false when the kernel
 * offers no probes here, with a line in its log.
 */
bool gp_events_start(void (*notify)(void));

/** gp_events_stop() - no call of notify after this returns */
void gp_events_stop(void);

/** gp_events_on() - whether gp_events_start() worked */
bool gp_events_on(void);

#endif /* GP_EVENTS_H */
