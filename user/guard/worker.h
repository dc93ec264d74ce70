/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The worker of an offline process: its own side, guard's, and what they tell each
 * other: memory that both see, and an eventfd. Without locks: either may be killed
 * at any time, and guard's poller never waits for a worker.
 */
#ifndef GUARD_WORKER_H
#define GUARD_WORKER_H

#include <stdatomic.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/policy.h>

#define GUARD_NODES   64
#define GUARD_RESULTS 256 /* that guard has not taken yet */

/* What a worker is to do. */
struct guard_order {
	uint64_t nodes; /* where its queues are to be suspended */
	enum gpreempt_policy_reason reason;
	uint64_t arrival_ns; /* the work came after that; 0: no arrival */
};

/* What a worker has done. */
struct guard_result {
	pid_t pid;
	bool suspend;
	enum gpreempt_policy_reason reason;
	int code;
	struct gpreempt_error error; /* if there is a code */
	uint64_t nodes;
	uint64_t arrival_ns;
	uint64_t start_ns; /* of the ioctl */
	uint64_t end_ns;
	int64_t slots_ns; /* since start_ns; GPREEMPT_UNKNOWN */
	size_t requested;
	size_t done;
};

enum guard_state {
	GUARD_OPENING,
	GUARD_READY,
	GUARD_ENDED, /* see the error: why */
};

struct guard_channel {
	atomic_uint version; /* of the order; odd: it is being written */
	struct guard_order order;
	atomic_uint taken; /* results, ever */
	atomic_uint given;
	struct guard_result result[GUARD_RESULTS];
	atomic_int state;
	atomic_bool quit;
	atomic_bool busy; /* in the driver */
	atomic_uint_fast64_t beat_ns;
	atomic_uint_fast64_t released_ns; /* ran while it was to be held */
	atomic_uint_fast64_t unseen;	  /* queues gone before they could be held */
	/*
	 * How often that was too much of the last window_ns; the figures are
	 * those of the last time.
	 */
	atomic_uint churns;
	atomic_uint losses; /* another program let it run */
	atomic_bool off;    /* or its pause keeps it off the GPU for good */
	atomic_uint_fast64_t recent_ns;
	atomic_uint_fast64_t window_ns;
	atomic_bool made;	     /* it made queues, and did not only destroy some */
	struct gpreempt_error error; /* once it has ended */
	struct gpreempt_error why;   /* it is paused, if a session was tried */
	atomic_bool paused;	     /* not by a session: as a whole, always */
};

/* What all workers see. */
struct guard_common {
	uint32_t gpu_id[GUARD_NODES]; /* of each bit of nodes */
	atomic_uint_fast64_t beat_ns; /* of the poller */
	uint64_t late_ns;	      /* silent for longer, the poller is not there */
};

/* Memory that a child shares; NULL: there is none. */
void *guard_channel_map(size_t size);

/* Only the newest order counts. One thread at a time gives them. */
void guard_channel_order(struct guard_channel *c, const struct guard_order *order);
/*
 * False: guard was stopped or killed while it wrote the order. *order is not
 * valid then; ask again later.
 */
bool guard_channel_get_order(struct guard_channel *c, struct guard_order *order);

/* False: there is no room. */
bool guard_channel_give(struct guard_channel *c, const struct guard_result *result);
/* False: there is none. */
bool guard_channel_take(struct guard_channel *c, struct guard_result *result);

/*
 * The eventfds by which guard wakes its workers. All are made before the first thread that
 * reads the memory of other processes: such a thread has descriptors of its own, which are
 * these and no others, so it can't have one that is made later.
 */
#define GUARD_WAKES 64 /* workers at once */

struct guard_wake_pool {
	int fd[GUARD_WAKES];
	bool taken[GUARD_WAKES];
};

/* All of them, of a pool that is all zero. 0 or -errno. */
int guard_wake_open(struct guard_wake_pool *pool);
/* One that no other worker has, or -ENOSPC. */
int guard_wake_take(struct guard_wake_pool *pool);
/* Its worker is gone. */
void guard_wake_give(struct guard_wake_pool *pool, int fd);

/*
 * This thread has descriptors of its own from now on: those of the pool. What
 * it keeps open when it never ends wakes no one. 0 or -errno.
 */
int guard_wake_keep_only(const struct guard_wake_pool *pool);

/* What a worker is born with. */
struct guard_job {
	pid_t target;
	int lock; /* of the target; free when the worker is gone */
	int wake; /* eventfd: there is an order */
	struct guard_common *common;
	bool sample_each; /* watch slots in each suspend, not now and then */
	enum gpreempt_how how;
	bool follow; /* it is held while job control stops or freezes it, too */
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
void guard_worker_order(struct guard_worker *w, const struct guard_order *order);
/* Have it release its target and end. */
void guard_worker_quit(struct guard_worker *w);
/* Has it ended? Then its target runs. One that is silent is killed. */
bool guard_worker_gone(struct guard_worker *w);
/* Why it ended, if not because we wanted it to. */
void guard_worker_why(const struct guard_worker *w, char *text, size_t size);
/* Once it is gone. */
void guard_worker_free(struct guard_worker *w);

#endif
