/* SPDX-License-Identifier: GPL-2.0-only */
/* Another command of gpreempt-ctl, as a child whose end the loop does not wait for. */
#ifndef CTL_TOP_JOB_H
#define CTL_TOP_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct top_job {
	pid_t child;	/* 0: none */
	int output;	/* what it prints, read without waiting */
	uint64_t until; /* it is killed then */
	char text[256]; /* what it has printed, in one line, cut */
	bool ended;	/* the next byte begins another line */
};

/* 0 or -errno. One at a time. */
int top_job_start(struct top_job *job, char **command);
/* Read what it has printed. true: it has ended, and text is complete. */
bool top_job_check(struct top_job *job);
/* Kill it, if it is there. */
void top_job_end(struct top_job *job);

#endif
