/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ROCM_ARGS_H
#define ROCM_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of hsa-load's command line. Times are in ns. */
struct rocm_args {
	uint64_t gpus;		/* use the first so many; more than there are: all */
	uint64_t queues;	/* on each GPU */
	uint64_t packet_ns;	/* GPU time of a dispatch */
	uint64_t count;		/* dispatches a queue; 0: no limit */
	uint64_t duration_ns;	/* stop submitting after this; 0: no limit */
	uint64_t report_ns;	/* between progress lines; 0: none */
	uint64_t drain_ns;	/* wait this long for the last dispatches */
	uint64_t depth;		/* dispatches in flight a queue; 0: 200 ms of work */
	uint64_t ring;		/* packets that a queue holds, a power of two */
	uint64_t copy;		/* bytes of an SDMA round on each GPU; 0: none */
	uint64_t copy_after_ns; /* the first copy so long after the start */
	uint64_t wait_ns;	/* sleep before hsa_init */
	bool poll;		/* wait by polling, not by interrupt */
	bool forever;		/* wait without a limit, not 20 ms at a time */
	bool copy_on_usr1;	/* the first copy after that signal */
	bool leave;		/* exit without shutting down */
	bool help;
};

/* Returns 0, or -EINVAL with a sentence in @err. */
int rocm_args_parse(struct rocm_args *args, int argc, char **argv, char *err, size_t size);

extern const char rocm_usage[];

#endif
