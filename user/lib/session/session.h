/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session, as its own files see it. */
#ifndef GP_SESSION_H
#define GP_SESSION_H

#include "lib/core/internal.h"
#include "lib/session/kfd.h"
#include "lib/session/meter.h"
#include "lib/session/reader.h"

enum gp_session_state {
	GP_SESSION_OPENING,
	GP_SESSION_OPEN,
	GP_SESSION_LOST,  /* ended by another; we still trace */
	GP_SESSION_ENDED, /* the process is gone, or we have left it */
};

#define GP_MAX_RULES 8
#define GP_MAX_GPUS  128

/* What shall become of new queues that match. */
struct gp_rule {
	bool suspend;
	bool by_priority;
	uint32_t priority_min;
	uint32_t priority_max;
	size_t n_gpus; /* 0: on any */
	uint32_t gpu_ids[GP_MAX_GPUS];
};

/* Queues that run although they are to be suspended: release.c. */
struct gp_release {
	struct gp_meter ran; /* while any of them did */
	uint64_t told;	     /* of ran, ns: in an outcome */
	bool over;	     /* the budget is used up, and that was reported */
	bool all;	     /* all were released: the process is ending */
	size_t left;	     /* queues when that was last looked at */
	size_t ended;	     /* old queues destroyed in short order */
	uint64_t start;	     /* of the last release; 0: those are gone */
	uint64_t confirm_at; /* what is there then is suspended; 0: it was */
	/* Times in ns since boot: */
	uint64_t paced_until;	/* nothing is released before then */
	uint64_t quiet_until;	/* new queues came: not all are released */
	uint64_t suspect_until; /* new queues, or a queue that was not destroyed */
	/* Ever: */
	uint64_t count;	   /* queues released one by one */
	uint64_t returned; /* of these, suspended again at once */
	uint64_t made;	   /* new queues while others were held */
	uint64_t unseen;   /* of these, gone before they were in a snapshot */
	/* Of this round: events of new queues, less those in snapshots. */
	int64_t missing;
	int64_t late;		/* queues whose event had not come in the last */
	uint64_t dispatched;	/* ns since boot: the last time before this one */
	bool young[GP_MAX_IDS]; /* by id: made while others were held */
};

struct gpreempt_session {
	struct gpreempt *g;
	struct gp_kfd kfd;
	enum gp_session_state state;
	struct gpreempt_error error;
	bool traced;
	bool enabled;
	bool stopped;	  /* by job control */
	uint32_t runtime; /* DEBUG_RUNTIME_STATE_ of the process */
	bool had_runtime; /* it was enabled once, as far as we know */

	int events;  /* pipe the driver writes to; EOF: disabled */
	int stops;   /* readable when the process has stopped */
	void *watch; /* behind stops */
	int timer;   /* when to look for queues being destroyed */
	int epoll;   /* all three */
	bool timer_armed;
	uint64_t fast_until;	  /* look often until then, in ns since boot */
	uint64_t cost;		  /* of the last look, in ns */
	uint64_t looked_at_all;	  /* threads, in ns since boot */
	size_t threads_seen;	  /* in a look that is not finished */
	char destroyer[16];	  /* the thread that destroyed the last queue */
	struct gp_reader *reader; /* NULL: nothing was read yet */
	struct gp_release release;

	size_t n_rules;
	bool first_is_all;		       /* rules[0] is about all queues */
	uint32_t grace;			       /* of the driver's units */
	bool gpu_hung;			       /* the hardware kept a queue: do not try again */
	struct gpreempt_session_queue *queues; /* by id */
	size_t count;
	struct gpreempt_session_queue *spare; /* the next list, being made */
	struct kfd_queue_snapshot_entry *snapshot;
	size_t capacity;	    /* of all three */
	bool fresh;		    /* there was a queue that we did not know */
	struct gp_sampler *sampler; /* NULL: slots are not watched */
	enum gpreempt_sampling sampling;
	/* Right here: few of them share a page with the above. */
	uint32_t ids[GP_MAX_IDS];	    /* for the driver, which writes to it */
	struct gp_rule rules[GP_MAX_RULES]; /* the last that matches counts */
};

/* state.c: fail with a reason that gpreempt_session_error() gives. */
int gp_session_fail(struct gpreempt_session *s, int code, enum gpreempt_reason reason,
		    const char *step);
