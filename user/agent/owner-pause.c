// SPDX-License-Identifier: GPL-2.0-only
/* The owner of a target that it pauses, as a whole and on all of its GPUs. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/view.h>

#include "agent/owner.h"
#include "agent/pause-repair.h"
#include "agent/stopped.h"
#include "shared/syscall.h"

static int set_error(struct owner *o, int code, enum gpreempt_reason reason,
		     const char *step)
{
	o->pause.error = (struct gpreempt_error){
		.code = code,
		.reason = reason,
		.pid = o->target,
		.step = step,
	};
	return code;
}

/* What must be so before it is noted. */
static int check(struct owner *o)
{
	static const char step[] = "looking at the process";
	struct gpreempt *g = o->session.g;
	int ret;

	ret = gpreempt_start_time(g, o->target, &o->pause.owner.start);
	if (ret)
		return set_error(o, ret,
				 ret == -ESRCH ? GPREEMPT_NO_PROCESS :
						 GPREEMPT_SYSTEM,
				 step);
	ret = gpreempt_pause_check(g, o->target, &o->pause.error);
	if (!ret && pause_is_seen(g, o->target))
		ret = set_error(o, -EBUSY, GPREEMPT_PAUSED, step);
	return ret;
}

static int begin(struct owner *o)
{
	struct pause_owner *p = &o->pause.owner;
	int ret;

	p->target = o->target;
	p->lock = o->lock;
	p->guarded = o->guarded;
	p->heartbeat = o->heartbeat;
	ret = pause_owner_begin(p, &o->as);
	o->lock = p->lock;
	if (!ret)
		return 0;
	return set_error(o, ret, GPREEMPT_SYSTEM,
			 p->is_alone ? "starting the guardian of its pause" :
				       "noting its pause in " HOLD_DIR);
}

static int open_pause(struct owner *o, struct gpreempt_error *err)
{
	int ret = session_owner_new(&o->session);

	if (ret) {
		*err = (struct gpreempt_error){ .code = ret,
						.reason = GPREEMPT_SYSTEM,
						.pid = o->target,
						.step = "setting up" };
		return ret;
	}
	/* The descriptor comes first: then it is of the process of that time. */
	o->pause.process = shr_pidfd_open(o->target);
	if (o->pause.process < 0)
		ret = set_error(o, -errno,
				errno == ESRCH ? GPREEMPT_NO_PROCESS :
						 GPREEMPT_SYSTEM,
				"opening the process");
	if (!ret)
		ret = check(o);
	if (!ret)
		ret = begin(o);
	if (!ret)
		return 0;
	*err = o->pause.error;
	if (o->pause.process >= 0)
		close(o->pause.process);
	session_owner_close(&o->session);
	return ret;
}

/* The pause that another program, such as criu dump, has ended may have left a trace. */
static int unpause(struct owner *o, struct gpreempt_pause_report *report)
{
	int ret = gpreempt_unpause(o->session.g, o->target,
				   o->pause.owner.start, report,
				   &o->pause.error);

	if (!ret || ret == -ESRCH)
		o->pause.paused = false;
	if (!ret && report->before == GPREEMPT_PAUSED_NO)
		ret = pause_find_off(o->session.g, o->target, &o->pause.error);
	return ret;
}

static int close_pause(struct owner *o)
{
	struct gpreempt_pause_report report;
	int ret = o->pause.paused ? unpause(o, &report) : 0, end;

	end = pause_owner_end(&o->pause.owner, !o->pause.paused);
	o->lock = o->pause.owner.lock;
	close(o->pause.process);
	session_owner_close(&o->session);
	return ret && ret != -ESRCH ? ret : end;
}

static int pause_fd(const struct owner *o)
{
	return o->pause.process;
}

static int dispatch(struct owner *o)
{
	struct pollfd fd = { .fd = o->pause.process, .events = POLLIN };

	/* Of a call that the caller tries again. */
	o->pause.error = (struct gpreempt_error){ 0 };
	if (poll(&fd, 1, 0) <= 0) {
		int ret = pause_owner_renew(&o->pause.owner);

		return ret ? set_error(o, ret, GPREEMPT_SYSTEM,
				       "starting the guardian of its pause") :
			     0;
	}
	o->pause.paused = false;
	set_error(o, -ESRCH, GPREEMPT_ENDED, "looking at the process");
	return GPREEMPT_EVENT_ENDED;
}

/* After the call: who waits for the GPU does not wait for this. */
static void count(struct owner *o, struct gpreempt_outcome *out)
{
	struct gpreempt_view *view;

	if (!out || gpreempt_view_read(o->session.g, o->target, &view, NULL))
		return;
	out->requested = view->count;
	out->done = view->count;
	gpreempt_view_free(view);
}

/* After an error the driver has restored the queues, or not. */
static int suspend(struct owner *o, const struct gpreempt_filter *which,
		   struct gpreempt_outcome *out)
{
	struct gpreempt_pause_report report = { 0 };
	int ret;

	(void)which;
	if (o->pause.paused)
		return 0;
	ret = gpreempt_pause(o->session.g, o->target, o->pause.owner.start,
			     &report, &o->pause.error);
	o->pause.return_ns = report.return_ns;
	if (out)
		out->ioctl_ns = report.ioctl_ns;
	/* Paused once now, as before: it is not ours to end. */
	if (!ret && report.before == GPREEMPT_PAUSED_YES)
		return set_error(o, -EBUSY, GPREEMPT_PAUSED, "pause");
	if (ret && report.before == GPREEMPT_PAUSED_NO) {
		gpreempt_unpause(o->session.g, o->target, o->pause.owner.start,
				 NULL, NULL);
		pause_find_off(o->session.g, o->target, &o->pause.error);
	}
	o->pause.paused = !ret;
	if (!ret)
		count(o, out);
	return ret;
}

static int resume(struct owner *o, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	struct gpreempt_pause_report report = { 0 };
	int ret;

	(void)which;
	if (!o->pause.paused)
		return 0;
	ret = unpause(o, &report);
	o->pause.return_ns = report.return_ns;
	if (out)
		out->ioctl_ns = report.ioctl_ns;
	if (ret)
		return ret;
	count(o, out);
	if (report.before != GPREEMPT_PAUSED_NO)
		return 0;
	set_error(o, -ENOTCONN, GPREEMPT_UNPAUSED, "unpause");
	if (o->lost)
		o->lost(o->data, &o->pause.error);
	return 0;
}

static bool is_stopped(const struct owner *o)
{
	return process_is_stopped(o->target);
}

static const struct gpreempt_error *pause_error(const struct owner *o)
{
	return &o->pause.error;
}

const struct owner_ops owner_pause_ops = {
	.open = open_pause,
	.close = close_pause,
	.fd = pause_fd,
	.dispatch = dispatch,
	.suspend = suspend,
	.resume = resume,
	.is_stopped = is_stopped,
	.error = pause_error,
};
