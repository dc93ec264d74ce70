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

/* The descriptor was taken and is to be closed. */
static int change_and_close(struct gp_pause_job *job, int fd)
{
	int ret = job->strict ? gp_pause_change_strict(job, fd) :
				gp_pause_change(job, fd);

	/* An open one keeps the process's data in the driver after its end. */
	close(fd);
	if (ret != -EBADF)
		return ret;
	job->report->foreign++;
	return 0;
}

/* A copy of the descriptor at that place of the list. */
static int take(struct gp_pause_job *job, size_t i)
{
	return job->g->ops->take_device(job->g->be, job->pid, job->process,
					gp_items(job->numbers, int)[i],
					job->device);
}

static _Atomic uint64_t *hint_of(struct gp_pause_job *job)
{
	return &job->g->kfd_hints[job->pid % GP_KFD_HINTS];
}

/* For the next call: the first that is the process's own. */
static void remember(struct gp_pause_job *job, size_t i)
{
	*hint_of(job) = (uint64_t)job->pid << 32 |
			(uint32_t)gp_items(job->numbers, int)[i];
}

static int change_at(struct gp_pause_job *job, size_t i)
{
	unsigned int contexts = job->report->contexts;
	int fd, ret;

	/* To unpause what is not paused costs nothing, and must not fail. */
	if (job->pause && job->report->contexts == MAX_CONTEXTS)
		return gp_pause_fail(job, -E2BIG, GPREEMPT_SYSTEM);
	fd = take(job, i);
	switch (fd) {
	case -EBADF:
	case -ENODEV: /* closed meanwhile */
		return 0;
	case -ESRCH:
		return gp_pause_fail(job, fd, GPREEMPT_ENDED);
	case -EPERM:
		return gp_pause_fail(job, fd, GPREEMPT_TRACE_DENIED);
	}
	if (fd < 0)
		return gp_pause_fail(job, fd, GPREEMPT_SYSTEM);
	ret = change_and_close(job, fd);
	if (!contexts && job->report->contexts)
		remember(job, i);
	return ret;
}

/* Nothing is left half paused: what those before did is undone. */
static void undo(struct gp_pause_job *job, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int fd = take(job, i);

		if (fd < 0)
			continue;
		gp_pause_op(job, fd, KFD_CRIU_OP_UNPAUSE);
		close(fd);
	}
}

/* Those that were found and not changed yet. */
static int change_found(struct gp_pause_job *job)
{
	for (; job->changed < job->numbers.count; job->changed++) {
		int ret = change_at(job, job->changed);

		if (ret)
			return ret;
	}
	return 0;
}

static int add_number(struct gp_pause_job *job, int number)
{
	int *place = gp_array_add(&job->numbers, sizeof(*place));

	if (!place)
		return gp_pause_fail(job, -ENOMEM, GPREEMPT_SYSTEM);
	*place = number;
	return 0;
}

/* What the process has open besides the first one, which was a hint. */
static int find_others(struct gp_pause_job *job)
{
	bool seen = false;
	struct gp_array all;
	size_t i;
	int ret;

	ret = gp_find_descriptors(job->g, job->pid, job->device, &all,
				  job->err);
	/* Closed since it was paused. */
	if (ret == -ENXIO && job->report->contexts)
		return 0;
	if (ret)
		return ret;
	for (i = 0; i < all.count && !ret; i++) {
		int number = gp_items(all, int)[i];

		if (number == gp_items(job->numbers, int)[0] && !seen)
			seen = true;
		else
			ret = add_number(job, number);
	}
	free(all.items);
	return ret;
}

static int change_all(struct gp_pause_job *job)
{
	int ret = change_found(job);

	if (!ret && job->hinted)
		ret = find_others(job);
	if (!ret)
		ret = change_found(job);
	if (ret && job->pause && !job->strict &&
	    job->report->before == GPREEMPT_PAUSED_NO)
		undo(job, job->changed);
	if (ret || job->report->contexts)
		return ret;
	/* What another process opened is no descriptor of a GPU process. */
	ret = gp_target_exists(job->g, job->pid, job->step, job->err);
	return ret ? ret : gp_pause_fail(job, -ENXIO, GPREEMPT_KFD_CLOSED);
}

