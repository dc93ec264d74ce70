/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that a TARGET word names now, and child processes that look for the words that may
 * take long.
 *
 * Guard looks for a PID and a name (comm:) itself. The other words take longer: how long, the users
 * of the host decide. A role is looked up in each level of a cgroup (role:), the cgroups of all
 * processes are read (cgroup:, user:), the name of a container is in a file on a disk (container:),
 * and a command line (cmd:) is in the memory of a process, which can map it from a file that never
 * answers. A child does that. If it hangs, guard kills it, keeps the processes that it has found
 * before, and starts another one later. Words that can hang have a child of their own.
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/policy.h>
#include <gpreempt/select.h>

#include "cli/cli.h"
#include "cli/metrics.h"
#include "hold/escape.h"
#include "hold/places.h"
#include "hold/run-dir.h"
#include "shared/util.h"
#include "lib/preempt/policy.h"
#include "lib/see/words.h"

/* Values of guard's command line. */
struct guard_options {
	struct guard_words online_words;
	struct guard_words offline_words;
	uint64_t linger_ns;
	uint64_t max_hold_ns;
	uint64_t share; /* percent */
	uint64_t duty;	/* percent; 0: none */
	uint64_t gang;
	uint64_t slots; /* 0: any number */
	uint64_t slice_ns;
	const char *order;  /* NULL: fair */
	const char *config; /* file in place of words and figures; NULL: none */
	const char *sim;    /* file of --simulate; NULL: none */
	const char *policy; /* command that is asked for the order; NULL: none */
	uint64_t follow;    /* job control of offline processes */
	const char *poll;
	uint64_t cpu;	       /* and 1; 0: any */
	enum gpreempt_how how; /* offline processes go off the GPU */
	struct shr_ids uids;   /* users that may ask the guard; NULL: root */
	const char *samples;   /* files */
	const char *metrics;
	uint64_t json;
	uint64_t verbose;
};

/* The configuration (config.c). */

#define GUARD_WORDS 64 /* for each role: bits of a mask */

/* Work of each process of a tenant, in a simulation. */
struct guard_load {
	unsigned int processes; /* 0: one */
	uint64_t work_ns;	/* time on the GPU that it needs at once; 0: all */
	uint64_t gap_ns;	/* without work, after that */
	uint64_t life_ns;	/* then another one takes its place; 0: never */
};

/* A word is a tenant, and so is each cgroup that has words behind its role. */
struct guard_tenant {
	char *word;	     /* target; for a cgroup the word of its role, and its path */
	bool own;	     /* flag of such a cgroup, which comes behind all words */
	uint64_t used_ns;    /* when such a cgroup had a process last */
	unsigned int number; /* its number in the policy */
	struct gpreempt_policy_tenant wish;
	struct guard_load load;
};

/* Number of the tenant of servers that no word names. */
#define GUARD_SERVERS 0

struct guard_config {
	struct gpreempt_policy_options figures; /* without an order */
	char order[16];
	struct guard_tenant tenant[2][GUARD_WORDS]; /* tenants that are offline, online */
	size_t n[2];
	struct {
		uint64_t time_ns, switch_ns;
	} run; /* figures of a simulation */
};

struct guard_config_error {
	int line; /* 0: of none */
	char text[256];
};

/* Begin without tenants, and with the usual figures. */
void guard_config_start(struct guard_config *c);
void guard_config_free(struct guard_config *c);
/* 0; -ENOSPC: there are too many. */
int guard_config_add(struct guard_config *c, const char *word,
		     const struct gpreempt_policy_tenant *wish);
/* These return 0, or -EINVAL with the reason. A line is changed. */
int guard_config_order(struct guard_config *c, const char *order, struct guard_config_error *err);
int guard_config_line(struct guard_config *c, char *line, struct guard_config_error *err);
/* Add the words behind a role to a wish, which has that role. NULL: do they count? */
int guard_config_words(enum gpreempt_role role, const char *words,
		       struct gpreempt_policy_tenant *wish, struct guard_config_error *err);
