// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/hold.h"
#include "shared/clock.h"
#include "shared/parse.h"

/*
 * A holder on its way out is gone by then: its dead man's switch has fallen
 * even if it was stopped.
 */
#define PATIENCE_NS (5 * NSEC_PER_SEC)
#define PAUSE_NS (20 * NSEC_PER_MSEC)

static int print_reply(pid_t pid, const struct hold_reply *reply,
		       bool already)
{
	char lease[32] = "until resume", *next;
	char text[HOLD_MAX_TEXT];

	if (reply->worker && (reply->status == GPREEMPT_CLASS_DONE ||
			      reply->status == GPREEMPT_CLASS_PARTIAL)) {
		if (reply->lease_ns)
			shr_format_duration(reply->lease_ns, lease,
					    sizeof(lease));
		printf("suspended %d: %llu queues, ioctl %.1f us, "
		       "verified: %s\n", pid,
		       (unsigned long long)reply->queues,
		       reply->ioctl_ns / 1000.0,
		       ctl_verdict_name(reply->verdict));
		printf("holder %llu, guardian %llu, lease: %s; "
		       "let go with: gpreempt-ctl resume %d\n",
		       (unsigned long long)reply->worker,
		       (unsigned long long)reply->guardian, lease, pid);
		ctl_label_times();
		if (already)
			printf("it was held already: what was asked for is "
			       "added, the lease is new\n");
		if (!reply->queues)
			ctl_note("process %d has no queues now; "
				 "new ones will be suspended", pid);
		if (!reply->cgroup)
			ctl_note("no cgroup v2 for the holder alone: who "
				 "freezes this cgroup makes it let go");
	}
	if (reply->status == GPREEMPT_CLASS_DONE)
		return 0;
	strcpy(text, reply->text);
	next = strchr(text, '\n');
	if (next)
		*next++ = '\0';
	return ctl_fail_text(reply->status, next, "%s", text);
}

static int fail_busy(pid_t pid, const struct hold_owner *owner)
{
	char next[96];

	snprintf(next, sizeof(next), "wait for it, or end it: kill %llu",
		 (unsigned long long)owner->pid);
	return ctl_fail_text(GPREEMPT_CLASS_BUSY, next,
			     "process %d is held by gpreempt-ctl %s (%llu)",
			     pid, hold_role_name(owner->role),
			     (unsigned long long)owner->pid);
}

/*
 * Have the holder that there is do it, or become the one who may make one: a
 * lock, or -errno; 0 when it is done, with the reply filled in; -EBUSY with
 * the owner when somebody else has the target.
 */
static int ask_or_lock(pid_t pid, const struct hold_request *request,
		       struct hold_reply *reply, struct hold_owner *owner)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;

	for (;;) {
		int ret = hold_ask(pid, request, reply);

		if (ret != -ENOENT && ret != -ECONNRESET)
			return ret;
		ret = hold_lock(pid);
		if (ret != -EWOULDBLOCK)
			return ret;
		ret = hold_read_owner(pid, owner);
		if (!ret && owner->role > HOLD_ROLE_HOLDER)
			return -EBUSY;
		if (shr_now_ns() > deadline)
			return -ETIMEDOUT;
		shr_sleep_ns(PAUSE_NS);
	}
}

static int fail_system(pid_t pid, const char *step, int code)
{
	struct gpreempt_error err = {
		.code = code,
		.reason = GPREEMPT_SYSTEM,
		.pid = pid,
		.step = step,
	};

	return ctl_fail(&err);
}

static int make_holder(pid_t pid, int lock, struct hold_request *request)
{
	struct hold_reply reply;
	int told, ret = hold_spawn(lock, pid, request, &reply, &told);

	if (ret)
		return fail_system(pid, "starting the holder", ret);
	ret = print_reply(pid, &reply, false);
	fflush(stdout);
	hold_confirm(told);
	return ret;
}

static int check(pid_t pid, struct hold_request *request)
{
	struct gpreempt_error err;
	struct gpreempt *g;
	int ret;

	ret = gpreempt_new(NULL, &g);
	if (ret)
		return fail_system(pid, "setting up", ret);
	ret = gpreempt_check(g, pid, &err);
	/* Our own holder traces it: that one is asked, not refused. */
	if (ret && err.reason == GPREEMPT_TRACED && hold_is_holder(err.other))
		ret = 0;
	if (!ret && gpreempt_start_time(g, pid, &request->start))
		ret = gpreempt_check(g, pid, &err);
	gpreempt_free(g);
	if (ret)
		return ctl_fail(&err);
	if (hold_is_holder(pid))
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "gpreempt-ctl status shows what it holds",
				     "process %d is a holder of gpreempt-ctl",
				     pid);
	return 0;
}

static int suspend_one(struct ctl_args *args)
{
	struct hold_request request = {
		.verb = HOLD_SUSPEND,
		.lease_ns = args->lease_ns,
		.count = args->n_ids,
	};
	struct hold_reply reply;
	struct hold_owner owner;
	int ret;

	ret = ctl_need_root(args->pid);
	if (!ret)
		ret = hold_dir_prepare();
	if (ret < 0)
		return fail_system(args->pid, "making " HOLD_DIR, ret);
	if (!ret)
		ret = check(args->pid, &request);
	if (ret)
		return ret;
	if (args->n_ids)
		memcpy(request.ids, args->ids,
		       args->n_ids * sizeof(*args->ids));
	ret = ask_or_lock(args->pid, &request, &reply, &owner);
	if (ret == -EBUSY)
		return fail_busy(args->pid, &owner);
	if (ret < 0)
		return fail_system(args->pid, "asking the holder", ret);
	if (ret > 0)
		return make_holder(args->pid, ret, &request);
	return print_reply(args->pid, &reply, true);
}

static int run_suspend(const struct ctl_command *cmd, struct ctl_args *args)
{
	(void)cmd;
	return ctl_each_target(args, suspend_one);
}

static const struct ctl_option options[] = {
	{ "for", CTL_DURATION, offsetof(struct ctl_args, lease_ns), "TIME",
	  "let go by itself after that time (5s); otherwise at resume" },
	{ "queues", CTL_IDS, 0, "LIST",
	  "only these queue ids (0,2); otherwise all, and new ones too" },
	{ 0 },
};

const struct ctl_command ctl_suspend = {
	.name = "suspend",
	.run = run_suspend,
	.words = CTL_TARGETS,
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Take the queues of a process off the GPU and hold them.",
	.details =
	"A holder stays behind in the background. The queues run again at\n"
	"\"gpreempt-ctl resume PID\", when the lease is over, when the process\n"
	"ends, and when the holder ends, however that may be. Suspending a\n"
	"process that is held already adds queues and sets the lease anew.\n"
	"While it is held, other debuggers (gdb, strace, rocgdb) are kept out.\n",
	.options = options,
	.shared = CTL_SHARED_WAIT,
};
