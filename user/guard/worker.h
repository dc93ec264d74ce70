/* SPDX-License-Identifier: GPL-2.0-only */
/* The worker of an offline process: its own side, and guard's. */
#ifndef GUARD_WORKER_H
#define GUARD_WORKER_H

#include "guard/channel.h"

/* What a worker is born with. */
struct guard_job {
	pid_t target;
	int lock; /* of the target; free when the worker is gone */
	int wake; /* eventfd: there is an order */
	struct guard_common *common;
	bool sample_each; /* watch slots in each suspend, not now and then */
	enum gpreempt_how how;
	pid_t guard;
};

/* Its life (worker.c). */
void guard_work(const struct guard_job *job, struct guard_channel *channel);

/* Guard's side (workers.c). */
struct guard_worker {
	struct guard_job job;
	struct guard_channel *channel;
	pid_t child;  /* 0: it has ended */
	int status;   /* then */
	pid_t repair; /* undoes a pause that it has left */
};

/* The lock and wake stay the caller's, and open until it is gone. 0 or -errno. */
int guard_worker_start(const struct guard_job *job, struct guard_worker **out);
void guard_worker_order(struct guard_worker *w,
			const struct guard_order *order);
/* Have it release its target and end. */
void guard_worker_quit(struct guard_worker *w);
/* Has it ended? Then its target runs. One that is silent is killed. */
bool guard_worker_gone(struct guard_worker *w);
/* Why it ended, if not because we wanted it to. */
void guard_worker_why(const struct guard_worker *w, char *text, size_t size);
/* Once it is gone. */
void guard_worker_free(struct guard_worker *w);

#endif
