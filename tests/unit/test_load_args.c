// SPDX-License-Identifier: GPL-2.0-only
/* vgpu-load's command line and its buffer sizes. */
#include "../vgpu/load/args.h"
#include "../vgpu/load/topology.h"
#include "unit.h"

static struct load_args args;
static char err[160];

/*
 * Splits at blanks; enough for these tests. args points into the words, so they
 * stay until the next call.
 */
static int parse(const char *line)
{
	static char copy[256];
	char *argv[32] = { (char *)"vgpu-load" };
	int argc;

	snprintf(copy, sizeof(copy), "%s", line);
	argc = 1 + unit_words(copy, argv + 1);
	err[0] = '\0';
	return load_args_parse(&args, argc, argv, err, sizeof(err));
}

TEST(durations)
{
	uint64_t ns;

	ck_assert_int_eq(load_parse_duration("250ns", &ns), 0);
	ck_assert_uint_eq(ns, 250);
	ck_assert_int_eq(load_parse_duration("1.5ms", &ns), 0);
	ck_assert_uint_eq(ns, 1500000);
	ck_assert_int_eq(load_parse_duration("2", &ns), 0);
	ck_assert_uint_eq(ns, 2000000000);
	ck_assert_int_eq(load_parse_duration("0", &ns), 0);
	ck_assert_uint_eq(ns, 0);
	ck_assert_int_eq(load_parse_duration("-1s", &ns), -EINVAL);
	ck_assert_int_eq(load_parse_duration("nan", &ns), -EINVAL);
	ck_assert_int_eq(load_parse_duration("1h", &ns), -EINVAL);
	ck_assert_int_eq(load_parse_duration("", &ns), -EINVAL);
}

TEST(defaults)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert_uint_eq(args.gpu_mask, 1);
	ck_assert_uint_eq(args.queues, 1);
	ck_assert_uint_eq(args.packet_ns, 1000000);
	ck_assert_uint_eq(args.depth, 200);
}

TEST(gpus)
{
	ck_assert_int_eq(parse("--gpus all"), 0);
	ck_assert_uint_eq(args.gpu_mask, UINT64_MAX);
	ck_assert_int_eq(parse("--gpus 0,3,7"), 0);
	ck_assert_uint_eq(args.gpu_mask, 0x89);
	ck_assert_int_eq(parse("--gpus 0,"), -EINVAL);
	ck_assert_int_eq(parse("--gpus 64"), -EINVAL);
	ck_assert_int_eq(parse("--gpus x"), -EINVAL);
}

TEST(requests)
{
	ck_assert_int_eq(parse("--every 100ms --burst 20 --seed 7 --delay 2 --kick "
			       "--samples f"),
			 0);
	ck_assert_uint_eq(args.gap_ns, 100000000);
	ck_assert_uint_eq(args.burst, 20);
	ck_assert_uint_eq(args.seed, 7);
	ck_assert_uint_eq(args.delay_ns, 2000000000);
	ck_assert(args.kick);
	ck_assert_str_eq(args.samples, "f");
	/* The packets that wait fill the ring, not 200 ms of work. */
	ck_assert_uint_eq(args.depth, 1024);
}

TEST(churn)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert_uint_eq(args.churn_ns, 0);
	ck_assert_int_eq(parse("--churn 20ms"), 0);
	ck_assert_uint_eq(args.churn_ns, 20000000);
	ck_assert_int_eq(args.churn_how, LOAD_CHURN_EMPTY);
	ck_assert_int_eq(parse("--churn 1 --churn-how lie"), 0);
	ck_assert_int_eq(args.churn_how, LOAD_CHURN_LIE);
	ck_assert_int_eq(parse("--churn 1 --churn-how quick"), 0);
	ck_assert_int_eq(args.churn_how, LOAD_CHURN_QUICK);
	ck_assert_int_eq(parse("--churn 1 --churn-how busy"), 0);
	ck_assert_int_eq(args.churn_how, LOAD_CHURN_BUSY);
}

