/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_CHURN_H
#define LOAD_CHURN_H

#include <pthread.h>
#include <stdatomic.h>

#include "process.h"

struct kfd_ioctl_destroy_queue_args;

/* A thread that makes a queue and destroys it, again and again. */
struct load_churn {
	const struct load_process *proc;
	const struct load_args *args;
	pthread_t thread, liar;
	atomic_bool stop;
	uint64_t rounds; /* queues made and destroyed */
	uint32_t victim; /* the queue that a lie names */
	/*
	 * The driver's arguments for the destruction, as this process sees them and as the
	 * driver reads them: two mappings of one page.
	 */
	struct kfd_ioctl_destroy_queue_args *args_here, *args_given;
	atomic_uint given; /* odd: a call has begun and not returned */
};

/* Returns 0 or -errno; does nothing without args->churn_ns. */
int load_churn_start(struct load_churn *churn, const struct load_process *proc,
		     const struct load_args *args);
void load_churn_stop(struct load_churn *churn);

#endif
