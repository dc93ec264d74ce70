// SPDX-License-Identifier: GPL-2.0-only
/* Text of more queues than a host has, and numbers that are too large. */
#include "unit-text.h"

#define MANY 2000

static void say_queues(size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		say("Compute queue on device 2a\n");
		say_mqd(0x1000 * (i + 1), MQD_WORDS);
		feed(made, made_len);
		made_len = 0;
	}
}

/* Each is there once. */
TEST(many_queues)
{
	say("Process 7 PASID 7:\n");
	say_queues(MANY);
	end_file();
	join();
	ck_assert_uint_eq(data->n_queues, MANY);
	ck_assert_int_eq(data->mqds[MANY - 1].regs.mqd, 0x1000 * MANY);
	ck_assert(!data->several_moments);
}

/* And the last of them twice. */
TEST(one_of_many_twice)
{
	say("Process 7 PASID 7:\n");
	say_queues(MANY);
	say("Compute queue on device 2a\n");
	say_mqd(0x1000 * MANY, MQD_WORDS);
	read_made();
	ck_assert(data->several_moments);
}

static const struct {
	const char *line;
	bool good;
} numbers[] = {
	{ "Process 4294967295 PASID 7:\n", true },
	{ "Process 4294967296 PASID 7:\n", false },
	{ "Process 42949672950 PASID 7:\n", false },
	{ "Process 99999999999999999999 PASID 7:\n", false },
	{ "Queue ID: 4294967295 (x)\n", true },
	{ "Queue ID: 4294967296\n", false },
	/* Not the number without its last digit, and a rest. */
	{ "Queue ID: 42949672950\n", false },
	{ "Compute queue on device ffffffff\n", true },
};

TEST_EACH(large_numbers, sizeof(numbers) / sizeof(*numbers))
{
	const char *no_line = "not a line that the driver prints";

	read_string(numbers[_i].line);
	ck_assert_int_eq(data->kept > 0 && !strcmp(data->problems[0].what, no_line),
			 !numbers[_i].good);
}

TEST_FIXTURE(text_setup, text_teardown)
