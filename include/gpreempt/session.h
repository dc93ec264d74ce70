/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libgpreempt: a session suspends and resumes the queues of one process. */
#ifndef GPREEMPT_SESSION_H
#define GPREEMPT_SESSION_H

#include <gpreempt/core.h>

GPREEMPT_BEGIN_DECLS

struct gpreempt_session;

/**
 * gpreempt_session_open() - open a debug session on a process
 * @g: library; must outlive the session
 * @pid: process
 * @out: gets the session, for gpreempt_session_close()
 * @err: or NULL; gets the reason
 *
 * The calling thread becomes the tracer of the process's first thread, without
 * stopping it, and has to handle its signals: it must call
 * gpreempt_session_wait() or gpreempt_session_dispatch() whenever
 * gpreempt_session_fd() is readable, or the process hangs at its next signal.
 * All queues are acknowledged and can be suspended when this returns.
 *
 * The calling thread becomes the session's thread; any thread may.
 *
 * Return: 0, or a negative errno value; gpreempt_check() has most of them.
 */
int gpreempt_session_open(struct gpreempt *g, pid_t pid, struct gpreempt_session **out,
			  struct gpreempt_error *err);

/**
 * gpreempt_session_close() - leave: all queues run, the process is not traced
 * @s: session, or NULL; it is freed in any case
 *
 * Its thread.
 *
 * Return: 0, or -ETIMEDOUT when the process did not answer within two seconds;
 * the kernel then detaches from it when the calling thread ends.
 */
int gpreempt_session_close(struct gpreempt_session *s);

/**
 * struct gpreempt_filter - which queues of a process
 * @ids: queue ids, or NULL for all
 * @n_ids: number of @ids, at most 1024
 * @by_priority: only those of priority @priority_min to @priority_max
 * @priority_min: 0 to 15
 * @priority_max: 0 to 15
 * @gpu_ids: only those on these nodes, or NULL for all
 * @n_gpu_ids: number of @gpu_ids, at most 128
 * @reserved: 0; a later release may use it
 *
 * A queue matches when it matches all parts; all 0, or NULL for the filter, matches all queues.
 * The arrays are the caller's and are copied. Priorities are known from gpreempt.ko only.
 */
struct gpreempt_filter {
	const uint32_t *ids;
	size_t n_ids;
	bool by_priority;
	uint32_t priority_min;
	uint32_t priority_max;
	const uint32_t *gpu_ids;
	size_t n_gpu_ids;
	uint64_t reserved[4];
};

/**
 * struct gpreempt_outcome - what one suspend or resume did
 * @ioctl_ns: from entry to return of the ioctl
 * @requested: queues asked for
 * @done: queues that are as asked now
 * @refused: queues that the driver does not know, or that are being destroyed
 * @failed: queues that the hardware did not release
 * @slots_ns: from entry of the ioctl to when the last slot of the queues was
 *	first seen inactive; GPREEMPT_UNKNOWN when it was not measured
 * @resolution_ns: the slot became inactive at most that long before @slots_ns;
 *	GPREEMPT_UNKNOWN as that
 * @released_ns: how long at least one queue has run although it was to be
 *	suspended, since the last suspend or resume; of a resume: while it held
 * @reserved: 0; a later release may use it
 */
struct gpreempt_outcome {
	uint64_t ioctl_ns;
	size_t requested;
	size_t done;
	size_t refused;
	size_t failed;
	int64_t slots_ns;
	int64_t resolution_ns;
	uint64_t released_ns;
	uint64_t reserved[7];
};

/** enum gpreempt_result - what the driver last said about a queue */
enum gpreempt_result {
	GPREEMPT_RESULT_NONE,
	GPREEMPT_RESULT_DONE,
	GPREEMPT_RESULT_REFUSED,
	GPREEMPT_RESULT_FAILED,
};

/**
 * struct gpreempt_session_queue - a queue as the session knows it
 * @qid: queue id
 * @gpu_id: node
 * @type: enum gpreempt_queue_type
 * @priority: 0 to 15, or GPREEMPT_UNKNOWN: it is asked for only when a filter
 *	needs it
 * @wanted: it shall be suspended
 * @held: it is suspended
 * @being_destroyed: its process is destroying it, so it runs
 * @result: of the last suspend of it
 * @reserved: 0; a later release may use it
 */
struct gpreempt_session_queue {
	uint32_t qid;
	uint32_t gpu_id;
	uint32_t type;
	int32_t priority;
	bool wanted;
	bool held;
	bool being_destroyed;
	enum gpreempt_result result;
	uint64_t reserved[4];
};

/**
 * gpreempt_session_queues() - the queues that the session knows
 * @s: session
 * @count: gets their number
 *
 * Its thread.
 *
 * Return: queues by id; valid until the next call on the session.
 */
const struct gpreempt_session_queue *gpreempt_session_queues(const struct gpreempt_session *s,
							     size_t *count);

/**
 * gpreempt_session_suspend() - suspend queues, in one call to the driver
 * @s: session
 * @which: the queues, or NULL for all
 * @out: or NULL; gets the result, queue by queue in
 *	gpreempt_session_queues()
 *
 * A filter without ids is for new queues too: gpreempt_session_dispatch()
 * suspends those that match as it learns of them, until a resume. The last
 * call whose filter matches a new queue decides.
 *
 * Makes one system call and allocates nothing, unless @which has priorities that are not known
 * yet, or slots are sampled. Success does not mean that all queues are suspended: see @out.
 * When @out->failed is not 0, the driver has waited for the hardware in vain (9 s,
 * queue_preemption_timeout_ms) and resets the GPU; gpreempt_session_error() returns that, and
 * the library does not retry before the next call of this function. Its thread.
 *
 * Return: 0; -EPERM when the runtime is not enabled in the process: the reason is
 * GPREEMPT_RUNTIME_OFF when it never was as far as the session knows, or
 * GPREEMPT_ENDING when the process has disabled it, as programs on ROCm's
 * runtime do at their end; -ESRCH when the process has ended, -ENOTCONN when the
 * session has ended, -ENODATA when priorities cannot be known,
 * -E2BIG, -ENOSPC after too many different filters, another negative errno value.
 */
