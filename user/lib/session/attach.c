// SPDX-License-Identifier: LGPL-2.1-or-later
/* Getting hold of a process, and leaving it. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "lib/session/session.h"
#include "shared/clock.h"

#define STOP_TIMEOUT_NS (2 * NSEC_PER_SEC)

static int watch(struct gpreempt_session *s, int *fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = fd };

	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, *fd, &event) < 0)
		return gp_session_fail(s, -errno, GPREEMPT_SYSTEM, "watching the process");
	return 0;
}

static int fail_seize(struct gpreempt_session *s, int code)
{
	static const char step[] = "tracing the process";

	if (code == -ESRCH)
		return gp_session_fail(s, code, GPREEMPT_ENDED, step);
	if (code != -EPERM)
		return gp_session_fail(s, code, GPREEMPT_SYSTEM, step);
	/* A debugger may have come first, or the first thread may be gone. */
	if (!gpreempt_check(s->g, s->kfd.pid, &s->error))
		gp_session_fail(s, code, GPREEMPT_TRACE_DENIED, step);
	return s->error.code;
}

int gp_session_attach(struct gpreempt_session *s)
{
	const struct gp_backend_ops *ops = s->g->ops;
	int ret;

	/*
	 * The exit and exec stops are for leaving in time. Never EXITKILL:
	 * whatever happens to us, the process lives on.
	 */
	ret = ops->ptrace(s->g->be, PTRACE_SEIZE, s->kfd.pid,
			  PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC);
	if (ret)
		return fail_seize(s, ret);
	s->traced = true;
	ret = ops->watch_start(s->g->be, s->kfd.pid, &s->watch, &s->stops);
	if (ret) {
		s->watch = NULL;
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM, "watching the process");
	}
	return watch(s, &s->stops, EPOLLIN);
}

static int fail_enable(struct gpreempt_session *s, int code)
{
	static const struct {
		int code;
		enum gpreempt_reason reason;
	} reasons[] = {
		{ -EALREADY, GPREEMPT_DEBUGGED }, { -EBUSY, GPREEMPT_GWS_BUSY },
		{ -ENODEV, GPREEMPT_GPU_OLD },	  { -EINVAL, GPREEMPT_NO_HWS },
		{ -ESRCH, GPREEMPT_NOT_GPU },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].code == code)
			return gp_session_fail(s, code, reasons[i].reason,
					       "enabling the debug trap");
	return gp_session_fail(s, code, GPREEMPT_SYSTEM, "enabling the debug trap");
}

/*
 * Enabling where another session is open takes the process away from its owner before it fails,
 * and enabling on a process that has just executed another program makes the driver crash later
 * (6.18 and older). So ask with an operation that needs an open session first: the driver
 * answers EINVAL when there is none, and ESRCH when this program has not opened /dev/kfd. What
 * it executes after this question is the back-end's to see (enable.h). It costs a line in the
 * kernel log, "not debug enabled".
 */
static int check_free(struct gpreempt_session *s)
{
	struct kfd_queue_snapshot_entry none;
	uint32_t count = 0;
	int ret = gp_kfd_snapshot(&s->kfd, false, &none, &count);

	switch (ret) {
	case -EINVAL:
		return 0;
	case 0:
		return fail_enable(s, -EALREADY);
	case -ESRCH:
	case -EBUSY: /* amdgpu-dkms, while it samples program counters */
		return fail_enable(s, ret);
	default:
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM, "asking for an open session");
	}
}

static int check_runtime(struct gpreempt_session *s)
{
	static const char step[] = "activating the debug trap";

	s->had_runtime |= s->runtime == DEBUG_RUNTIME_STATE_ENABLED;
	switch (s->runtime) {
	case DEBUG_RUNTIME_STATE_ENABLED_BUSY:
		return gp_session_fail(s, -EBUSY, GPREEMPT_RUNTIME_BUSY, step);
	case DEBUG_RUNTIME_STATE_ENABLED_ERROR:
		return gp_session_fail(s, -EIO, GPREEMPT_RUNTIME_ERROR, step);
	default:
		return 0;
	}
}

