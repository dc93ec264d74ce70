/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of "guard".
 *
 * The main thread keeps the lists of targets and talks to the user (guard.c,
 * targets.c, offline.c, report.c, files.c, work.c); the poller reads the indices
 * of online queues and asks the policy (poll.c, index.c). A worker, which is a
 * process of its own, has the session of each offline process (worker.c).
 */
#ifndef GUARD_H
#define GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <gpreempt/policy.h>

#include "agent/foreground.h"
#include "agent/heartbeat.h"
#include "agent/places.h"
#include "guard/finder.h"
#include "guard/options.h"
#include "guard/worker.h"
#include "output/metrics.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define GUARD_TARGETS GUARD_WAKES /* of each role */
#define GUARD_QUEUES  64	  /* of an online process */
#define GUARD_TICK_NS (40 * NSEC_PER_MSEC)
/*
 * Its watchdog kills it after so long. Under systemd that of systemd comes first
 * (WatchdogSec= in user/install/service-common), since it writes the reason to the journal;
 * this one ends what SIGABRT does not: a main thread in the kernel, for other threads take
 * no signal, or a core dump that hangs.
 */
#ifndef GUARD_SILENCE_NS
#define GUARD_SILENCE_NS (15 * NSEC_PER_SEC)
#endif

/* An AQL queue of an online process. */
struct guard_queue {
	uint32_t qid;
	uint64_t read_addr; /* of its indices, in its process */
	uint64_t write_addr;
	uint64_t ring;
	uint64_t packets; /* in the ring */
	uint64_t written; /* write index, as last read */
	uint64_t signal;  /* completion signal of the last packet, or 0 */
	bool known;	  /* written is right */
	bool busy;
};

/*
 * What the poller knows of an online process, and what it needs to read its
 * memory: while since_ns is set, one thread reads it, without the lock.
 */
struct guard_sight {
	pid_t pid;
	uint64_t since_ns; /* of the read; 0: none. Under the lock */
	bool left;	   /* not a target any more: freed after the read */
	struct guard_queue queue[GUARD_QUEUES];
	size_t n;
};

struct guard_online {
	struct gpreempt_target target;
	struct guard_sight *sight;
	bool told_silent; /* that its memory does not answer */
	unsigned int entity;
	uint64_t nodes;
	bool busy;
	bool looked;				/* it was looked at before */
	bool gone;				/* its memory cannot be read any more */
	struct guard_queue queue[GUARD_QUEUES]; /* as the module lists them */
	size_t n;
};

/* Of offline processes. */
struct guard_times {
	uint64_t kept_ns; /* how long they were there */
	uint64_t held_ns;
	uint64_t released_ns; /* of that: some queue ran all the same */
	uint64_t unseen;      /* queues gone before they could be suspended */
};

struct guard;

struct guard_offline {
	struct gpreempt_target target;
	struct guard_worker *worker;
	unsigned int job;
	uint64_t nodes;
	uint64_t want;		 /* nodes, as the policy has it */
	int entity[GUARD_NODES]; /* -1: not on that node */
	bool whole;		 /* it is paused: one entity on all nodes */
	bool announced;
	bool partly;		  /* the policy has no entity for some node */
	bool told_partly;	  /* that */
	bool unwanted;		  /* a request: release it */
	uint64_t away_ns;	  /* and leave it alone for so long; UINT64_MAX: for good */
	bool failed;		  /* said; not again before it works */
	uint64_t since_ns;	  /* when it was taken */
	uint64_t held_since_ns;	  /* 0: it runs */
	struct guard_times times; /* of ended holds; kept_ns is 0 */
	unsigned int churns;	  /* of its channel, as last seen */
	unsigned int losses;
	struct shr_report_pause churn_pause;
};

/* A process that the command line names now (found.c). */
struct guard_found {
	struct gpreempt_target target;
	uint64_t online;  /* words of --online that name it: a bit each */
	uint64_t offline; /* the same of --offline */
	unsigned int job;
	bool told; /* that it is named as both */
};

