// SPDX-License-Identifier: GPL-2.0-only
/*
 * How guard sees that an online process has work: its indices and the completion signal of
 * its last packet, here in memory of our own; workers as guard sees them, on a copy of the
 * made-up driver; and messages between guard and one, over a fork.
 */
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "guard/guard.h"
#include "unit-host.h"
#include "unit.h"

#define PACKETS 8

/* Start of an amd_signal_t. */
struct signal {
	int64_t kind;
	int64_t value;
};

/* End of an AQL packet. */
struct packet {
	uint8_t rest[56];
	uint64_t signal;
};

static struct {
	uint64_t read;
	uint64_t written;
	struct packet ring[PACKETS];
} mem[2];
static struct signal signals[2];
static struct guard_sight online;

static void setup(void)
{
	size_t i;

	memset(mem, 0, sizeof(mem));
	memset(signals, 0, sizeof(signals));
	memset(&online, 0, sizeof(online));
	online.pid = getpid();
	for (i = 0; i < 2; i++)
		online.queue[i] = (struct guard_queue){
			.qid = i,
			.read_addr = (uintptr_t)&mem[i].read,
			.write_addr = (uintptr_t)&mem[i].written,
			.ring = (uintptr_t)mem[i].ring,
			.packets = PACKETS,
		};
	online.n = 2;
}

/* The process writes a packet with that signal, or none. */
static void submit(int queue, struct signal *signal)
{
	mem[queue].ring[mem[queue].written++ % PACKETS].signal = (uintptr_t)signal;
	if (signal)
		signal->value = 1;
}

TEST(indices)
{
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	submit(1, NULL);
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	mem[1].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	/* Many packets later, after the ring has come round. */
	mem[1].written += 100;
	mem[1].read += 99;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
}

/* Come and gone between two looks. */
TEST(pulse)
{
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	submit(0, NULL);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_PULSE);
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
}

/* The GPU has begun the last packet, and it is not done. */
TEST(last_packet)
{
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	submit(0, &signals[0]);
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	submit(1, &signals[1]);
	mem[1].read++;
	signals[0].value--;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	signals[1].value--;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	/* The program uses the signal again for something else. */
	signals[1].value = 5;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
}

/* One new packet of a parked process is enough. Only the first look reads the read index. */
TEST(parked)
{
	online.parked = true;
	mem[0].written = 5;
	mem[0].read = 4;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	online.queue[0].read_addr = 0;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	submit(1, NULL);
	ck_assert_int_eq(guard_look(&online), GUARD_PULSE);
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	online.parked = false;
	ck_assert_int_eq(guard_look(&online), -EFAULT);
}

/* Without its waves, a packet without a signal is in doubt until one with a signal comes. */
TEST(in_the_dark)
{
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	online.dark = true;
	submit(0, NULL);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	submit(0, &signals[0]);
	mem[0].read++;
	signals[0].value--;
	ck_assert_int_eq(guard_look(&online), GUARD_PULSE);
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
}

/* A queue that had work before it was known: not an arrival, but busy. */
TEST(first_look)
{
	mem[0].written = 1000;
	mem[0].read = 1000;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	setup();
	mem[0].written = 1000;
	mem[0].read = 998;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	setup();
	submit(0, &signals[0]);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
}

/* Set how many waves of the first queue are in flight. */
static void set_waves(const char *waves)
{
	set_view(getpid(), unit_text("gpreempt-queues - version: 2.0\n"
				     "# qid gpu_id type waves ring\n"
				     "0 0xf7bc compute-aql %s 0x%lx\n",
				     waves, (uintptr_t)mem[0].ring));
}

/* The last packet has no signal: its waves show that it executes, until there are none. */
TEST(last_packet_without_signal)
{
	unit_setup();
	online.g = g;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	set_waves("8");
	submit(0, NULL);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	ck_assert_int_eq(guard_look(&online), GUARD_BUSY);
	set_waves("0");
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	/* Waves of later are not those of the packet. */
	set_waves("8");
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	set_waves("-");
	submit(0, NULL);
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_PULSE);
	/* A signal is enough. */
	set_waves("8");
	submit(0, &signals[0]);
	signals[0].value = 0;
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_PULSE);
	unit_teardown();
}

TEST(not_readable)
{
	submit(0, (struct signal *)NULL);
	mem[0].ring[0].signal = 8;
	mem[0].read++;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	online.queue[1].read_addr = 8;
	ck_assert_int_lt(guard_look(&online), 0);
	online.n = 0;
	ck_assert_int_eq(guard_look(&online), GUARD_IDLE);
	setup();
	online.pid = 1 << 30;
	ck_assert_int_eq(guard_look(&online), -ESRCH);
}

TEST_FIXTURE(setup, NULL)

static struct guard_common *common;
static struct guard_job job;
static struct guard_worker *w;

static void workers_setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	common = guard_channel_map(sizeof(*common));
	common->gpu_id[0] = 0xf7bc;
	common->late_ns = 3600 * NSEC_PER_SEC;
	atomic_store(&common->beat_ns, shr_now_ns());
	job = (struct guard_job){
		.target = PID,
		.lock = -1,
		.common = common,
		.wake = eventfd(0, EFD_NONBLOCK),
	};
}

static void start(void)
{
	ck_assert_int_eq(guard_worker_start(&job, &w), 0);
	UNIT_WAIT(atomic_load(&w->channel->state) == GUARD_READY);
}

