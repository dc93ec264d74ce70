// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the driver is asked for, on one descriptor of a process. */
#include <linux/kfd_ioctl.h>

#include "lib/pause/pause.h"
#include "shared/clock.h"

int gp_pause_fail(struct gp_pause_job *job, int code,
		  enum gpreempt_reason reason)
{
	return gp_error(job->err, code, reason, job->pid, job->step);
}

int gp_pause_op(struct gp_pause_job *job, int fd, uint32_t op)
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

/*
 * Drivers up to 6.1 and amdgpu-dkms count a second pause, and one unpause does
 * not undo both. Unpausing first is refused unless it is paused, and while we
 * trace it no other can pause it.
 */
int gp_pause_change(struct gp_pause_job *job, int fd)
{
	struct gpreempt_pause_report *report = job->report;
	int ret = gp_pause_op(job, fd, KFD_CRIU_OP_UNPAUSE);

	if (ret == -EBADF)
		return ret;
	if (ret && ret != -EINVAL)
		return gp_pause_fail_op(job, ret);
	/* A second descriptor may be of what we have just paused. */
	if (!report->contexts || (!job->pause && !ret))
		report->before = ret ? GPREEMPT_PAUSED_NO : GPREEMPT_PAUSED_YES;
	if (job->pause) {
		ret = gp_pause_op(job, fd, KFD_CRIU_OP_PROCESS_INFO);
		if (ret)
			return gp_pause_fail_op(job, ret);
	}
	report->contexts++;
	return 0;
}
