// SPDX-License-Identifier: GPL-2.0-only
/* Names of GPUs: index, PCI address, render node, gpu_id; on hosts that are made up. */
#include "lib/see/words.h"
#include "unit-ctl.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"
#define KFD   "/sys/class/kfd/kfd/proc/4194242/"
#define DIR   "/sys/kernel/debug/gpreempt/"

/* A process with a queue and memory on each GPU. */
static void setup(void)
{
	const char *files = "queues", *queues = "";
	size_t i;

	unit_setup();
	unit_eight_gpus();
	for (i = 0; i < UNIT_GPUS; i++) {
		files = unit_text("%s\nvram_%u", files, unit_gpu_ids[i]);
		set_file(unit_text(KFD "vram_%u", unit_gpu_ids[i]), "0\n");
		queues = unit_text("%s%zu\n", queues, i);
		set_file(unit_text(KFD "queues/%zu/gpuid", i), unit_text("%u\n", unit_gpu_ids[i]));
		set_file(unit_text(KFD "queues/%zu/type", i), "0\n");
	}
	set_file(KFD, files);
	set_file(KFD "queues/", queues);
	set_file("/proc/", "4194242");
	set_file("/dev/kfd", "512");
}

/* Words, and the gpu_id that each means; NULL: none, "": several. */
static const struct {
	const char *word, *gpu_id;
} words[] = {
	{ "0", "0xc7a6" },
	{ "2", "0x5df5" },
	/* By address, 0xcb comes before 0xec. */
	{ "6", "0x3" },
	{ "7", "0x3f34" },
	{ "0000:47:00.0", "0x5df5" },
	{ "47:00.0", "0x5df5" },
	{ "0000:EC:00.0", "0x3f34" },
	{ "renderD130", "0x5df5" },
	{ "renderD135", "0x3" },
	{ "0x5df5", "0x5df5" },
	{ "5DF5", "0x5df5" },
	{ "24053", "0x5df5" },
	{ "0x3", "0x3" },
	/* Index 3 is 0xb857, and 3 is a gpu_id. */
	{ "3", "" },
	{ "8", NULL },
	{ "renderD127", NULL },
	{ "0000:48:00.0", NULL },
	{ "5df", NULL },
	{ "5df5x", NULL },
	{ "0x", NULL },
};

/* No GPU of any host has such a name. */
static const char *const no_names[] = { "renderD", "renderDx", "gpu", "-1", "+0", "0,", ",0", "" };

TEST_EACH(no_name, ARRAY_SIZE(no_names))
{
	CTL(GPREEMPT_CLASS_USAGE, "list --gpu=%s", no_names[_i]);
	ERR_HAS("GPUs are indexes as amd-smi has them");
}

TEST_EACH(word, ARRAY_SIZE(words))
{
	const char *word = words[_i].word, *id = words[_i].gpu_id;

	if (id && *id) {
		CTL(0, "queues 4194242 --gpu %s --json", word);
		expect_rows("targets.0.queues", 1);
		expect_text("targets.0.queues.0.kfd_gpu_id", id);
		CTL(GPREEMPT_CLASS_BUSY, "list --gpu %s --quiet", word);
		CTL(GPREEMPT_CLASS_BUSY, "doctor --partition %s --json", word);
		expect_text("kfd_gpu_id", id);
		return;
	}
	CTL(GPREEMPT_CLASS_NO_TARGET, "list --gpu %s", word);
	ERR_LINE(id ? "several GPUs have the number %s\n" : "there is no GPU %s\n", word);
	ERR_HAS("next: one of 0 (0000:05:00.0, renderD128, 0xc7a6), 1 (");
	ERR_HAS("6 (0000:cb:00.0, renderD135, 0x3)\n");
	CTL(GPREEMPT_CLASS_NO_TARGET, "doctor --partition %s", word);
	CTL(GPREEMPT_CLASS_NO_TARGET, "queues 4194242 --gpu 0,%s", word);
}

