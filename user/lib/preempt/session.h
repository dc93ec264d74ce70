/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver's debug-trap ioctl, one function an operation. */
#ifndef LIB_PREEMPT_SESSION_H
#define LIB_PREEMPT_SESSION_H

#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/core/internal.h"
#include "shared/util.h"

/* The driver refuses longer arrays of ids. */
#define GP_MAX_IDS 1024

/* Are slots watched while a suspend is in the driver? */
enum gpreempt_sampling {
	GPREEMPT_SAMPLE_OFF,
	GPREEMPT_SAMPLE_ON, /* from before the suspend is given to the driver */
	/* The suspend does not wait for the thread that watches: it may come too late. */
	GPREEMPT_SAMPLE_BESIDE,
	GPREEMPT_SAMPLE_PAUSE, /* not now, but soon again: the thread stays */
};

/*
 * How well a process is held.
 *
 * With @churn, a process that has made queues or deceived us waits 24 times as long as its last
 * queue ran before the next is released, and 100 times from nine hundredths of @window_ns on, so
 * that less than a tenth of any @window_ns is lost.
 *
 * The driver lets a process that destroys a suspended queue wait for its resume
 * (wait_on_destroy_queue() in amdkfd/kfd_device_queue_manager.c), so such a queue is resumed. A
 * process that destroys four queues that were there when they were suspended, and makes none,
 * is taken to be ending: all are resumed then, for at most nine hundredths of @window_ns.
 *
 * A new queue counts from when the session learns of it. The driver writes an
 * event for each, so a queue that is gone by then is known of, too: it counts in
 * @unseen, and in the times from the last time that the session looked, which is the longest
 * that it can have run. It cannot be kept from running: the driver suspends no queue before its
 * session has acknowledged it, and destroys one that is not suspended at once.
 */
struct gpreempt_released {
	uint64_t window_ns; /* 10 s */
	/* how long, of the last window_ns, some queue has run although it was to be suspended */
	uint64_t recent_ns;
	uint64_t total_ns; /* the same since the session was opened */
	/* queues that were released, so that a thread of the process could destroy them */
	uint64_t destroyed;
	/* queues of destroyed that were not, and were suspended again: a signal, or a lie */
	uint64_t returned;
	uint64_t made;	 /* queues that the process made while others were suspended */
	uint64_t unseen; /* queues of made that were gone before they were suspended, at least */
	bool churn;	 /* recent_ns has reached a twentieth of window_ns */
};

struct gp_kfd {
	const struct gpreempt *g;
	int fd;
	pid_t pid;	   /* process whose queues it is about */
	uint64_t entry_ns; /* entry into the last operation, ns since boot */
	uint64_t return_ns;
};

/*
 * Calls of the driver. All return the driver's result or -errno; EINTR is tried again, and
 * -EAGAIN is an answer. Only the thread that traces the process gets one.
 */
int gp_kfd_version(const struct gp_kfd *k, unsigned int *major, unsigned int *minor);

/*
 * Read up to *count entries; *count becomes the number of all queues. With acknowledge the
 * copied queues are not new any more for the driver.
 */
int gp_kfd_snapshot(struct gp_kfd *k, bool acknowledge, struct kfd_queue_snapshot_entry *entries,
		    uint32_t *count);

/* The ids come back with KFD_DBG_QUEUE_ bits; see gp_kfd_judge(). */
int gp_kfd_suspend(struct gp_kfd *k, uint32_t *ids, size_t count, uint32_t grace);
int gp_kfd_resume(struct gp_kfd *k, uint32_t *ids, size_t count);

/* Take the result bits off an id that the driver returned. Returns their meaning. */
static inline enum gpreempt_result gp_kfd_judge(uint32_t *id)
{
	const uint32_t error = KFD_DBG_QUEUE_ERROR_MASK;
	const uint32_t invalid = 1U << KFD_DBG_QUEUE_INVALID_BIT;
	uint32_t bits = *id;

	if (!(bits & (error | invalid)))
		return GPREEMPT_RESULT_DONE;
	*id = bits & ~(error | invalid);
	return bits & error ? GPREEMPT_RESULT_FAILED : GPREEMPT_RESULT_REFUSED;
}

/* Returns the pending exceptions; -EAGAIN when there are none. */
int gp_kfd_query_event(struct gp_kfd *k, uint64_t *exceptions);

/*
 * The process waits in the driver after it has enabled or disabled its
 * runtime: read the new state, and let it go on.
 */
int gp_kfd_answer_runtime(struct gp_kfd *k, uint32_t *runtime);

