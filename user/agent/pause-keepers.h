/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keepers of a pause with a lease, or of one that ends with its command: two
 * processes that unpause the target at its time. The driver does not do it when
 * they die, so each watches the other: when one is killed, the other unpauses
 * the target at once. When both are, the entry in the journal has no owner any
 * more, and the next repair does it.
 */
#ifndef AGENT_PAUSE_KEEPERS_H
#define AGENT_PAUSE_KEEPERS_H

#include <stdint.h>
#include <sys/types.h>

struct pause_keepers {
	pid_t first;
	pid_t second;
	int confirm; /* descriptor: what pause_keepers_confirm() takes */
};

/*
 * Start them, before the pause. They share the lock of the target and are named
 * in it. With a lease they unpause when it is over; without one, or when the
 * caller ends before pause_keepers_confirm(), when @confirm is closed; always at
 * SIGTERM. 0 or -errno; the lock stays the caller's, too.
 */
int pause_keepers_start(int lock, pid_t target, uint64_t start,
			uint64_t until_ns, struct pause_keepers *out);
/* The user has a report: from now on it is the lease that counts. Closes it. */
void pause_keepers_confirm(struct pause_keepers *k);

#endif
