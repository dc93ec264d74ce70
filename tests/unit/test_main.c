// SPDX-License-Identifier: GPL-2.0-only
/* The command line as a whole: main, list, doctor, self, over a made-up system. */
#include "cli/cli.h"
#include "unit-ctl.h"
#include "unit-host.h"

static void setup(void)
{
	unit_setup();
	set_file("/proc/4194242/comm", "train\n");
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
	LAB(GPREEMPT_CLASS_USAGE, "list");
	ERR_HAS("gpreempt-lab: there is no command \"list\"\n");
	LAB(GPREEMPT_CLASS_USAGE, "--json");
	LAB(GPREEMPT_CLASS_USAGE, "dceode");
	ERR_HAS("did you mean \"decode\"?\nnext: gpreempt-lab decode\n");
	LAB(GPREEMPT_CLASS_USAGE, "decode --nonsense");
	ERR_HAS("next: gpreempt-lab decode --help\n");
	for (cmd = lab_program.commands; *cmd; cmd++) {
		CTL(GPREEMPT_CLASS_USAGE, "%s --help", (*cmd)->name);
		ck_assert_str_eq(ctl_out, "");
		ck_assert_str_eq(ctl_err,
				 unit_text("gpreempt-ctl: %s is a command of gpreempt-lab\n"
					   "next: gpreempt-lab %s\n",
					   (*cmd)->name, (*cmd)->name));
	}
}

/* A word near to a command or an option is offered, and is not run. */
static const struct {
	const char *line;
	const char *says;
	const char *next;
} slips[] = {
	{ "suspned 4194242", "no command \"suspned\"; did you mean \"suspend\"?",
	  "gpreempt-ctl suspend\n" },
	{ "module lado", "command \"module\"; did you mean \"module load\"?",
	  "gpreempt-ctl module load\n" },
	{ "load", "did you mean \"module load\"?", "gpreempt-ctl module load\n" },
	{ "guadr begin", "did you mean \"guard begin\"?", "gpreempt-ctl guard begin\n" },
	{ "nonsense", "no command \"nonsense\"\n", "--help lists" },
	{ "module nonsense", "command \"module\"\n", "--help lists" },
	{ "list --josn", "--josn: unknown option; did you mean --json?\n",
	  "gpreempt-ctl list --help\n" },
	{ "list --form=x", "--form=x: unknown option; did you mean --from?\n", "list --help\n" },
	{ "list --hepl", "did you mean --help?\n", "list --help\n" },
	{ "list --nonsense", "--nonsense: unknown option, or", "list --help\n" },
};

TEST_EACH(did_you_mean, ARRAY_SIZE(slips))
{
	CTL(GPREEMPT_CLASS_USAGE, "%s", slips[_i].line);
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS(slips[_i].says);
	ERR_HAS(slips[_i].next);
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

TEST_FIXTURE(setup, unit_teardown)
