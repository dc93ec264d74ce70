/* SPDX-License-Identifier: GPL-2.0-only */
/* Experiment: does a model use the same queues each time? First the runs, then their results. */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include "diff.h"

#define EXP_MODELS   2 /* A and B */
#define EXP_RUNS_MAX 100
#define EXP_NAME     32

/* Names of the plan in the directory, and of the result in a run's directory. */
#define EXP_PLAN   "experiment"
#define EXP_RESULT "result"
/* Snapshot in a run of both models: A before B came. */
#define EXP_ALONE "a-alone"

struct exp_run;
struct exp_sample;

/* Values of the command line. */
struct exp_args {
	const char *model_a; /* commands for the shell */
	const char *model_b;
	uint64_t runs;
	uint64_t concurrent;
	uint64_t duration_ns;
	uint64_t amd_log;   /* AMD_LOG_LEVEL; 0: as it is */
	const char *output; /* directories */
	const char *resume;
	const char *report_only;
	enum out_mode mode;
};

struct exp_plan {
	char dir[3072];
	char *command[EXP_MODELS]; /* NULL: there is no B */
	uint64_t runs;
	uint64_t concurrent;
	uint64_t amd_log;
	uint64_t duration_ns; /* 0: the models end by themselves */
	int lock;	      /* lock of the directory; 0: not taken */
};

/* Read the plan from its directory. */
int exp_plan_load(const char *dir, struct exp_plan *plan);
/* May others have written the plan's commands? 0: no, or the exit status after a message. */
int exp_plan_trusted(const char *dir);
/* No other process makes runs there until exp_plan_free(). */
int exp_plan_lock(struct exp_plan *plan);
void exp_plan_free(struct exp_plan *plan);

/* "a-1", "b-3", "both-2" */
enum exp_kind {
	EXP_A,
	EXP_B,
	EXP_BOTH,
	EXP_KINDS,
};

void exp_run_name(enum exp_kind kind, uint64_t nth, char *name);
uint64_t exp_runs_of(const struct exp_plan *plan, enum exp_kind kind);

/* A model in a run. */
struct exp_sample {
	bool there;
	int64_t pid;
	int64_t status; /* exit status of its command, in the shell's form */
	char *ids;	/* "f7bc:0,f7bc:1" */
	int64_t queues;
	int64_t slots_expected;
	int64_t slots_active;
	int64_t priority;   /* the least of its queues' */
	int64_t dispatches; /* dispatches in ROCm's log */
	int64_t hardware_queues;
	int64_t backlog; /* most packets that waited in a queue */
	int64_t run_us;
	struct ctl_text text;
};

struct exp_run {
	char name[EXP_NAME];
	enum exp_kind kind;
	struct exp_sample of[EXP_MODELS];
	bool apart;	   /* one had ended when the other had queues */
	double overlap;	   /* overlap of the ids of A and B, when both run; or -1 */
	double a_before_b; /* overlap of A's queues before B came and with B; or -1 */
	int64_t common_ids;
	int64_t common_slots;
};

struct exp_model {
	uint64_t runs;	/* runs in which it had queues */
	double overlap; /* lowest overlap of a run with the first one; or -1 */
	bool same_ids;
	bool same_number;
	bool slots_right; /* in each run, each queue in all its slots */
	enum diff_verdict verdict;
};

struct exp_report {
	struct exp_run *runs;
	size_t n_runs;
	struct exp_model models[EXP_MODELS];
	double a_against_b;   /* ids of the first run of each; -1: no B */
	bool simulated;	      /* where it was made */
	const char *strategy; /* "id", "priority", "pid" */
	const char *reason;
};

int exp_report_make(const struct exp_plan *plan, struct exp_report *report);
void exp_report_free(struct exp_report *report);

struct json_object *exp_json(const struct exp_plan *plan, const struct exp_report *report);
/* Print the report as Markdown, for people, too. */
void exp_print(FILE *file, const struct exp_plan *plan, const struct exp_report *report);

#endif
