/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libgpreempt: hold a process off the GPU through a holder, a process
 * of its own. Included by gpreempt.h.
 *
 * A program that opens a session itself (session.h) is the tracer of its target: when it hangs,
 * the target can't be killed. With a hold the program can hang, be stopped or be killed: the
 * target stays killable, and its queues run when the program ends or when the lease is over.
 *
 * The holder is the one of "gpreempt-ctl suspend", with its guardian and its
 * timers; "gpreempt-ctl status" shows it. It is started from the path where the
 * library's package has it, with no environment of the program's.
 *
 * One thread at a time for each hold.
 */
#ifndef GPREEMPT_HOLD_H
#define GPREEMPT_HOLD_H

#include <gpreempt/session.h>

GPREEMPT_BEGIN_DECLS

/** struct gpreempt_hold - a process that a holder holds for this program */
struct gpreempt_hold;

/** GPREEMPT_HOLD_LEASE_NS - the lease if none is given: 2 s */
#define GPREEMPT_HOLD_LEASE_NS 2000000000ULL

/** GPREEMPT_HOLD_NO_LEASE - until it is released, or this program ends */
#define GPREEMPT_HOLD_NO_LEASE UINT64_MAX

/**
 * enum gpreempt_how - by which method a process is held
 * @GPREEMPT_HOW_AUTO: by a debug session, or by a pause where a session is refused
 *	for a reason that does not matter to a pause: the process has no KFD
 *	runtime, or its GPU no debug trap
 * @GPREEMPT_HOW_DEBUG: by a debug session (session.h): all queues, or some. No
 *	other debugger can attach
 * @GPREEMPT_HOW_PAUSE: by a pause, without a debug session: all queues, on all GPUs
 * @GPREEMPT_HOWS: how many there are
 */
enum gpreempt_how {
	GPREEMPT_HOW_AUTO,
	GPREEMPT_HOW_DEBUG,
	GPREEMPT_HOW_PAUSE,
	GPREEMPT_HOWS,
};

/**
 * struct gpreempt_hold_options - how to hold
 * @size: sizeof(struct gpreempt_hold_options)
 * @lease_ns: the queues run after that time unless gpreempt_hold_extend() is
 *	called before; 0: GPREEMPT_HOLD_LEASE_NS. It is what ends the hold of a
 *	program that hangs; with GPREEMPT_HOLD_NO_LEASE nothing does.
 * @timeout_ns: the longest time that a call waits for the holder; 0: 30 s. The
 *	driver can take 9 s when the hardware hangs.
 * @grace: units of 1,024 GPU clocks; 0: what the driver has set
 * @how: enum gpreempt_how. A part of the queues, or a grace period, takes a session
 */
struct gpreempt_hold_options {
	size_t size;
	uint64_t lease_ns;
	uint64_t timeout_ns;
	uint32_t grace;
	uint32_t how;
};

/**
 * struct gpreempt_hold_status - a hold, as its holder sees it
 * @holder: process that traces the target
 * @guardian: process that watches the holder
 * @queues: that are suspended
 * @ioctl_ns: of the suspend, from entry to return of the ioctl; 0 in
 *	gpreempt_hold_status()
 * @held_ns: since when
 * @lease_ns: what is left of the lease, or GPREEMPT_HOLD_NO_LEASE
 * @verdict: what was seen after the suspend, as gpreempt_session_verify();
 *	GPREEMPT_NOT_CHECKED in gpreempt_hold_status()
 * @partial: some of the queues that were asked for are not suspended
 * @paused: by a pause, and not by a session
 * @verified_by: what was seen for @verdict
 * @reserved: 0; a later release may use it
 */
struct gpreempt_hold_status {
	pid_t holder;
	pid_t guardian;
	uint64_t queues;
	uint64_t ioctl_ns;
	uint64_t held_ns;
	uint64_t lease_ns;
	enum gpreempt_verdict verdict;
	bool partial;
	bool paused;
	enum gpreempt_verified_by verified_by;
	uint64_t reserved[7];
};

/**
 * gpreempt_hold() - have a holder suspend queues of a process, and hold them
 * @g: library; must not be a snapshot, and may be freed before the hold
 * @pid: process
 * @which: its queues, or NULL for all; without ids new queues are held, too. At
 *	most 64 @gpu_ids.
 * @options: or NULL
 * @status: or NULL; gets the result
 * @out: gets the hold, for gpreempt_hold_close()
 * @err: or NULL; gets the reason
 *
 * Root only. The holder is a child of init, and no child of this program stays;
 * SIGCHLD is sent once.
 *
 * Return: 0 (see @status->partial), -EBUSY with GPREEMPT_HELD when a holder, a guard or another
 * program of gpreempt's holds the process, -E2BIG or -EINVAL for @which or @options that are
 * none of this library's, -ETIMEDOUT, or as gpreempt_session_open().
 */
int gpreempt_hold(struct gpreempt *g, pid_t pid, const struct gpreempt_filter *which,
		  const struct gpreempt_hold_options *options, struct gpreempt_hold_status *status,
		  struct gpreempt_hold **out, struct gpreempt_error *err);

/**
 * gpreempt_hold_extend() - set the lease, from now on
 * @hold: hold
 * @lease_ns: as in struct gpreempt_hold_options
 *
 * Return: 0, -ENOTCONN when the hold has ended and the queues run, -ETIMEDOUT,
 * -EPROTO when the holder is of another version, another negative errno value.
 */
int gpreempt_hold_extend(struct gpreempt_hold *hold, uint64_t lease_ns);

/** gpreempt_hold_status() - ask the holder. Return: as gpreempt_hold_extend() */
int gpreempt_hold_status(struct gpreempt_hold *hold, struct gpreempt_hold_status *out);

/**
 * gpreempt_hold_fd() - Return: descriptor to poll for input
 *
 * It is readable when the hold has ended by itself: its lease is over, the
 * process has ended, or "gpreempt-ctl resume" was called. -1 after
 * gpreempt_hold_release() and gpreempt_hold_detach().
 */
int gpreempt_hold_fd(const struct gpreempt_hold *hold);

/**
 * gpreempt_hold_release() - all queues run, and the process is not traced
 * @hold: hold
 *
 * Return: 0, also when the hold had ended by itself; -ETIMEDOUT, another
 * negative errno value: then the holder ends with the next
 * gpreempt_hold_close().
 */
int gpreempt_hold_release(struct gpreempt_hold *hold);

/**
 * gpreempt_hold_detach() - the hold outlives this program and the handle
 * @hold: hold
 *
 * The lease still counts. gpreempt_hold_extend(), _status() and _release() still
 * work, and so does "gpreempt-ctl resume".
 *
 * Return: 0, -ENOTCONN when the hold has ended.
 */
int gpreempt_hold_detach(struct gpreempt_hold *hold);

/**
 * gpreempt_hold_close() - free the handle; what is held is released
 * @hold: hold, or NULL
 *
 * Unless it is detached. This does not wait for the holder.
 */
void gpreempt_hold_close(struct gpreempt_hold *hold);

GPREEMPT_END_DECLS

#endif
