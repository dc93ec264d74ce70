/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libgpreempt: the queues of several processes, suspended at the same time. */
#ifndef GPREEMPT_GANG_H
#define GPREEMPT_GANG_H

#include <gpreempt/session.h>

GPREEMPT_BEGIN_DECLS

/**
 * struct gpreempt_gang - sessions on several processes, or pauses of them
 *
 * Each process has its own session and thread. Between calls the thread handles the session's
 * events: signals, new queues, the end. A suspend or resume releases all threads together.
 *
 * The threads have the signal mask of the thread that adds the process, so that a signal can
 * end a wait in the driver. From Linux 6.12 on they ask for short slices of time: the driver
 * polls while the hardware saves, and offers the CPU only in between.
 *
 * On one GPU the driver does one after the other (one run list, one lock a GPU). On several it
 * does them in parallel. A session that another process ends is opened again, and the suspend
 * or resume in progress is repeated. After six losses with less than 10 s between them it stays
 * lost: the member's code is -ENOTCONN, and its queues run.
 */
struct gpreempt_gang;

/**
 * enum gpreempt_method - how a process is taken off the GPUs
 * @GPREEMPT_METHOD_DEBUG: by a debug session (session.h): all queues, or some
 * @GPREEMPT_METHOD_PAUSE: by a pause, without a debug session: all queues at once, on all GPUs
 * @GPREEMPT_METHODS: how many there are
 */
enum gpreempt_method {
	GPREEMPT_METHOD_DEBUG,
	GPREEMPT_METHOD_PAUSE,
	GPREEMPT_METHODS,
};

/**
 * struct gpreempt_member - a process of a gang, and what last became of it
 * @pid: process
 * @code: of the last call on it: 0 or a negative errno value
 * @events: GPREEMPT_EVENT_ bits seen since it was added
 * @verdict: of the last gpreempt_gang_verify()
 * @open_ns: what opening its session took
 * @start_ns: from the release of all to the entry of its ioctl
 * @outcome: of the last suspend or resume
 * @error: why @code is not 0, or why its session ended
 * @method: how it is taken off
 * @verified_by: what was seen for @verdict
 * @reserved: 0; a later release may use it
 */
struct gpreempt_member {
	pid_t pid;
	int code;
	int events;
	enum gpreempt_verdict verdict;
	uint64_t open_ns;
	uint64_t start_ns;
	struct gpreempt_outcome outcome;
	struct gpreempt_error error;
	enum gpreempt_method method;
	enum gpreempt_verified_by verified_by;
	uint64_t reserved[7];
};

/**
 * struct gpreempt_gang_outcome - what one suspend or resume of a gang did
 * @span_ns: from the release to the return of the last ioctl
 * @members: processes asked
 * @succeeded: processes of which all queues asked for are as asked
 * @requested: queues asked for
 * @done: queues that are as asked now
 * @reserved: 0; a later release may use it
 */
struct gpreempt_gang_outcome {
	uint64_t span_ns;
	size_t members;
	size_t succeeded;
	size_t requested;
	size_t done;
	uint64_t reserved[8];
};

/**
 * gpreempt_gang_new() - make an empty gang
 * @g: library; must outlive the gang
 * @out: gets it, for gpreempt_gang_free()
 *
 * Any thread.
 *
 * Return: 0, -ENOMEM.
 */
int gpreempt_gang_new(struct gpreempt *g, struct gpreempt_gang **out);

/**
 * gpreempt_gang_add() - add one more process
 * @gang: gang
 * @pid: process
 * @method: GPREEMPT_METHOD_DEBUG, a session, or GPREEMPT_METHOD_PAUSE
 * @err: or NULL; gets the reason
 *
 * A gang can have processes of both methods. By GPREEMPT_METHOD_PAUSE nothing is attached
 * to the process between two calls, and its @outcome counts all of its queues.
 * A pause stays when the caller is killed, and gpreempt-ctl knows nothing of it: the
 * caller notes the process before gpreempt_gang_suspend(), where the note survives.
 * A filter that is not for all queues fails with GPREEMPT_PAUSE_WHOLE. A process
 * that another program has paused is refused (GPREEMPT_PAUSED), and a resume fails
 * when another program has ended the pause (GPREEMPT_UNPAUSED). One thread.
 *
 * Return: 0, -EEXIST when it is in, or as gpreempt_session_open(). -ENXIO, GPREEMPT_KFD_CLOSED:
 *	the process has closed /dev/kfd; -ENOTTY, GPREEMPT_NO_PAUSE: the driver has no pause
 */
int gpreempt_gang_add(struct gpreempt_gang *gang, pid_t pid, enum gpreempt_method method,
		      struct gpreempt_error *err);

/**
 * gpreempt_gang_remove() - close the session on a process: its queues run
 * @gang: gang
 * @pid: process
 *
 * One thread.
 *
 * Return: 0, -ESRCH when it is not in, or as gpreempt_session_close().
 */
int gpreempt_gang_remove(struct gpreempt_gang *gang, pid_t pid);

/**
 * gpreempt_gang_suspend() - suspend the queues of all processes
 * @gang: gang
 * @which: of each process, or NULL for all
 * @out: or NULL; gets the result, process by process in
 *	gpreempt_gang_members()
 *
 * As gpreempt_session_suspend() of each. All threads are made ready, and then
 * released each as soon as the one before it has entered its ioctl, in an order
 * that lets the driver do them in parallel: for each process it takes the locks
 * of all GPUs that the process may use, one after the other, and saves with the
 * lock held (suspend_queues() in amdkfd/kfd_device_queue_manager.c). So those
 * with queues on the last GPUs go first. One thread.
 *
 * Return: 0, or the first error of a member; the others are done all the same.
 */
int gpreempt_gang_suspend(struct gpreempt_gang *gang, const struct gpreempt_filter *which,
			  struct gpreempt_gang_outcome *out);

/** gpreempt_gang_resume() - let them run again; as suspend */
int gpreempt_gang_resume(struct gpreempt_gang *gang, const struct gpreempt_filter *which,
			 struct gpreempt_gang_outcome *out);

/**
 * gpreempt_gang_sample_slots() - measure when slots of each process become inactive
 * @gang: gang
 * @on: from now on, also of processes added later, or not any more
 *
 * All begin to look before the first is released. One thread.
 *
 * Return: 0, or the first error of a member; the others are watched.
 */
int gpreempt_gang_sample_slots(struct gpreempt_gang *gang, bool on);

/** gpreempt_gang_verify() - verify each member: gpreempt_session_verify(). One thread. */
void gpreempt_gang_verify(struct gpreempt_gang *gang);

/**
 * gpreempt_gang_members() - the processes, in the order of their release
 * @gang: gang
 * @members: gets up to @room of them
 * @room: of @members
 *
 * One thread.
 *
 * Return: how many there are.
 */
size_t gpreempt_gang_members(struct gpreempt_gang *gang, struct gpreempt_member *members,
			     size_t room);

/**
 * gpreempt_gang_fd() - Return: descriptor to poll for input
 *
 * It is readable when a member has had an event, until the next call of
 * gpreempt_gang_members(). Any thread.
 */
int gpreempt_gang_fd(const struct gpreempt_gang *gang);

/** gpreempt_gang_free() - close all sessions; NULL is allowed. One thread. */
void gpreempt_gang_free(struct gpreempt_gang *gang);

GPREEMPT_END_DECLS

#endif
