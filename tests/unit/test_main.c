// SPDX-License-Identifier: GPL-2.0-only
/* The command line as a whole: main, list, doctor, self, and failures, over a made-up system. */
#include "unit-command.h"
#include "unit-host.h"

static void setup(void)
{
	unit_setup();
	set_file("/proc/4194242/comm", "job\n");
	set_file("/proc/4194242/cmdline", "python3 train.py");
}

TEST(version)
{
	CTL(0, "--version");
	ck_assert_str_eq(ctl_out, "gpreempt-ctl " GP_VERSION "\n");
	LAB(0, "--version");
	ck_assert_str_eq(ctl_out, "gpreempt-lab " GP_VERSION "\n");
}

/* gpreempt-lab does nothing without a command, and gpreempt-ctl names where its own went. */
TEST(lab)
{
	const struct ctl_command *const *cmd;

	LAB(0, "%s", "");
	OUT_HAS("usage: gpreempt-lab COMMAND ");
	LAB(GPREEMPT_CLASS_USAGE, "--json");
	LAB(GPREEMPT_CLASS_USAGE, "dceode");
	ERR_HAS("did you mean \"decode\"?\nnext: gpreempt-lab decode\n");
	LAB(GPREEMPT_CLASS_USAGE, "decode --nonsense");
	ERR_HAS("next: gpreempt-lab decode --help\n");
	for (cmd = lab_program.commands; *cmd; cmd++) {
		/* Both have a command of that name. */
		if (*cmd == &ctl_lab_trial)
			continue;
		CTL(GPREEMPT_CLASS_USAGE, "%s --help", (*cmd)->name);
		ck_assert_str_eq(ctl_out, "");
		ck_assert_str_eq(ctl_err,
				 unit_text("gpreempt-ctl: %s is a command of gpreempt-lab\n"
					   "next: gpreempt-lab %s\n",
					   (*cmd)->name, (*cmd)->name));
	}
}

#define USAGE GPREEMPT_CLASS_USAGE
#define NONE  GPREEMPT_CLASS_NO_TARGET

/*
 * Failures that a newcomer provokes: each is a sentence with its reason, a next step that helps, a
 * documented exit status, and nothing on stdout.
 */
static const struct {
	const char *line;
	int status;
	const char *says, *next;
} failures[] = {
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
	{ "list -x", USAGE, "unknown option", "gpreempt-ctl list --help" },
	/* A word near to a command or an option is offered, and is not run. */
	{ "suspned 4194242", USAGE, "no command \"suspned\"; did you mean \"suspend\"?",
	  "gpreempt-ctl suspend\n" },
	{ "module lado", USAGE, "command \"module\"; did you mean \"module load\"?",
	  "gpreempt-ctl module load\n" },
	{ "load", USAGE, "did you mean \"module load\"?", "gpreempt-ctl module load\n" },
	{ "guadr begin", USAGE, "did you mean \"guard begin\"?", "gpreempt-ctl guard begin\n" },
	{ "nonsense", USAGE, "there is no command \"nonsense\"\n", "gpreempt-ctl --help lists" },
	{ "module nonsense", USAGE, "command \"module\"\n", "gpreempt-ctl module load, or " },
	{ "list --josn", USAGE, "--josn: unknown option; did you mean --json?\n",
	  "gpreempt-ctl list --help\n" },
	{ "list --form=x", USAGE, "--form=x: unknown option; did you mean --from?\n",
	  "list --help\n" },
	{ "list --hepl", USAGE, "did you mean --help?\n", "list --help\n" },
	{ "list --nonsense", USAGE, "--nonsense: unknown option\n", "list --help\n" },
	{ "suspend 4194242,17", USAGE, "targets have blanks between", "suspend 4194242 17" },
	{ "guard --o", USAGE, "it is short for several options", "guard --help" },
	{ "guard release 4194242", GPREEMPT_CLASS_FAILED, "no guard runs here", "status shows" },
	{ "gpreempt-lab list", USAGE, "list is a command of gpreempt-ctl", "gpreempt-ctl list" },
	{ "gpreempt-lab decode /none", 1, "/none: No such file", "check the name; -" },
	{ "gpreempt-lab klog /none", 1, "/none: No such file", "check the name; -" },
	{ "gpreempt-lab amdlog /none", 1, "/none: No such file", "check the name; -" },
	{ "gpreempt-lab pidmap --showpids /none", 1, "No such file", "check the name; -" },
	{ "gpreempt-lab report /none -o x", 1, "/none: No such file", "check the name; -" },
	{ "gpreempt-lab klog /proc", 1, "/proc: ", "name a regular file" },
	{ "gpreempt-lab pidmap --showpids x 3", USAGE, "takes no TARGET", "pidmap --help" },
	{ "gpreempt-lab experiment --report-only /none", 1, "is no experiment", "has made" },
	{ "gpreempt-lab report", USAGE, "-o FILE is needed", "gpreempt-lab report -o" },
};

