// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "ctl/command/apart.h"
#include "ctl/figures/describe.h"

struct job {
	struct ctl_apart work; /* the first one: both have one address */
	struct gpreempt *g;
	const struct gpreempt_targets *list;
	struct ctl_described all[];
};

static size_t room(const struct gpreempt_targets *list)
{
	return sizeof(struct job) + list->count * sizeof(struct ctl_described);
}

static void describe_one(struct ctl_apart *work, size_t i)
{
	struct job *job = (void *)work;

	job->all[i].code = gpreempt_describe(job->g, job->list->targets[i].pid, &job->all[i].who);
}

static void describe_without_command(struct ctl_apart *work, size_t i)
{
	struct job *job = (void *)work;
	struct ctl_described *d = &job->all[i];

	d->mute = true;
	d->code = gpreempt_identify(job->g, job->list->targets[i].pid, &d->who);
}

struct ctl_described *ctl_describe_all(struct gpreempt *g, const struct gpreempt_targets *list,
				       bool live)
{
	struct job *job;
	size_t i;

	job = mmap(NULL, room(list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job == MAP_FAILED)
		return NULL;
	job->work = (struct ctl_apart){
		.count = list->count,
		.ask = describe_one,
		.silent = describe_without_command,
	};
	job->g = g;
	job->list = list;
	if (live)
		ctl_ask_apart(&job->work);
	for (i = 0; !live && i < list->count; i++)
		describe_one(&job->work, i);
	return job->all;
}

void ctl_described_free(struct ctl_described *all, const struct gpreempt_targets *list)
{
	if (all)
		munmap((char *)all - offsetof(struct job, all), room(list));
}
