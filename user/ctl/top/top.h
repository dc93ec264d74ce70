/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_TOP_TOP_H
#define CTL_TOP_TOP_H

#include "ctl/figures/sampler.h"
#include "ctl/top/model.h"
#include "ctl/top/view.h"

struct top_args {
	uint64_t batch;
	enum out_mode mode;
	uint64_t count;	   /* of refreshes; 0: any */
	uint64_t delay_ns; /* from one to the next */
	uint64_t looks_ns; /* from one look to the next; 0: as 1 % of a CPU allows */
};

struct top {
	const struct top_args *args;
	struct ctl_sampler sampler;
	struct top_model model;
	struct top_view view;
	int stop; /* readable after Ctrl-C and its like, and when the size changes */
};

/* What there is now, in its order. 0 or -errno with *err. */
int top_refresh(struct top *t, struct gpreempt_error *err);
/* Without a terminal. Returns the exit status. */
int top_batch(struct top *t);
/* On a terminal. Returns the exit status. */
int top_interactive(struct top *t);

#endif
