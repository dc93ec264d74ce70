// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state, holder and GPUs of a process: the same in each command that shows them; and processes
 * that block a repartition of a GPU (doctor --partition).
 */
#include "hold/run-dir.h"
#include "unit-command.h"
#include "unit-holder.h"

#define DIR    "/sys/kernel/debug/gpreempt/"
#define KFD    "/sys/class/kfd/kfd/"
#define KEEPER (PID + 1)
#define SAID   HOLD_DIR "/said" /* output of the commands, for report */

/* A process as the module shows it, and the words for it. */
struct row {
	const char *counts; /* queues active slots suspended evicted paused debugged */
	const char *usage;  /* waves, evicted, queues, suspended, busy */
	const char *state, *how;
	enum hold_role role; /* the owner of its lock */
	const char *queues;  /* states of both; NULL: it has none */
	const char *held;    /* role in status */
	const char *doctor;  /* behind "process PID"; NULL: it can be suspended */
};

#define NONE HOLD_ROLE_NONE
#define OFF  "evicted,paused evicted,paused"

/* clang-format off */
static const struct row rows[] = {
	{ "2 2 8 0 0 0 0", "12 - 2 0 1", "active", NULL, NONE, "active active", NULL, NULL },
	{ "2 0 8 0 0 0 0", "0 - 2 0 0", "unmapped", NULL, NONE, "unmapped unmapped", NULL, NULL },
	{ "2 0 8 2 0 0 1", "0 - 2 2 0", "suspended", "debug", HOLD_ROLE_HOLDER,
	  "suspended suspended", "suspend", "is held by gpreempt-ctl suspend (" },
	{ "2 4 8 1 0 0 1", "0 - 2 1 0", "partly-suspended", "debug", HOLD_ROLE_GUARD,
	  "suspended active", "guard", "is held by gpreempt-ctl guard (" },
	{ "2 0 8 0 2 0 0", "0 1 2 0 0", "evicted", NULL, NONE, "evicted evicted", NULL, NULL },
	/* CRIU's pause has no owner of ours. */
	{ "2 0 8 0 2 1 0", "0 1 2 0 0", "paused", "pause", NONE, OFF, "other",
	  "is paused by another program" },
	{ "2 0 8 0 2 1 0", "0 1 2 0 0", "paused", "pause", HOLD_ROLE_HOLDER, OFF, "suspend",
	  "is paused by gpreempt-ctl suspend (" },
	/* The one that paused it has ended. */
	{ "2 0 8 0 2 1 0", "0 1 2 0 0", "paused", "pause", NONE, OFF, "pause",
	  "is paused by gpreempt-ctl\t" },
	{ "0 0 0 0 0 0 0", NULL, "no-queues", NULL, NONE, NULL, NULL, NULL },
	{ "2 - 8 0 0 0 0", "- - 2 0 0", NULL, NULL, NONE, "wanted wanted", NULL, NULL },
	{ "2 2 8 - 0 - -", "- - 2 - 0", NULL, NULL, NONE, "active active", NULL, NULL },
};
/* clang-format on */

static void set_row(const struct row *row)
{
	const char *first = row->queues ? row->queues : "", *second = strchr(first, ' ');
	int off = !!strstr(first, "evicted");

	set_file(unit_text(DIR "pid/%d/queues", PID),
		 unit_text("gpreempt-queues - version: 2.0\n# qid gpu_id evicted state\n%s",
			   second ? unit_text("0 0xf7bc %d %.*s\n1 0xf7bc %d%s\n", off,
					      (int)(second - first), first, off, second) :
				    ""));
	set_file(DIR "nodes",
		 unit_text("gpreempt-nodes - version: 1.2\n"
			   "# gpu_id node device xccs slots_used slots\n0xf7bc 1 0000:03:00.0 4 %d 32\n",
			   row->queues ? 2 : 0));
	set_file(DIR "processes",
		 unit_text("gpreempt-processes - version: 1.1\n"
			   "# pid queues active slots suspended evicted paused debugged\n%d %s\n",
			   PID, row->counts));
	set_file(DIR "usage",
		 unit_text("gpreempt-usage - version: 1.1\n# gpu_id hardware pid waves evicted "
			   "queues suspended busy\n%s%s",
			   row->usage ? unit_text("0xf7bc read %d ", PID) : "",
			   row->usage ? unit_text("%s\n", row->usage) : ""));
	set_file(KFD "proc/4194242/", "queues\nvram_63420");
	set_file(KFD "proc/4194242/vram_63420", "4096\n");
}

static void setup(void)
{
	unit_setup();
	hold_dir_setup();
}

