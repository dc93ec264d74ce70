// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/hold.h"
#include "shared/clock.h"

/* How long a holder may take to end after it has answered. */
#define END_NS (3 * NSEC_PER_SEC)
#define PAUSE_NS (2 * NSEC_PER_MSEC)

static void wait_for_end(pid_t pid)
{
	uint64_t deadline = shr_now_ns() + END_NS;
	struct hold_owner owner;

	while (hold_read_owner(pid, &owner) != -ENOENT &&
	       shr_now_ns() < deadline)
		shr_sleep_ns(PAUSE_NS);
}

static int print_reply(pid_t pid, const struct hold_reply *reply)
{
	if (reply->status != GPREEMPT_CLASS_DONE)
		return ctl_fail_text(reply->status, "gpreempt-ctl status",
				     "%.*s", (int)strcspn(reply->text, "\n"),
				     reply->text);
	printf("resumed %d: %llu queues, ioctl %.1f us\n", pid,
	       (unsigned long long)reply->queues, reply->ioctl_ns / 1000.0);
	ctl_label_times();
	return 0;
}

static int print_ended(pid_t pid)
{
	printf("resumed %d: its holder has ended\n", pid);
	return 0;
}

static int fail_silent(pid_t pid)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "its end lets the queues run: gpreempt-ctl "
			     "status shows its PID, then kill -9",
			     "the holder of process %d does not answer", pid);
}

/* Nobody answers for it; a holder without its socket is about to end. */
static int not_held(pid_t pid)
{
	struct gpreempt_error err;
	struct hold_owner owner;
	struct gpreempt_view *view;
	struct gpreempt *g;
	int ret;

	ret = hold_read_owner(pid, &owner);
	if (!ret && owner.role <= HOLD_ROLE_HOLDER) {
		wait_for_end(pid);
		if (hold_read_owner(pid, &owner) == -ENOENT)
			return print_ended(pid);
		return fail_silent(pid);
	}
	if (!ret)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY,
				     "it ends by itself, or with Ctrl-C",
				     "process %d is held by gpreempt-ctl "
				     "%s (%llu)", pid,
				     hold_role_name(owner.role),
				     (unsigned long long)owner.pid);
	ret = gpreempt_new(NULL, &g);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, pid);
	ret = gpreempt_view_read(g, pid, &view, &err);
	gpreempt_free(g);
	if (ret)
		return ctl_fail(&err);
	gpreempt_view_free(view);
	printf("process %d is not held: nothing to resume\n", pid);
	return 0;
}

static int resume_one(struct ctl_args *args)
{
	struct hold_request request = { .verb = HOLD_RESUME };
	struct hold_reply reply;
	int ret;

	ret = ctl_need_root(args->pid);
	if (ret)
		return ret;
	ret = hold_ask(args->pid, &request, &reply);
	if (ret == -ENOENT)
		return not_held(args->pid);
	if (ret == -ETIMEDOUT)
		return fail_silent(args->pid);
	wait_for_end(args->pid);
	/* It ended when we asked, which is as good. */
	if (ret == -ECONNRESET)
		return print_ended(args->pid);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, args->pid);
	return print_reply(args->pid, &reply);
}

static int run_resume(const struct ctl_command *cmd, struct ctl_args *args)
{
	(void)cmd;
	return ctl_each_target(args, resume_one);
}

const struct ctl_command ctl_resume = {
	.name = "resume",
	.run = run_resume,
	.words = CTL_TARGETS,
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Let the queues of a held process run again.",
	.details =
	"All of its queues run, and the holder ends. Resuming a process that is\n"
	"not held does nothing and is no error.\n",
};
