/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of "metrics". */
#ifndef CTL_METRICS_H
#define CTL_METRICS_H

#include "figures.h"
#include "cli/metrics.h"

/* The labels of a GPU. */
struct metrics_gpu {
	int64_t gpu_id;
	const char *device;
	char index[24]; /* "": not known */
	char partition[24];
	char kfd[24];
};

struct metrics_gpus {
	struct metrics_gpu *gpus; /* in the order of the figures */
	size_t count;
};

#endif
