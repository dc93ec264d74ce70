/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of "guard".
 *
 * Three kinds of threads: the main one keeps the lists of targets and talks to
 * the user (guard.c, guard-targets.c, guard-report.c); the poller reads the
 * indices of online queues and asks the policy (guard-poll.c, guard-index.c);
 * a worker for each offline process has its session (guard-worker.c).
 */
#ifndef CTL_GUARD_H
#define CTL_GUARD_H

#include <pthread.h>
#include <stdatomic.h>

#include <gpreempt/policy.h>

#include "ctl/ctl.h"
#include "ctl/foreground.h"

#define GUARD_TARGETS 64	/* of each role */
#define GUARD_NODES 64
#define GUARD_QUEUES 64		/* of an online process */
#define GUARD_RESULTS 1024
#define GUARD_TICK_NS (40 * NSEC_PER_MSEC)

/* An AQL queue of an online process. */
struct guard_queue {
	uint32_t qid;
	uint64_t read_addr;	/* of its indices, in its process */
	uint64_t write_addr;
	uint64_t ring;
	uint64_t packets;	/* in the ring */
	uint64_t written;	/* write index, as last read */
	uint64_t signal;	/* completion signal of the last packet, or 0 */
	bool known;		/* written is right */
	bool busy;
};

struct guard_online {
	struct gpreempt_target target;
	unsigned int party;
	uint64_t nodes;
	bool busy;
	bool looked;		/* it was looked at before */
	bool gone;		/* its memory cannot be read any more */
	struct guard_queue queue[GUARD_QUEUES];
	size_t n;
};

/* What a worker has done (guard-worker.c). */
struct guard_result {
	pid_t pid;
	bool suspend;
	enum gpreempt_policy_reason reason;
	int code;
	uint64_t nodes;
	uint64_t arrival_ns;	/* the work came after that; 0: no arrival */
	uint64_t start_ns;	/* of the ioctl */
	uint64_t end_ns;
	size_t requested;
	size_t done;
};

/* What a worker is to do. */
struct guard_order {
	uint64_t nodes;		/* where its queues are to be suspended */
	enum gpreempt_policy_reason reason;
	uint64_t arrival_ns;
};

enum guard_state {
	GUARD_OPENING,
	GUARD_READY,
	GUARD_ENDED,		/* see the error: why */
};

/* Somebody wants us to let go of a process. */
struct guard_release {
	pid_t pid;
	uint64_t ns;		/* UINT64_MAX: for good */
};

struct guard;

struct guard_worker {
	struct guard *guard;
	pid_t pid;
	pthread_t thread;
	int wake;		/* eventfd */
	pthread_mutex_t lock;
	struct guard_order order;	/* under the lock */
	uint64_t have;		/* nodes on which it is suspended */
	struct gpreempt *g;
	struct gpreempt_session *session;
	struct gpreempt_error error;	/* once it has ended */
	unsigned int losses;
	uint64_t lost_ns;
	atomic_int state;
	atomic_bool quit;
	atomic_bool busy;	/* in the driver */
	atomic_uint_fast64_t beat_ns;
};

struct guard_offline {
	struct gpreempt_target target;
	struct guard_worker *worker;
	int lock;		/* of the target */
	unsigned int job;
	uint64_t nodes;
	uint64_t want;		/* nodes, as the policy has it */
	int party[GUARD_NODES];	/* -1: not on that node */
	bool announced;
	uint64_t since_ns;	/* when it was taken */
	uint64_t held_since_ns;	/* 0: it runs */
	uint64_t held_ns;
};

/* Figures for the user (guard-report.c). */
#define GUARD_SAMPLES 100000

struct guard_samples {
	uint64_t *ns;		/* the last GUARD_SAMPLES */
	size_t count;		/* of all */
};

struct guard_figures {
	uint64_t start_ns;
	uint64_t suspends;
	uint64_t resumes[GPREEMPT_POLICY_REASONS];
	uint64_t failures;
	uint64_t held_ns;	/* of targets that are gone */
	uint64_t kept_ns;	/* how long they were there */
	struct guard_samples to_ioctl;
	struct guard_samples to_suspended;
};

enum guard_poll { GUARD_POLL_BUSY, GUARD_POLL_ADAPTIVE, GUARD_POLL_TIMED };

struct guard {
	const struct ctl_args *args;
	struct gpreempt *g;	/* the main thread's */
	struct deadman deadman;
	int stop;
	int report;		/* SIGUSR1 */
	enum guard_poll poll;
	uint64_t poll_ns;

	pthread_mutex_t lock;	/* for what follows, up to the results */
	struct gpreempt_policy policy;
	struct guard_online online[GUARD_TARGETS];
	size_t n_online;
	struct guard_offline offline[GUARD_TARGETS];
	size_t n_offline;
	uint32_t gpu_id[GUARD_NODES];	/* of each bit */
	size_t n_nodes;
	size_t n_clients;	/* who have opened a request, ever */
	struct guard_release releases[16];
	size_t n_releases;
	bool changed;		/* the policy has to be asked again */
	bool blind;		/* the module is gone */
	bool ending;		/* nobody wants to know who leaves */

	pthread_mutex_t results_lock;
	struct guard_result results[GUARD_RESULTS];
	size_t n_results;

	pthread_t poller;
	atomic_bool quit;
	atomic_uint_fast64_t beat_ns;	/* of the poller */
	atomic_uint_fast64_t polls;
	atomic_uint_fast64_t poll_cpu_ns;
	struct guard_figures figures;
};

/* guard-index.c: look at the queues of an online process. */
enum guard_seen { GUARD_IDLE, GUARD_PULSE, GUARD_BUSY };
/* GUARD_PULSE: there was work, and it is done. -errno: it cannot be read. */
int guard_look(struct guard_online *online);

/* guard-poll.c */
int guard_poll_start(struct guard *guard);
void guard_poll_stop(struct guard *guard);

/* guard-worker.c */
int guard_worker_start(struct guard *guard, pid_t pid,
		       struct guard_worker **out);
void guard_worker_order(struct guard_worker *w,
			const struct guard_order *order);
/* Its queues run, and it is gone. */
void guard_worker_end(struct guard_worker *w);
/* Is it alive? One that hangs in the driver is, for a while. */
bool guard_worker_well(const struct guard_worker *w);

/* guard-found.c: which processes the command line names now. */
struct guard_found {
	struct gpreempt_target target;
	bool online;
	bool offline;
	unsigned int job;
};

int guard_find_all(struct guard *guard);
/* By number, up to NULL. */
const struct guard_found *guard_found_at(size_t i);
/* Is it named in that role, and in no other? */
const struct guard_found *
guard_find_found(const struct gpreempt_target *target, bool online);
bool guard_same(const struct gpreempt_target *a,
		const struct gpreempt_target *b);

/* guard-targets.c: who is there now. */
void guard_targets_look(struct guard *guard);
void guard_targets_drop(struct guard *guard);
struct guard_offline *guard_find(struct guard *guard, pid_t pid);

/* guard-report.c */
void guard_take_results(struct guard *guard);
void guard_live(struct guard *guard);
void guard_summary(struct guard *guard);
void guard_metrics(struct guard *guard);
void guard_write_samples(const struct guard *guard);
/* Something that happened: a note, or an event of JSON. */
__attribute__((format(printf, 4, 5)))
void guard_event(const struct guard *guard, const char *event, pid_t pid,
		 const char *format, ...);

#endif
