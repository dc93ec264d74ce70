// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command/ctl.h"
#include "ctl/top/job.h"
#include "shared/child.h"
#include "shared/clock.h"

#define LONGEST_NS (60 * NSEC_PER_SEC)

struct start {
	char **command;
	int output;
};

static int run(void *arg)
{
	const struct start *start = arg;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	/* The keyboard is ours, and so are the signals that wait here. */
	dup2(null, STDIN_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return ctl_exec(start->command, start->output);
}

int top_job_start(struct top_job *job, char **command)
{
	struct start start = { .command = command };
	int pipes[2];

	if (job->child)
		return -EBUSY;
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* Its end is its own: who writes there waits as usual. */
	fcntl(pipes[1], F_SETFL, 0);
	start.output = pipes[1];
	*job = (struct top_job){
		.output = pipes[0],
		.until = shr_later_ns(shr_now_ns(), LONGEST_NS),
	};
	job->child = shr_child_start(run, &start, &pipes[1], 1);
	close(pipes[1]);
	if (job->child > 0)
		return 0;
	close(pipes[0]);
	pipes[0] = job->child;
	job->child = 0;
	return pipes[0];
}

/* Its lines become one, cut. */
static void add_text(struct top_job *job, const char *some, size_t n)
{
	static const char between[] = "; ";
	size_t i, used = strlen(job->text);

	for (i = 0; i < n && used + sizeof(between) < sizeof(job->text); i++) {
		if (some[i] == '\n')
			job->ended = true;
		if (some[i] == '\n' || !some[i])
			continue;
		if (job->ended && used)
			used += sprintf(job->text + used, "%s", between);
		job->ended = false;
		job->text[used++] = some[i];
		job->text[used] = '\0';
	}
}

bool top_job_check(struct top_job *job)
{
	int status = 0;
	bool late, gone;
	char some[512];
	ssize_t n;

	if (!job->child)
		return false;
	/* Before reading: what it wrote until then is there. */
	gone = shr_child_gone(&job->child, &status);
	late = !gone && shr_now_ns() > job->until;
	while ((n = read(job->output, some, sizeof(some))) > 0)
		add_text(job, some, n);
	if (!gone && !late)
		return false;
	if (late || !*job->text)
		snprintf(job->text, sizeof(job->text),
			 late ? "the command took too long, and was ended" :
				"the command has ended with status %d",
			 ctl_program_status(status));
	top_job_end(job);
	return true;
}

void top_job_end(struct top_job *job)
{
	if (job->child)
		shr_child_abandon(job->child);
	if (job->output > 0)
		close(job->output);
	job->child = 0;
	job->output = 0;
}
