// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor --partition: processes that block a repartition of a GPU. The words for a GPU are in
 * test_gpus.
 */
#include "lib/see/words.h"
#include "unit-ctl.h"
#include "unit-holder.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"
#define KFD   "/sys/class/kfd/kfd/proc/"
#define OTHER (PID + 1)

static void set_processes(const char *kfd, const char *all)
{
	set_file(KFD, kfd);
	set_file("/proc/", all);
}

/* Two GPUs; one process of KFD, which may use the first, and one of no GPU. */
static void setup(void)
{
	holder_setup();
	hold_dir_setup();
	set_file("/dev/kfd", "512");
	set_file(NODES, "0\n1\n2");
	set_file(NODES "0/gpu_id", "0\n");
	set_file(NODES "1/gpu_id", "63420\n");
	set_file(NODES "1/properties", "gfx_target_version 90402\nlocation_id 768\ndomain 0\n");
	set_file(NODES "2/gpu_id", "23887\n");
	set_file(NODES "2/properties", "gfx_target_version 90402\nlocation_id 1024\ndomain 0\n");
	set_file(unit_text(KFD "%d/vram_63420", target), "0\n");
	set_file(unit_text("/proc/%d/comm", target), "train\n");
	set_file(unit_text("/proc/%d/fd/", target), "0\n3");
	set_file(unit_text("/proc/%d/fd/3", target), "512");
	unit_make_process(OTHER);
	set_file(unit_text("/proc/%d/comm", OTHER), "sh\n");
	set_file(unit_text("/proc/%d/fd/", OTHER), "0\n1");
	set_file(unit_text("/proc/%d/fd/1", OTHER), "34816");
	set_processes(unit_text("%d", target), unit_text("%d\n%d\nself\nmeminfo", target, OTHER));
}

TEST(blocks)
{
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc");
	OUT_LINE("\n%d\t%s\tprocess\t", target, "yes");
	OUT_HAS("\tend the process\ttrain\n");
	ck_assert_ptr_null(strstr(ctl_out, unit_text("\n%d\t", OTHER)));
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

/* A child has the descriptor of a process that has ended. */
TEST(ended)
{
	set_processes(unit_text("%d", target), unit_text("%d", OTHER));
	set_file(unit_text("/proc/%d/stat", target), NULL);
	set_file(unit_text("/proc/%d/status", target), NULL);
	gp_loop_fail(&loop, "process", 0, -ESRCH);
	set_file(unit_text("/proc/%d/fd/1", OTHER), "512");
	CTL(GPREEMPT_CLASS_BUSY, "doctor --partition f7bc");
	OUT_LINE("\n%d\tmaybe\tdescriptor\t", OTHER);
	OUT_LINE("\n%d\t%s\tended\t", target, "yes");
	OUT_HAS("\tend the process\tsh\n");
	OUT_HAS("\tend those that keep its descriptor\t-\n");
}

TEST(container)
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
	set_file(KFD, "");
	CTL(GPREEMPT_CLASS_PERMISSION, "doctor --partition f7bc");
	ERR_HAS("cannot read the descriptors of 2 processes: "
		"Permission denied\n");
}

TEST(mistakes)
{
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition f7bc %d", target);
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition f7bc --from /tmp");
	CTL(GPREEMPT_CLASS_USAGE, "doctor --partition ''");
	set_file(NODES, NULL);
	set_file(KFD, NULL);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "doctor --partition f7bc");
}

TEST_FIXTURE(setup, holder_teardown)