/* The nth of these words, with "=" when a value follows, into text; false: there are fewer. */
bool guard_config_word(size_t n, char text[32]);
/* Read a file. What is in *c before is not freed. After an error *c has no tenants. */
int guard_config_read(const char *path, struct guard_config *c, struct guard_config_error *err);
/* Print it as a file has it. */
void guard_config_print(const struct guard_config *c, FILE *out);
/* Give the policy the tenants of @new in place of those of @old. 0 or -errno. */
int guard_config_use(struct gpreempt_policy *p, struct guard_config *old, struct guard_config *new);
/* Change the figures, or the wish of a tenant that is there, by a line. 0, or -EINVAL. */
int guard_config_set(struct gpreempt_policy *p, struct guard_config *c, char *line,
		     struct guard_config_error *err);

/* Processes found for one word, at most, those with queues first. Guard locks this memory. */
#ifndef GUARD_FOUND_MAX
#define GUARD_FOUND_MAX 4096
#endif
#define GUARD_OWN	   64 /* cgroups of one role that have words of their own */
#define GUARD_FINDER_WORDS 128
#define GUARD_FINDER_STUCK 4 /* children that even SIGKILL does not end */

/* How looking for one word went. */
struct guard_finding {
	/*
	 * 0: the processes are listed, if any. -EEXIST: several containers have that name, and
	 * their processes are listed. -EINPROGRESS: the look is not over. Any other -errno: the
	 * look failed.
	 */
	int code;
	size_t n;
	struct gpreempt_target target[GUARD_FOUND_MAX];
	uint8_t of[GUARD_FOUND_MAX]; /* and 1: which of these it is in; 0: in none */
	struct gp_role_own own[GUARD_OWN];
	size_t n_own;
	char text[512]; /* why, if there is a code, or not all are listed */
};

/* Kinds of words, by the child that looks for them. */
enum guard_word_kind {
	GUARD_WORD_SLOW,
	GUARD_WORD_HANGS, /* the search may hang */
	GUARD_WORD_QUICK, /* guard itself searches at once */
};
#define GUARD_FINDERS GUARD_WORD_QUICK

enum guard_word_kind guard_word_kind(const char *word);

/* A word, in its role. */
struct guard_sought {
	const char *word;
	bool online; /* then none in doubt is meant: lib/select/words.h */
};

/* Look for one word, here and now, among all processes; skip as for gpreempt_select(). */
void guard_find_word(struct gpreempt *g, struct guard_sought what,
		     const struct gpreempt_targets *all, bool (*skip)(void *data, pid_t pid),
		     void *data, struct guard_finding *out);

struct guard_finder_memory;

struct guard_finder {
	struct gpreempt *g;
	struct guard_sought sought[GUARD_FINDER_WORDS];
	size_t n;
	struct guard_finder_memory *memory; /* NULL: not started */
	struct guard_finding *last;	    /* last result for each word */
	int wake;			    /* eventfd: look again */
	pid_t child;			    /* 0: none now */
	pid_t stuck[GUARD_FINDER_STUCK];
	size_t n_stuck;
	size_t first;	  /* word that a new child begins with */
	uint64_t pace_ns; /* how often the child looks for each word at most */
	uint64_t asked_ns;
	uint64_t retry_ns; /* no new child is started before this time */
};

/* Words up to n are set. 0 or -errno; without words there is nothing to do. */
int guard_finder_start(struct guard_finder *f, struct gpreempt *g);
/* Take results, notice a child that hangs or has ended. Never waits. */
void guard_finder_poll(struct guard_finder *f);
/* Returns the finding of a word. NULL: it is another finder's, or the finder was not started. */
const struct guard_finding *guard_finder_get(const struct guard_finder *f,
					     struct guard_sought what);
void guard_finder_stop(struct guard_finder *f);

