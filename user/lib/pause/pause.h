/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_PAUSE_H
#define GP_PAUSE_H

#include "lib/core/array.h"
#include "lib/core/internal.h"

/* The device number of /dev/kfd. */
int gp_find_device(struct gpreempt *g, pid_t pid, uint64_t *device,
		   struct gpreempt_error *err);

/*
 * The descriptors of a process that are of that device, also those that another
 * process opened: int; free(numbers->items). At least one, or an error: of the
 * process, or GPREEMPT_KFD_CLOSED.
 */
int gp_find_descriptors(struct gpreempt *g, pid_t pid, uint64_t device,
			struct gp_array *numbers, struct gpreempt_error *err);

/* One pause or unpause. */
struct gp_pause_job {
	struct gpreempt *g;
	pid_t pid;
	uint64_t start_time; /* 0: of any */
	bool pause;	     /* or unpause */
	bool strict;	     /* see strict.c */
	const char *step;
	int process; /* descriptor of it */
	uint64_t device;
	struct gp_array numbers; /* int: its descriptors of the device */
	size_t changed;		 /* so many of them, from the first on */
	bool hinted;		 /* there may be others than the first */
	struct gpreempt_pause_report *report;
	struct gpreempt_error *err;
	uint64_t found_at; /* ns, monotonic */
	pid_t thread;
	int ret;
};

int gp_pause_fail(struct gp_pause_job *job, int code,
		  enum gpreempt_reason reason);

/* driver.c: one operation, and what makes a pause or an unpause of it. */
int gp_pause_op(struct gp_pause_job *job, int fd, uint32_t op);
int gp_pause_fail_op(struct gp_pause_job *job, int code);
int gp_pause_change(struct gp_pause_job *job, int fd);

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
int gp_pause_change_strict(struct gp_pause_job *job, int fd);

#endif