static int attach(struct gp_pause_job *job)
{
	const struct gp_backend_ops *ops = job->g->ops;
	int ret = ops->ptrace(job->g->be, PTRACE_SEIZE, job->pid, 0);

	if (!ret)
		return 0;
	if (ret == -ESRCH)
		return gp_pause_fail(job, ret, GPREEMPT_ENDED);
	if (ret != -EPERM)
		return gp_pause_fail(job, ret, GPREEMPT_SYSTEM);
	ret = gp_check_traceable(job->g, job->pid, job->step, job->err);
	return ret ? ret : gp_pause_fail(job, -EPERM, GPREEMPT_TRACE_DENIED);
}

static void *run(void *arg)
{
	struct gp_pause_job *job = arg;

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

static int run_thread(struct gp_pause_job *job)
{
	struct gpreempt_pause_report *report = job->report;
	pthread_t thread;
	int ret;

	job->found_at = shr_now_ns();
	ret = gp_thread_start(&thread, STACK, true, run, job);
	if (ret)
		return gp_pause_fail(job, ret, GPREEMPT_SYSTEM);
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
static int open_process(struct gp_pause_job *job)
{
	struct gpreempt *g = job->g;
	uint64_t started;
	int ret;

	ret = g->ops->open_process(g->be, job->pid);
	if (ret == -ESRCH)
		return gp_pause_fail(job, ret, GPREEMPT_NO_PROCESS);
	if (ret == -EINVAL) /* the number of a thread, or none */
		return gp_target_exists(g, job->pid, job->step, job->err) ?:
			       gp_pause_fail(job, -ESRCH, GPREEMPT_NO_PROCESS);
	if (ret < 0)
		return gp_pause_fail(job, ret, GPREEMPT_SYSTEM);
	job->process = ret;
	if (!job->start_time)
		return 0;
	ret = gpreempt_start_time(g, job->pid, &started);
	if (ret || started != job->start_time)
		return gp_pause_fail(job, -ESRCH, GPREEMPT_ENDED);
	return 0;
}

/*
 * To look through all descriptors of a process takes longer than all the rest. One
 * that was paused before has most likely the one that it had then: that is tried
 * first, and the others are looked for when it is off the GPU.
 */
static int find(struct gp_pause_job *job)
{
	uint64_t hint = *hint_of(job);
	int ret;

	job->hinted = !job->strict && hint >> 32 == (uint32_t)job->pid;
	/* Of a process that was paused from here, the host is known. */
	ret = job->hinted ?
		      0 :
		      gp_check_host(job->g, job->pid, job->step, job->err);
	if (!ret)
		ret = open_process(job);
	if (!ret)
		ret = gp_find_device(job->g, job->pid, &job->device, job->err);
	if (ret)
		return ret;
	return job->hinted ? add_number(job, (uint32_t)hint) :
			     gp_find_descriptors(job->g, job->pid, job->device,
						 &job->numbers, job->err);
}

static int do_job(struct gp_pause_job *job)
{
	uint64_t called = shr_now_ns();
	bool done = false;
	int ret;

	job->strict = gp_pause_is_strict(job->g);
	ret = find(job);
	if (!ret && job->strict)
		ret = gp_pause_begin_strict(job, &done);
	job->report->find_ns = shr_now_ns() - called;
	if (!ret && !done)
		ret = run_thread(job);
	free(job->numbers.items);
	return ret;
}

static int start(struct gpreempt *g, pid_t pid, uint64_t start_time, bool pause,
		 struct gpreempt_pause_report *report,
		 struct gpreempt_error *err)
{
	struct gpreempt_pause_report unused;
	struct gp_pause_job job = {
		.g = g,
		.pid = pid,
		.pause = pause,
		.start_time = start_time,
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
	ret = do_job(&job);
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
	struct gp_array numbers;
	uint64_t device;
	bool paused;
	int ret;

	ret = gp_check_host(g, pid, step, err);
	if (!ret)
		ret = gp_target_exists(g, pid, step, err);
	if (!ret)
		ret = gp_check_traceable(g, pid, step, err);
	if (!ret)
		ret = gp_find_device(g, pid, &device, err);
	if (!ret)
		ret = gp_find_descriptors(g, pid, device, &numbers, err);
	if (ret)
		return ret;
	free(numbers.items);
	return gp_pause_is_strict(g) ?
		       gp_pause_look(g, pid, step, &paused, err) :
		       0;
}
