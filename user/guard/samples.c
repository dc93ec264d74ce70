// SPDX-License-Identifier: GPL-2.0-only
/* The last preemptions that followed an arrival. */
#include <stdio.h>
#include <stdlib.h>

#include "guard/guard.h"

void guard_add_sample(struct guard_figures *f, const struct guard_sample *one)
{
	if (!f->sample)
		f->sample = calloc(GUARD_SAMPLES, sizeof(*f->sample));
	if (f->sample)
		f->sample[f->samples++ % GUARD_SAMPLES] = *one;
}

size_t guard_samples_kept(const struct guard_figures *f)
{
	return f->samples < GUARD_SAMPLES ? f->samples : GUARD_SAMPLES;
}

static void put_ns(FILE *f, int64_t ns, char end)
{
	if (ns == GPREEMPT_UNKNOWN)
		fprintf(f, "-%c", end);
	else
		fprintf(f, "%lld%c", (long long)ns, end);
}

void guard_print_samples(const struct guard *guard, FILE *out)
{
	const struct guard_figures *figures = &guard->figures;
	size_t n = figures->samples, i;

	fputs("# arrival_to_ioctl_ns\tarrival_to_suspended_ns\t"
	      "arrival_to_slots_ns\n",
	      out);
	for (i = n - guard_samples_kept(figures); i < n; i++) {
		const struct guard_sample *s =
			&figures->sample[i % GUARD_SAMPLES];

		put_ns(out, s->to_ioctl_ns, '\t');
		put_ns(out, s->to_suspended_ns, '\t');
		put_ns(out, s->to_slots_ns, '\n');
	}
}