/* A word of the command line, when looking for it fails. */
struct guard_word {
	bool failing;
	struct shr_report_pause pause;
};

#define GUARD_WORDS 64 /* of each role: bits of a mask */

struct guard_candidates {
	SHR_ARRAY(struct guard_found, list);
	SHR_ARRAY(struct guard_found, before); /* in the last look */
	bool cut;			       /* there are more */
	struct shr_report_pause pause;
	struct guard_word word[2][GUARD_WORDS]; /* of offline, of online */
	struct guard_finding finding;		/* of the word at hand */
	struct hold_owners owners;		/* read once in each look */
};

/* A target that cannot be taken (backoff.c). */
struct guard_refusal {
	struct gpreempt_target target;
	uint64_t first_ns;
	uint64_t retry_ns;
	bool said;
};

#define GUARD_REFUSALS 256

/* Figures for the user (report.c). */
#define GUARD_SAMPLES 100000

/* From the arrival of work until then. */
enum guard_latency {
	GUARD_TO_IOCTL,
	GUARD_TO_SUSPENDED,
	GUARD_TO_SLOTS, /* no slot is active any more, if they were watched */
	GUARD_LATENCIES,
};

/* Of one preemption that followed an arrival; or GPREEMPT_UNKNOWN. */
struct guard_sample {
	int64_t ns[GUARD_LATENCIES];
};

struct guard_figures {
	uint64_t start_ns;
	uint64_t suspends;
	uint64_t resumes[GPREEMPT_POLICY_REASONS];
	uint64_t failures;
	struct guard_times gone;		       /* of targets that are gone */
	struct guard_sample *sample;		       /* the last GUARD_SAMPLES */
	size_t samples;				       /* all that there were */
	struct out_histogram latency[GUARD_LATENCIES]; /* of all of them */
};

/* Threads that may wait for reads that do not return (poll.c). */
#define GUARD_STUCK 16
/* A process whose memory does not answer for so long is not busy. */
#define GUARD_SILENT_NS NSEC_PER_SEC

/* The poller: several threads, one of which polls at a time. */
struct guard_turn {
	unsigned int thread;  /* whose turn it is; 0: none's yet */
	unsigned int numbers; /* given to threads so far */
	unsigned int threads; /* that there are */
	unsigned int stuck;   /* of them, in a read that took long */
	bool has_stand_in;
	uint64_t since_ns;   /* of the read of whose turn it is; 0: none */
	uint64_t wake;	     /* of the policy */
	uint64_t looked_ns;  /* the last look began then */
	uint64_t worked_ns;  /* last time that there was work */
	uint64_t arrival_ns; /* work came after that; 0: none came */
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
};

/* Online began or ended work. */
struct guard_note {
	pid_t pid;
	bool busy;
	uint64_t ns;
};

/* What the main thread has to print of that; more than it has room for is counted. */
#define GUARD_WORKS 8192

struct guard_work {
	struct guard_note note[2][GUARD_WORKS]; /* the poller's, and what is printed */
	unsigned int at;			/* the poller's */
	size_t n;
	size_t lost;
};

/* Files that the user asked for. */
enum guard_file_kind {
	GUARD_METRICS,
	GUARD_SAMPLES_FILE,
	GUARD_FILES,
};

struct guard_file {
	const char *what; /* in messages */
	const char *path; /* NULL: not wanted */
	/* What is in it now. 0 or -errno. */
	int (*print)(struct guard *guard, FILE *out);
	pid_t child; /* that writes it now; 0: none */
	bool failed; /* and that was reported */
	char *text;  /* what is to be in it, now or at the end; or NULL */
	size_t size;
};

struct guard {
	const struct guard_options *options;
	struct gpreempt *g; /* the main thread's */
	struct watchdog watchdog;
	int stop;
	int report;	  /* SIGUSR1 */
	uint64_t spin_ns; /* the poller does not sleep for so long after work */
	uint64_t poll_ns; /* and then so long between two looks */