TEST(life)
{
	struct guard_order order = { .nodes = 1 };
	struct guard_result result;
	char why[256] = "";

	start();
	guard_worker_order(w, &order);
	UNIT_WAIT(guard_channel_take(w->channel, &result));
	ck_assert_int_eq(result.code, 0);
	ck_assert_uint_eq(result.done, 1);
	ck_assert(!guard_worker_gone(w));
	guard_worker_quit(w);
	UNIT_WAIT(guard_worker_gone(w));
	ck_assert(WIFEXITED(w->status) && !WEXITSTATUS(w->status));
	guard_worker_why(w, why, sizeof(why));
	guard_worker_free(w);
}

/* Guard kills the worker, or its own watchdog does if guard does nothing. */
TEST_EACH(stopped, 2)
{
	char why[256];

	start();
	unit_shorten_limit(UNIT_SILENCE, NSEC_PER_SEC);
	kill(w->child, SIGSTOP);
	if (_i) {
		UNIT_WAIT(guard_worker_gone(w));
		guard_worker_why(w, why, sizeof(why));
		ck_assert_str_eq(why, "its worker was killed by signal 9");
	} else {
		ck_assert_int_eq(unit_status(w->child), -SIGKILL);
	}
}

/* A client's connection must not stay open because a worker has it. */
TEST(descriptors)
{
	int fds[2];
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	start();
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	ck_assert_int_eq(read(fds[0], &c, 1), 0);
	guard_worker_quit(w);
	UNIT_WAIT(guard_worker_gone(w));
	close(fds[0]);
	guard_worker_free(w);
}

/* Whatever becomes of guard: its workers end with it. */
TEST(guard_is_killed)
{
	pid_t guard, child = 0;
	int fds[2];
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	guard = fork();
	if (!guard) {
		start();
		while (write(fds[1], &w->child, sizeof(w->child)) > 0)
			pause();
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &child, sizeof(child)), sizeof(child));
	ck_assert_int_eq(kill(child, 0), 0);
	unit_end(guard);
	/* The worker had the pipe only until it closed the descriptors that are not its own. */
	ck_assert_int_eq(read(fds[0], &c, 1), 0);
	UNIT_WAIT(kill(child, 0));
}

TEST(cannot_start)
{
	unit_fork_errno = EAGAIN;
	ck_assert_int_eq(guard_worker_start(&job, &w), -EAGAIN);
	ck_assert_ptr_null(w);
}

TEST_FIXTURE(workers_setup, NULL)

static struct guard_channel *c;

static void channel_setup(void)
{
	c = guard_channel_map(sizeof(*c));
	ck_assert_ptr_nonnull(c);
}

static void channel_teardown(void)
{
	munmap(c, sizeof(*c));
}

TEST(newest_order)
{
	struct guard_order order = { .nodes = 1 }, got;

	guard_channel_get_order(c, &got);
	ck_assert_uint_eq(got.nodes, 0);
	guard_channel_order(c, &order);
	order = (struct guard_order){
		.nodes = 6,
		.reason = GPREEMPT_POLICY_DUTY,
		.arrival_ns = 7,
	};
	guard_channel_order(c, &order);
	guard_channel_get_order(c, &got);
	ck_assert_uint_eq(got.nodes, 6);
	ck_assert_int_eq(got.reason, GPREEMPT_POLICY_DUTY);
	ck_assert_uint_eq(got.arrival_ns, 7);
}

/* guard is stopped while it writes one: its worker does not wait for it. */
TEST(half_an_order)
{
	struct guard_order order = { .nodes = 5 }, got;

	guard_channel_order(c, &order);
	ck_assert(guard_channel_get_order(c, &got));
	atomic_fetch_add(&c->version, 1);
	ck_assert(!guard_channel_get_order(c, &got));
	atomic_fetch_add(&c->version, 1);
	ck_assert(guard_channel_get_order(c, &got));
	ck_assert_uint_eq(got.nodes, 5);
}

/* Guard's order is never seen with halves of two. */
TEST(whole_orders)
{
	uint64_t end = shr_now_ns() + 200 * NSEC_PER_MSEC, i;
	struct guard_order got = { 0 }, order;
	pid_t child = fork();

	if (!child)
		for (i = 1;; i++) {
			order = (struct guard_order){
				.nodes = i,
				.arrival_ns = ~i,
			};
			guard_channel_order(c, &order);
		}
	while (shr_now_ns() < end || !got.nodes) {
		/* An order for which it returns false may be torn. */
		if (!guard_channel_get_order(c, &order))
			continue;
		got = order;
		if (got.nodes && got.arrival_ns != ~got.nodes)
			break;
	}
	unit_end(child);
	ck_assert_uint_eq(got.arrival_ns, ~got.nodes);
}

TEST(results)
{
	struct guard_result result = { 0 };
	size_t round, i;

	ck_assert(!guard_channel_take(c, &result));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < GUARD_RESULTS; i++) {
			result.done = round * GUARD_RESULTS + i;
			ck_assert(guard_channel_give(c, &result));
		}
		ck_assert(!guard_channel_give(c, &result));
		for (i = 0; i < GUARD_RESULTS; i++) {
			ck_assert(guard_channel_take(c, &result));
			ck_assert_uint_eq(result.done, round * GUARD_RESULTS + i);
		}
		ck_assert(!guard_channel_take(c, &result));
	}
}

/* Results go from one process to another, in order, and none is lost. */
TEST(over_a_fork)
{
	struct guard_result result = { 0 };
	size_t next = 0, n = 20000;
	pid_t child = fork();

	if (!child) {
		for (result.done = 0; result.done < n; result.done++)
			while (!guard_channel_give(c, &result))
				shr_sleep_ns(NSEC_PER_USEC);
		_exit(0);
	}
	while (next < n)
		if (guard_channel_take(c, &result))
			ck_assert_uint_eq(result.done, next++);
	ck_assert_int_eq(unit_status(child), 0);
	ck_assert(!guard_channel_take(c, &result));
}

TEST_FIXTURE(channel_setup, channel_teardown)
