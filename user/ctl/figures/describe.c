// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <sys/mman.h>

#include "ctl/figures/describe.h"
#include "shared/child.h"
#include "shared/macro.h"
#include "shared/syscall.h"

/* So many may hang; of the others the command lines are not read then. */
#define MAX_STUCK 8

struct job {
	struct gpreempt *g;
	const struct gpreempt_targets *list;
	atomic_uint begun; /* processes; the reader counts them */
	struct ctl_described all[];
};

static size_t room(const struct gpreempt_targets *list)
{
	return sizeof(struct job) + list->count * sizeof(struct ctl_described);
}

static void describe_one(struct job *job, size_t i)
{
	job->all[i].code = gpreempt_describe(job->g, job->list->targets[i].pid,
					     &job->all[i].who);
}

/* The reader. If it hangs, it must not keep a pipe of ours open. */
static int describe_rest(void *arg)
{
	struct job *job = arg;
	size_t i;

	shr_close_range(STDIN_FILENO, STDERR_FILENO);
	for (i = job->begun; i < job->list->count; i++) {
		atomic_store(&job->begun, i + 1);
		describe_one(job, i);
	}
	return EXIT_SUCCESS;
}

static void describe_without_command(struct job *job, size_t i)
{
	struct ctl_described *d = &job->all[i];

	d->mute = true;
	d->code = gpreempt_identify(job->g, job->list->targets[i].pid, &d->who);
}

/* Behind one that hangs another reader goes on. */
static void describe_live(struct job *job)
{
	size_t stuck, first, count = job->list->count;

	for (stuck = 0; stuck < MAX_STUCK && job->begun < count; stuck++) {
		first = job->begun;
		if (!shr_child_run(describe_rest, job, &job->begun))
			return;
		if (job->begun == first)
			break;
		describe_without_command(job, job->begun - 1);
	}
	while (job->begun < count)
		describe_without_command(job, job->begun++);
}

struct ctl_described *ctl_describe_all(struct gpreempt *g,
				       const struct gpreempt_targets *list,
				       bool live)
{
	struct job *job;
	size_t i;

	job = mmap(NULL, room(list), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job == MAP_FAILED)
		return NULL;
	job->g = g;
	job->list = list;
	if (live)
		describe_live(job);
	for (i = 0; !live && i < list->count; i++)
		describe_one(job, i);
	return job->all;
}

void ctl_described_free(struct ctl_described *all,
			const struct gpreempt_targets *list)
{
	if (all)
		munmap((char *)all - offsetof(struct job, all), room(list));
}