/* Check a row of JSON: both commands have the same keys for it. */
static void expect_row(const struct row *row, int64_t held_by, const char *held_as)
{
	expect_rows("processes", 1);
	expect_number("processes.0.pid", PID);
	expect_text("processes.0.state", row->state);
	expect_text("processes.0.how", row->how);
	expect_text("processes.0.held_as", held_as);
	if (held_by)
		expect_number("processes.0.held_by", held_by);
	else
		expect_null("processes.0.held_by");
	expect_number("processes.0.vram", 4096);
}

/* Is it so in status? The rows say the same there as in the others. */
static void expect_holder(const struct row *row)
{
	CTL(0, "status --json");
	expect_rows("holders", !!row->held);
	if (!row->held)
		return;
	expect_number("holders.0.pid", PID);
	expect_text("holders.0.role", row->held);
	expect_text("holders.0.how", row->how);
	if (strcmp(row->held, "other")) {
		ck_assert_ptr_nonnull(json_at("holders.0.held_us"));
		ck_assert_ptr_nonnull(json_at("holders.0.uid"));
	}
	expect_text("holders.0.from", row->role ? "pts/3" : NULL);
}

static void expect_queues(const struct row *row)
{
	CTL(0, "queues %d -o qid,state --no-headers", PID);
	ck_assert_int_eq(!*ctl_out, !row->queues);
	if (row->queues)
		OUT_LINE("0\t%.*s\n1\t%s\n", (int)strcspn(row->queues, " "), row->queues,
			 strchr(row->queues, ' ') + 1);
}

/* Check that it is held, or can be, and never both. */
static void expect_doctor(const struct row *row)
{
	ctl_line("doctor %d", PID);
	OUT_LINE("process %d %s", PID, row->doctor ? row->doctor : "can be suspended");
	ck_assert_int_eq(!!strstr(ctl_out, unit_text("process %d can be", PID)), !row->held);
	ck_assert_ptr_null(strstr(ctl_out, "unowned-slots"));
}

/* report shows what the commands print: it runs each of them, here a stand-in. */
static void expect_report(const struct row *row)
{
	static const char *const commands[] = { "gpus", "list", "status", "doctor" };
	char dir[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		ctl_line("%s --json", commands[i]);
		make_text(unit_text(SAID "/%s", commands[i]), ctl_out);
	}
	ck_assert_ptr_nonnull(realpath(SAID, dir));
	make_text(SAID "/gpreempt-ctl", unit_text("#!/bin/sh\ncat %s/$1\n", dir));
	ck_assert_int_eq(chmod(SAID "/gpreempt-ctl", 0755), 0);
	setenv("PATH", unit_text("%s:%s", dir, getenv("PATH")), 1);
	LAB(0, "report --json");
	expect_rows("states.0.processes", 1);
	expect_text("states.0.processes.0.state", row->state);
	expect_text("states.0.processes.0.how", row->how);
	expect_rows("states.0.holders", !!row->held);
	if (row->held)
		expect_text("states.0.holders.0.role", row->held);
}

/* The value of a series, or none. */
static void expect_series(const char *family, const char *label, const char *value)
{
	const char *at = strstr(ctl_out, unit_text("\n%s{", family));

	ck_assert_msg(!at == !value, "%s: %s", family, at ? at : "none");
	if (value)
		ck_assert_ptr_nonnull(strstr(at, unit_text("%s=\"%s\"", label, value)));
}

/* The same answer in each command that shows who is held. */
TEST_EACH(state, ARRAY_SIZE(rows))
{
	const struct row *row = &rows[_i];
	struct hold_owner owner = { .role = row->role, .pid = getpid(), .guardian = getpid() };
	const char *as = row->held && strcmp(row->held, "other") ? row->held : NULL;
	struct pause_entry entry;
	int lock = -1;

	set_row(row);
	if (row->role) {
		lock = hold_take(PID, &owner);
		strcpy(owner.from, "pts/3");
		ck_assert_int_eq(hold_write_owner(lock, &owner), 0);
	}
	pause_entry_init(&entry, PID, 777);
	if (as && !strcmp(row->how, "pause"))
		ck_assert_int_eq(pause_journal_write(&entry), 0);
	CTL(0, "list --json");
	if (as)
		ck_assert_ptr_nonnull(json_at("processes.0.held_us"));
	else
		expect_null("processes.0.held_us");
	expect_row(row, row->role ? getpid() : 0, as);
	CTL(0, "top --json -n 1 -d 100ms");
	expect_row(row, row->role ? getpid() : 0, as);
	CTL(0, "metrics --for 0ms");
	expect_series("gpreempt_process_state", "state", row->state);
	expect_series("gpreempt_process_held", "by", row->how ? as ? as : "unknown" : NULL);
	expect_queues(row);
	expect_holder(row);
	expect_doctor(row);
	expect_report(row);
	if (row->role)
		hold_drop(PID, lock);
}

static void expect_said(bool said)
{
	ctl_line("doctor %d", PID);
	ck_assert_int_eq(!!strstr(ctl_out, "warning\tevicted\tthe driver has evicted process"),
			 said);
}