/* Turn an error of an operation of the driver into one with a reason. */
int gp_session_fail_trap(struct gpreempt_session *s, int code, const char *step);
/* The driver has resumed everything by itself. */
void gp_session_all_run(struct gpreempt_session *s);

/* queue-list.c: NULL when there is no such queue. */
struct gpreempt_session_queue *gp_session_find(const struct gpreempt_session *s, uint32_t qid);
bool gp_session_any_held(const struct gpreempt_session *s);
bool gp_session_any_destroyed(const struct gpreempt_session *s);

/* look-timer.c: the process may be about to end, look often for a while. */
void gp_session_look_fast(struct gpreempt_session *s);
/* Arm or disarm the timer for gp_session_scan_destroyers(). */
void gp_session_arm(struct gpreempt_session *s);

/* attach.c */
int gp_session_attach(struct gpreempt_session *s);
int gp_session_enable(struct gpreempt_session *s);
/*
 * End the debug session and the tracing. stopped: the process is in a ptrace
 * stop that was collected. -ETIMEDOUT when it did not stop for us.
 */
int gp_session_leave(struct gpreempt_session *s, bool stopped);

/*
 * filter.c: priorities are asked for when a filter needs them.
 * 0, -ENODATA when they are not known.
 */
int gp_session_learn_priorities(struct gpreempt_session *s);
/* Remember what a filter without ids means for new queues. 0 or -errno. */
int gp_session_add_rule(struct gpreempt_session *s, const struct gpreempt_filter *which,
			bool suspend);
/* Do the rules say that this new queue is to be suspended? */
bool gp_session_wants(const struct gpreempt_session *s, const struct gpreempt_session_queue *queue);
/* Does a rule ask for priorities? */
bool gp_session_needs_priorities(const struct gpreempt_session *s);
/* Is it one of these, but for its id? */
bool gp_filter_matches(const struct gpreempt_filter *which,
		       const struct gpreempt_session_queue *queue);
bool gp_filter_is_all(const struct gpreempt_filter *which);

/* change.c: suspend what is wanted and not held. */
int gp_session_apply(struct gpreempt_session *s);
/* Resume these ids without forgetting that they were wanted. */
int gp_session_resume_ids(struct gpreempt_session *s, size_t count);
/*
 * Look at the slots of what is meant, and then go on while the driver works, if
 * sampling was requested.
 */
void gp_session_arm_sampler(struct gpreempt_session *s, const struct gpreempt_filter *which);
/* The driver has returned, or was not called. */
void gp_session_finish_sampler(struct gpreempt_session *s, struct gpreempt_outcome *out);

/*
 * destroy.c: look for queues being destroyed, and release them. GPREEMPT_EVENT_ bits or -errno.
 */
int gp_session_scan_destroyers(struct gpreempt_session *s);

/*
 * release.c: release the queues in s->ids, which a thread destroys or so it seems, and suspend
 * those again that it does not. GPREEMPT_EVENT_ bits or -errno.
 */
int gp_release(struct gpreempt_session *s, size_t count);
/* What has become of released queues? GPREEMPT_EVENT_ bits or -errno. */
int gp_release_check(struct gpreempt_session *s, uint64_t now);

/* release-account.c: there is a new queue, which is to be suspended. */
void gp_release_note_new(struct gpreempt_session *s, uint32_t qid);
/*
 * A snapshot was taken of a session that was just opened: the events of those
 * queues that were made meanwhile are still to be read, and the rest has none.
 */
void gp_release_start(struct gpreempt_session *s);
/* After a snapshot: the queues of events that are in none are gone. */
void gp_release_note_unseen(struct gpreempt_session *s);
/* What is held, wanted or known has changed at now: count from there on. */
void gp_release_count(struct gpreempt_session *s, uint64_t now);
/* Have queues run for longer than the process may have? */
bool gp_release_over_budget(struct gpreempt_session *s, uint64_t now);
/* No queue is released for a while: that is how long it has run since then. */
void gp_release_pace(struct gpreempt_session *s, uint64_t ns, uint64_t now);
/* GPREEMPT_EVENT_CHURN when that is news, or 0. */
int gp_release_report(struct gpreempt_session *s);

#endif
