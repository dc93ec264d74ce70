/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_SUSPEND_H
#define CTL_SUSPEND_H

#include "hold/run-dir.h"
#include "cli/cli.h"
#include "hold/holder.h"

/* A target of a suspend. */
struct suspend_job {
	pid_t pid;
	struct hold_request request;
	struct hold_reply reply; /* .status: the result */
	const char *next;	 /* next step, or NULL */
	bool already;		 /* held before this command */
	int fd;			 /* connection to a new holder, for hold_confirm(); or -1 */
};

/*
 * Have all requests done that have no reply.status yet: by the holder that
 * there is, or by a new one. All begin before the first is waited for.
 */
void suspend_all(struct gpreempt *g, struct suspend_job *jobs, size_t count);

#endif
