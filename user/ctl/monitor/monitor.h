/* SPDX-License-Identifier: GPL-2.0-only */
/* What samples of a process's queues come to. */
#ifndef CTL_MONITOR_H
#define CTL_MONITOR_H

#include <gpreempt/gpreempt.h>

struct monitor_figure {
	size_t n; /* samples in which it was known */
	int64_t min;
	int64_t max;
	double sum;
};

struct monitor_seen {
	int64_t qid;
	int64_t samples;
};

struct monitor_sum {
	size_t samples;
	size_t missed; /* of them: the process could not be read */
	struct monitor_figure queues;
	struct monitor_figure active; /* hardware slots */
	struct monitor_seen *seen;    /* by queue id */
	size_t n_seen;
};

void monitor_figure_add(struct monitor_figure *figure, int64_t value);
double monitor_mean(const struct monitor_figure *figure);
/* Was it the same in all samples? */
bool monitor_stable(const struct monitor_figure *figure);
/* A queue is in the sample at hand. 0 or -ENOMEM. */
int monitor_see(struct monitor_sum *sum, int64_t qid);
void monitor_free(struct monitor_sum *sum);

#endif
