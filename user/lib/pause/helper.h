/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of a pause share: pause.c, strict.c, and helper.c for the process. */
#ifndef GP_PAUSE_HELPER_H
#define GP_PAUSE_HELPER_H

#include "lib/pause/pause.h"

/*
 * KFD contexts of one process that are paused at most. Each costs all processes on its
 * GPUs two run lists.
 */
#define GP_PAUSE_CONTEXTS 4
#define KFD		  "/dev/kfd"
/* Open files of /dev/kfd that are tried for one pause at most. */
#define GP_PAUSE_TRIES 16

enum gp_pause_op {
	GP_PAUSE_LOOK, /* only find the descriptor */
	GP_PAUSE_SET,
	GP_PAUSE_SET_STRICT, /* see strict.c */
	GP_PAUSE_UNSET,
};

/* How far the helper came; for the sentence when it does not come back. */
enum gp_pause_place {
	GP_PAUSE_AT_START,
	GP_PAUSE_AT_FILES,
	GP_PAUSE_AT_SEIZE,
	GP_PAUSE_AT_IOCTL,
};

/*
 * One operation on one descriptor of the process, made by a helper process: see
 * lib/core/apart.h. The helper has no other memory than this one.
 */
struct gp_pause_help {
	const struct gp_backend_ops *ops;
	void *be;
	pid_t pid;
	int process; /* descriptor of the process */
	uint64_t device;
	enum gp_pause_op op;
	int number; /* of the descriptor; -1: the first from @from on */
	int from;
	int done[GP_PAUSE_TRIES]; /* not these, nor other numbers of their files */
	unsigned int n_done;

	/* Set by the helper: */
	int found;     /* the number; -1: none */
	bool denied;   /* what is behind a descriptor was not for us */
	int file_code; /* 0, or why it could not be found (-ENXIO) or taken */
	int seize_code;
	int unpause_code;
	int pause_code;
	uint64_t entry_ns, return_ns, ioctl_ns;
};

/* One pause or unpause. */
struct gp_pause_job {
	struct gpreempt *g;
	pid_t pid;
	uint64_t start_time; /* 0: of any */
	bool pause;	     /* or unpause */
	bool strict;	     /* see strict.c */
	const char *step;
	uint64_t found_at;	     /* ns, monotonic */
	int changed[GP_PAUSE_TRIES]; /* descriptors: report->contexts of them */
	int process;		     /* descriptor of it; -1: none */
	struct gp_pause_help *help;  /* NULL: it belongs to an abandoned helper */
	struct gp_pause_ready *ready;
	struct gp_pause_report *report;
	struct gpreempt_error *err;
};

/* helper.c: *@job->err; returns @code. */
int gp_pause_fail(struct gp_pause_job *job, int code, enum gpreempt_reason reason);
/* Of an ioctl. */
int gp_pause_fail_op(struct gp_pause_job *job, int code);
/*
 * Have a helper do what @job->help says. 0: what it set is there. An error
 * has been filled in otherwise.
 */
int gp_pause_help(struct gp_pause_job *job);

/*
 * strict.c: does an unpause by this driver crash where the process has no address
 * space on a GPU? Then so much more is to be checked.
 */
bool gp_pause_is_strict(struct gpreempt *g);
/* May it be paused at all? Is it? */
int gp_pause_look(struct gpreempt *g, pid_t pid, const char *step, bool *paused,
		  struct gpreempt_error *err);
/* Before it is traced. @done: it is as it shall be. */
int gp_pause_begin_strict(struct gp_pause_job *job, bool *done);
/* What the helper did: -EBADF when that was of another process. */
int gp_pause_judge_strict(struct gp_pause_job *job);

#endif
