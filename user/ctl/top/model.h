/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What top shows: processes, GPUs and their history, as gather.c has copied them from
 * the sampler. Nothing here reads the system.
 */
#ifndef CTL_TOP_MODEL_H
#define CTL_TOP_MODEL_H

#include <gpreempt/observe.h>

#include "output/table.h"
#include "shared/array.h"

#define TOP_HISTORY 128 /* refreshes that are kept */
#define TOP_NOTHING 255 /* no percentage: it was not known */

/* How busy something was in the last refreshes, in percent. */
struct top_history {
	uint8_t percent[TOP_HISTORY]; /* a ring */
	unsigned int count;	      /* that were put in */
};

/* A process on a GPU. A number that is not known is GPREEMPT_UNKNOWN. */
struct top_figure {
	int64_t gpu_id;
	int64_t busy; /* in tenths of a percent */
	const char *method;
	int64_t looks;
	int64_t queues;
	int64_t suspended;
	int64_t waves;
	int64_t vram;
	int64_t evicted_ms;
	int64_t suspended_ms;
	int64_t holds;
	struct top_history history;
};

/* A process. The numbers that its GPUs have are their sums: see top_arrange(). */
struct top_process {
	int64_t pid;
	uint64_t start;
	char user[64];
	char gpu[32]; /* 0x7d63, or "8 GPUs" */
	int64_t busy;
	const char *method;
	int64_t queues;
	int64_t waves;
	int64_t slots_held; /* part of the slots that its queues take, in tenths of % */
	int64_t vram;
	int64_t evicted_ms;
	int64_t suspended_ms;
	int64_t holds;
	const char *state;
	int64_t held_by;
	char held_as[64];
	char container[128];
	char cgroup[256];
	char pod_uid[40];
	char job[24];
	char *command;			    /* its own; others' bytes as all texts here */
	SHR_ARRAY(struct top_figure, gpus); /* its own; by gpu_id */
	struct top_history history;	    /* of the busiest GPU */
};

struct top_gpu {
	int64_t gpu_id;
	char device[64];
	int64_t busy;
	const char *method;
	int64_t looks;
	int64_t waves;
	int64_t waves_max;
	int64_t slots_used;
	int64_t slots;
	int64_t vram;
	int64_t vram_size;
	int64_t processes; /* that have queues or memory there */
	struct top_history history;
};

/* For its page: a queue, and what of it is a text. */
struct top_queue {
	struct gpreempt_queue q;
	const char *type;
	char state[96];
};

/* What the processes are grouped by. */
enum top_tree { TOP_FLAT, TOP_BY_CGROUP, TOP_BY_CONTAINER, TOP_BY_POD, TOP_TREES };

extern const char *const top_tree_names[TOP_TREES];

/* Which processes are shown, and in which order. */
struct top_order {
	size_t column; /* of top_columns */
	bool inverted;
	enum top_tree tree;
	int64_t gpu_id;	     /* that alone; 0: all */
	const char *pattern; /* they have that text somewhere; "": all */
};

/* A line of the list: a process, or the heading of a group. */
struct top_line {
	const struct top_process *process; /* NULL: a heading */
	const char *group;
	size_t members; /* of the group */
	int64_t busy;	/* theirs together */
	int64_t vram;
};

struct top_model {
	SHR_ARRAY(struct top_process, processes); /* by PID */
	SHR_ARRAY(struct top_gpu, gpus);	  /* in KFD's order */
	SHR_ARRAY(struct top_line, lines);	  /* of top_arrange() */
	char *missing;				  /* what cannot be seen and why; NULL: nothing */
	bool simulated;
	uint64_t looks; /* of the last interval */
	uint64_t all_looks;
	SHR_ARRAY(struct top_queue, queues); /* of the process that has a page */
};

void top_model_clear(struct top_model *m);
void top_process_clear(struct top_process *p);

/* busy: in tenths of a percent. */
void top_history_add(struct top_history *h, int64_t busy);
/* The one of so many refreshes ago, or TOP_NOTHING. */
unsigned int top_history_at(const struct top_history *h, unsigned int ago);

/* Add up figures, and make the lines. 0 or -ENOMEM. */
int top_arrange(struct top_model *m, const struct top_order *order);

/* Of a process of the lines; the history of that GPU, or with 0 its own. */
const struct top_history *top_history_of(const struct top_process *p, int64_t gpu_id);
const struct top_process *top_find(const struct top_model *m, int64_t pid);

#endif