/* doctor reports that a process does not run, if no pause is why. */
TEST(evicted)
{
	static const char queues[] = "gpreempt-queues - version: 2.0\n# qid gpu_id evicted state\n"
				     "0 0xf7bc %d %s\n1 0xf7bc 1 evicted\n";

	set_row(&rows[4]);
	set_file(DIR "pid/4194242/queues", unit_text(queues, 1, "evicted"));
	expect_said(true);
	set_file(DIR "pid/4194242/queues", unit_text(queues, 0, "active"));
	expect_said(false);
	set_file(DIR "pid/4194242/queues", unit_text(queues, 1, "evicted,paused"));
	expect_said(false);
}

/* A process that was killed, whose queues and memory a copy of its descriptor keeps. */
static void set_ended(void)
{
	set_row(&rows[0]);
	set_file(unit_text(DIR "pid/%d/queues", PID), NULL);
	set_file(DIR "processes", "gpreempt-processes - version: 1.1\n# pid queues\n");
	set_file(DIR "usage", "gpreempt-usage - version: 1.1\n# gpu_id hardware pid waves\n");
	set_file(KFD "proc/4194242/queues/", "0\n1");
	set_file(KFD "proc/4194242/queues/0/gpuid", "63420\n");
	set_file(KFD "proc/4194242/queues/1/gpuid", "63420\n");
	unit_make_process(KEEPER);
	set_file("/proc/", unit_text("%d", KEEPER));
	set_file("/dev/kfd", "512");
	set_file(unit_text("/proc/%d/comm", KEEPER), "pt_data_worker\n");
	set_file(unit_text("/proc/%d/fd/", KEEPER), "3");
	set_file(unit_text("/proc/%d/fd/3", KEEPER), "512");
}

static void expect_ended(void)
{
	CTL(0, "list --json");
	expect_rows("processes", 1);
	expect_text("processes.0.state", "ended");
	expect_number("processes.0.queues", 2);
	expect_text("processes.0.kfd_gpu_id.0", "0xf7bc");
	expect_number("processes.0.vram", 4096);
	expect_text("processes.0.kept_by", unit_text("%d (pt_data_worker)", KEEPER));
	CTL(GPREEMPT_CLASS_BUSY, "list --gpu f7bc --quiet");
	CTL(0, "list --gpu f7bc");
	OUT_LINE("\n%d\t", PID);
	CTL(0, "top --json -n 1 -d 100ms");
	expect_text("processes.0.state", "ended");
	expect_number("processes.0.queues", 2);
	expect_number("processes.0.vram", 4096);
	/* The module lists nothing of it: the GPU is not known to be idle. */
	expect_null("gpus.0.busy_percent");
	expect_null("gpus.0.waves");
	expect_number("gpus.0.slots_used", 2);
	CTL(0, "metrics --for 0ms");
	expect_series("gpreempt_process_state", "state", "ended");
	OUT_HAS("pci=\"0000:03:00.0\",method=\"-\"} NaN\n");
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc --json");
	expect_text("processes.1.keeps", "ended");
	LAB(0, "pidmap --json");
	expect_rows("processes", 1);
	expect_null("processes.0.command");
	ctl_line("doctor");
	OUT_LINE("warning\tended-processes\tprocess %d has ended, and its queues and memory stay "
		 "on the GPUs\tend one of %d (pt_data_worker)\n",
		 PID, KEEPER);
	OUT_LINE("note\tunowned-slots\tGPU 0 (0000:03:00.0, 0xf7bc): 2 of 32 slots hold queues "
		 "of no process of KFD that lives\tgpreempt-lab decode\n");
}

TEST(ended)
{
	set_ended();
	set_file("/proc/4194242/stat", NULL);
	set_file("/proc/4194242/status", NULL);
	gp_loop_fail(&loop, "process", 0, -ESRCH);
	expect_ended();
}

/* Its parent has not waited for it. */
TEST(ended_zombie)
{
	static const char stat[] = "4194242 (job) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 %d 0 "
				   "777 100 200 1844\n";

	set_ended();
	set_file("/proc/4194242/status", "Name:\tjob\nState:\tZ (zombie)\nTgid:\t4194242\n");
	set_file("/proc/4194242/stat", unit_text(stat, 1));
	CTL(0, "list --json");
	expect_text("processes.0.state", "ended");
	expect_number("processes.0.queues", 2);
	/* Other threads of it live. */
	set_file("/proc/4194242/stat", unit_text(stat, 2));
	CTL(0, "list --json");
	expect_null("processes.0.state");
}

/* /proc hides it from an ordinary user: that is not known to be an end. */
TEST(hidden)
{
	set_row(&rows[0]);
	set_file("/proc/4194242/stat", NULL);
	set_file("/proc/4194242/status", NULL);
	CTL(0, "list --json");
	expect_text("processes.0.state", "active");
	expect_null("processes.0.user");
	expect_null("processes.0.command");
}

