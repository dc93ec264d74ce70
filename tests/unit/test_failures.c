// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures that a newcomer provokes: each is a sentence with its reason, a next step that helps, a
 * documented exit status, and nothing on stdout.
 */
#include "unit-ctl.h"

#define USAGE GPREEMPT_CLASS_USAGE
#define NONE  GPREEMPT_CLASS_NO_TARGET

static const struct {
	const char *line;
	int status;
	const char *says, *next;
} rows[] = {
	{ "suspend", USAGE, "a target is needed", "gpreempt-ctl suspend --help" },
	{ "suspend 1", NONE, "process 1", "gpreempt-ctl list shows the GPU processes" },
	{ "suspend 4194304", NONE, "4194304", "gpreempt-ctl list shows the GPU processes" },
	{ "suspend abc", USAGE, "\"abc\" is no target", "targets are PID, cgroup:PATH" },
	{ "suspend job", USAGE, "a GPU process has that name", "gpreempt-ctl suspend comm:job" },
	{ "queues job", USAGE, "a GPU process has that name", "gpreempt-ctl queues comm:job" },
	{ "suspend comm:nope", NONE, "comm:nope names no", "gpreempt-ctl list shows" },
	{ "suspend 4194242 --for", USAGE, "--for: it needs a value", "suspend --help" },
	{ "suspend 4194242 --for 5x", USAGE, "units are ns, us, ms, s, m, h", "suspend --help" },
	{ "suspend 4194242 --how gdb", USAGE, "auto, debug or pause", "suspend --help" },
	{ "suspend 4194242 --gpu 0,", USAGE, "GPUs are indexes as amd-smi has", "suspend --help" },
	{ "list --gpu 99", NONE, "there is no GPU 99", "one of " },
	{ "stop 4194242", USAGE, "did you mean \"suspend\"?", "gpreempt-ctl suspend" },
	{ "pause 4194242", USAGE, "\"suspend --how pause\"", "gpreempt-ctl suspend --how pause" },
	{ "resume", USAGE, "a target is needed, or --all", "gpreempt-ctl status lists" },
	{ "list --from /nonexistent", USAGE, "No such file", "gpreempt-lab snapshot -o DIR" },
	{ "doctor --partition 99", NONE, "there is no GPU 99", "one of " },
	{ "preempt 4194242 --count 0", USAGE, "a number from 1 to", "preempt --help" },
	{ "guard begin", GPREEMPT_CLASS_FAILED, "no guard runs here", "systemctl start" },
	{ "guard", USAGE, "--offline TARGET is needed", "gpreempt-ctl guard --help" },
	{ "metrics --output /nonexistent/x", GPREEMPT_CLASS_FAILED, "No such file",
	  "name a file in a directory" },
	{ "role offline", USAGE, "a cgroup:PATH or a PID has to follow", "role --help" },
	{ "frobnicate", USAGE, "there is no command", "gpreempt-ctl --help lists" },
	{ "list -x", USAGE, "unknown option", "gpreempt-ctl list --help" },
	{ "decode", USAGE, "a command of gpreempt-lab", "gpreempt-lab decode" },
};

TEST_EACH(failure, ARRAY_SIZE(rows))
{
	const char *next;

	CTL(rows[_i].status, "%s", rows[_i].line);
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS("gpreempt-ctl: ");
	ERR_HAS(rows[_i].says);
	next = strstr(ctl_err, "\nnext: ");
	ck_assert_msg(next && strstr(next, rows[_i].next), "%s", ctl_err);
}

static void setup(void)
{
	unit_setup();
	set_file("/proc/4194242/comm", "job\n");
}

TEST_FIXTURE(setup, unit_teardown)
