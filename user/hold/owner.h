/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of a target: a process that takes it off its GPUs and lets it run for as
 * long as the process lives, by a debug session or by pauses. What the caller sees is
 * the same for both. lib/preempt/method.c has the table of both.
 */
#ifndef HOLD_OWNER_H
#define HOLD_OWNER_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include <gpreempt/core.h>

#include "lib/preempt/method.h"
#include "pause-owner.h"
#include "run-dir.h"

/* How many queues a process has; 0 also if that cannot be read. */
size_t queues_of(struct gpreempt *g, pid_t target);

struct owner {
	/* Set by the caller: */
	pid_t target;
	struct heartbeat *heartbeat; /* started; outlives the owner */
	enum gpreempt_how how;
	struct hold_owner as; /* the lock's entry, for a pause */
	int lock;	      /* lock of the target; -1: a pause has given it back */
	bool guarded;	      /* the caller, a holder, has its own guardian */
	/* Called when another process let the target run and the owner goes on; or NULL. */
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;

	struct gpreempt *g; /* busy times stop the heartbeat's clock */
	/* The method in use; with GPREEMPT_HOW_AUTO it may change once. */
	enum gpreempt_method in_use;
	bool changed;
	uint64_t looked_ns; /* time of the last look at the pause */
	bool off;	    /* the target is off the GPU without a pause; reported */
	bool was_off;	    /* off was true at least once */
	bool unpaused;	    /* another program ended the pause; reported, and not renewed so far */
	/* Reason for a pause although a session was tried; reason 0: none. */
	struct gpreempt_error why;
	struct gp_method method; /* ops NULL: closed */
	struct pause_owner pause;
	struct gpreempt_error error; /* error with which the owner was closed */
};

/*
 * All functions: one thread. When owner_suspend() can neither suspend nor pause the target, it
 * closes the owner, and all functions return that error.
 */

/* Could it be held so, before there is an owner? 0, or -errno with *err. */
int owner_check(struct gpreempt *g, pid_t target, enum gpreempt_how how,
		struct gpreempt_error *err);
/* The handle on the library alone, if there is none. 0 or -errno. */
int owner_new(struct owner *o);
/* Open it. 0, or -errno with *err: then it is closed. */
int owner_open(struct owner *o, struct gpreempt_error *err);
static inline bool owner_is_open(const struct owner *o)
{
	return o->method.ops;
}

static inline bool owner_is_paused(const struct owner *o)
{
	return o->in_use == GPREEMPT_METHOD_PAUSE;
}
/*
 * Let the target run, with nothing attached to it. Returns 0, also when it is closed already; or
 * -errno with owner_error(): the pause of another program keeps the target off the GPU
 * (GPREEMPT_PAUSE_OFF), or the owner could not end its own pause. The guardian of the pause ends
 * it once the owner's process has ended.
 */
int owner_close(struct owner *o);
/* GPREEMPT_EVENT_ bits, or -errno with owner_error(). */
int owner_dispatch(struct owner *o);

struct shr_freezer;

/* The first of the descriptors that the loop of an owner polls. */
enum {
	OWNER_TARGET,
	OWNER_FREEZER,
	OWNER_OTHERS, /* the caller's, from here on */
};

/*
 * Wait for up to @ns until one of @n descriptors is ready, as ppoll() does. The first two are set
 * here. With a @freezer (or NULL) the caller follows job control: a paused target is then looked
 * at soon again, since it has no event for a stop. Then call owner_dispatch(), in any case.
 */
int owner_wait(const struct owner *o, const struct shr_freezer *freezer, struct pollfd *fds,
	       size_t n, uint64_t ns);
/*
 * Do what gpreempt_session_suspend() and its like do. A pause takes the whole process off all of
 * its GPUs, whatever @which is.
 */
int owner_suspend(struct owner *o, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out);
int owner_resume(struct owner *o, const struct gpreempt_filter *which,
		 struct gpreempt_outcome *out);
/*
 * Has job control stopped it? A session has an event for that, a pause has none: ask
 * again and again.
 */
bool owner_is_stopped(const struct owner *o);
const struct gpreempt_error *owner_error(const struct owner *o);

#endif
