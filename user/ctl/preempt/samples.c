// SPDX-License-Identifier: GPL-2.0-only
/* Raw samples: in memory for the figures, and in the file of --samples. */
#include <errno.h>
#include <inttypes.h>

#include "ctl/preempt/preempt.h"
#include "shared/array.h"
#include "shared/macro.h"

int preempt_add_sample(struct preempt_series *s, uint64_t ns)
{
	uint64_t *sample = shr_array_add(&s->v, &s->n, sizeof(*sample));

	if (!sample)
		return -ENOMEM;
	*sample = ns;
	return 0;
}

int preempt_open_samples(struct preempt *p)
{
	if (!p->args->samples)
		return 0;
	p->samples = fopen(p->args->samples, "we");
	if (!p->samples)
		return -errno;
	fputs("gpreempt-samples - version: 1.0\n"
	      "# cycle pid requested done suspend_ioctl_ns suspend_slots_ns "
	      "slots_resolution_ns held_ns resume_ioctl_ns verified\n",
	      p->samples);
	return 0;
}

static void put_line(const struct preempt *p, pid_t pid,
		     const struct preempt_cycle *c)
{
	static const char *const verdicts[] = {
		[GPREEMPT_NOT_CHECKED] = "-",
		[GPREEMPT_VERIFIED] = "1",
		[GPREEMPT_CONTRADICTED] = "0",
	};
	const int64_t numbers[] = {
		pid ? pid : GPREEMPT_UNKNOWN,
		c->requested,
		c->done,
		c->suspend_ns,
		c->slots_ns,
		c->resolution_ns,
		c->held_ns,
		c->resume_ns,
	};
	size_t i;

	fprintf(p->samples, "%zu", p->cycles);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] == GPREEMPT_UNKNOWN)
			fputs(" -", p->samples);
		else
			fprintf(p->samples, " %" PRId64, numbers[i]);
	fprintf(p->samples, " %s\n", verdicts[c->verdict]);
}

/* Each cycle at once: what was measured is there however we end. */
void preempt_put_samples(struct preempt *p)
{
	size_t i;

	if (!p->samples)
		return;
	for (i = 0; i < p->n_targets; i++)
		put_line(p, p->targets[i].pid, &p->targets[i].now);
	if (p->n_targets > 1)
		put_line(p, 0, &p->now);
	if (fflush(p->samples) && !p->samples_error)
		p->samples_error = -errno;
}

int preempt_close_samples(struct preempt *p)
{
	if (!p->samples)
		return 0;
	if (fclose(p->samples) && !p->samples_error)
		p->samples_error = -errno;
	p->samples = NULL;
	return p->samples_error;
}