/*
 * The worker of an offline process: its own side, guard's side, and the channel between them:
 * memory that both see, and an eventfd. There are no locks: either may be killed at any time,
 * and guard's poller never waits for a worker.
 */

#define GUARD_NODES   64
#define GUARD_RESULTS 256 /* results that guard has not taken so far */

/* Order to a worker. */
struct guard_order {
	uint64_t nodes; /* where its queues are to be suspended */
	enum gpreempt_policy_reason reason;
	uint64_t arrival_ns; /* the work came after this time; 0: no arrival */
};

/* Result of a worker. */
struct guard_result {
	pid_t pid;
	bool suspend;
	enum gpreempt_policy_reason reason;
	int code;
	struct gpreempt_error error; /* if there is a code */
	uint64_t nodes;
	uint64_t held; /* nodes on which it is suspended then */
	uint64_t arrival_ns;
	uint64_t start_ns; /* entry into the ioctl */
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
	atomic_uint version; /* version of the order; odd: it is being written */
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
	 * How often released_ns was too much of the last window_ns; the two figures below are
	 * those of the last time.
	 */
	atomic_uint churns;
	atomic_uint losses; /* another program let it run */
	atomic_bool off;    /* or its pause keeps it off the GPU for good */
	atomic_uint_fast64_t recent_ns;
	atomic_uint_fast64_t window_ns;
	atomic_bool made;	     /* the target made queues, and did not only destroy some */
	atomic_uint queues;	     /* changes of its queues that the session has seen, ever */
	struct gpreempt_error error; /* error with which the worker has ended */
	struct gpreempt_error why;   /* reason for a pause after a session was tried */
	atomic_bool paused;	     /* paused as a whole, without a session */
};

/* Memory that all workers share. */
struct guard_common {
	uint32_t gpu_id[GUARD_NODES]; /* GPU of each bit of nodes */
	atomic_uint_fast64_t beat_ns; /* the poller's last beat */
	uint64_t late_ns;	      /* the poller counts as gone after so long without a beat */
};

/* Map memory that a child shares; NULL: there is none. */
void *guard_channel_map(size_t size);

/* Give an order: only the newest one counts. One thread at a time. */
void guard_channel_order(struct guard_channel *c, const struct guard_order *order);
/*
 * Read the order. False: guard was stopped or killed while it wrote the order. *order is not
 * valid then; ask again later.
 */
bool guard_channel_get_order(struct guard_channel *c, struct guard_order *order);

/* Give a result. False: there is no room. */
bool guard_channel_give(struct guard_channel *c, const struct guard_result *result);
/* Take a result. False: there is none. */
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

/* Make all eventfds of a pool that is all zero. 0 or -errno. */
int guard_wake_open(struct guard_wake_pool *pool);

/*
 * Give this thread descriptors of its own: those of the pool. If it never ends, the descriptors
 * that it keeps open wake no process. 0 or -errno.
 */
int guard_wake_keep_only(const struct guard_wake_pool *pool);

/* Arguments of a new worker. */
struct guard_job {
	pid_t target;
	int lock; /* lock of the target; free when the worker is gone */
	int wake; /* eventfd: there is an order */
	struct guard_common *common;
	bool sample_each; /* watch slots in each suspend, not now and then */
	enum gpreempt_how how;
	bool follow; /* hold it also while job control stops or freezes it */
	pid_t guard;
};

/* Run the worker (worker.c). */
void guard_work(const struct guard_job *job, struct guard_channel *channel);

/* Workers, on guard's side (offline.c). */
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
/* Make the worker release its target and end. */
void guard_worker_quit(struct guard_worker *w);
/* Has it ended? Then its target runs. One that is silent is killed. */
bool guard_worker_gone(struct guard_worker *w);
/* Kill one that is silent. */
void guard_worker_watch(const struct guard_worker *w);
/* Print the reason why it ended, if not by our wish. */
void guard_worker_why(const struct guard_worker *w, char *text, size_t size);
/* Free a worker that is gone. */
void guard_worker_free(struct guard_worker *w);

