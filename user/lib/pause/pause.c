// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pause of a whole process, as CRIU's. The driver answers only the thread that
 * traces the process's first thread, and a thread that ends stops tracing
 * without a stop of the process: so each pause has a thread of its own.
 */
#include <linux/kfd_ioctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "lib/core/thread.h"
#include "lib/pause/pause.h"
#include "shared/clock.h"

#define STACK (64 * 1024)

/*
 * A process needs one, and libraries that watch GPUs open another. Each costs
 * all processes on its GPUs a run list, so there is an end.
 */
#define MAX_CONTEXTS 64

struct job {
	struct gpreempt *g;
	pid_t pid;
	bool pause; /* or unpause */
	const char *step;
	int process; /* descriptor of it */
	struct gp_descriptors descriptors;
	struct gpreempt_pause_report *report;
	struct gpreempt_error *err;
	uint64_t found_at; /* ns, monotonic */
	pid_t thread;
	int ret;
};

static int fail(struct job *job, int code, enum gpreempt_reason reason)
{
	return gp_error(job->err, code, reason, job->pid, job->step);
}

static int criu_op(struct job *job, int fd, uint32_t op)
{
	struct kfd_ioctl_criu_args args = { .pid = job->pid, .op = op };
	struct gpreempt_pause_report *report = job->report;
	struct gpreempt *g = job->g;
	uint64_t entry;
	int ret;

	if (g->busy)
		g->busy(g->data, true);
	entry = shr_now_ns();
	ret = g->ops->ioctl(g->be, fd, AMDKFD_IOC_CRIU_OP, &args);
	report->return_ns = shr_now_ns();
	if (g->busy)
		g->busy(g->data, false);
	if (!report->entry_ns) {
		report->entry_ns = entry;
		report->attach_ns = entry - job->found_at;
	}
	report->ioctl_ns += report->return_ns - entry;
	return ret;
}

static int fail_op(struct job *job, int code)
{
	switch (code) {
	case -EACCES:
		return fail(job, code, GPREEMPT_PAUSE_DENIED);
	case -ENOTTY:
		return fail(job, code, GPREEMPT_NO_PAUSE);
	case -ENODEV:
		return fail(job, code, GPREEMPT_NOT_GPU);
	default:
		return fail(job, code, GPREEMPT_PAUSE_FAILED);
	}
}

/*
 * Drivers up to 6.1 and amdgpu-dkms count a second pause, and one unpause does
 * not undo both. Unpausing first is refused unless it is paused, and while we
 * trace it no other can pause it.
 */
static int change(struct job *job, int fd)
{
	struct gpreempt_pause_report *report = job->report;
	int ret = criu_op(job, fd, KFD_CRIU_OP_UNPAUSE);

	if (ret == -EBADF)
		return ret;
	if (ret && ret != -EINVAL)
		return fail_op(job, ret);
	/* A second descriptor may be of what we have just paused. */
	if (!report->contexts || (!job->pause && !ret))
		report->before = ret ? GPREEMPT_PAUSED_NO : GPREEMPT_PAUSED_YES;
	if (job->pause) {
		ret = criu_op(job, fd, KFD_CRIU_OP_PROCESS_INFO);
		if (ret)
			return fail_op(job, ret);
	}
	report->contexts++;
	return 0;
}

/* The descriptor was taken and is to be closed. */
static int change_and_close(struct job *job, int fd)
{
	int ret = change(job, fd);

	/* An open one keeps the process's data in the driver after its end. */
	close(fd);
	if (ret != -EBADF)
		return ret;
	job->report->foreign++;
	return 0;
}

/* A copy of the descriptor at that place of the list. */
static int take(struct job *job, size_t i)
{
	const int *numbers = job->descriptors.numbers.items;

	return job->g->ops->take_device(job->g->be, job->pid, job->process,
					numbers[i], job->descriptors.device);
}

static int change_at(struct job *job, size_t i)
{
	int fd;

	/* To unpause what is not paused costs nothing, and must not fail. */
	if (job->pause && job->report->contexts == MAX_CONTEXTS)
		return fail(job, -E2BIG, GPREEMPT_SYSTEM);
	fd = take(job, i);
	switch (fd) {
	case -EBADF:
	case -ENODEV: /* closed meanwhile */
		return 0;
	case -ESRCH:
		return fail(job, fd, GPREEMPT_ENDED);
	case -EPERM:
		return fail(job, fd, GPREEMPT_TRACE_DENIED);
	}
	return fd < 0 ? fail(job, fd, GPREEMPT_SYSTEM) :
			change_and_close(job, fd);
}

/* Nothing is left half paused: what those before did is undone. */
static void undo(struct job *job, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int fd = take(job, i);

		if (fd < 0)
			continue;
		criu_op(job, fd, KFD_CRIU_OP_UNPAUSE);
		close(fd);
	}
}

static int change_all(struct job *job)
{
	size_t i;
	int ret;

	for (i = 0; i < job->descriptors.numbers.count; i++) {
		ret = change_at(job, i);
		if (!ret)
			continue;
		if (job->pause && job->report->before == GPREEMPT_PAUSED_NO)
			undo(job, i);
		return ret;
	}
	if (job->report->contexts)
		return 0;
	/* What another process opened is no descriptor of a GPU process. */
	ret = gp_target_exists(job->g, job->pid, job->step, job->err);
	return ret ? ret : fail(job, -ENXIO, GPREEMPT_KFD_CLOSED);
}