/* Meter of a state: how long it held within the last ten seconds, and in all. */

#define GP_METER_SLOTS	 100
#define GP_METER_SLOT_NS (100 * NSEC_PER_MSEC)
#define GP_METER_WINDOW	 (GP_METER_SLOTS * GP_METER_SLOT_NS)

/* All 0: the state never held so far. Times are of shr_now_ns(). */
struct gp_meter {
	uint64_t since;	 /* start of the time that is not added yet; 0: the state does not hold */
	uint64_t total;	 /* ns, up to since */
	uint64_t end;	 /* end of the time that was added last */
	uint64_t newest; /* the number of the newest slot */
	/* Time in each slot, by number; one more than the window, which begins within a slot. */
	uint64_t slot[GP_METER_SLOTS + 1];
};

/* Note that the state holds from now on, or does not. */
void gp_meter_set(struct gp_meter *m, bool so, uint64_t now);
/* Add the time from @from to @now. Time that was counted before is not counted twice. */
void gp_meter_add(struct gp_meter *m, uint64_t from, uint64_t now);
/* Returns how long the state held in the window that ends now, and in all. */
uint64_t gp_meter_recent(struct gp_meter *m, uint64_t now);
uint64_t gp_meter_total(struct gp_meter *m, uint64_t now);

/*
 * Reader of a process's memory, in a thread of its own.
 *
 * The process decides what its memory is: a page of a file system that does not answer, or one
 * that a userfaultfd serves, keeps the reader for as long as the process likes. The thread that
 * traces the process must not wait for it.
 */

struct gp_reader;

/* Bytes of one read, at most. */
#define GP_READER_MAX 64

/* Longest wait of the caller. */
#ifndef GP_READER_NS
#define GP_READER_NS (5 * NSEC_PER_MSEC)
#endif

/* Start a reader. 0, -ENOMEM, -EAGAIN. The handle must outlive the reader. */
int gp_reader_start(const struct gpreempt *g, pid_t pid, struct gp_reader **out);

/*
 * Read @size bytes. -ETIMEDOUT when it takes longer than GP_READER_NS; until that read has come
 * back every further one fails with -EBUSY at once.
 */
int gp_reader_read(struct gp_reader *r, uint64_t address, void *buf, size_t size);

/* Does not wait: a thread that still reads frees it later. NULL is allowed. */
void gp_reader_stop(struct gp_reader *r);

/* Members of a session, for the files that make it. */

enum gp_session_state {
	GP_SESSION_OPENING,
	GP_SESSION_OPEN,
	GP_SESSION_LOST,  /* ended by another; we still trace */
	GP_SESSION_ENDED, /* the process is gone, or we have left it */
};

#define GP_MAX_RULES 8
#define GP_MAX_GPUS  128

/* Rule for new queues that match. */
struct gp_rule {
	bool suspend;
	struct gpreempt_filter which; /* without ids; its gpu_ids are those below */
	uint32_t gpu_ids[GP_MAX_GPUS];
};

/* Queues that run although they are to be suspended: release.c. */
struct gp_release {
	struct gp_meter ran; /* the time while any of these queues ran */
	uint64_t told;	     /* part of ran, in ns, that an outcome has reported */
	bool over;	     /* the budget is used up, and that was reported */
	bool all;	     /* all were released: the process is ending */
	size_t left;	     /* queues at the last look */
	size_t ended;	     /* old queues destroyed in short order */
	uint64_t start;	     /* when the last release began; 0: its queues are gone */
	uint64_t confirm_at; /* when to suspend again the queues that are left; 0: done */
	/* Times in ns since boot: */
	uint64_t paced_until;	/* nothing is released before then */
	uint64_t quiet_until;	/* new queues came: not all are released */
	uint64_t suspect_until; /* new queues, or a queue that was not destroyed */
	/* Ever: */
	uint64_t count;	   /* queues released one by one */
	uint64_t returned; /* queues of count that were suspended again at once */
	uint64_t made;	   /* new queues while others were held */
	uint64_t unseen;   /* queues of made that were gone before a snapshot had them */
	/* Events of new queues in this round, less the new queues in snapshots. */
	int64_t missing;
	int64_t late;		/* queues whose event had not come in the last round */
	uint64_t dispatched;	/* time of the last dispatch, in ns since boot */
	bool young[GP_MAX_IDS]; /* by id: made while others were held */
};

struct gpreempt_session {
	struct gpreempt *g;
	struct gp_kfd kfd;
	enum gp_session_state state;
	struct gpreempt_error error;
	bool traced;
	bool enabled;
	bool stopped;	  /* by job control, as far as a dispatch has seen */
	uint32_t runtime; /* DEBUG_RUNTIME_STATE_ of the process */
	bool had_runtime; /* the runtime was enabled once, as far as we know */

