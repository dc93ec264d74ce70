// SPDX-License-Identifier: GPL-2.0-only
/* Commands that show targets: queues, list; and what run refuses. */
#include "hold/holder.h"
#include "unit-ctl.h"
#include "unit-holder.h"

static const char view[] = "gpreempt-queues - version: 1.0\n"
			   "# qid gpu_id type active slots suspended evicted priority\n"
			   "0 0xf7bc compute-aql 1 4 0 0 7\n"
			   "1 0x5d4f sdma 0 1 1 0 3\n";

static void set_nodes(void)
{
	static const char nodes[] = "/sys/class/kfd/kfd/topology/nodes/";

	set_file(nodes, "1\n2\n3");
	set_file(unit_text("%s1/gpu_id", nodes), "63420\n");
	set_file(unit_text("%s2/gpu_id", nodes), "23887\n");
	set_file(unit_text("%s3/gpu_id", nodes), "4660\n");
}

static void setup(void)
{
	holder_setup();
	hold_dir_setup();
	set_nodes();
	set_view(target, view);
	set_file(unit_text("/proc/%d/comm", target), "train\n");
}

TEST(queues_json)
{
	CTL(0, "queues comm:train --priority >=5 --json");
	expect_number("targets.0.pid", target);
	expect_text("targets.0.source", "module");
	expect_rows("targets.0.queues", 1);
	expect_number("targets.0.queues.0.qid", 0);
	expect_number("targets.0.queues.0.active", 1);
	/* A value that the module does not show is unknown, and no number. */
	expect_null("targets.0.queues.0.doorbell");
	expect_null("targets.0.queues.0.state");
}

/* Each column of the view has a key. */
TEST(queues_whole)
{
	set_view(target,
		 "gpreempt-queues - version: 2.0\n"
		 "# qid gpu_id type state active slots waves hardware age_ms priority suspended evicted "
		 "wants doorbell engine rlc rptr wptr unit ring ring_size rptr_addr wptr_addr mqd cwsr "
		 "cwsr_size exception context\n"
		 "3 0xf7bc sdma active,stuck 1 1 5 read 4 7 0 0 100 0xc00 2 1 16 24 bytes 0x1000 4096 "
		 "0x2000 0x3000 0x4000 0x5000 64 wave-abort,wave-trap 6\n");
	CTL(0, "queues %d --json", target);
	expect_text("targets.0.queues.0.state.1", "stuck");
	expect_number("targets.0.queues.0.wants", 100);
	expect_text("targets.0.queues.0.cwsr", "0x5000");
	expect_text("targets.0.queues.0.exception.1", "wave-trap");
	expect_number("targets.0.queues.0.context", 6);
}

TEST_EACH(list_states, 7)
{
	static const struct {
		const char *columns, *state;
	} rows[] = {
		{ "0 0xf7bc 0 4 1 0\n1 0xf7bc 0 4 1 0\n", "suspended" },
		{ "0 0xf7bc 1 4 0 0\n1 0xf7bc 0 4 1 0\n", "partly-suspended" },
		{ "0 0xf7bc 0 4 0 1\n1 0xf7bc 0 4 0 1\n", "evicted" },
		{ "0 0xf7bc 0 4 0 1\n1 0xf7bc 0 4 0 0\n", "unmapped" },
		{ "0 0xf7bc 1 4 0 0\n", "active" },
		{ "0 0xf7bc - 4 0 0\n", NULL },
		{ "0 0xf7bc 1 4 - 0\n", NULL },
	};

	set_view(target, unit_text("gpreempt-queues - version: 1.0\n"
				   "# qid gpu_id active slots suspended evicted\n%s",
				   rows[_i].columns));
	CTL(0, "list --json");
	expect_text("processes.0.state", rows[_i].state);
}

/* The path of a cgroup that is deep takes the kernel long: container and role from one read. */
TEST(list_reads_once)
{
	static const char scope[] =
		"/kubepods/cri-containerd-"
		"aaaaaaaaaaaa1111111111111111111111111111111111111111111111111111.scope";
	const char *path = unit_text("/proc/%d/cgroup", target);

	set_file(path, unit_text("0::%s\n", scope));
	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	unit_cgroup_make(scope);
	unit_cgroup_role("/kubepods", "offline");
	CTL(0, "list --json");
	expect_text("processes.0.container", "aaaaaaaaaaaa");
	expect_text("processes.0.role", "offline");
	unit_cgroups_stop();
	ck_assert_uint_eq(gp_loop_reads(&loop, path), 1);
}

#define VRAM(gpu) "/sys/class/kfd/kfd/proc/%d/vram_" #gpu

