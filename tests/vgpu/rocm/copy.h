/* SPDX-License-Identifier: GPL-2.0-only */
/* Data on a round: host to GPU by SDMA, back by SDMA, compared, again. */
#ifndef ROCM_COPY_H
#define ROCM_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpus.h"

struct rocm_copy {
	const struct rocm_gpus *gpus;
	unsigned int gpu;
	size_t size;
	uint64_t *from, *to; /* host */
	void *vram;
	hsa_signal_t signal; /* 1 while a copy is under way */
	bool back;	     /* the one under way is the way back */
	bool busy;
	uint64_t done;	 /* copies that ended */
	uint64_t differ; /* rounds whose data came back changed */
};

hsa_status_t rocm_copy_create(const struct rocm_gpus *gpus, unsigned int gpu, size_t size,
			      struct rocm_copy *copy);
void rocm_copy_destroy(struct rocm_copy *copy);

/* Go on with complete copies; @start: begin another round, too. */
hsa_status_t rocm_copy_step(struct rocm_copy *copy, bool start);

#endif
