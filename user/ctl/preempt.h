/* SPDX-License-Identifier: GPL-2.0-only */
/* A run of "gpreempt-ctl preempt", for its own files. */
#ifndef CTL_PREEMPT_H
#define CTL_PREEMPT_H

#include "hold/escape.h"
#include "hold/pause-owner.h"
#include "cli/cli.h"

/* Samples in nanoseconds, in the order of their measurement. */
struct preempt_series {
	uint64_t *v;
	size_t n;
};

/* Add a value to the series. */
void preempt_add_sample(struct preempt_series *s, uint64_t ns);

/* Results of one cycle, for a target or for all of them together. */
struct preempt_cycle {
	size_t requested;
	size_t done;
	uint64_t suspend_ns;
	int64_t slots_ns; /* or GPREEMPT_UNKNOWN, as the next */
	int64_t resolution_ns;
	uint64_t held_ns; /* from one call's end to the next one's start */
	uint64_t resume_ns;
	uint64_t released_ns; /* queues ran so long while they were held */
	enum gpreempt_verdict verdict;
	enum gpreempt_verified_by by; /* evidence for the verdict */
	bool succeeded;
};

/* Figures of a target, or of all of them together. */
struct preempt_figures {
	struct preempt_series suspend; /* without the first */
	struct preempt_series slots;   /* likewise without the first */
	struct preempt_series resolution;
	struct preempt_series resume;
	uint64_t open_ns;
	int64_t first_ns;   /* GPREEMPT_UNKNOWN: there was none */
	size_t verdicts[3]; /* by enum gpreempt_verdict */
	size_t by_waves;    /* verdicts "yes" for which waves were counted, too */
	size_t succeeded;
};

struct preempt_target {
	pid_t pid;
	struct pause_owner owner; /* owner of a pause; its lock and start serve both methods */
	enum gpreempt_method method;
	/* reason why no debug session holds it; "": one does, or a pause was asked for */
	char why[256];
	struct preempt_cycle now;
	struct preempt_figures figures;
};

/* Values of the command line. */
struct preempt_args {
	struct ctl_target_args targets;
	char **command; /* the online command; NULL: none */
	uint64_t count;
	uint64_t hold_ns;
	uint64_t interval_ns;
	const char *samples; /* file; NULL: none */
	uint64_t verbose;
	enum gpreempt_how how;
	enum out_mode mode;
};

struct preempt {
	const struct preempt_args *args;
	struct gpreempt *g;
	struct gpreempt_gang *gang;
	struct gpreempt_member *members; /* room for all targets */
	struct preempt_target *targets;
	size_t n_targets;
	struct heartbeat heartbeat;
	bool beating;
	int stop;		 /* readable after Ctrl-C and its like */
	struct disturb *disturb; /* NULL: without the module */
	FILE *samples;
	int samples_error; /* the first, as -errno */

	size_t cycles;
	struct preempt_cycle now; /* all targets together */
	struct preempt_figures all;
	struct preempt_series online; /* times of the online command */
	int online_status;	      /* status from waitpid() */
	int unstarted;		      /* errno: the online command could not be run */
	bool interrupted;
	struct gpreempt_error err; /* why it stopped early */
};

/* Find a target by its PID; NULL: none. */
struct preempt_target *preempt_find_target(struct preempt *p, pid_t pid);

/* The file of --samples, a line for each target and cycle. 0 or -errno. */
int preempt_open_samples(struct preempt *p);
void preempt_put_samples(struct preempt *p);
int preempt_close_samples(struct preempt *p);
/* error: NULL, or why the run ended early. */
void preempt_print_result(struct preempt *p, const char *error);

/*
 * Effects of a suspend or resume on the other processes on the same GPUs, seen by a thread that
 * looks at their slots all the time.
 */
enum disturb_op {
	DISTURB_SUSPEND,
	DISTURB_RESUME,
	DISTURB_OPS,
};

/* Start the thread. NULL without the module. */
struct disturb *disturb_start(struct preempt *p);
/* Around each call; d may be NULL. */
void disturb_begin(struct disturb *d, enum disturb_op op);
void disturb_end(struct disturb *d);
/* The thread ends; the figures stay. */
void disturb_stop(struct disturb *d);
void disturb_free(struct disturb *d);

#endif