	int events;  /* pipe the driver writes to; EOF: disabled */
	int stops;   /* readable when the process has stopped */
	void *watch; /* behind stops */
	int timer;   /* when to look for queues being destroyed */
	int epoll;   /* all three */
	bool timer_armed;
	uint64_t fast_until;	  /* look often until then, in ns since boot */
	uint64_t active_ns;	  /* the first suspend or the last find; 0: nothing is held */
	uint64_t cost;		  /* how long the last look took, in ns */
	uint64_t looked_at_all;	  /* threads, in ns since boot */
	size_t threads_seen;	  /* in a look that is not finished */
	uint64_t cpu_ns;	  /* CPU time before the last whole look that found none */
	char destroyer[16];	  /* the thread that destroyed the last queue */
	struct gp_reader *reader; /* NULL: nothing was read yet */
	struct gp_release release;

	size_t n_rules;
	bool first_is_all;		       /* rules[0] is about all queues */
	uint32_t grace;			       /* period in the driver's units */
	bool gpu_hung;			       /* the hardware kept a queue: do not try again */
	struct gpreempt_session_queue *queues; /* by id */
	size_t count;
	struct gpreempt_session_queue *spare; /* the next list, being made */
	struct kfd_queue_snapshot_entry *snapshot;
	size_t capacity;	    /* entries in queues, spare and snapshot */
	bool fresh;		    /* the last list had a queue that the session did not know */
	struct gp_sampler *sampler; /* NULL: slots are not watched */
	enum gpreempt_sampling sampling;
	/* These two stand here: their first entries share a page with the members above. */
	uint32_t ids[GP_MAX_IDS];	    /* for the driver, which writes to it */
	struct gp_rule rules[GP_MAX_RULES]; /* the last that matches counts */
};

/* Fail with a reason that gpreempt_session_error() gives. */
int gp_session_fail(struct gpreempt_session *s, int code, enum gpreempt_reason reason,
		    const char *step);
/* Turn an error of an operation of the driver into one with a reason. */
int gp_session_fail_trap(struct gpreempt_session *s, int code, const char *step);
/* The driver has resumed everything by itself. */
void gp_session_all_run(struct gpreempt_session *s);

/* Find a queue; NULL: there is none. */
struct gpreempt_session_queue *gp_session_find(const struct gpreempt_session *s, uint32_t qid);
bool gp_session_any_held(const struct gpreempt_session *s);
bool gp_session_any_destroyed(const struct gpreempt_session *s);

/* Look often for a while: the process may be about to end. */
void gp_session_look_fast(struct gpreempt_session *s);
/* Arm or disarm the timer for gp_session_scan_destroyers(). */
void gp_session_arm(struct gpreempt_session *s);

int gp_session_enable(struct gpreempt_session *s);
/*
 * End the debug session and the tracing. stopped: the process is in a ptrace
 * stop that was collected. -ETIMEDOUT when it did not stop for us.
 */
int gp_session_leave(struct gpreempt_session *s, bool stopped);

/* Ask for priorities, when a filter needs them. 0, -ENODATA when they are not known. */
int gp_session_learn_priorities(struct gpreempt_session *s);
/* Do the rules suspend this new queue? */
bool gp_session_wants(const struct gpreempt_session *s, const struct gpreempt_session_queue *queue);

/* Suspend the queues that are wanted and not held. */
int gp_session_apply(struct gpreempt_session *s);
/* Resume these ids without forgetting that they were wanted. */
int gp_session_resume_ids(struct gpreempt_session *s, size_t count);
/*
 * Look at the slots of the queues that are meant, and then go on while the driver works, if
 * sampling was requested.
 */
void gp_session_arm_sampler(struct gpreempt_session *s, const struct gpreempt_filter *which);
/* The driver has returned, or was not called. */
void gp_session_finish_sampler(struct gpreempt_session *s, struct gpreempt_outcome *out);

/* Look for queues being destroyed, and release them. GPREEMPT_EVENT_ bits or -errno. */
int gp_session_scan_destroyers(struct gpreempt_session *s);

/*
 * Release the queues in s->ids, which a thread seems to destroy, and suspend again those that it
 * does not. GPREEMPT_EVENT_ bits or -errno.
 */
int gp_release(struct gpreempt_session *s, size_t count);

/* Note a new queue that has to be suspended. */
void gp_release_note_new(struct gpreempt_session *s, uint32_t qid);
/*
 * Begin to count after the first snapshot of a session: events of queues that were made
 * meanwhile are still to be read; other queues have none.
 */
