/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a process is held: a table of functions for each method, and the same code on
 * top of both. All functions are called by one thread, after open().
 */
#ifndef LIB_PREEMPT_METHOD_H
#define LIB_PREEMPT_METHOD_H

#include <gpreempt/gang.h>

#include "lib/core/internal.h"
#include "pause.h"
#include "session.h"

struct gp_method;

struct gp_method_ops {
	/* Begins. 0, or -errno with gp_method_error(): then nothing is to be closed. */
	int (*open)(struct gp_method *m);
	/* The queues run. 0 or -errno. */
	int (*close)(struct gp_method *m);
	/* GPREEMPT_EVENT_ bits, or -errno with gp_method_error(). */
	int (*dispatch)(struct gp_method *m);
	/* Right before a suspend, where time does not count. */
	void (*prepare)(struct gp_method *m, const struct gpreempt_filter *which);
	/* Do what gpreempt_session_suspend() and its like do. */
	int (*suspend)(struct gp_method *m, const struct gpreempt_filter *which,
		       struct gpreempt_outcome *out);
	int (*resume)(struct gp_method *m, const struct gpreempt_filter *which,
		      struct gpreempt_outcome *out);
	enum gpreempt_verdict (*verify)(struct gp_method *m, enum gpreempt_verified_by *by);
	int (*sample)(struct gp_method *m, bool on);
	/* Call fn for the GPU of each known queue. */
	void (*each_gpu)(const struct gp_method *m, void (*fn)(void *data, uint32_t gpu_id),
			 void *data);
};

/*
 * A session that is opened again when it is lost: any process that may open /dev/kfd can end one
 * (Linux 6.18 and older). The queues are then again as they were wanted. After six losses with less
 * than 10 s between them it stays lost, its queues run, and all calls return @over: what was wanted
 * must not be done without the caller's knowledge. The process is still traced then.
 */
struct gp_keeper {
	struct gpreempt_session *session;
	/* Called before each renewal, with the reason of the loss; or NULL. */
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;
	int over;	     /* 0, or the -errno of a loss that was not renewed */
	unsigned int losses; /* how many in a row, with short times between */
	uint64_t last_ns;    /* when the last loss was */
};

/* State of a pause. */
struct gp_method_pause {
	uint64_t start;	    /* start time of the process, clock ticks since boot */
	uint64_t return_ns; /* when the driver returned from the last ioctl */
	/* Helper for the next pause. Its descriptor is readable once the target has ended. */
	struct gp_pause_ready ready;
	bool paused;		    /* by us */
	struct gpreempt_view *view; /* view of the last prepare(); NULL: none */
	struct gp_sampler *sampler; /* NULL: off */
};

struct gp_method {
	const struct gp_method_ops *ops;
	struct gpreempt *g;
	pid_t pid;
	struct gpreempt_error error;  /* error of open(), and of a pause */
	struct gp_keeper keeper;      /* for a session; lost and data are set */
	struct gp_method_pause pause; /* for a pause */
};

/* Returns the reason why the last call failed. Valid until the next one. */
static inline const struct gpreempt_error *gp_method_error(const struct gp_method *m)
{
	return m->keeper.session ? &m->keeper.session->error : &m->error;
}

/* Returns a descriptor to poll for input; then call dispatch(). */
static inline int gp_method_fd(const struct gp_method *m)
{
	return m->keeper.session ? gpreempt_session_fd(m->keeper.session) : m->pause.ready.process;
}

/* Could a pause be opened? Does not touch the process: 0, or as the pause's open() with *err. */
int gp_method_pause_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err);
/* Refresh a session, as gp_session_refresh(). */
int gp_method_refresh(struct gp_method *m);

/* Methods by enum gpreempt_method. */
extern const struct gp_method_ops *const gp_methods[GPREEMPT_METHODS];

#endif
