// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The helper process of a pause: finds a descriptor of /dev/kfd in the target, takes a
 * copy, traces the target, makes the ioctls, and ends, which stops tracing without a
 * stop of the target. The target is traced only while the ioctls run.
 */
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "lib/core/apart.h"
#include "pause.h"
#include "shared/util.h"

/* A target can move its descriptor from number to number. */
#define LOOKS 3

struct look {
	struct gp_pause_help *h;
	int fd; /* -1: none yet */
	bool seen;
};

static int take(struct gp_pause_help *h, int number)
{
	int fd = h->ops->take_device(h->be, h->pid, h->process, number, h->device);

	if (fd >= 0)
		h->found = number;
	return fd;
}

static bool is_done(const struct gp_pause_help *h, int number)
{
	unsigned int i;

	for (i = 0; i < h->n_done; i++)
		if (h->done[i] == number || h->ops->same_file(h->be, h->pid, h->done[i], number))
			return true;
	return false;
}

/* Look at one descriptor. 1: taken. The kernel's names here are numbers. */
static int look_at(void *arg, const char *name)
{
	struct look *look = arg;
	struct gp_pause_help *h = look->h;
	char path[GP_PID_PATH], file[32];
	int number = atoi(name), ret;
	uint64_t device;

	gp_apart_at(h, GP_PAUSE_AT_FILES);
	if (number < h->from)
		return 0;
	snprintf(file, sizeof(file), "fd/%s", name);
	gp_pid_path(path, "/proc", h->pid, file);
	ret = h->ops->device_of(h->be, path, &device);
	if (ret == -EACCES || ret == -EPERM)
		h->denied = true;
	if (ret || device != h->device || is_done(h, number))
		return 0;
	look->seen = true;
	if (h->op == GP_PAUSE_LOOK) {
		h->found = number;
		return 1;
	}
	ret = take(h, number);
	if (ret == -EBADF || ret == -ENODEV) /* the process has moved or closed it */
		return 0;
	look->fd = ret;
	return ret < 0 ? ret : 1;
}

/* Find the descriptor. 0: @h->found, with *@fd a descriptor of ours unless @h only looks. */
static int find(struct gp_pause_help *h, int *fd)
{
	struct look look = { .h = h, .fd = -1 };
	char path[GP_PID_PATH];
	int i, ret;

	gp_pid_path(path, "/proc", h->pid, "fd");
	for (i = 0; i < LOOKS; i++) {
		look.seen = false;
		ret = h->ops->list_dir(h->be, path, look_at, &look);
		*fd = look.fd;
		if (ret)
			return ret < 0 ? ret : 0;
		if (!look.seen)
			break;
	}
	return h->denied ? -EPERM : -ENXIO;
}

static int ask(struct gp_pause_help *h, int fd, uint32_t op)
{
	struct kfd_ioctl_criu_args args = { .pid = h->pid, .op = op };
	uint64_t entry = shr_now_ns();
	int ret = h->ops->ioctl(h->be, fd, AMDKFD_IOC_CRIU_OP, &args);

	h->return_ns = shr_now_ns();
	h->ioctl_ns += h->return_ns - entry;
	if (!h->entry_ns)
		h->entry_ns = entry;
	return ret;
}

/*
 * Drivers up to 6.1 and amdgpu-dkms count a second pause, and one unpause does not
 * undo both. The driver refuses an unpause unless the process is paused, and while we
 * trace the process no other program can pause it: so the unpause comes first.
 */
static void change(struct gp_pause_help *h, int fd)
{
	bool set = h->op != GP_PAUSE_UNSET;

	if (!gp_apart_enter(h))
		return;
	if (h->op != GP_PAUSE_SET_STRICT)
		h->unpause_code = ask(h, fd, KFD_CRIU_OP_UNPAUSE);
	if (h->unpause_code && h->unpause_code != -EINVAL)
		set = false;
	if (set && gp_apart_is_wanted(h))
		h->pause_code = ask(h, fd, KFD_CRIU_OP_PROCESS_INFO);
	/* The caller waits no more: not left paused. */
	if (!gp_apart_leave(h) && set)
		ask(h, fd, KFD_CRIU_OP_UNPAUSE);
}

static void help(void *arg)
{
	struct gp_pause_help *h = arg;
	int fd = -1;

	gp_apart_at(h, GP_PAUSE_AT_FILES);
	if (h->number < 0) {
		h->file_code = find(h, &fd);
	} else {
		fd = take(h, h->number);
		h->file_code = fd < 0 ? fd : 0;
	}
	if (fd < 0)
		return;
	gp_apart_at(h, GP_PAUSE_AT_SEIZE);
	h->seize_code = h->ops->ptrace(h->be, PTRACE_SEIZE, h->pid, 0);
	gp_apart_at(h, GP_PAUSE_AT_IOCTL);
	if (!h->seize_code)
		change(h, fd);
}

void gp_pause_ready(struct gpreempt *g, struct gp_pause_ready *ready)
{
	struct gp_pause_help *h;

	if (ready->help || g->saved)
		return;
	h = gp_apart_new();
	if (!h)
		return;
	if (g->ops->device_of(g->be, PAUSE_KFD, &h->device)) {
		gp_apart_free(h);
		return;
	}
	gp_apart_ready(h, ready->process, help);
	ready->help = h;
}

void gp_pause_not_ready(struct gp_pause_ready *ready)
{
	if (ready->help)
		gp_apart_free(ready->help);
	ready->help = NULL;
}

int gp_pause_fail(struct gp_pause_job *job, int code, enum gpreempt_reason reason)
{
	return gp_error(job->err, code, reason, job->pid, job->step);
}

int gp_pause_fail_op(struct gp_pause_job *job, int code)
{
	switch (code) {
	case -EACCES:
		return gp_pause_fail(job, code, GPREEMPT_PAUSE_DENIED);
	case -ENOTTY:
		return gp_pause_fail(job, code, GPREEMPT_NO_PAUSE);
	case -ENODEV:
		return gp_pause_fail(job, code, GPREEMPT_NOT_GPU);
	default:
		return gp_pause_fail(job, code, GPREEMPT_PAUSE_FAILED);
	}
}

static int fail_stuck(struct gp_pause_job *job, int place)
{
	static const char *const steps[] = {
		[GP_PAUSE_AT_START] = "the system is too busy",
		[GP_PAUSE_AT_FILES] = "one of its files does not answer",
		[GP_PAUSE_AT_SEIZE] = "it is executing a program",
		[GP_PAUSE_AT_IOCTL] = "it holds a lock of the driver, or its GPU hangs",
	};

	job->help = NULL;
	job->step = steps[place];
	return gp_pause_fail(job, -ETIMEDOUT, GPREEMPT_STUCK);
}

int gp_pause_help(struct gp_pause_job *job)
{
	struct gp_pause_help *h = job->help;
	struct gpreempt *g = job->g;
	int place, ret;

	h->found = -1;
	/* The files of a snapshot never make us wait. */
	if (g->saved) {
		help(h);
		return 0;
	}
	ret = gp_apart_run(g, h, h->process, help, GP_APART_IOCTL_NS, &place);
	if (ret == -ETIMEDOUT)
		return fail_stuck(job, place);
	if (ret == -EBUSY) {
		job->step = "too many helpers wait for other processes";
		return gp_pause_fail(job, ret, GPREEMPT_STUCK);
	}
	return ret ? gp_pause_fail(job, ret, GPREEMPT_SYSTEM) : 0;
}