	pthread_mutex_t lock; /* for what follows, up to the poller */
	struct gpreempt_policy *policy;
	struct guard_online online[GUARD_TARGETS];
	size_t n_online;
	struct guard_offline offline[GUARD_TARGETS];
	size_t n_offline;
	struct guard_common *common;
	size_t n_nodes;
	size_t n_clients;	 /* who have opened a request, ever */
	bool changed;		 /* the policy has to be asked again */
	bool blind;		 /* the module is gone */
	bool ending;		 /* do not report processes that leave */
	struct guard_work *work; /* NULL: not requested */

	/* Only the main thread's. */
	struct guard_finder finders[GUARD_FINDERS];
	struct guard_candidates found;
	struct places places[2]; /* of offline, of online */
	struct guard_refusal refusal[GUARD_REFUSALS];
	struct guard_wake_pool wakes;
	int status; /* 0, or that of a target that was left off the GPU */
	/* Workers that resume their targets, which may wait for the GPU. */
	struct guard_worker *going[GUARD_TARGETS];
	size_t n_going;

	struct guard_turn turn; /* under the lock */
	atomic_bool quit;
	atomic_uint_fast64_t gap_ns; /* the poller was away for so long */
	atomic_uint_fast64_t polls;
	atomic_uint_fast64_t poll_cpu_ns;
	struct guard_figures figures;
	struct guard_file file[GUARD_FILES];
};

/* guard.c */
/*
 * Protect online processes until a signal ends it. 0, or the exit status after
 * the reason was printed. What is in guard stays the caller's.
 */
int guard_run(struct guard *guard);

/* heartbeat.c: the main thread has done a step, of which there may be many. */
void guard_heartbeat(struct guard *guard);
/* Has the poller been scheduled lately? */
bool guard_poller_runs(struct guard *guard);

/* index.c: look at the queues of an online process. May wait. */
enum guard_seen { GUARD_IDLE, GUARD_PULSE, GUARD_BUSY };
/* GUARD_PULSE: there was work, and it is done. -errno: it cannot be read. */
int guard_look(struct guard_sight *sight);
/* Queues that came or went; what was seen of the others is kept. */
void guard_sight_update(struct guard_sight *sight, const struct guard_online *online);

/* files.c */
/* How long the end may wait for each of them. */
#ifndef GUARD_FILE_WAIT_NS
#define GUARD_FILE_WAIT_NS (5 * NSEC_PER_SEC)
#endif
/* Can all be written? 0, or the exit status after the reason was printed. */
int guard_files_check(struct guard *guard);
/* Replace one, in a child process. Never waits. */
void guard_files_put(struct guard *guard, enum guard_file_kind kind);
/* Take note of how the last ones went. Never waits. */
void guard_files_poll(struct guard *guard);
/* Take note of what is to be in them at the end. */
void guard_files_last(struct guard *guard);
/* Write that, and free it. 0, or an exit status, as check. */
int guard_files_finish(struct guard *guard);

/* work.c: 0, or the exit status after saying why not. */
int guard_work_open(struct guard *guard);
/* What was seen of an online process is news. Under the lock. */
void guard_work_note(struct guard *guard, pid_t pid, int seen, uint64_t now);
/* Print what was noted. */
void guard_work_tell(struct guard *guard);

/* poll.c: poll as long as it is the turn of this thread, which has that number. */
void guard_poll_turn(struct guard *guard, unsigned int me);

/* poll-threads.c */
int guard_poll_start(struct guard *guard);
/* There is a thread that takes over when a read does not return. */
void guard_poll_tend(struct guard *guard);
void guard_poll_stop(struct guard *guard);

/*
 * found.c: the processes that the command line names now. A word that
 * fails is reported, and what it named before is kept; the others go on.
 */
void guard_find_all(struct guard *guard);
void guard_found_free(struct guard *guard);
/* Is it named in that role, and in no other? */
bool guard_found_is(const struct guard_found *f, bool online);
/* The same of a process that may not be named at all. */
bool guard_is_named(const struct guard *guard, const struct gpreempt_target *target, bool online);