/* In a container all processes of the host would seem to have ended. */
TEST(container)
{
	set_ended();
	set_file("/proc/self/ns/pid", "pid:[4026532999]");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "list");
	ERR_HAS("next: ");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "top --batch -n 1");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --partition f7bc");
	LAB(GPREEMPT_CLASS_UNSUPPORTED, "pidmap");
	CTL(GPREEMPT_CLASS_BUSY, "list --quiet");
	ctl_line("doctor");
	ck_assert_ptr_null(strstr(ctl_out, "ended-processes"));
}

TEST_FIXTURE(setup, unit_teardown)

static void set_processes(const char *kfd, const char *all)
{
	set_file(KFD "proc/", kfd);
	set_file("/proc/", all);
}

/* Two GPUs; one process of KFD, which may use the first, and one of no GPU. */
static void partition_setup(void)
{
	holder_setup();
	hold_dir_setup();
	set_file("/dev/kfd", "512");
	set_file(KFD "topology/nodes/", "0\n1\n2");
	set_file(KFD "topology/nodes/0/gpu_id", "0\n");
	set_file(KFD "topology/nodes/1/gpu_id", "63420\n");
	set_file(KFD "topology/nodes/1/properties",
		 "gfx_target_version 90402\nlocation_id 768\ndomain 0\n");
	set_file(KFD "topology/nodes/2/gpu_id", "23887\n");
	set_file(KFD "topology/nodes/2/properties",
		 "gfx_target_version 90402\nlocation_id 1024\ndomain 0\n");
	set_file(unit_text(KFD "proc/%d/vram_63420", target), "0\n");
	set_file(unit_text("/proc/%d/comm", target), "train\n");
	set_file(unit_text("/proc/%d/fd/", target), "0\n3");
	set_file(unit_text("/proc/%d/fd/3", target), "512");
	unit_make_process(KEEPER);
	set_file(unit_text("/proc/%d/comm", KEEPER), "sh\n");
	set_file(unit_text("/proc/%d/fd/", KEEPER), "0\n1");
	set_file(unit_text("/proc/%d/fd/1", KEEPER), "34816");
	set_processes(unit_text("%d", target), unit_text("%d\n%d\nself\nmeminfo", target, KEEPER));
}

TEST(blocks)
{
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc");
	OUT_LINE("\n%d\t%s\tprocess\t", target, "yes");
	OUT_HAS("\tend the process\ttrain\n");
	ck_assert_ptr_null(strstr(ctl_out, unit_text("\n%d\t", KEEPER)));
	ERR_HAS("the driver refuses to repartition GPU 0 (0000:03:00.0, 0xf7bc)\n");
	/* Older drivers refuse it for a process of another GPU, too. */
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition 0x5d4f");
	OUT_LINE("\n%d\tmaybe\tprocess\t", target);
}

TEST(json)
{
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition 0000:03:00.0 --json");
	expect_rows("processes", 1);
	expect_number("processes.0.pid", target);
	expect_text("processes.0.blocks", "yes");
	expect_text("processes.0.keeps", "process");
	expect_null("processes.0.container");
	expect_text("kfd_gpu_id", "0xf7bc");
	expect_text("pci", "0000:03:00.0");
	expect_number("unseen", 0);
	expect_number("status", GPREEMPT_CLASS_BUSY);
}

/* The process has closed /dev/kfd, and KFD has it until it ends. */
TEST(closed)
{
	set_file(unit_text("/proc/%d/fd/", target), "0");
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition 0");
	OUT_LINE("\n%d\t%s\tprocess\t", target, "yes");
}

TEST(partition_container)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

	set_file(unit_text("/proc/%d/cgroup", target),
		 unit_text("0::/system.slice/docker-%s.scope\n", id));
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc --json");
	expect_text("processes.0.engine", "docker");
	expect_text("processes.0.container_id", id);
	expect_text("processes.0.next", "stop the container");
}

/* A process that cannot be looked at is counted, and is no "0". */
TEST(unseen)
{
	gp_loop_fail(&loop, "device", 0, -EACCES);
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc --json");
	expect_number("unseen", 1);
	set_file(KFD "proc/", "");
	CTL(GPREEMPT_CLASS_PERMISSION, "doctor --partition f7bc");
	ERR_HAS("cannot read the descriptors of 2 processes: "
		"Permission denied\n");
}

TEST(mistakes)
{
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition f7bc %d", target);
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition f7bc --from /tmp");
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition ''");
	set_file(KFD "topology/nodes/", NULL);
	set_file(KFD "proc/", NULL);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --partition f7bc");
}

TEST_FIXTURE(partition_setup, holder_teardown)
