// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "ctl/monitor/monitor.h"
#include "shared/array.h"
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
	struct monitor_seen *seen;
	size_t i;

	for (i = 0; i < sum->n_seen && sum->seen[i].qid < qid; i++)
		;
	if (i < sum->n_seen && sum->seen[i].qid == qid) {
		sum->seen[i].samples++;
		return 0;
	}
	if (!shr_array_add(&sum->seen, &sum->n_seen, sizeof(*seen)))
		return -ENOMEM;
	seen = sum->seen + i;
	memmove(seen + 1, seen, (sum->n_seen - i - 1) * sizeof(*seen));
	*seen = (struct monitor_seen){ .qid = qid, .samples = 1 };
	return 0;
}

void monitor_free(struct monitor_sum *sum)
{
	free(sum->seen);
	sum->seen = NULL;
	sum->n_seen = 0;
}