void gp_release_start(struct gpreempt_session *s);
/* Note, after a snapshot, that queues with an event and without a snapshot are gone. */
void gp_release_note_unseen(struct gpreempt_session *s);
/* Start or stop the count of run time at @now, after a change of what is held, wanted or known. */
void gp_release_count(struct gpreempt_session *s, uint64_t now);
/* Returns GPREEMPT_EVENT_CHURN when it is news, or 0. */
int gp_release_report(struct gpreempt_session *s);

/* A thread that watches slots while another one is in the driver. */

struct gp_sampler;

/* Switch the sampler on or off (NULL). It needs the module. 0 or -errno. */
int gp_sampler_switch(struct gp_sampler **sampler, bool on, struct gpreempt *g, pid_t pid,
		      struct gpreempt_error *err);
/* Stop the sampler; NULL is allowed. */
void gp_sampler_stop(struct gp_sampler *sampler);

/* Begin to watch. wait: return when these queues have been looked at once. */
void gp_sampler_arm(struct gp_sampler *sampler, const uint32_t *ids, size_t count, bool wait);
bool gp_sampler_armed(const struct gp_sampler *sampler);

/*
 * If it is armed: the driver has returned; wait until no slot is active, but not for
 * long. @out stays as it is when none was seen to become inactive after @entry_ns.
 */
void gp_sampler_finish(struct gp_sampler *sampler, uint64_t entry_ns, struct gpreempt_outcome *out);

/*
 * Units that a time is, rounded up, by the highest clock of the GPUs of a process
 * (max_engine_clk_fcompute in KFD's topology): at a lower clock they last longer. 0 gives 1 unit.
 * 0, -ERANGE (GPREEMPT_GRACE with the longest time), -ENODATA (GPREEMPT_NO_CLOCK), or -errno.
 */
int gp_grace_units(struct gpreempt *g, pid_t pid, uint64_t ns, uint32_t *units,
		   struct gpreempt_error *err);

/*
 * The grace period of later suspends, in units of 1,024 GPU clocks, 1 to GPREEMPT_GRACE_MAX, or
 * GPREEMPT_GRACE_DEFAULT. 0 is taken for 1, as the driver does. The field has 8 bits (SCH_WAVE of
 * CP_IQ_WAIT_TIME2; kgd_gfx_v9_build_grace_period_packet_info() in amdgpu_amdkfd_gfx_v9.c), and
 * the driver cuts what is longer: 256 would become 0, for ever. It counts for every process that
 * is preempted on the GPU in that moment. GPUs with MES ignore it. 0 or -ERANGE.
 */
int gp_session_set_grace(struct gpreempt_session *s, uint32_t units);

/*
 * Measure when slots become inactive: a thread reads the view of gpreempt.ko while a suspend is in
 * the driver, as fast as it can, and the suspend returns when no slot is seen active any more, or
 * after 100 ms. It takes a CPU for that time. Each read tests the slots of the GPU (three registers
 * a slot, see docs/module.md). 0, or -ENODATA when gpreempt.ko does not show the process, -ENOMEM,
 * -EAGAIN.
 */
int gp_session_sample_slots(struct gpreempt_session *s, enum gpreempt_sampling mode);

/*
 * Learn and acknowledge the queues of now: one that was not acknowledged cannot be suspended
 * (suspend_single_queue() in amdkfd/kfd_device_queue_manager.c). 0, -ENOTCONN when the session has
 * ended, or -errno.
 */
int gp_session_refresh(struct gpreempt_session *s);

/*
 * Returns how long queues ran although they are "held". GPREEMPT_EVENT_CHURN is reported when
 * @out->churn becomes true. Its thread.
 */
void gp_session_released(struct gpreempt_session *s, struct gpreempt_released *out);

/*
 * Wait until a process has a queue: one without is starting or ending. It dispatches meanwhile. 0;
 * -ESRCH when it has ended or has disabled its runtime (GPREEMPT_ENDED, GPREEMPT_ENDING);
 * -ETIMEDOUT; or as gpreempt_session_dispatch().
 */
int gp_session_await_queues(struct gpreempt_session *s, uint64_t timeout_ns);

/*
 * Open a session again that another process ended, after GPREEMPT_EVENT_LOST: queues that were to
 * be suspended are suspended again. Its thread. 0, -EINVAL when it was not lost, or as
 * gpreempt_session_open(), with the reason in gpreempt_session_error().
 */
int gp_session_renew(struct gpreempt_session *s);

#endif