/*
 * The parts of "guard".
 *
 * The main thread keeps the lists of targets and talks to the user (guard.c, targets.c, offline.c,
 * report.c); the poller reads the indices of online queues and asks the policy (poll.c). A worker,
 * which is a process of its own, has the session of each offline process (worker.c).
 */

#define GUARD_TARGETS GUARD_WAKES /* for each role */
#define GUARD_QUEUES  64	  /* for one online process */
#define GUARD_TICK_NS (40 * NSEC_PER_MSEC)
/*
 * Time after which its own watchdog kills guard. Under systemd, systemd's comes first
 * (WatchdogSec= in user/install/service-common), since it writes the reason to the journal; this
 * one ends a guard that SIGABRT does not end: with its main thread in the kernel, for other
 * threads take no signal, or with a core dump that hangs.
 */
#ifndef GUARD_SILENCE_NS
#define GUARD_SILENCE_NS (15 * NSEC_PER_SEC)
#endif

/* An AQL queue of an online process. */
struct guard_queue {
	uint32_t qid;
	uint64_t read_addr; /* address of its indices, in its process */
	uint64_t write_addr;
	uint64_t ring;
	uint64_t packets; /* in the ring */
	uint64_t written; /* write index, as last read */
	uint64_t signal;  /* completion signal of the last packet, or 0 */
	bool known;	  /* written is right */
	bool unsure;	  /* its last packet has no signal, and may execute still */
	bool busy;
};

/*
 * An online process in the poller's eyes, with all that is needed to read its memory: while
 * since_ns is set, one thread reads it, without the lock.
 */
struct guard_sight {
	pid_t pid;
	struct gpreempt *g; /* reads the view of the module; NULL: none does */
	uint64_t since_ns;  /* when the read began; 0: none. Under the lock */
	bool left;	    /* no longer a target: freed after the read */
	bool worked;	    /* a late read saw work. Under the lock */
	bool parked;	    /* only new packets tell something then */
	bool dark;	    /* its waves are not known: a packet without a signal may execute */
	struct guard_queue queue[GUARD_QUEUES];
	size_t n;
};

/* A process whose work the poller sees: an online one, or an offline one that is parked. */
struct guard_online {
	struct gpreempt_target target;
	bool offline;
	struct guard_sight *sight;
	bool told_silent; /* reported: its memory does not answer */
	unsigned int entity;
	uint64_t nodes;
	bool busy;
	bool looked;				/* a look was at it before */
	bool gone;				/* its memory cannot be read any more */
	bool dark;				/* its registers do not show whether it is idle */
	struct guard_queue queue[GUARD_QUEUES]; /* queues in the module's list */
	size_t n;
};

/* Times of offline processes. */
struct guard_times {
	uint64_t kept_ns; /* how long they were there */
	uint64_t held_ns;
	uint64_t released_ns; /* part of held_ns in which some queue ran */
	uint64_t unseen;      /* queues gone before they could be suspended */
};

/* Time of a simulation, and of its GPU. */
struct guard_sim {
	uint64_t now;
	uint64_t stopped_ns;			  /* in which it was stopped by switches */
	uint64_t gpu_ns[GPREEMPT_POLICY_TENANTS]; /* part of each tenant */
};

struct guard;
struct guard_ask;

