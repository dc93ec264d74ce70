// SPDX-License-Identifier: LGPL-2.1-or-later
/* A debug session on a process: attach, KFD's ioctls, grace periods, state. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "lib/see/see.h"
#include "shared/util.h"
#include "session.h"

/* The events that we request. The driver keeps the rest for the runtime. */
#define EXCEPTIONS (KFD_EC_MASK(EC_QUEUE_NEW) | KFD_EC_MASK(EC_PROCESS_RUNTIME))

static inline int do_ioctl(const struct gp_kfd *k, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = k->g->ops->ioctl(k->g->be, k->fd, request, arg);
	} while (ret == -EINTR);
	return ret;
}

/* Make one ioctl and note its times, which cover the driver alone. */
static inline int trap(struct gp_kfd *k, uint32_t op, struct kfd_ioctl_dbg_trap_args *args)
{
	int ret;

	args->pid = k->pid;
	args->op = op;
	/* Each call waits for the lock that a hanging call holds. */
	if (k->g->busy)
		k->g->busy(k->g->data, true);
	k->entry_ns = shr_now_ns();
	ret = do_ioctl(k, AMDKFD_IOC_DBG_TRAP, args);
	k->return_ns = shr_now_ns();
	if (k->g->busy)
		k->g->busy(k->g->data, false);
	return ret;
}

int gp_kfd_version(const struct gp_kfd *k, unsigned int *major, unsigned int *minor)
{
	struct kfd_ioctl_get_version_args args = { 0 };
	int ret = do_ioctl(k, AMDKFD_IOC_GET_VERSION, &args);

	if (ret < 0)
		return ret;
	*major = args.major_version;
	*minor = args.minor_version;
	return 0;
}

static int gp_kfd_enable(struct gp_kfd *k, int event_fd, uint32_t *runtime)
{
	struct kfd_runtime_info info = { 0 };
	struct kfd_ioctl_dbg_trap_args args = {
		.enable = {
			.exception_mask = EXCEPTIONS,
			.rinfo_ptr = (uintptr_t)&info,
			.rinfo_size = sizeof(info),
			.dbg_fd = event_fd,
		},
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_ENABLE, &args);

	if (ret < 0)
		return ret;
	*runtime = info.runtime_state;
	return 0;
}

/*
 * DISABLE drops the event's file before it notes that the trap is off, without the lock
 * of the events (kfd_dbg_trap_disable()). A process that makes a queue at that time
 * crashes the kernel: it writes to no file (kfd_dbg_ev_raise()). It writes only what is
 * subscribed to, under that lock, which the first call takes, too.
 */
static int gp_kfd_disable(struct gp_kfd *k)
{
	struct kfd_ioctl_dbg_trap_args none = { 0 }, args = { 0 };

	trap(k, KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED, &none);
	return trap(k, KFD_IOC_DBG_TRAP_DISABLE, &args);
}

int gp_kfd_snapshot(struct gp_kfd *k, bool acknowledge, struct kfd_queue_snapshot_entry *entries,
		    uint32_t *count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.queue_snapshot = {
			.exception_mask = acknowledge ?
				KFD_EC_MASK(EC_QUEUE_NEW) : 0,
			.snapshot_buf_ptr = (uintptr_t)entries,
			.num_queues = *count,
			.entry_size = sizeof(*entries),
		},
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &args);

	if (ret < 0)
		return ret;
	*count = args.queue_snapshot.num_queues;
	return 0;
}

int gp_kfd_suspend(struct gp_kfd *k, uint32_t *ids, size_t count, uint32_t grace)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.suspend_queues = {
			.queue_array_ptr = (uintptr_t)ids,
			.num_queues = count,
			.grace_period = grace,
		},
	};

	return trap(k, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &args);
}

int gp_kfd_resume(struct gp_kfd *k, uint32_t *ids, size_t count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.resume_queues = { .queue_array_ptr = (uintptr_t)ids, .num_queues = count },
	};

	return trap(k, KFD_IOC_DBG_TRAP_RESUME_QUEUES, &args);
}

int gp_kfd_query_event(struct gp_kfd *k, uint64_t *exceptions)
{
	/* Clear no event here: its handler clears it. */
	struct kfd_ioctl_dbg_trap_args args = { 0 };
	int ret = trap(k, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT, &args);

	if (ret < 0)
		return ret;
	*exceptions = args.query_debug_event.exception_mask;
	return 0;
}

