/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of "metrics". */
#ifndef CTL_METRICS_H
#define CTL_METRICS_H

#include "ctl/figures/sampler.h"
#include "output/metrics.h"

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

/* For free() of gpus, and not longer than the figures. 0 or -ENOMEM. */
int metrics_name_gpus(const struct gp_figures *f, struct metrics_gpus *out);
/* Put those of that GPU into labels. */
void metrics_set_gpu(const struct metrics_gpus *gpus, int64_t gpu_id, struct out_labels *labels);

void metrics_add_gpus(struct out_metrics *m, const struct gp_figures *f,
		      const struct metrics_gpus *gpus);
void metrics_add_share(struct out_metrics *m, enum out_family_id id, struct out_labels *labels,
		       const struct gp_share *share);

/*
 * Those of all processes, but not more than that many series, by their share and
 * their memory; the others are counted in *dropped. Holders are left out. 0 or -ENOMEM.
 */
int metrics_add_processes(struct out_metrics *m, struct ctl_sampler *s,
			  const struct metrics_gpus *gpus, size_t room, size_t *dropped);

#endif