struct guard_offline {
	struct gpreempt_target target;
	struct guard_worker *worker;
	struct guard_online watch; /* its sight is NULL: it cannot be parked */
	uint64_t nodes;
	unsigned int entity; /* number of it in the policy */
	uint64_t worked[2];  /* nodes on which it had work, since work_ns and before */
	uint64_t work_ns;
	size_t queues;	    /* in its view, at the last look */
	uint64_t missing;   /* nodes whose registers were not known at the last look */
	uint64_t written;   /* sum of their write pointers */
	uint64_t set;	    /* mark of which queues it has */
	bool crowded;	    /* a node of it is, or was when it was parked */
	uint64_t rested_ns; /* when all were in their slots, without work */
	uint64_t moved_ns;  /* when the poller saw work of it last */
	uint64_t looked_ns; /* when the poller looked at it last */
	unsigned int rests; /* looks since then at usage alone */
	unsigned int seen;  /* the channel's changes of queues at the last look */
	uint64_t viewed_ns; /* time of that look */
	bool paused;	    /* paused, and that was reported */
	bool announced;
	bool unwanted;		  /* a request wants it released */
	uint64_t away_ns;	  /* leave it alone for so long after that; UINT64_MAX: for good */
	bool failed;		  /* a failure was reported; the next one only after a success */
	uint64_t since_ns;	  /* when it was taken */
	uint64_t bare_ns;	  /* the last look without its queues */
	uint64_t held_since_ns;	  /* 0: it runs */
	struct guard_times times; /* times of ended holds; kept_ns is 0 */
	unsigned int churns;	  /* the channel's churns at the last look */
	unsigned int losses;
	struct shr_report_pause churn_pause;
};

/* A process that the command line names now. */
struct guard_found {
	struct gpreempt_target target;
	uint64_t online;  /* words of --online that name it: a bit each */
	uint64_t offline; /* words of --offline that name it */
	unsigned int own; /* number, and 1, of the tenant of its cgroup; 0: the last word's */
	bool told;	  /* reported: it is named in both roles */
};

/* State of a word of the command line. */
struct guard_word {
	bool matched; /* a process once, or it was reported that none has */
	bool failing;
	struct shr_report_pause pause;
};

struct guard_candidates {
	SHR_ARRAY(struct guard_found, list);
	SHR_ARRAY(struct guard_found, before); /* in the last look */
	bool cut;			       /* there are more */
	struct shr_report_pause pause;
	struct guard_word word[2][GUARD_WORDS]; /* words of offline, of online */
	struct gp_role_own bad[2 * GUARD_OWN];	/* reported: words that do not count */
	size_t n_bad;				/* ever */
	struct guard_finding finding;		/* result for the word at hand */
	struct hold_owners owners;		/* these are read once in each look */
	struct gpreempt_targets *all;		/* NULL: not known now */
};

/* A target that cannot be taken. */
struct guard_refusal {
	struct gpreempt_target target;
	uint64_t first_ns;
	uint64_t retry_ns;
	bool said;
};

#define GUARD_REFUSALS 256

/* Figures for the user (report.c). */
#define GUARD_SAMPLES 100000

/* Latencies, each from the arrival of work. */
enum guard_latency {
	GUARD_TO_IOCTL,
	GUARD_TO_SUSPENDED,
	GUARD_TO_SLOTS, /* no slot is active any more, if they were watched */
	GUARD_LATENCIES,
};

/* Latencies of one preemption that followed an arrival; or GPREEMPT_UNKNOWN. */
struct guard_sample {
	int64_t ns[GUARD_LATENCIES];
};

struct guard_figures {
	uint64_t start_ns;
	uint64_t suspends;
	uint64_t resumes[GPREEMPT_POLICY_REASONS];
	uint64_t failures;
	struct guard_times gone;		       /* times of targets that are gone */
	struct guard_sample *sample;		       /* the last GUARD_SAMPLES */
	size_t samples;				       /* number of all samples */
	struct out_histogram latency[GUARD_LATENCIES]; /* latencies of all samples */
};

/* Threads that may wait for reads that do not return (poll.c). */
#define GUARD_STUCK 16
/* Time without an answer of its memory after which a process is not busy. */
#define GUARD_SILENT_NS NSEC_PER_SEC

