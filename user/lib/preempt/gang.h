/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gang, for its own files. */
#ifndef LIB_PREEMPT_GANG_H
#define LIB_PREEMPT_GANG_H

#include "lib/core/internal.h"
#include "method.h"
#include "shared/util.h"

enum gp_order {
	GP_ORDER_SUSPEND,
	GP_ORDER_RESUME,
	GP_ORDER_VERIFY,
	GP_ORDER_SAMPLE, /* or not any more, as the gang does now */
	GP_ORDER_CLOSE,
};

struct gp_member {
	struct gpreempt_gang *gang;
	pthread_t thread;
	pid_t tid;		 /* set when it is added */
	struct gp_method method; /* the thread's */

	/* The order: written before wake, read after it. */
	enum gp_order order;
	const struct gpreempt_filter *which;
	int wake;
	sem_t ready; /* the thread waits for go */
	sem_t go;
	sem_t entered;	 /* posted right before the member calls the driver */
	sem_t done;	 /* posted when the member has done its order, or is open */
	uint64_t end_ns; /* when the order was done */

	/* Members under the gang's lock. */
	struct gpreempt_member public;
	size_t last_gpu; /* the last GPU, in KFD's order, on which it has queues */
};

struct gpreempt_gang {
	struct gpreempt *g;
	pthread_mutex_t lock;
	int events; /* readable: some member has had an event */
	uint64_t released_ns;
	bool sampling;
	struct gp_member **members;
	size_t count;
	struct gpreempt_node *nodes; /* in KFD's order; under the lock */
	size_t n_nodes;
};

#endif