/* GPUs 0xf7bc and 0x5d4f, of which each has a queue, and 0x1234. */
static void set_gpus(void)
{
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/", target),
		 "queues\nvram_63420\nvram_23887\nvram_4660");
	set_file(unit_text(VRAM(63420), target), "4096\n");
	set_file(unit_text(VRAM(23887), target), "0\n");
	set_file(unit_text(VRAM(4660), target), "0\n");
}

/* Scripts get no output, and the status is the answer. */
TEST(list_quiet)
{
	set_gpus();
	CTL(GPREEMPT_CLASS_BUSY, "list --gpu f7bc --quiet");
	CTL(GPREEMPT_CLASS_BUSY, "list --quiet");
	CTL(GPREEMPT_CLASS_BUSY, "list comm:train --gpu 5d4f --quiet --json");
	ck_assert_str_eq(ctl_out, "");
	ck_assert_str_eq(ctl_err, "");
	CTL(0, "list --gpu 1234 --quiet");
	CTL(0, "list %d --gpu 1234 --quiet", target);
	ck_assert_str_eq(ctl_out, "");
	ck_assert_str_eq(ctl_err, "");
	/* Memory alone is use, too. */
	set_file(unit_text(VRAM(4660), target), "8192\n");
	CTL(GPREEMPT_CLASS_BUSY, "list --gpu 1234 --quiet");
	/* A file that cannot be read is neither yes nor no. */
	set_file(unit_text(VRAM(4660), target), NULL);
	CTL(GPREEMPT_CLASS_FAILED, "list --gpu 1234 --quiet");
	ERR_LINE("whether process %d uses the GPU is not known", target);
	ck_assert_str_eq(ctl_out, "");
	CTL(GPREEMPT_CLASS_NO_TARGET, "list --gpu 99 --quiet");
	CTL(GPREEMPT_CLASS_NO_TARGET, "list 4194303 --gpu 1234 --quiet");
}

/* Sysfs alone: a process that KFD has in its list, and /proc does not show. */
TEST(list_quiet_hidden)
{
	set_gpus();
	set_view(target, NULL);
	set_file(unit_text("/proc/%d/stat", target), NULL);
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/", target), "0");
	set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/0/gpuid", target), "23887\n");
	set_file(unit_text(VRAM(63420), target), "0\n");
	CTL(0, "list --gpu f7bc --quiet");
	CTL(GPREEMPT_CLASS_BUSY, "list --gpu 5d4f --quiet");
	set_file("/sys/class/kfd/kfd/proc/", NULL);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "list --quiet");
	set_file("/sys/class/kfd/kfd/topology/nodes/", NULL);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "list --gpu 5d4f --quiet");
}

/* A holder opens the GPU, too: it is shown as a holder, and is no target. */
TEST(list_holder)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = target, .guardian = 1 };
	int lock = hold_take(PID, &owner);

	CTL(0, "list --json");
	expect_text("processes.0.state", "holder");
	ck_assert_int_ne(ctl_line("queues %d", target), 0);
	ck_assert_str_eq(ctl_out, "");
	LAB(0, "pidmap");
	ck_assert_ptr_null(strstr(ctl_out, "\ttrain\t"));
	hold_drop(PID, lock);
}

#define BOX "b1946ac92492d2347c6235b4d2611184e6ca3d9ab6a9c0d2e8f1a4a7d5b0c3e2"

TEST(pidmap)
{
	set_file(unit_text("/proc/%d/cmdline", target), "train --steps 7");
	set_file(unit_text("/proc/%d/cgroup", target), "0::/system.slice/docker-" BOX ".scope\n");
	set_file("/var/lib/docker/containers/" BOX "/config.v2.json", "{\"Name\":\"/model\"}");
	LAB(0, "pidmap %d --json", target);
	expect_text("processes.0.command", "train --steps 7");
	expect_text("processes.0.container", "docker:b1946ac92492");
	expect_text("processes.0.name", "model");
}

/* The names of cgroups that are refused are in test_cgroup. */
TEST(run_refused)
{
	unit_fail_path("/gpreempt/offline", EACCES);
	CTL(GPREEMPT_CLASS_PERMISSION, "run --cgroup a -- true");
	ERR_HAS("we may not make the cgroup /gpreempt/offline/a");
	unit_fail_path("/gpreempt/offline/a/cgroup.procs", EBUSY);
	CTL(GPREEMPT_CLASS_FAILED, "run --cgroup a -- true");
	ERR_HAS("the cgroup /gpreempt/offline/a cannot be entered: Device or "
		"resource busy");
	unit_path_fails = NULL;
	unit_cgroups_mounted(false, false);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "run -- true");
	ERR_HAS("there is no cgroup v2 here");
}

TEST_FIXTURE(setup, holder_teardown)