TEST(lists)
{
	CTL(0, "queues 4194242 --gpu 1,0000:47:00.0,renderD128,1 --json");
	expect_rows("targets.0.queues", 3);
	expect_number("targets.0.queues.0.gpu", 0);
	expect_text("targets.0.queues.0.pci", "0000:05:00.0");
	expect_number("targets.0.queues.2.gpu", 2);
}

/* The index stands in each table: in the order of addresses, with the gpu_ids beside it. */
TEST(shown)
{
	CTL(0, "list --json");
	expect_rows("processes.0.gpu", 8);
	expect_number("processes.0.gpu.0", 0);
	expect_number("processes.0.gpu.7", 7);
	expect_text("processes.0.kfd_gpu_id.0", "0xc7a6");
	expect_text("processes.0.kfd_gpu_id.6", "0x3");
	CTL(0, "list");
	OUT_HAS("\t0,1,2,3,4,5,6,7\t0xc7a6,0xfbfc,");
	CTL(0, "top --json -n 1 -d 100ms");
	expect_rows("gpus", 8);
	/* In KFD's order. */
	expect_number("gpus.6.gpu", 7);
	expect_text("gpus.6.kfd_gpu_id", "0x3f34");
	expect_rows("processes.0.gpus", 8);
	/* By gpu_id. */
	expect_number("processes.0.gpus.0.gpu", 6);
	expect_text("processes.0.gpus.0.kfd_gpu_id", "0x3");
	CTL(0, "metrics --for 0ms");
	OUT_HAS("gpu_id=\"7\",gpu_partition_id=\"NA\",kfd_gpu_id=\"0x3f34\",");
	ctl_line("doctor");
	OUT_HAS("\tgpus\t8: 0 (0000:05:00.0, renderD128, 0xc7a6), 1 (");
}

/* Four partitions of the second of two GPUs, as the module shows them. */
TEST(partitions)
{
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device xccs slots\n0xc7a6 2 0000:26:00.0 8 24\n"
			      "0xfbfc 3 0000:05:00.0 2 24\n0x5df5 4 0000:05:00.0 2 24\n"
			      "0xb857 5 0000:05:00.0 2 24\n0x7ab7 6 0000:05:00.0 2 24\n");
	CTL(0, "queues 4194242 --gpu 0 --json");
	expect_text("targets.0.queues.0.kfd_gpu_id", "0xfbfc");
	CTL(0, "queues 4194242 --gpu 3 --json");
	expect_text("targets.0.queues.0.kfd_gpu_id", "0x7ab7");
	CTL(0, "queues 4194242 --gpu 4 --json");
	expect_text("targets.0.queues.0.kfd_gpu_id", "0xc7a6");
	/* The address means the whole device. */
	CTL(0, "queues 4194242 --gpu 0000:05:00.0 --json");
	expect_rows("targets.0.queues", 4);
	CTL(0, "metrics --for 0ms");
	OUT_HAS("gpu_id=\"1\",gpu_partition_id=\"1\",kfd_gpu_id=\"0x5df5\",");
	OUT_HAS("gpu_id=\"4\",gpu_partition_id=\"NA\",kfd_gpu_id=\"0xc7a6\",");
}

/* Without an address of each GPU there is no index, and a small number means nothing. */
TEST(no_address)
{
	set_file(NODES "5/properties", "num_xcc 8\n");
	CTL(GPREEMPT_CLASS_NO_TARGET, "list --gpu 2");
	ERR_HAS("next: one of 0xc7a6, 0xfbfc, ");
	CTL(0, "queues 4194242 --gpu 5df5 --json");
	expect_null("targets.0.queues.0.gpu");
	CTL(0, "list --json");
	expect_null("processes.0.gpu");
	expect_rows("processes.0.kfd_gpu_id", 8);
}

#define DEVICE(name) "/sys/bus/pci/devices/0000:05:00.0/" name

