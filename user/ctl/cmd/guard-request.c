// SPDX-License-Identifier: GPL-2.0-only
/* Ask the guard: online work begins or ends; release an offline process. */
#include <errno.h>
#include <string.h>

#include <gpreempt/online.h>

#include "agent/holder-lock.h"
#include "ctl/command/ctl.h"
#include "ipc/client.h"
#include "proto/guard.h"
#include "proto/hold.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* How long the guard may take to release: it may wait for the hardware. */
#define RELEASE_NS (15 * NSEC_PER_SEC)
/* Until a guard that runs has answered. */
#define PATIENCE_NS (30 * NSEC_PER_SEC)
#define PAUSE_NS    (5 * NSEC_PER_MSEC)

static int fail_guard(int code)
{
	if (code == -ENOENT || code == -ECONNREFUSED)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-ctl guard --help",
				     "no guard runs here");
	if (code == -EACCES || code == -EPERM)
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "run it as root, or tell the guard: "
				     "--allow-uid",
				     "the guard does not let us ask");
	if (code == -EUSERS)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY, "try again",
				     "the guard has too many connections");
	if (code == -EPROTO)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY,
				     "use the gpreempt-ctl of that version, or "
				     "start the guard again with this one",
				     "the guard is of another version of "
				     "gpreempt");
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "does the guard run?",
			     "the guard did not answer: %s", strerror(-code));
}

static int begin_or_end(bool begin, pid_t pid)
{
	struct gpreempt_online_options options = {
		.size = sizeof(options),
		.timeout_ns = PATIENCE_NS,
		.pid = pid,
	};
	struct gpreempt_online *online;
	int ret;

	ret = gpreempt_online_open(&options, &online);
	if (ret)
		return ret;
	ret = begin ? gpreempt_online_begin(online) : gpreempt_online_end(online);
	gpreempt_online_close(online);
	return ret;
}

static int report_work(bool begin)
{
	pid_t pid = getppid();
	int ret = begin_or_end(begin, pid);

	if (ret == -EINVAL)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-ctl guard begin",
				     "process %d has no request open", pid);
	if (ret < 0)
		return fail_guard(ret);
	printf("process %d: %d requests open\n", pid, ret);
	return 0;
}

static int run_begin(void *args)
{
	(void)args;
	return report_work(true);
}

static int run_end(void *args)
{
	(void)args;
	return report_work(false);
}

const struct ctl_command ctl_guard_begin = {
	.name = "guard begin",
	.run = run_begin,
	.summary = "Report to guard that online work begins.",
	.details = "It counts for the program that runs this command, such as a shell: when that\n"
		   "ends, so do its requests. Requests may be nested. Root only, unless guard has\n"
		   "--allow-uid: these users can hold back offline work, except for its share.\n",
};

const struct ctl_command ctl_guard_end = {
	.name = "guard end",
	.run = run_end,
	.summary = "Report to guard that online work ends.",
	.details = "It ends one request of \"guard begin\" of the same program.\n",
};

/* -ESRCH: guard does not have it; or another negative errno value. */
static int ask_release(pid_t pid, uint64_t ns)
{
	struct guard_request request = {
		.verb = GUARD_RELEASE,
		.pid = pid,
		.ns = ns,
	};
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;
	struct guard_reply reply;
	int fd, ret;

	fd = gp_ipc_connect(GUARD_SOCKET, deadline);
	if (fd < 0)
		return fd;
	ret = gp_guard_ask(fd, &request, &reply, deadline);
	close(fd);
	return ret ? ret : reply.code;
}

static bool is_guarded(pid_t pid)
{
	struct hold_owner owner;

	return !hold_read_owner(pid, &owner) && owner.role == HOLD_ROLE_GUARD;
}

struct release_args {
	struct ctl_target_args targets;
	uint64_t lease_ns; /* 0: for good */
};

static int release_one(pid_t pid, uint64_t ns)
{
	uint64_t deadline = shr_now_ns() + RELEASE_NS;
	int ret;

	ret = ask_release(pid, ns ? ns : UINT64_MAX);
	if (ret == -ESRCH)
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "gpreempt-ctl status shows who has it",
				     "process %d is not guarded", pid);
	if (ret)
		return fail_guard(ret);
	while (is_guarded(pid)) {
		if (shr_now_ns() > deadline)
			return ctl_fail_text(GPREEMPT_CLASS_FAILED, "try again; or end the guard",
					     "the guard has not released "
					     "process %d",
					     pid);
		shr_sleep_ns(PAUSE_NS);
	}
	printf("released %d\n", pid);
	return 0;
}

static int run_release(void *data)
{
	const struct release_args *args = data;
	struct gpreempt_targets *list;
	struct gpreempt *g;
	int ret, status = 0;
	size_t i;

	ret = ctl_need_root(0);
	if (!ret)
		ret = ctl_open(NULL, &g);
	if (ret)
		return ret;
	ret = ctl_targets_sure(g, &args->targets, &list);
	gpreempt_free(g);
	if (ret)
		return ret;
	for (i = 0; i < list->count; i++) {
		ret = release_one(list->targets[i].pid, args->lease_ns);
		status = i ? ctl_merge_status(status, ret) : ret;
	}
	gpreempt_targets_free(list);
	return status;
}

static const struct ctl_option release_options[] = {
	{ "for", CTL_LEASE, offsetof(struct release_args, lease_ns), "TIME",
	  "the guard may take it back after that time (10m)" },
	{ 0 },
};

const struct ctl_command ctl_guard_release = {
	.name = "guard release",
	.run = run_release,
	CTL_TARGET_ARGS(struct release_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Make guard release a process and not take it back.",
	.details = "When it returns, the queues run and the process is not traced: for a\n"
		   "debugger or a checkpoint.\n",
	.options = release_options,
};