/*
 * The driver's end is open for reading, too: a process that makes a queue when we are
 * killed would write to a pipe without a reader, and get a SIGPIPE. The driver writes
 * while it holds a lock: it must not block.
 */
static int make_pipe(int fds[2])
{
	char path[32];
	int both;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	both = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (both < 0) {
		both = -errno;
		close(fds[0]);
		close(fds[1]);
		return both;
	}
	close(fds[1]);
	fds[1] = both;
	return 0;
}

int gp_session_enable(struct gpreempt_session *s)
{
	int pipe_fds[2], ret;

	ret = check_free(s);
	if (ret)
		return ret;
	ret = make_pipe(pipe_fds);
	if (ret)
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM, "making a pipe");
	ret = gp_kfd_enable(&s->kfd, pipe_fds[1], &s->runtime);
	/* Now only the driver can write, so a disable reads as the end. */
	close(pipe_fds[1]);
	if (ret) {
		close(pipe_fds[0]);
		return fail_enable(s, ret);
	}
	s->enabled = true;
	if (s->events >= 0)
		close(s->events);
	s->events = pipe_fds[0];
	ret = check_runtime(s);
	if (ret)
		return ret;
	return watch(s, &s->events, EPOLLIN);
}

/* The signal that the process would have got when it was stopped. */
static int pending_signal(int status)
{
	return WIFSTOPPED(status) && !(status >> 16) ? WSTOPSIG(status) : 0;
}

/* Wait until the process is in a stop. Returns the signal to pass on. */
static int collect_stop(struct gpreempt_session *s)
{
	uint64_t deadline = shr_now_ns() + STOP_TIMEOUT_NS;

	for (;;) {
		int status, ret;

		ret = s->g->ops->wait(s->g->be, s->kfd.pid, &status);
		if (ret < 0)
			return ret;
		if (ret > 0)
			return WIFSTOPPED(status) ? pending_signal(status) : -ESRCH;
		if (shr_now_ns() > deadline)
			return -ETIMEDOUT;
		shr_sleep_ns(NSEC_PER_MSEC);
	}
}

/* The watch must be over before the stop it waits for is taken from it. */
static int end_watch(struct gpreempt_session *s)
{
	int ret;

	if (!s->watch)
		return 0;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->stops, NULL);
	ret = s->g->ops->watch_stop(s->g->be, s->watch);
	s->watch = NULL;
	s->stops = -1;
	return ret;
}

static int detach(struct gpreempt_session *s, bool stopped)
{
	const struct gp_backend_ops *ops = s->g->ops;
	int ret, sig = 0;

	/*
	 * It also wakes a process that waits for our answer in the driver:
	 * its system call is tried again and finds no debugger to wait for.
	 */
	if (!stopped)
		ops->ptrace(s->g->be, PTRACE_INTERRUPT, s->kfd.pid, 0);
	ret = end_watch(s);
	if (ret)
		return ret;
	if (!stopped) {
		sig = collect_stop(s);
		if (sig == -ETIMEDOUT)
			return sig;
		if (sig < 0)
			return 0;
	}
	ops->ptrace(s->g->be, PTRACE_DETACH, s->kfd.pid, sig);
	return 0;
}

int gp_session_leave(struct gpreempt_session *s, bool stopped)
{
	int ret;

	/* First the queues, while the driver still takes orders from us. */
	if (s->enabled)
		gp_kfd_disable(&s->kfd);
	s->enabled = false;
	gp_session_all_run(s);
	if (s->traced)
		ret = detach(s, stopped);
	else
		ret = end_watch(s);
	s->traced = false;
	s->state = GP_SESSION_ENDED;
	gp_release_count(s, shr_now_ns());
	gp_session_arm(s);
	return ret;
}
