// SPDX-License-Identifier: GPL-2.0-only
/* The main thread is alive, and so is the poller. */
#include "guard/guard.h"
#include "shared/clock.h"

/* A poller that is not scheduled for so long is dead. */
#define POLLER_SILENCE_NS (5 * NSEC_PER_SEC)

bool guard_poller_runs(struct guard *guard)
{
	return shr_now_ns() <= atomic_load(&guard->common->beat_ns) + POLLER_SILENCE_NS;
}

/*
 * The kernel ends us if we do not say this in time. Long enough for a step on a
 * host without CPUs to spare: workers do not wait for it when the poller stops.
 */
void guard_heartbeat(struct guard *guard)
{
	if (guard_poller_runs(guard))
		watchdog_pet(&guard->watchdog, GUARD_SILENCE_NS);
}
