/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of a target: a process that takes it off its GPUs and lets it run for as
 * long as the process lives, by a debug session or by pauses. What the caller sees is
 * the same for both.
 */
#ifndef AGENT_OWNER_H
#define AGENT_OWNER_H

#include "agent/pause-owner.h"
#include "agent/session-owner.h"

struct owner;

struct owner_ops {
	/* 0, or -errno with *err; then nothing is to be closed. */
	int (*open)(struct owner *o, struct gpreempt_error *err);
	int (*close)(struct owner *o);
	int (*fd)(const struct owner *o);
	int (*dispatch)(struct owner *o);
	int (*suspend)(struct owner *o, const struct gpreempt_filter *which,
		       struct gpreempt_outcome *out);
	int (*resume)(struct owner *o, const struct gpreempt_filter *which,
		      struct gpreempt_outcome *out);
	bool (*is_stopped)(const struct owner *o);
	const struct gpreempt_error *(*error)(const struct owner *o);
};

struct owner {
	/* Set by the caller: */
	pid_t target;
	struct heartbeat *heartbeat; /* started; outlives the owner */
	enum gpreempt_how how;
	struct hold_owner as; /* what the lock names, for a pause */
	int lock;	      /* of the target; -1: a pause has given it back */
	bool guarded;	      /* the caller, a holder, has its own guardian */
	/* NULL, or: another process let the target run, and we go on. */
	void (*lost)(void *data, const struct gpreempt_error *err);
	void *data;

	/* As it is taken off now: with GPREEMPT_HOW_AUTO it may change once. */
	enum gpreempt_route route;
	bool changed;
	/* Why it is paused although a session was tried; reason 0: it is not. */
	struct gpreempt_error why;
	const struct owner_ops *ops;  /* NULL: closed */
	struct session_owner session; /* its handle on the library is of both */
	struct {
		struct pause_owner owner;
		int process; /* readable once it has ended */
		bool paused; /* by us */
		uint64_t return_ns;
		struct gpreempt_error error;
	} pause;
};

/*
 * All functions: one thread. After owner_suspend() could neither suspend nor pause it,
 * it is closed, and all of them return that error.
 */

/* Could it be held so, before there is an owner? 0, or -errno with *err. */
int owner_check(struct gpreempt *g, pid_t target, enum gpreempt_how how,
		struct gpreempt_error *err);
/* 0, or -errno with *err: then it is closed. */
int owner_open(struct owner *o, struct gpreempt_error *err);
/*
 * The target runs, and nothing is attached to it. 0, also when it is closed already;
 * -errno: its pause could not be ended, and its guardian does when we have ended.
 */
int owner_close(struct owner *o);
/*
 * To poll for input, and then owner_dispatch(). Another one after owner_suspend() has
 * changed the way.
 */
int owner_fd(const struct owner *o);
/* GPREEMPT_EVENT_ bits, or -errno with owner_error(). */
int owner_dispatch(struct owner *o);
/*
 * As gpreempt_keeper_suspend(), and its like. A pause takes the whole process off all
 * of its GPUs, whatever @which says.
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

/* owner-pause.c; the other is in owner.c. */
extern const struct owner_ops owner_pause_ops;

#endif
