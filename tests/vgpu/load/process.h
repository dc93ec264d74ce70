/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_PROCESS_H
#define LOAD_PROCESS_H

#include "queue.h"

#define LOAD_MAX_QUEUES 2048

/* This process as KFD sees it: its GPUs and queues. */
struct load_process {
	int kfd;
	bool runtime; /* enabled by us */
	int kick;     /* tells the simulated GPU of a doorbell, or -1 */
	struct load_gpu gpus[LOAD_MAX_GPUS];
	unsigned int num_gpus;
	struct load_queue *queues; /* LOAD_MAX_QUEUES of them */
	unsigned int num_queues;
};

/* Return 0 or -errno; *what names the step that failed. */
int load_process_open(struct load_process *proc, const struct load_args *args, const char **what);
int load_process_add_queues(struct load_process *proc, const struct load_args *args,
			    enum load_queue_type type, unsigned int per_gpu, const char **what);
/*
 * Open a process for a tool that writes packets itself: with a queue of that type, and so many
 * bytes of memory that its GPU reaches.
 */
int load_process_with_queue(struct load_process *proc, enum load_queue_type type, size_t bytes,
			    struct load_buffer *memory, const char **what);
/* End as ROCm does at a normal end: queues first, then the runtime. */
int load_process_close(struct load_process *proc, const char **what);

#endif