/* backoff.c: targets that we cannot take, or shall not. */
/* Not now, but perhaps later; said once, when it goes on for a while. */
__attribute__((format(printf, 4, 5))) void guard_refuse(struct guard *guard,
							const struct gpreempt_target *target,
							bool at_once, const char *format, ...);
/* Leave it alone for so long, silently. */
void guard_backoff_for(struct guard *guard, const struct gpreempt_target *target, uint64_t ns);
bool guard_backoff_over(struct guard *guard, const struct gpreempt_target *target);
/* It was taken: a later failure is reported again. */
void guard_backoff_reset(struct guard *guard, const struct gpreempt_target *target);

/* offline.c: those that make way, each with a worker. */
/* The nodes that a process has queues on; under the lock. */
uint64_t guard_nodes_of(struct guard *guard, const struct gpreempt_view *view);
/* Was a worker made? */
bool guard_take_offline(struct guard *guard, const struct guard_found *f);
void guard_drop_offline(struct guard *guard, size_t i);
void guard_refresh_offline(struct guard *guard, struct guard_offline *offline);
/* Release those that requests have named. */
void guard_release_some(struct guard *guard);
/* Workers that have the order to end may need a while for it. */
void guard_reap(struct guard *guard);
bool guard_is_going(const struct guard *guard, pid_t pid);
void guard_end_all(struct guard *guard);

/* targets.c: before the first look. */
void guard_targets_start(struct guard *guard);
/* Who is there now. It beats at each word, of which there is one at least. */
void guard_targets_look(struct guard *guard);
void guard_targets_drop(struct guard *guard);

/* results.c */
struct guard_offline *guard_find_offline(struct guard *guard, pid_t pid);
/* The nodes on which an offline process has that entity. */
uint64_t guard_nodes_of_entity(const struct guard *guard, const struct guard_offline *offline,
			       int entity);
void guard_take_results(struct guard *guard);
void guard_take_from(struct guard *guard, struct guard_worker *w);
/* How long it ran although it was to be suspended. */
void guard_take_released(struct guard *guard, struct guard_offline *offline);

/* report.c */
void guard_live(struct guard *guard);
void guard_summary(struct guard *guard);
/* Prometheus's text format; a line for each sample. Both return 0 or -errno. */
int guard_print_metrics(struct guard *guard, FILE *out);
int guard_print_samples(struct guard *guard, FILE *out);
void guard_add_sample(struct guard_figures *f, const struct guard_sample *one);
/* Add those of one that is there still. */
void guard_add_times(struct guard_times *sum, const struct guard_offline *o, uint64_t now);
/* Something that happened, a note or an event of JSON. */
__attribute__((format(printf, 4, 5))) void guard_event(const struct guard *guard, const char *event,
						       pid_t pid, const char *format, ...);
/* A process is a target from now on. */
void guard_tell_joined(const struct guard *guard, pid_t pid, bool online);
/* For work.c: one that was noted; and how many could not be. */
void guard_tell_work(const struct guard *guard, const struct guard_note *note);
void guard_tell_lost(size_t n);
/* It ran for so long until now, although it was to be suspended. */
void guard_tell_ran(const struct guard *guard, pid_t pid, uint64_t ns);
/* A worker has done something; its target makes and destroys queues. */
void guard_tell_switch(const struct guard *guard, const struct guard_result *r,
		       const struct guard_sample *s);
void guard_tell_churn(const struct guard *guard, pid_t pid, const struct guard_channel *c);

/* serve.c: the guard's socket. */
/* Connections at once, and as many processes that others speak for. */
#define GUARD_CLIENTS	   128
#define GUARD_CLIENTS_ROOT 16 /* of these, root's alone */
#define GUARD_CLIENTS_USER 32 /* at most, of one other user */

struct guard_server;

/* -EADDRINUSE: another guard listens there; or another negative errno value. */
int guard_serve_start(struct guard *guard, struct guard_server **out);
/* NULL is allowed. */
void guard_serve_stop(struct guard_server *s);

#endif
