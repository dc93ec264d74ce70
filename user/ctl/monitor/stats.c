// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "ctl/monitor/monitor.h"
#include "shared/macro.h"

void monitor_figure_add(struct monitor_figure *figure, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		return;
	if (!figure->n || value < figure->min)
		figure->min = value;
	if (!figure->n || value > figure->max)
		figure->max = value;
	figure->sum += value;
	figure->n++;
}

double monitor_mean(const struct monitor_figure *figure)
{
	return figure->n ? figure->sum / figure->n : 0;
}

bool monitor_stable(const struct monitor_figure *figure)
{
	return figure->n && figure->min == figure->max;
}

int monitor_see(struct monitor_sum *sum, int64_t qid)
{
	struct monitor_seen *bigger;
	size_t i;

	for (i = 0; i < sum->n_seen && sum->seen[i].qid < qid; i++)
		;
	if (i < sum->n_seen && sum->seen[i].qid == qid) {
		sum->seen[i].samples++;
		return 0;
	}
	bigger = realloc(sum->seen, (sum->n_seen + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	sum->seen = bigger;
	memmove(bigger + i + 1, bigger + i,
		(sum->n_seen - i) * sizeof(*bigger));
	bigger[i] = (struct monitor_seen){ .qid = qid, .samples = 1 };
	sum->n_seen++;
	return 0;
}

void monitor_free(struct monitor_sum *sum)
{
	free(sum->seen);
	sum->seen = NULL;
	sum->n_seen = 0;
}
