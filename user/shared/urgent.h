/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the kernel shares a CPU among threads of ours that poll in the driver. */
#ifndef SHARED_URGENT_H
#define SHARED_URGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's struct sched_attr (uapi/linux/sched/types.h), which not every libc has. */
struct shr_sched {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* ns; of an ordinary thread: its slice */
	uint64_t deadline;
	uint64_t period;
};

/* This thread's slices become short, if it is an ordinary one. */
void shr_ask_short_slices(void);

/*
 * An ordinary thread goes before all ordinary ones, and before those of a lower level, until
 * shr_not_urgent(). tid 0: this thread. False if it is no ordinary one or we may not.
 */
bool shr_urgent(pid_t tid, uint32_t level, struct shr_sched *before);
void shr_not_urgent(pid_t tid, const struct shr_sched *before);

#endif