int gpreempt_session_suspend(struct gpreempt_session *s, const struct gpreempt_filter *which,
			     struct gpreempt_outcome *out);

/** gpreempt_session_resume() - let queues run again; as suspend */
int gpreempt_session_resume(struct gpreempt_session *s, const struct gpreempt_filter *which,
			    struct gpreempt_outcome *out);

/* Grace: how long the hardware may go on with what it has begun. */

/** GPREEMPT_GRACE_DEFAULT - what the driver has set */
#define GPREEMPT_GRACE_DEFAULT 0xffffffffU
#define GPREEMPT_GRACE_MAX     255U

enum gpreempt_verdict {
	GPREEMPT_NOT_CHECKED,
	GPREEMPT_VERIFIED,
	GPREEMPT_CONTRADICTED,
};

/**
 * enum gpreempt_verified_by - what was seen for a verdict
 * @GPREEMPT_BY_NOTHING: nothing of the hardware
 * @GPREEMPT_BY_SLOTS: the slots; the driver can't count waves, or the queues have none
 * @GPREEMPT_BY_SLOTS_WAVES: all slots empty, and no wave of a compute queue in flight
 * @GPREEMPT_BY_WAVES: all slots empty, but waves in flight: a contradiction
 */
enum gpreempt_verified_by {
	GPREEMPT_BY_NOTHING,
	GPREEMPT_BY_SLOTS,
	GPREEMPT_BY_SLOTS_WAVES,
	GPREEMPT_BY_WAVES,
};

/**
 * gpreempt_session_verify() - ask the hardware about the suspended queues
 * @s: session
 * @by: or NULL; gets what was seen
 *
 * Its thread.
 *
 * It is about every queue that is to be suspended: also those that the session
 * does not know yet or cannot know (of a second context of the process), when a
 * new queue like them is to be suspended. One that the session does not know is
 * not suspended: it is never a part of what is verified, even in no slot.
 *
 * Return: GPREEMPT_CONTRADICTED when the view shows an active slot of one of
 * them, or waves in flight; or else GPREEMPT_VERIFIED when there are some, all of
 * them are suspended, and the view shows every slot of theirs inactive, and no
 * waves where the driver can count them; or else GPREEMPT_NOT_CHECKED.
 */
enum gpreempt_verdict gpreempt_session_verify(struct gpreempt_session *s,
					      enum gpreempt_verified_by *by);

/* Events that gpreempt_session_dispatch() reports. */
#define GPREEMPT_EVENT_QUEUES  (1 << 0) /* queues came or went */
#define GPREEMPT_EVENT_RUNTIME (1 << 1) /* runtime went on or off */
#define GPREEMPT_EVENT_DESTROY (1 << 2) /* resumed: being destroyed */
#define GPREEMPT_EVENT_SIGNAL  (1 << 3) /* a signal was passed on */
#define GPREEMPT_EVENT_LOST    (1 << 4) /* our debug session was ended */
#define GPREEMPT_EVENT_ENDED   (1 << 5) /* the process is gone */
#define GPREEMPT_EVENT_JOB     (1 << 6) /* stopped, or continued */
#define GPREEMPT_EVENT_CHURN   (1 << 7) /* queues come and go all the time */

/**
 * gpreempt_session_fd() - Return: descriptor to poll for input
 *
 * After a call that suspended or resumed something, call
 * gpreempt_session_dispatch() once before you poll. Any thread.
 */
int gpreempt_session_fd(const struct gpreempt_session *s);

/**
 * gpreempt_session_dispatch() - deal with what has happened, without waiting
 * @s: session
 *
 * Passes signals on to the process, acknowledges new queues and suspends them
 * if they are to be, resumes queues that the process destroys, answers the
 * process when it enables or disables its runtime, and leaves when it exits or
 * executes another program. After GPREEMPT_EVENT_ENDED only
 * gpreempt_session_close() is useful. GPREEMPT_EVENT_LOST is in the result of every call from then
 * on, and gpreempt_session_fd() becomes readable ten times a second: nothing is suspended any
 * more. Close the session and open another. Its thread.
 *
 * Return: GPREEMPT_EVENT_ bits, or a negative errno value.
 */
int gpreempt_session_dispatch(struct gpreempt_session *s);

/**
 * gpreempt_session_wait() - dispatch until a time has passed
 * @s: session
 * @timeout_ns: how long; UINT64_MAX: until an event ends the wait
 * @stop: or NULL; a descriptor that ends the wait when it is readable
 *
 * Its thread.
 *
 * Return: as gpreempt_session_dispatch(), at the latest after GPREEMPT_EVENT_
 * LOST or _ENDED; -EINTR when a signal handler ran or @stop is readable.
 */
int gpreempt_session_wait(struct gpreempt_session *s, uint64_t timeout_ns, const int *stop);

/**
 * gpreempt_session_error() - why a session's last call failed or it ended
 * @s: session
 *
 * Its thread.
 *
 * Return: the error, valid until the next call on the session.
 */
const struct gpreempt_error *gpreempt_session_error(const struct gpreempt_session *s);

GPREEMPT_END_DECLS

#endif
