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
/* Name of the snapshot that a run of both models takes of A, before B starts. */
#define EXP_ALONE "a-alone"

struct exp_plan {
	char dir[3072];
	char *command[EXP_MODELS]; /* NULL: there is no B */
	uint64_t runs;
	uint64_t concurrent;
	uint64_t amd_log;
	uint64_t duration_ns; /* 0: the models end by themselves */
	int lock;	      /* lock of the directory; 0: not taken */
};

/* "a-1", "b-3", "both-2" */
enum exp_kind {
	EXP_A,
	EXP_B,
	EXP_BOTH,
	EXP_KINDS,
};

void exp_run_name(enum exp_kind kind, uint64_t nth, char *name);
uint64_t exp_runs_of(const struct exp_plan *plan, enum exp_kind kind);

/* Report on the runs; @write: into files of the directory, too. 0, or the exit status. */
int exp_report(const struct exp_plan *plan, enum out_mode mode, bool write);

#endif
