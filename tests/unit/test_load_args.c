// SPDX-License-Identifier: GPL-2.0-only
/*
 * vgpu-load's requests: their times, and the lines about them; what it refuses; its buffer
 * sizes.
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
		"--steps 2,1,1ms,5ms,20ms",
		"--every 1s --steps 0,1,1ms,5ms,20ms",
		"--every 1s --steps 2,0,1ms,5ms,20ms",
		"--every 1s --steps 2,1,1ms,20ms,5ms",
		"--every 1s --steps 2,1,1ms,5ms",
		"--every 1s --steps 2,1,1ms,5ms,20ms,1ms",
		"--every 1s --ring 64 --steps 2,65,1ms,5ms,20ms",
		"--every 1s --online",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		ck_assert_msg(parse(lines[i]) == -EINVAL, "accepted: %s", lines[i]);
		ck_assert_msg(err[0], "no sentence for: %s", lines[i]);
	}
}

/* Sizes of these GPUs as the driver shows them, where it does; an MI308X first. */
static const struct {
	struct load_node node;
	uint32_t cwsr, stack;
} sized[] = {
	/* Version, XCCs, SIMDs, SIMDs of a CU, arrays, arrays of an engine. */
	{ { 0, 0, 0, 90402, 4, 320, 4, 16, 1, 0, 0 }, 12214272, 8192 },
	{ { 0, 0, 0, 90010, 1, 416, 4, 8, 1, 0, 0 }, 63508480, 36864 },
	{ { 0, 0, 0, 90000, 1, 256, 4, 4, 1, 0, 0 }, 22302720, 20480 },
	{ { 0, 0, 0, 110000, 1, 192, 2, 12, 2, 0, 0 }, 46047232, 40960 },
	{ { 0, 0, 0, 120001, 1, 128, 2, 8, 2, 0, 0 }, 30699520, 28672 },
};

TEST(save_area)
{
	struct load_node node;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sized); i++) {
		node = sized[i].node;
		load_size_cwsr(&node);
		ck_assert_uint_eq(node.cwsr_size, sized[i].cwsr);
		ck_assert_uint_eq(node.ctl_stack_size, sized[i].stack);
		if (!i)
			ck_assert_uint_eq(load_cwsr_bytes(&node), (12214272 + 25600) * 4);
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

/* A step is due MIN to MAX after the end of the part before, and nothing else before that. */
static void expect_step(uint64_t *now)
{
	uint64_t end = requests.list[requests.n - 1].end_ns, head = ring.head;

	submit(end, SLOTS);
	ck_assert_uint_eq(ring.head, head);
	ck_assert_uint_ge(requests.next_ns, end + 5 * MS);
	ck_assert_uint_le(requests.next_ns, end + 20 * MS);
	ck_assert(load_requests_open(&requests, &args, end));
	*now = requests.next_ns;
	submit(*now - 1, SLOTS);
	ck_assert_uint_eq(ring.head, head);
	submit(*now + 1, SLOTS);
	ck_assert_uint_eq(ring.head, head + 4);
	ck_assert_uint_eq(ring.packet_ns, MS / 2);
	submit(*now + 10000 * MS, SLOTS);
	ck_assert_uint_eq(ring.head, head + 4);
}

/* The last packet of what is under way ends at that time. */
static void end_part(uint64_t end)
{
	complete(ring.head - 1, end / VGPU_CLOCK_NS - 1, end / VGPU_CLOCK_NS);
	load_requests_collect(&requests, &ring);
}

/* A burst, steps one by one, then the next request. It is open from burst to last step. */
TEST(steps)
{
	char text[512] = "";
	uint64_t now;
	int i;
	FILE *f = fmemopen(text, sizeof(text), "w");

	ck_assert_int_eq(parse("--every 10ms --burst 3 --steps 2,4,500us,5ms,20ms --online"), 0);
	ck_assert(args.online);
	submit(0, SLOTS);
	ck_assert(!load_requests_open(&requests, &args, requests.next_ns - 1));
	now = requests.next_ns;
	ck_assert(load_requests_open(&requests, &args, now));
	submit(now, SLOTS);
	ck_assert_uint_eq(ring.head, 3);
	ck_assert_uint_eq(ring.packet_ns, MS);
	for (i = 0; i < 2; i++) {
		end_part(now += 10 * MS);
		expect_step(&now);
	}
	end_part(now += 10 * MS);
	submit(now, 0);
	ck_assert_uint_gt(requests.next_ns, now);
	ck_assert(!load_requests_open(&requests, &args, now));
	submit(requests.next_ns, SLOTS);
	ck_assert_uint_eq(ring.head, 14);
	ck_assert_uint_eq(ring.packet_ns, MS);
	load_requests_write(&requests, &args, f);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "\t3000000\n"));
	ck_assert_ptr_nonnull(strstr(strstr(text, "\t3000000\n"), "\t2000000\n"));
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
