// SPDX-License-Identifier: GPL-2.0-only
/* What to do about an error, with the commands of gpreempt-ctl. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/message.h"
#include "shared/macro.h"

/* In place of what the library says, which knows no commands. */
static const char *const steps[GPREEMPT_REASON_COUNT] = {
	[GPREEMPT_NO_MATCH] = "gpreempt-ctl list shows the GPU processes",
	[GPREEMPT_MANY_CONTAINERS] = "give more of the id: gpreempt-ctl list --json shows them",
	[GPREEMPT_IS_HOLDER] = "gpreempt-ctl status shows what it holds",
	[GPREEMPT_PAUSED] = "wait for that program, such as CRIU, which undoes its pause; if it "
			    "has ended: gpreempt-ctl resume --force",
	[GPREEMPT_HELD] = "gpreempt-ctl status shows what holds it",
	[GPREEMPT_OTHER_VERSION] = "use the gpreempt-ctl of that version, or end the holder, which "
				   "lets the queues run: gpreempt-ctl status shows its PID, then "
				   "kill",
	[GPREEMPT_PAUSE_OFF] = "look again: gpreempt-ctl queues; if EVICTED stays, it "
			       "does not run on a GPU until it ends",
};

static const char no_container[] =
	"gpreempt-ctl list shows the GPU processes, and to root the names of "
	"its containers; give a rootless one by its id: "
	"container:$(podman inspect -f '{{.Id}}' NAME)";

/* After a system call that failed for want of something, not of the driver. */
static const struct {
	int code;
	const char *step;
} wants[] = {
	{ -EMFILE, "raise the limit of open files: ulimit -n" },
	{ -ENFILE, "close files: /proc/sys/fs/file-max is the host's limit" },
	{ -ENOMEM, "free memory, or raise the limit of its cgroup" },
	{ -ENOSPC, "make room on that disk" },
};

const char *ctl_want(int code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wants); i++)
		if (wants[i].code == code)
			return wants[i].step;
	return NULL;
}

const char *ctl_step_of(enum gpreempt_reason reason)
{
	return reason < GPREEMPT_REASON_COUNT ? steps[reason] : NULL;
}

void ctl_next_step(const struct gpreempt_error *err, char *buf, size_t size)
{
	const char *want = err->reason == GPREEMPT_SYSTEM ? ctl_want(err->code) :
							    ctl_step_of(err->reason);

	if (err->reason == GPREEMPT_NO_MATCH && err->word &&
	    !strncmp(err->word, "container:", strlen("container:")))
		want = no_container;
	if (want)
		snprintf(buf, size, "%s", want);
	else
		gpreempt_error_next(err, buf, size);
}