static int attach(struct job *job)
{
	const struct gp_backend_ops *ops = job->g->ops;
	int ret = ops->ptrace(job->g->be, PTRACE_SEIZE, job->pid, 0);

	if (!ret)
		return 0;
	if (ret == -ESRCH)
		return fail(job, ret, GPREEMPT_ENDED);
	if (ret != -EPERM)
		return fail(job, ret, GPREEMPT_SYSTEM);
	ret = gp_check_traceable(job->g, job->pid, job->step, job->err);
	return ret ? ret : fail(job, -EPERM, GPREEMPT_TRACE_DENIED);
}

static void *run(void *arg)
{
	struct job *job = arg;

	job->thread = gettid();
	job->ret = attach(job);
	if (!job->ret)
		job->ret = change_all(job);
	return NULL;
}

/*
 * To join a thread is not to see its end: the kernel wakes who joins it before
 * it stops tracing. Once its number is free, both are done.
 */
static void wait_for_end(pid_t thread)
{
	uint64_t end = shr_now_ns() + NSEC_PER_SEC;

	/* Another thread of ours could have got the number: so not for ever. */
	while (!syscall(SYS_tgkill, getpid(), thread, 0) && shr_now_ns() < end)
		sched_yield();
}

static int run_thread(struct job *job)
{
	struct gpreempt_pause_report *report = job->report;
	pthread_t thread;
	int ret;

	job->found_at = shr_now_ns();
	ret = gp_thread_start(&thread, STACK, true, run, job);
	if (ret)
		return fail(job, ret, GPREEMPT_SYSTEM);
	pthread_join(thread, NULL);
	wait_for_end(job->thread);
	if (report->return_ns)
		report->detach_ns = shr_now_ns() - report->return_ns;
	if (!job->ret)
		report->after = job->pause ? GPREEMPT_PAUSED_YES :
					     GPREEMPT_PAUSED_NO;
	return job->ret;
}

/* The descriptor comes first: then it is of the process with that time. */
static int open_process(struct job *job, uint64_t start_time)
{
	struct gpreempt *g = job->g;
	uint64_t started;
	int ret;

	ret = g->ops->open_process(g->be, job->pid);
	if (ret == -ESRCH)
		return fail(job, ret, GPREEMPT_NO_PROCESS);
	if (ret == -EINVAL) /* the number of a thread, or none */
		return gp_target_exists(g, job->pid, job->step, job->err) ?:
			       fail(job, -ESRCH, GPREEMPT_NO_PROCESS);
	if (ret < 0)
		return fail(job, ret, GPREEMPT_SYSTEM);
	job->process = ret;
	if (!start_time)
		return 0;
	ret = gpreempt_start_time(g, job->pid, &started);
	if (ret || started != start_time)
		return fail(job, -ESRCH, GPREEMPT_ENDED);
	return 0;
}

static int do_job(struct job *job, uint64_t start_time)
{
	uint64_t called = shr_now_ns();
	int ret;

	ret = gp_check_host(job->g, job->pid, job->step, job->err);
	if (!ret)
		ret = open_process(job, start_time);
	if (!ret)
		ret = gp_find_descriptors(job->g, job->pid, &job->descriptors,
					  job->err);
	if (ret)
		return ret;
	job->report->find_ns = shr_now_ns() - called;
	ret = run_thread(job);
	free(job->descriptors.numbers.items);
	return ret;
}

static int start(struct gpreempt *g, pid_t pid, uint64_t start_time, bool pause,
		 struct gpreempt_pause_report *report,
		 struct gpreempt_error *err)
{
	struct gpreempt_pause_report unused;
	struct job job = {
		.g = g,
		.pid = pid,
		.pause = pause,
		.step = pause ? "pause" : "unpause",
		.process = -1,
		.report = report ? report : &unused,
		.err = err,
	};
	int ret;

	*job.report = (struct gpreempt_pause_report){
		.before = GPREEMPT_PAUSED_UNKNOWN,
		.after = GPREEMPT_PAUSED_UNKNOWN,
	};
	ret = do_job(&job, start_time);
	shr_cleanup_fd(&job.process);
	return ret;
}

int gpreempt_pause(struct gpreempt *g, pid_t pid, uint64_t start_time,
		   struct gpreempt_pause_report *report,
		   struct gpreempt_error *err)
{
	return start(g, pid, start_time, true, report, err);
}

int gpreempt_unpause(struct gpreempt *g, pid_t pid, uint64_t start_time,
		     struct gpreempt_pause_report *report,
		     struct gpreempt_error *err)
{
	return start(g, pid, start_time, false, report, err);
}

int gpreempt_pause_check(struct gpreempt *g, pid_t pid,
			 struct gpreempt_error *err)
{
	static const char step[] = "looking at the process";
	struct gp_descriptors descriptors;
	int ret;

	ret = gp_check_host(g, pid, step, err);
	if (!ret)
		ret = gp_target_exists(g, pid, step, err);
	if (!ret)
		ret = gp_check_traceable(g, pid, step, err);
	if (!ret)
		ret = gp_find_descriptors(g, pid, &descriptors, err);
	if (ret)
		return ret;
	free(descriptors.numbers.items);
	return 0;
}