int gp_kfd_answer_runtime(struct gp_kfd *k, uint32_t *runtime)
{
	struct kfd_runtime_info info = { 0 };
	struct kfd_ioctl_dbg_trap_args query = {
		.query_exception_info = {
			.info_ptr = (uintptr_t)&info,
			.info_size = sizeof(info),
			.exception_code = EC_PROCESS_RUNTIME,
			.clear_exception = 1,
		},
	};
	struct kfd_ioctl_dbg_trap_args answer = {
		.send_runtime_event = { .exception_mask = KFD_EC_MASK(EC_PROCESS_RUNTIME) },
	};
	int ret = trap(k, KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO, &query);

	if (ret < 0)
		return ret;
	*runtime = info.runtime_state;
	ret = trap(k, KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT, &answer);
	return ret < 0 ? ret : 0;
}

/* End of a session: its error, and its queues run again. */

int gp_session_fail(struct gpreempt_session *s, int code, enum gpreempt_reason reason,
		    const char *step)
{
	return gp_error(&s->error, code, reason, s->kfd.pid, step);
}

void gp_session_all_run(struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		s->queues[i].held = false;
	gp_release_count(s, shr_now_ns());
}

int gp_session_fail_trap(struct gpreempt_session *s, int code, const char *step)
{
	switch (code) {
	case -ESRCH:
		return gp_session_fail(s, code, GPREEMPT_ENDED, step);
	case -EINVAL:
		/* The driver knows of no session: another process disabled it. */
		s->state = GP_SESSION_LOST;
		s->enabled = false;
		gp_session_all_run(s);
		return gp_session_fail(s, -ENOTCONN, GPREEMPT_LOST, step);
	default:
		return gp_session_fail(s, code, GPREEMPT_SYSTEM, step);
	}
}

/* Grace periods, in the driver's unit. */

#define CLOCKS_PER_UNIT 1024

/* The highest clock of the GPUs that a process may use, in MHz. */
struct clock {
	const struct gpreempt *g;
	uint64_t mhz;
};

static int look_at_gpu(void *arg, const char *name)
{
	struct clock *clock = arg;
	uint64_t gpu_id, mhz;

	if (gp_is_vram(name, &gpu_id) &&
	    !gp_gpu_property(clock->g, gpu_id, "max_engine_clk_fcompute", &mhz) && mhz > clock->mhz)
		clock->mhz = mhz;
	return 0;
}

int gp_grace_units(struct gpreempt *g, pid_t pid, uint64_t ns, uint32_t *units,
		   struct gpreempt_error *err)
{
	static const char step[] = "looking for the GPUs' clocks";
	struct clock clock = { .g = g };
	unsigned __int128 clocks;
	char path[64];

	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", pid);
	g->ops->list_dir(g->be, path, look_at_gpu, &clock);
	if (!clock.mhz)
		return gp_error(err, -ENODATA, GPREEMPT_NO_CLOCK, pid, step);
	clocks = (unsigned __int128)ns * clock.mhz;
	clocks = (clocks + CLOCKS_PER_UNIT * 1000 - 1) / (CLOCKS_PER_UNIT * 1000);
	if (clocks > GPREEMPT_GRACE_MAX) {
		gp_error(err, -ERANGE, GPREEMPT_GRACE, pid, step);
		if (err)
			err->limit_ns = GPREEMPT_GRACE_MAX * CLOCKS_PER_UNIT * 1000ULL / clock.mhz;
		return -ERANGE;
	}
	*units = clocks ? clocks : 1;
	return 0;
}

int gp_session_set_grace(struct gpreempt_session *s, uint32_t units)
{
	if (units > GPREEMPT_GRACE_MAX && units != GPREEMPT_GRACE_DEFAULT)
		return -ERANGE;
	s->grace = units ? units : 1;
	return 0;
}

/* Trace of a process: begin and end. */

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

/* Attach to the process. */
static int gp_session_attach(struct gpreempt_session *s)
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
 * it executes after this question is the back-end's to see (internal.h). It costs a line in the
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
	int both, ret;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	both = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ret = both < 0 ? -errno : 0;
	close(fds[1]);
	if (ret)
		close(fds[0]);
	fds[1] = both;
	return ret;
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
	/* Only the driver can write now, so a disable reads as the end. */
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

