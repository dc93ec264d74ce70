// SPDX-License-Identifier: GPL-2.0-only
/*
 * How guard sees that an online process has work: its indices and the
 * completion signal of its last packet, here in memory of our own.
 */
#include "guard/guard.h"
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
