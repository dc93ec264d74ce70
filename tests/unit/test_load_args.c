// SPDX-License-Identifier: GPL-2.0-only
/*
 * vgpu-load's command line, its buffer sizes, its requests: their times, and the lines about
 * them.
 */
#include "../vgpu/load/args.h"
#include "../vgpu/load/requests.h"
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

TEST(request_options)
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

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
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

	for (i = 0; i < ARRAY_SIZE(sized); i++) {
		node = sized[i];
		node.cwsr_size = 0;
		node.ctl_stack_size = 0;
		load_size_cwsr(&node);
		ck_assert_uint_eq(node.cwsr_size, sized[i].cwsr_size);
		ck_assert_uint_eq(node.ctl_stack_size, sized[i].ctl_stack_size);
	}
}

#define SLOTS 64
#define MS    1000000ULL

static struct load_requests requests;
static struct load_ring ring;
static struct amd_signal signals[SLOTS];

static void requests_setup(void)
{
	memset(&requests, 0, sizeof(requests));
	memset(signals, 0, sizeof(signals));
	args = (struct load_args){
		.gap_ns = 10 * MS,
		.seed = 1,
		.burst = 1,
		.samples = "-",
		.packet_ns = MS,
	};
	ring = (struct load_ring){ .size = SLOTS, .signals = signals };
}

static void requests_teardown(void)
{
	free(requests.list);
}

/* Submit all requests as if the ring took them at once. */
static void submit(uint64_t now, uint64_t room)
{
	ring.head += load_requests_due(&requests, &args, &ring, now, room);
}

static void complete(uint64_t packet, uint64_t start, uint64_t end)
{
	signals[packet % SLOTS].start_ts = start;
	signals[packet % SLOTS].end_ts = end;
	ring.tail = packet + 1;
}

/* Compute when the first @n requests are due for a program that is never late. */
static void arrivals(uint64_t seed, uint64_t *out, size_t n)
{
	size_t i;

	requests_setup();
	args.seed = seed;
	submit(0, 0);
	for (i = 0; i < n; i++) {
		out[i] = requests.next_ns;
		submit(requests.next_ns, 1);
	}
	ck_assert_uint_eq(requests.n, n);
	requests_teardown();
}

TEST(seed_decides)
{
	uint64_t a[100], b[100], c[100];

	arrivals(7, a, 100);
	arrivals(7, b, 100);
	arrivals(8, c, 100);
	ck_assert_mem_eq(a, b, sizeof(a));
	ck_assert(a[0] != c[0] && a[99] != c[99]);
	requests_setup();
}

/*
 * Gaps are exponential: mean and deviation are the wanted ones; 1/e of the gaps are longer than
 * the mean.
 */
TEST(gaps_are_poisson)
{
	enum { N = 20000 };
	static uint64_t at[N];
	double mean, longer = 0;
	size_t i;

	arrivals(3, at, N);
	mean = (double)(at[N - 1] - at[0]) / (N - 1);
	ck_assert_double_eq_tol(mean, 10e6, 0.2e6);
	for (i = 1; i < N; i++)
		longer += at[i] - at[i - 1] > 10 * MS;
	ck_assert_double_eq_tol(longer / N, 0.3679, 0.01);
	requests_setup();
}

TEST(first_waits)
{
	args.delay_ns = 500 * MS;
	submit(1000, SLOTS);
	ck_assert_uint_eq(ring.head, 0);
	ck_assert_uint_gt(requests.next_ns, 1000 + 500 * MS);
}

TEST(whole_requests_only)
{
	args.burst = 20;
	submit(0, SLOTS);
	submit(10000 * MS, 19);
	ck_assert_uint_eq(ring.head, 0);
	submit(10000 * MS, SLOTS);
	ck_assert_uint_eq(ring.head, 60);
	ck_assert_uint_eq(requests.n, 3);
	ck_assert_uint_eq(requests.list[1].first, 20);
	ck_assert_uint_eq(requests.list[1].last, 39);
}

/* A program that comes late has made the request wait. */
TEST(late_counts)
{
	uint64_t due;

	submit(0, SLOTS);
	due = requests.next_ns;
	submit(due + 3 * MS, 1);
	ck_assert_uint_eq(requests.list[0].arrival_ns, due);
	ck_assert_uint_eq(requests.list[0].submit_ns, due + 3 * MS);
}

/* The first packet's slot may have another packet when the last one is done. */
TEST(times_of_first_and_last)
{
	args.burst = 2;
	submit(0, SLOTS);
	submit(10000 * MS, 2);
	complete(0, 100, 200);
	load_requests_collect(&requests, &ring);
	ck_assert_uint_eq(requests.done, 0);
	signals[0].start_ts = 999;
	complete(1, 200, 300);
	load_requests_collect(&requests, &ring);
	ck_assert_uint_eq(requests.done, 1);
	ck_assert_uint_eq(requests.list[0].start_ns, 1000);
	ck_assert_uint_eq(requests.list[0].end_ns, 3000);
}

/* Requests flat out: as many as there is room for, each due when it is submitted. */
TEST(flat_out)
{
	args.gap_ns = 0;
	submit(5000, 4);
	ck_assert_uint_eq(ring.head, 4);
	ck_assert_uint_eq(requests.n, 4);
	ck_assert_uint_eq(requests.list[3].arrival_ns, 5000);
	ck_assert_uint_eq(requests.list[3].first, 3);
}

TEST(written)
{
	char text[256] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	args.gap_ns = 0;
	submit(5000, 2);
	complete(0, 600, 700);
	load_requests_collect(&requests, &ring);
	load_requests_write(&requests, &args, f);
	fclose(f);
	ck_assert_str_eq(text, "5000\t5000\t6000\t7000\t1000000\n");
}

TEST_FIXTURE(requests_setup, requests_teardown)