TEST_EACH(failure, ARRAY_SIZE(failures))
{
	static const char lab[] = "gpreempt-lab ";
	const char *line = failures[_i].line, *next;
	bool of_lab = !strncmp(line, lab, strlen(lab));

	if (of_lab)
		LAB(failures[_i].status, "%s", line + strlen(lab));
	else
		CTL(failures[_i].status, "%s", line);
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS(of_lab ? "gpreempt-lab: " : "gpreempt-ctl: ");
	ERR_HAS(failures[_i].says);
	next = strstr(ctl_err, "\nnext: ");
	ck_assert_msg(next && strstr(next, failures[_i].next), "%s", ctl_err);
}

/* The command is list if there is none, or an option in its place. */
TEST(no_command)
{
	set_view(PID, "gpreempt-queues - version: 1.0\n"
		      "# qid gpu_id active slots suspended evicted\n"
		      "0 0xf7bc 1 4 0 0\n1 0xf7bc 0 4 0 0\n");
	CTL(0, "%s", "");
	ck_assert_str_eq(ctl_out,
			 "# pid\tcontainer\tcontainer_id\tengine\tns_pid\tuser\tuid\tgpu\tkfd_gpu_id\t"
			 "queues\tactive\tslots\twaves\tvram\tstate\theld_by\theld_as\t"
			 "how\theld_us\theld_uid\trole\tkept_by\tcommand\n"
			 "4194242\t-\t-\t-\t-\t-\t-\t-\t0xf7bc\t2\t1\t8\t-\t-\tactive\t-\t-\t-\t-\t-\t-\t-\t"
			 "python3 train.py\n");
	CTL(0, "--json");
	expect_rows("processes", 1);
	expect_number("processes.0.queues", 2);
}

/* This host has no driver. */
TEST(doctor)
{
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --json");
	expect_number("status", GPREEMPT_CLASS_UNSUPPORTED);
}

/* A cgroup that is not there, as while a process moves. */
TEST(list_in_doubt)
{
	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	set_file("/proc/4194242/cgroup", "0::/gone\n");
	CTL(0, "--json");
	expect_text("processes.0.role", "unknown");
	unit_cgroups_stop();
}

/* The reason why a program cannot be run counts more than a failed print. */
TEST_EACH(self_exit_status, 4)
{
	static const struct {
		int (*main)(int argc, char **argv);
		char *command, *program;
		int status;
	} rows[] = {
		{ lab_main, "self", "/no/such/program", 127 },
		{ lab_main, "self", "/etc/passwd", 126 },
		{ ctl_main, "run", "/no/such/program", 127 },
		{ ctl_main, "run", "/etc/passwd", 126 },
	};
	pid_t child;

	unit_cgroups_start();
	child = fork();
	if (!child) {
		char *argv[] = {
			"gpreempt", rows[_i].command, "--", rows[_i].program, NULL,
		};

		dup2(open("/dev/full", O_WRONLY), STDERR_FILENO);
		/* A service's stream may be unbuffered. */
		setvbuf(stderr, NULL, _IONBF, 0);
		_exit(rows[_i].main(4, argv));
	}
	ck_assert_int_eq(unit_status(child), rows[_i].status);
	unit_cgroups_stop();
}

/* A signal that asks us to end is the program's; so is the status. */
static void terminate_once(struct gp_loop *l)
{
	static int looks;

	(void)l;
	if (++looks == 3)
		kill(getpid(), SIGTERM);
}

TEST(self_terminated)
{
	loop.before_list = terminate_once;
	LAB(128 + SIGTERM, "self -- sleep 30");
	ck_assert_int_eq(kill(unit_last_child(), 0), -1);
}

TEST(self_queues)
{
	take_programs();
	LAB(7, "self -- sh -c 'kill -USR1 $PPID; sleep 1; exit 7'");
	ERR_HAS("has 2 queues: 0 (gpu 0xf7bc, compute-aql) 1 (gpu 0xf7bc, sdma)\n");
	LAB(2, "self");
	ERR_HAS("a program to run is needed");
}

TEST_FIXTURE(setup, unit_teardown)
