// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/ctl.h"
#include "ctl/hold.h"
#include "shared/parse.h"

#define ROW "%-8s %-8s %-8s %-6s %-8s %s\n"

struct row {
	char pid[16];
	char holder[24];
	char guardian[24];
	char queues[24];
	char since[32];
	char lease[32];
};

static void fill_row(struct row *row, const struct hold_reply *reply)
{
	snprintf(row->queues, sizeof(row->queues), "%llu",
		 (unsigned long long)reply->queues);
	shr_format_duration(reply->held_ns, row->since, sizeof(row->since));
	if (reply->lease_ns)
		shr_format_duration(reply->lease_ns, row->lease,
				    sizeof(row->lease));
	else
		snprintf(row->lease, sizeof(row->lease), "none");
}

static int print_target(void *arg, pid_t target)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	struct row row = {
		.guardian = "-", .queues = "-", .since = "-", .lease = "-",
	};
	struct hold_owner owner;
	struct hold_reply reply;
	int *shown = arg;

	/* It may end while we look, or be only just beginning. */
	if (hold_read_owner(target, &owner) ||
	    owner.role == HOLD_ROLE_NONE)
		return 0;
	snprintf(row.pid, sizeof(row.pid), "%d", target);
	snprintf(row.holder, sizeof(row.holder), "%llu",
		 (unsigned long long)owner.pid);
	if (owner.guardian)
		snprintf(row.guardian, sizeof(row.guardian), "%llu",
			 (unsigned long long)owner.guardian);
	if (owner.role == HOLD_ROLE_HOLDER &&
	    !hold_ask(target, &request, &reply))
		fill_row(&row, &reply);
	if (!(*shown)++)
		printf(ROW, "PID", "HOLDER", "GUARDIAN", "QUEUES", "SINCE",
		       "LEASE");
	printf(ROW, row.pid, row.holder, row.guardian, row.queues, row.since,
	       row.lease);
	return 0;
}

static int run_status(const struct ctl_command *cmd, struct ctl_args *args)
{
	int shown = 0, ret;

	(void)cmd;
	ret = ctl_need_root(args->pid);
	if (ret)
		return ret;
	ret = hold_list(print_target, &shown);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	if (!shown)
		puts("nothing is held");
	return 0;
}

const struct ctl_command ctl_status = {
	.name = "status",
	.run = run_status,
	.summary = "Show which processes are held, and by whom.",
	.details =
	"A line without guardian is a \"gpreempt-ctl preempt\" that runs; \"-\"\n"
	"elsewhere means that the holder did not answer. While a process is held\n"
	"no other debugger can attach to it; \"resume\" ends that.\n",
};