/* The poller: several threads, one of which polls at a time. */
struct guard_turn {
	unsigned int thread;  /* number of the thread that polls; 0: none yet */
	unsigned int numbers; /* given to threads so far */
	unsigned int threads; /* running threads */
	unsigned int stuck;   /* threads in a read that takes long */
	bool has_stand_in;
	uint64_t since_ns;   /* begin of the read of the thread that polls; 0: none */
	uint64_t wake;	     /* when the policy wants the next look */
	uint64_t looked_ns;  /* begin of the last look */
	uint64_t worked_ns;  /* last time at which there was work */
	uint64_t ordered_ns; /* time of the last order */
	unsigned int parked; /* looks at parked processes in the last pass */
	size_t next;	     /* offline process to look at */
	uint64_t arrival_ns; /* work came after this time; 0: none came */
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
};

/* Online began or ended work. */
struct guard_note {
	pid_t pid;
	bool busy;
	uint64_t ns;
};

/* Notes for the main thread to print; more than this are only counted. */
#define GUARD_WORKS 8192

struct guard_work {
	struct guard_note note[2][GUARD_WORKS]; /* notes of the poller, and notes to be printed */
	unsigned int at;			/* the poller's */
	size_t n;
	size_t lost;
};

/* Files for which the user asked. */
enum guard_file_kind {
	GUARD_METRICS,
	GUARD_SAMPLES_FILE,
	GUARD_FILES,
};

struct guard_file {
	const char *what; /* in messages */
	const char *path; /* NULL: not wanted */
	/* Print the file's present content. 0 or -errno. */
	int (*print)(struct guard *guard, FILE *out);
	pid_t child; /* child that writes it now; 0: none */
	bool failed; /* and that was reported */
	char *text;  /* content, now or at the end; or NULL */
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

	pthread_mutex_t lock; /* lock of the members below, up to the poller */
	struct gpreempt_policy *policy;
	struct guard_config config;
	struct guard_online online[GUARD_TARGETS];
	size_t n_online;
	struct guard_offline offline[GUARD_TARGETS];
	size_t n_offline;
	struct guard_common *common;
	size_t n_nodes;
	uint64_t crowded_ns[GUARD_NODES]; /* when a process had no slots, while it could run */
	size_t n_clients;		  /* processes that have opened a request, ever */
	bool changed;			  /* the policy has to be asked again */
	bool blind;			  /* the module is gone */
	bool ending;			  /* do not report processes that leave */
	struct guard_work *work;	  /* NULL: not requested */
	struct guard_ask *ask;		  /* NULL: there is no command to ask */
	struct guard_sim *sim;		  /* NULL: a real GPU */

