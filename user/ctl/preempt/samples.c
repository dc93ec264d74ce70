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

static void put_number(FILE *f, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		fputs(" -", f);
	else
		fprintf(f, " %" PRId64, value);
}

static void put_line(const struct preempt *p, pid_t pid,
		     const struct preempt_cycle *c)
{
	static const char *const verdicts[] = {
		[GPREEMPT_NOT_CHECKED] = "-",
		[GPREEMPT_VERIFIED] = "1",
		[GPREEMPT_CONTRADICTED] = "0",
	};
	FILE *f = p->samples;

	fprintf(f, "%zu", p->cycles);
	put_number(f, pid ? pid : GPREEMPT_UNKNOWN);
	put_number(f, c->requested);
	put_number(f, c->done);
	put_number(f, c->suspend_ns);
	put_number(f, c->slots_ns);
	put_number(f, c->resolution_ns);
	put_number(f, c->held_ns);
	put_number(f, c->resume_ns);
	fprintf(f, " %s\n", verdicts[c->verdict]);
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
