// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ctl/cmd/describe.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/syscall.h"

/* So many may hang; of the others the command lines are not read then. */
#define MAX_STUCK 8

struct job {
	struct gpreempt *g;
	const struct gpreempt_targets *list;
	struct ctl_described *all; /* shared with the reader */
	size_t next;
	int done[2]; /* pipe: a byte for each process */
};

static size_t room(const struct gpreempt_targets *list)
{
	return (list->count + 1) * sizeof(struct ctl_described);
}

static void describe_one(const struct job *job, size_t i)
{
	job->all[i].code = gpreempt_describe(job->g, job->list->targets[i].pid,
					     &job->all[i].who);
}

/* The reader. If it hangs, it must not keep the other end of a pipe waiting. */
static int describe_rest(void *arg)
{
	const struct job *job = arg;
	size_t i;

	shr_close_range(STDIN_FILENO, STDERR_FILENO);
	for (i = job->next; i < job->list->count; i++) {
		describe_one(job, i);
		if (write(job->done[1], "", 1) != 1)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* False: the next one does not answer, or the reader has ended. */
static bool wait_for_next(struct job *job)
{
	struct pollfd p = { .fd = job->done[0], .events = POLLIN };
	uint64_t end = shr_now_ns() + SHR_CHILD_PATIENCE_MS * NSEC_PER_MSEC;
	char bytes[64];
	ssize_t n;
	int ret;

	do {
		uint64_t now = shr_now_ns();

		ret = poll(&p, 1, now < end ? (end - now) / NSEC_PER_MSEC : 0);
	} while (ret < 0 && errno == EINTR);
	if (ret <= 0)
		return false;
	n = read(job->done[0], bytes, sizeof(bytes));
	job->next += n > 0 ? n : 0;
	return n > 0;
}

static void describe_without_command(struct job *job)
{
	struct ctl_described *d = &job->all[job->next];

	d->mute = true;
	d->code = gpreempt_identify(job->g, job->list->targets[job->next].pid,
				    &d->who);
	job->next++;
}

/* Up to one that hangs. 0 or -errno. */
static int run_reader(struct job *job)
{
	pid_t child;
	int status;

	if (pipe2(job->done, O_CLOEXEC) < 0)
		return -errno;
	child = shr_child_start(describe_rest, job, &job->done[1], 1);
	close(job->done[1]);
	while (child > 0 && job->next < job->list->count && wait_for_next(job))
		;
	close(job->done[0]);
	if (child < 0)
		return child;
	if (job->next < job->list->count) {
		shr_child_abandon(child);
		describe_without_command(job);
	} else {
		waitpid(child, &status, 0);
	}
	return 0;
}

struct ctl_described *ctl_describe_all(struct gpreempt *g,
				       const struct gpreempt_targets *list,
				       bool live)
{
	struct job job = { .g = g, .list = list };
	int stuck;
	size_t i;

	job.all = mmap(NULL, room(list), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.all == MAP_FAILED)
		return NULL;
	for (i = 0; !live && i < list->count; i++)
		describe_one(&job, i);
	for (stuck = 0; live && stuck < MAX_STUCK && job.next < list->count;
	     stuck++)
		if (run_reader(&job))
			break;
	while (live && job.next < list->count)
		describe_without_command(&job);
	return job.all;
}

void ctl_described_free(struct ctl_described *all,
			const struct gpreempt_targets *list)
{
	if (all)
		munmap(all, room(list));
}