/* Wait until the process is in a stop. Returns the signal that it would have got. */
static int collect_stop(struct gpreempt_session *s)
{
	uint64_t deadline = shr_now_ns() + STOP_TIMEOUT_NS;

	for (;;) {
		int status, ret;

		ret = s->g->ops->wait(s->g->be, s->kfd.pid, &status);
		if (ret < 0)
			return ret;
		if (ret > 0)
			return !WIFSTOPPED(status) ? -ESRCH : status >> 16 ? 0 : WSTOPSIG(status);
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
	 * The interrupt also wakes a process that waits for our answer in the driver: its system
	 * call is tried again and finds no debugger to wait for.
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

/* Opening and closing a session. */

#define OPEN_TRIES 100

static struct gpreempt_session *new_session(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->g = g;
	s->grace = GPREEMPT_GRACE_DEFAULT;
	s->kfd = (struct gp_kfd){ .g = g, .fd = -1, .pid = pid };
	s->events = -1;
	s->stops = -1;
	s->timer = -1;
	s->epoll = -1;
	return s;
}

static void free_session(struct gpreempt_session *s)
{
	gp_sampler_stop(s->sampler);
	gp_reader_stop(s->reader);
	shr_cleanup_fd(&s->kfd.fd);
	shr_cleanup_fd(&s->events);
	shr_cleanup_fd(&s->timer);
	shr_cleanup_fd(&s->epoll);
	free(s->queues);
	free(s->spare);
	free(s->snapshot);
	free(s);
}

/*
 * Open /dev/kfd. The driver takes the locks of all our address space for it, and gives up with
 * EINTR when a signal is pending. A signal that stays pending would make us try for ever.
 */
static int open_kfd(const struct gpreempt *g)
{
	int tries, ret = -EINTR;

	for (tries = 0; ret == -EINTR && tries < OPEN_TRIES; tries++)
		ret = g->ops->open_kfd(g->be);
	return ret;
}

static int open_device(struct gpreempt_session *s)
{
	static const char step[] = "opening /dev/kfd";
	unsigned int major, minor;
	int ret;

	ret = open_kfd(s->g);
	if (ret == -EINTR)
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM, step);
	if (ret == -EACCES || ret == -EPERM)
		return gp_session_fail(s, ret, GPREEMPT_NOT_ROOT, step);
	if (ret == -EBUSY) /* a helper of this process is stuck: see apart.h */
		return gp_session_fail(s, ret, GPREEMPT_STUCK,
				       "a helper still waits for another process");
	if (ret < 0)
		return gp_session_fail(s, ret, GPREEMPT_NO_KFD, step);
	s->kfd.fd = ret;
	ret = gp_kfd_version(&s->kfd, &major, &minor);
	if (ret)
		return gp_session_fail(s, ret, GPREEMPT_SYSTEM,
				       "asking the driver for its version");
	if (major == 1 && minor >= 13)
		return 0;
	gp_session_fail(s, -ENOTSUP, GPREEMPT_KFD_VERSION, step);
	s->error.major = major;
	s->error.minor = minor;
	return -ENOTSUP;
}

static int open_timers(struct gpreempt_session *s)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &s->timer };

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->timer < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->timer, &event) < 0)
		return gp_session_fail(s, -errno, GPREEMPT_SYSTEM, "making a timer");
	return 0;
}

static int open_session(struct gpreempt_session *s)
{
	uint64_t before, after;
	int ret;

	ret = gpreempt_check(s->g, s->kfd.pid, &s->error);
	if (ret)
		return ret;
	ret = gpreempt_start_time(s->g, s->kfd.pid, &before);
	if (ret)
		return gp_session_fail(s, ret, GPREEMPT_NO_PROCESS, "looking at the process");
	/*
	 * The session's own thread has to trace the process. It is the caller's, and if it
	 * waited it could not be left behind: ask first whether it would wait.
	 */
	if (s->g->ops->try_trace(s->g->be, s->kfd.pid) == -ETIMEDOUT)
		return gp_session_fail(s, -ETIMEDOUT, GPREEMPT_STUCK, "it is executing a program");
	ret = open_device(s);
	if (!ret)
		ret = open_timers(s);
	if (!ret)
		ret = gp_session_attach(s);
	if (ret)
		return ret;
	/* A traced process keeps its number; it may be another's by now. */
	ret = gpreempt_start_time(s->g, s->kfd.pid, &after);
	if (ret || before != after)
		return gp_session_fail(s, -ESRCH, GPREEMPT_ENDED, "looking at the process again");
	ret = gp_session_enable(s);
	if (ret)
		return ret;
	s->state = GP_SESSION_OPEN;
	ret = gp_session_refresh(s);
	if (!ret)
		gp_release_start(s);
	return ret;
}

int gpreempt_session_open(struct gpreempt *g, pid_t pid, struct gpreempt_session **out,
			  struct gpreempt_error *err)
{
	struct gpreempt_session *s = new_session(g, pid);
	int ret;

	if (!s)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, "getting memory");
	ret = open_session(s);
	if (ret) {
		if (err)
			*err = s->error;
		gpreempt_session_close(s);
		return ret;
	}
	/* Start the reader here, where it delays no end. If this fails, it is tried again. */
	if (gp_reader_start(g, pid, &s->reader))
		s->reader = NULL;
	*out = s;
	return 0;
}

int gpreempt_session_close(struct gpreempt_session *s)
{
	int ret;

	if (!s)
		return 0;
	ret = gp_session_leave(s, false);
	free_session(s);
	return ret;
}

int gpreempt_session_fd(const struct gpreempt_session *s)
{
	return s->epoll;
}

const struct gpreempt_error *gpreempt_session_error(const struct gpreempt_session *s)
{
	return &s->error;
}