/* The files are those of amdgpu; their words, of public listings of MI300X hosts. */
static void add_device(void)
{
	set_file(DEVICE("mem_info_vram_used"), "51539607552\n");
	set_file(DEVICE("mem_info_vram_total"), "206141652992\n");
	set_file(DEVICE("product_name"), "AMD Instinct MI300X\n");
	set_file(DEVICE("current_compute_partition"), "SPX\n");
	set_file(DEVICE("current_memory_partition"), "NPS1\n");
	set_file(DEVICE("fw_version/mec_fw_version"), "0x0000001b\n");
	set_file(DEVICE("fw_version/smc_fw_version"), "0x04556f00\n");
	set_file(DEVICE("hwmon/"), "hwmon3");
	set_file(DEVICE("hwmon/hwmon3/power1_average"), "144000000\n");
}

TEST(gpus)
{
	add_device();
	CTL(0, "gpus --json");
	expect_rows("gpus", 8);
	expect_number("gpus.0.gpu", 0);
	expect_text("gpus.0.pci", "0000:05:00.0");
	expect_text("gpus.0.render", "renderD128");
	expect_text("gpus.0.model", "AMD Instinct MI300X");
	expect_text("gpus.0.mode", "SPX/NPS1");
	expect_text("gpus.0.gfx", "gfx942");
	expect_text("gpus.0.firmware.0", "mec 0x0000001b");
	expect_text("gpus.0.firmware.1", "smc 0x04556f00");
	expect_number("gpus.0.vram_used", 51539607552);
	expect_number("gpus.0.vram_size", 206141652992);
	ck_assert_double_eq(json_object_get_double(json_at("gpus.0.power_watts")), 144);
	/* By the index; of another device nothing is known, and its memory is that of processes. */
	expect_text("gpus.6.kfd_gpu_id", "0x3");
	expect_null("gpus.6.model");
	expect_null("gpus.6.firmware");
	expect_number("gpus.6.vram_used", 0);
	expect_null("gpus.6.power_watts");
	CTL(0, "gpus --gpu renderD135,0 --json");
	expect_rows("gpus", 2);
	expect_text("gpus.1.kfd_gpu_id", "0x3");
	/* Figures that only the module has. */
	expect_null("gpus.0.busy_percent");
	set_file(DIR "nodes", "gpreempt-nodes - version: 1.2\n"
			      "# gpu_id node device xccs slots_used slots processes queues\n"
			      "0xc7a6 1 0000:05:00.0 8 2 32 1 3\n");
	set_file(DIR "usage", "gpreempt-usage - version: 1.1\n"
			      "# gpu_id hardware waves waves_max pid queues busy\n"
			      "0xc7a6 read 12 2560 4194242 3 1\n");
	CTL(0, "gpus --json");
	ck_assert_double_eq(json_object_get_double(json_at("gpus.0.busy_percent")), 100);
	expect_number("gpus.0.slots_used", 2);
	expect_number("gpus.0.slots", 32);
	expect_number("gpus.0.queues", 3);
	expect_number("gpus.0.processes", 1);
	CTL(0, "top --json -n 1 -d 100ms");
	expect_number("gpus.0.vram_used", 51539607552);
	CTL(0, "metrics --for 0ms");
	OUT_HAS("\ngpreempt_gpu_vram_used_bytes{");
}

/* 48 GiB of the first GPU belong to no process; those of the others are not known. */
TEST(unowned_memory)
{
	ctl_line("doctor");
	ck_assert_ptr_null(strstr(ctl_out, "unowned-memory"));
	add_device();
	ctl_line("doctor");
	OUT_HAS("note\tunowned-memory\tGPU 0 (0000:05:00.0, renderD128, 0xc7a6): 48.0 of 48.0 GiB");
	set_file(unit_text(KFD "vram_%u", unit_gpu_ids[0]), "51000000000\n");
	ctl_line("doctor");
	ck_assert_ptr_null(strstr(ctl_out, "unowned-memory"));
}

TEST_FIXTURE(setup, unit_teardown)