	/* Members of the main thread alone. */
	struct guard_finder finders[GUARD_FINDERS];
	struct guard_candidates found;
	struct places places[2]; /* places of offline, of online */
	struct guard_refusal refusal[GUARD_REFUSALS];
	uint64_t full_ns;    /* when all processes were looked at */
	uint64_t found_ns;   /* when processes were looked for by their words */
	uint64_t settled_ns; /* until then all are looked at each time */
	uint64_t full_hash;  /* hash of all GPU processes then */
	size_t full_targets; /* how many targets there were then */
	struct guard_wake_pool wakes;
	int status; /* 0, or the status of a target that was left off the GPU */
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

/*
 * Protect online processes until a signal ends it. 0, or the exit status after
 * the reason was printed. What is in guard stays the caller's.
 */
int guard_run(struct guard *guard);

/* Beat after a step of the main thread, of which there may be many. */
void guard_heartbeat(struct guard *guard);

/* Note the queues that can be watched. True: all of them can. Under the lock. */
bool guard_watch_queues(struct guard_online *online, const struct gpreempt_view *view);
/* Forget what is watched: at once, or when the read of it returns. Under the lock. */
void guard_watch_end(struct guard_online *online);

/* Look at the queues of an online process. May wait. */
enum guard_seen { GUARD_IDLE, GUARD_PULSE, GUARD_BUSY };
/* GUARD_PULSE: there was work, and it is done. -errno: it cannot be read. */
int guard_look(struct guard_sight *sight);

/* Longest wait at the end for each file. */
#ifndef GUARD_FILE_WAIT_NS
#define GUARD_FILE_WAIT_NS (5 * NSEC_PER_SEC)
#endif
/* Can all be written? 0, or the exit status after the reason was printed. */
int guard_files_check(struct guard *guard);
/* Replace one, in a child process. Never waits. */
void guard_files_put(struct guard *guard, enum guard_file_kind kind);
/* Take note of how the last ones went. Never waits. */
void guard_files_poll(struct guard *guard);
/* Take the text that the files get at the end. */
void guard_files_last(struct guard *guard);
/* Write the last text of each file, and free it. 0, or an exit status, as check. */
int guard_files_finish(struct guard *guard);

/* Prepare the notes. 0, or the exit status after a message. */
int guard_work_open(struct guard *guard);
/* Note a change of an online process. Under the lock. */
void guard_work_note(struct guard *guard, pid_t pid, int seen, uint64_t now);
/* Print the notes. */
void guard_work_tell(struct guard *guard);

/* Ask the policy, if something has changed or it is time, and give its orders. Under the lock. */
void guard_decide(struct guard *guard, uint64_t now);

/* Threads of the poller. */
int guard_poll_start(struct guard *guard);
/* Keep a thread ready that takes over when a read does not return. */
void guard_poll_tend(struct guard *guard);
void guard_poll_stop(struct guard *guard);

/*
 * The command of --policy, which decides whose turn it is (ask.c). It has a thread of its own: no
 * other thread waits for it.
 */

/* Time in which an answer counts. */
#ifndef GUARD_ANSWER_NS
#define GUARD_ANSWER_NS (5 * NSEC_PER_MSEC)
#endif
/* Silent for so long after that, it is killed; a program may load much before it answers. */
#ifndef GUARD_MUTE_NS
#define GUARD_MUTE_NS (10 * NSEC_PER_SEC)
#endif

/* Start the command, if there is one, and its thread. 0 or -errno. */
int guard_ask_start(struct guard *guard);
/* Kill it. */
void guard_ask_stop(struct guard *guard);
/* A process waits for a slot: ask soon, under the lock; or in a simulation now. */
void guard_ask_wake(struct guard *guard);
/* Print what went wrong. */
void guard_ask_tell(struct guard *guard);

/* simulate.c: run what the configuration has, and print the figures. 0, or the exit status. */
int guard_simulate(struct guard *guard);
static inline uint64_t guard_now(const struct guard *guard)
{
	return guard->sim ? guard->sim->now : shr_now_ns();
}

/* Targets that we cannot take, or must not take. */
/* Leave a target for now, and report it once, when this goes on for a while. */
__attribute__((format(printf, 4, 5))) void guard_refuse(struct guard *guard,
							const struct gpreempt_target *target,
							bool at_once, const char *format, ...);
/* Leave the target alone for so long, silently. */
void guard_backoff_for(struct guard *guard, const struct gpreempt_target *target, uint64_t ns);
bool guard_backoff_over(struct guard *guard, const struct gpreempt_target *target);
/* Forget the failures of a target that was taken: the next one is reported. */
void guard_backoff_reset(struct guard *guard, const struct gpreempt_target *target);

/* Offline processes, each with a worker. */
/* Returns the nodes on which a process has queues; under the lock. */
uint64_t guard_nodes_of(struct guard *guard, const struct gpreempt_view *view);
/* Returns the tenant who owns a process: the last word that names it, or a cgroup of that. */
unsigned int guard_tenant_of(const struct guard *guard, const struct guard_found *f);
/* Was a worker made? */
bool guard_take_offline(struct guard *guard, const struct guard_found *f);
void guard_drop_offline(struct guard *guard, size_t i);
/*
 * usages: of all processes, read when it is needed; NULL: not yet. A process without work needs no
 * look of its own each time.
 */
void guard_refresh_offline(struct guard *guard, struct guard_offline *offline,
			   struct gpreempt_usages **usages);
/* Release the targets that requests have named. */
void guard_release_some(struct guard *guard);
/* Collect workers that have the order to end, which may take a while. */
void guard_reap(struct guard *guard);
bool guard_is_going(const struct guard *guard, pid_t pid);
void guard_end_all(struct guard *guard);

/* targets.c: before the first look. */
void guard_targets_start(struct guard *guard);
/*
 * Look for the targets that are there now. It beats at each word: at least once. False: nothing is
 * to be scheduled, and nothing was new.
 */
bool guard_targets_look(struct guard *guard);
/*
 * The words are others from now on: processes that a word names still are kept. 0, or -errno: the
 * policy has not taken all of it.
 */
int guard_targets_change(struct guard *guard, struct guard_config *new);
void guard_targets_drop(struct guard *guard);

struct guard_offline *guard_find_offline(struct guard *guard, pid_t pid);
void guard_take_results(struct guard *guard);
void guard_take_from(struct guard *guard, struct guard_worker *w);
void guard_take_result(struct guard *guard, const struct guard_result *r);

void guard_live(struct guard *guard);
void guard_summary(struct guard *guard);
/* Print how long each tenant had the GPU so far, with --json. */
void guard_tell_tenants(struct guard *guard);
/* Prometheus's text format; a line for each sample. Both return 0 or -errno. */
int guard_print_metrics(struct guard *guard, FILE *out);
int guard_print_samples(struct guard *guard, FILE *out);
void guard_add_sample(struct guard_figures *f, const struct guard_sample *one);
/* Add the times of a target that is there still. */
void guard_add_times(struct guard_times *sum, const struct guard_offline *o, uint64_t now);
/* Print an event, as a note or as JSON. */
__attribute__((format(printf, 4, 5))) void guard_event(const struct guard *guard, const char *event,
						       pid_t pid, const char *format, ...);
/* A process is a target from now on. */
void guard_tell_joined(const struct guard *guard, pid_t pid, bool online);
/* Print a note of work; and the number of notes that were lost. */
void guard_tell_work(const struct guard *guard, const struct guard_note *note);
void guard_tell_lost(size_t n);
/* Report that a target ran for so long until now, although it was to be suspended. */
void guard_tell_ran(const struct guard *guard, pid_t pid, uint64_t ns);
/* A worker has done something; its target makes and destroys queues. */
void guard_tell_switch(const struct guard *guard, const struct guard_result *r,
		       const struct guard_sample *s);
void guard_tell_churn(const struct guard *guard, pid_t pid, const struct guard_channel *c);

/* serve.c: the guard's socket. */
/* Connections at once, and as many processes that others speak for. */
#define GUARD_CLIENTS	   128
#define GUARD_CLIENTS_ROOT 16 /* connections that root alone can have */
#define GUARD_CLIENTS_USER 32 /* connections of one other user, at most */

struct guard_server;

/* -EADDRINUSE: another guard listens there; or another negative errno value. */
int guard_serve_start(struct guard *guard, struct guard_server **out);
/* Stop the server; NULL is allowed. */
void guard_serve_stop(struct guard_server *s);

/*
 * Output that never waits for its reader: a process that holds targets must
 * beat in time, also when its terminal is stopped (Ctrl-S) or the reader of its
 * pipe sleeps. What the reader does not take is dropped and counted.
 */

/*
 * Have *stream write to its descriptor without waiting. Text up to an fflush() is written whole
 * or dropped whole, but a terminal takes it in parts. notice is a line with one %zu: how many
 * lines were dropped; it comes before the next line that the reader takes, or at the end. 0, or
 * -errno: *stream is as it was.
 */
int lossy_output_start(FILE **stream, const char *notice);

/* Do it for stdout and stderr. -EOPNOTSUPP: the C library cannot replace them; writes may block. */
int lossy_output_start_both(const char *out_notice, const char *err_notice);

#endif