TEST(refused)
{
	static const char *const lines[] = {
		"--ring 100",
		"--ring 32",
		"--ring 64 --depth 65",
		"--priority 16",
		"--queues -1",
		"--queues 0",
		"--count 0",
		"--rate 0",
		"--packet",
		"--unknown",
		"extra",
		"--report 1x",
		"--every 1x",
		"--seed 0",
		"--burst 0",
		"--every 1ms --rate 5",
		"--churn",
		"--churn-how not",
		"--every 1ms --ring 64 --burst 65",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_msg(parse(lines[i]) == -EINVAL, "accepted: %s", lines[i]);
		ck_assert_msg(err[0], "no sentence for: %s", lines[i]);
	}
}

TEST(depth_follows_packet_time)
{
	ck_assert_int_eq(parse("--packet 100us"), 0);
	ck_assert_uint_eq(args.depth, 1024);
	ck_assert_int_eq(parse("--packet 2s"), 0);
	ck_assert_uint_eq(args.depth, 4);
	ck_assert_int_eq(parse("--packet 0"), 0);
	ck_assert_uint_eq(args.depth, 1024);
}

/* The sizes that KFD's own formula gives for an MI308X. */
TEST(save_area)
{
	struct load_node node = {
		.gfx_target_version = 90402,
		.num_xcc = 4,
		.simd_count = 320,
		.simd_per_cu = 4,
		.array_count = 16,
		.arrays_per_engine = 1,
		.cwsr_size = 8192 + 12206080,
		.ctl_stack_size = 8192,
	};

	ck_assert_uint_eq(load_cwsr_bytes(&node), (8192 + 12206080 + 25600) * 4);
}

/* The sizes of these GPUs as the driver shows them, where it does */
static const struct load_node sized[] = {
	{ .gfx_target_version = 90402,
	  .num_xcc = 4,
	  .simd_count = 320,
	  .simd_per_cu = 4,
	  .array_count = 16,
	  .arrays_per_engine = 1,
	  .cwsr_size = 12214272,
	  .ctl_stack_size = 8192 },
	{ .gfx_target_version = 90010,
	  .num_xcc = 1,
	  .simd_count = 416,
	  .simd_per_cu = 4,
	  .array_count = 8,
	  .arrays_per_engine = 1,
	  .cwsr_size = 63508480,
	  .ctl_stack_size = 36864 },
	{ .gfx_target_version = 90000,
	  .num_xcc = 1,
	  .simd_count = 256,
	  .simd_per_cu = 4,
	  .array_count = 4,
	  .arrays_per_engine = 1,
	  .cwsr_size = 22302720,
	  .ctl_stack_size = 20480 },
	{ .gfx_target_version = 110000,
	  .num_xcc = 1,
	  .simd_count = 192,
	  .simd_per_cu = 2,
	  .array_count = 12,
	  .arrays_per_engine = 2,
	  .cwsr_size = 46047232,
	  .ctl_stack_size = 40960 },
	{ .gfx_target_version = 120001,
	  .num_xcc = 1,
	  .simd_count = 128,
	  .simd_per_cu = 2,
	  .array_count = 8,
	  .arrays_per_engine = 2,
	  .cwsr_size = 30699520,
	  .ctl_stack_size = 28672 },
};

TEST(save_area_not_in_sysfs)
{
	struct load_node node;
	size_t i;

	for (i = 0; i < sizeof(sized) / sizeof(sized[0]); i++) {
		node = sized[i];
		node.cwsr_size = 0;
		node.ctl_stack_size = 0;
		load_size_cwsr(&node);
		ck_assert_uint_eq(node.cwsr_size, sized[i].cwsr_size);
		ck_assert_uint_eq(node.ctl_stack_size, sized[i].ctl_stack_size);
	}
}
