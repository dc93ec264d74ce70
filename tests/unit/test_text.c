// SPDX-License-Identifier: GPL-2.0-only
/*
 * mqds, hqds and rls: what real kernels printed, text of more queues than a host has, text
 * that is cut, garbled or hostile.
 */
#include "lib/see/words.h"
#include "unit-text.h"

TEST(real_blocks)
{
	ck_assert(feed_file(FIXTURES "mqds"));
	ck_assert(feed_file(FIXTURES "hqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_processes, 2);
	ck_assert_uint_eq(data->n_queues, 4);
	ck_assert_str_eq(gp_text_type_name(data->queues[1].type), "sdma");
	ck_assert_int_eq(data->processes[0].pid, 156);
	ck_assert_int_eq(data->processes[0].pasid, 2);
	/* 24 CP slots, the HIQ, 8 engines with 8 each. */
	ck_assert_uint_eq(data->n_slots, 24 + 1 + 64);
	check(GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(sum.queues, 3);
	ck_assert_uint_eq(sum.slots_expected, 3);
	ck_assert_uint_eq(sum.slots_active, 3);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(n_xccs, 1);
	check(156);
	ck_assert_uint_eq(sum.queues, 1);
	ck_assert_uint_eq(sum.slots_active, 1);
}

/* The module's view of the same queues is another way to the same facts. */
TEST(real_fields)
{
	const struct gp_text_regs *regs;
	struct gpreempt_view *view;
	unsigned int compared = 0;
	size_t i, j, len;
	char *all = unit_load(FIXTURES "queues-144", &len);

	ck_assert_int_eq(gp_view_parse(all, len, &view), 0);
	ck_assert(feed_file(FIXTURES "mqds"));
	ck_assert(feed_file(FIXTURES "hqds"));
	join();
	for (i = 0; i < view->count; i++)
		for (j = 0; j < data->n_mqds; j++) {
			const struct gpreempt_queue *q = view->queues + i;

			regs = &data->mqds[j].regs;
			if (q->ring != regs->ring)
				continue;
			compared++;
			ck_assert_int_eq(regs->ring_size, q->ring_size);
			ck_assert_int_eq(data->mqds[j].slots, q->active);
			ck_assert_int_eq(data->queues[data->mqds[j].queue].gpu_id, q->gpu_id);
			if (q->type == GPREEMPT_QUEUE_SDMA) {
				ck_assert_int_eq(regs->engine, q->engine);
				ck_assert_int_eq(regs->rlc, q->rlc);
				continue;
			}
			ck_assert_int_eq(regs->mqd, q->mqd);
			ck_assert_int_eq(regs->doorbell, q->doorbell);
			ck_assert_int_eq(regs->cwsr, q->cwsr);
			ck_assert_int_eq(regs->cwsr_size, q->cwsr_size);
			ck_assert_int_eq(regs->priority, q->priority);
		}
	ck_assert_uint_eq(compared, 3);
	gpreempt_list_free(view);
	free(all);
}

TEST(real_run_list)
{
	static const unsigned int ops[] = {
		GP_TEXT_MAP_PROCESS, GP_TEXT_MAP_QUEUES, GP_TEXT_MAP_PROCESS,
		GP_TEXT_MAP_QUEUES,  GP_TEXT_MAP_QUEUES, GP_TEXT_MAP_QUEUES,
	};
	size_t i, owned = 0;

	ck_assert(feed_file(FIXTURES "rls"));
	ck_assert(feed_file(FIXTURES "mqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_packets, ARRAY_SIZE(ops));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct gp_text_packet *packet = data->packets + i;

		ck_assert_uint_eq(packet->op, ops[i]);
		if (packet->queue < 0)
			continue;
		owned++;
		ck_assert_int_eq(packet->pasid, data->queues[packet->queue].pasid);
		ck_assert_int_eq(packet->doorbell,
				 data->mqds[data->queues[packet->queue].mqds].regs.doorbell);
	}
	/* Text of an SDMA MQD does not have its address. */
	ck_assert_uint_eq(owned, 3);
}

TEST(captures)
{
	size_t i;

	if (!feed_file(unit_capture("mqds_16_streams.txt")))
		return;
	ck_assert(feed_file(unit_capture("hqds_16_streams.txt")));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 5);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(data->queues[i].pid, 94314);
		ck_assert_int_eq(data->queues[i].pasid, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(data->queues[i].gpu_id, 0xf7bc);
		ck_assert_int_eq(data->queues[i].type, GP_TEXT_COMPUTE);
		ck_assert_int_eq(data->queues[i].slots_active, 4);
		ck_assert_int_eq(data->queues[i].slots_expected, 4);
	}
	check(GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(sum.slots_active, 20);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(n_xccs, 32);
	text_teardown();
	text_setup();
	ck_assert(feed_file(unit_capture("hqds_idle.txt")));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_slots, 768 + 32 + 512);
	/* Some SDMA slots of that host hold a ring even so. */
	for (i = 0; i < data->n_slots; i++)
		if (data->slots[i].type == GP_TEXT_COMPUTE)
			ck_assert_int_eq(data->slots[i].regs.active, 0);
}

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

TEST(nothing)
{
	read_string("");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 0);
}

TEST(garbled_line)
{
	uint32_t rest[MQD_WORDS] = { [112] = 0x1000 };

	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_mqd(0x1000, 16);
	say("sudo: timestamp too old\n");
	say_words(16 * 4, rest, MQD_WORDS - 16);
	read_made();
	ck_assert_uint_eq(data->n_problems, 1);
	expect_problem(0, 5, "not a line that the driver prints");
	ck_assert_int_eq(data->mqds[0].regs.mqd, 0x1000);
}

/* Lines below a lost head are not given to the block before. */
TEST(garbled_head)
{
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_mqd(0x1000, MQD_WORDS);
	say("  Compute qu\377\377eue on device 1\n");
	say_mqd(0x2000, MQD_WORDS);
	say("  Compute queue on device 1\n");
	say_mqd(0x3000, MQD_WORDS);
	read_made();
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert_uint_eq(data->n_mqds, 2);
	ck_assert_uint_eq(data->n_problems, 2);
	expect_problem(0, 67, "not a line that the driver prints");
	expect_problem(1, 68, "a dump without a line that says of what");
}

TEST(missing_lines)
{
	uint32_t words[64] = { 0xc0310800 };

	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, 16);
	say_words(0x80, words, 16);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	expect_problem(0, 5, "this dump does not go on where it stopped");
	expect_problem(1, 3, "too short an MQD, or one of a layout that is not known");
}

TEST(missing_start)
{
	uint32_t words[MQD_WORDS] = { 0 };

	say("    00000040: 00000000\nProcess 1 PASID 0x1:\n");
	say("  Compute queue on device 1\n");
	say_words(0x20, words, MQD_WORDS - 8);
	read_made();
	expect_problem(0, 1, "a dump without a line that says of what");
	expect_problem(1, 4, "the start of this dump is missing");
	ck_assert_int_eq(data->mqds[0].regs.known, 0);
}

static const struct {
	const char *text;
	uint64_t line;
	const char *what;
} damages[] = {
	{ "Process 1 PASID 0x1:\n  Compute queue on device 1\n", 2, "no MQD below this line" },
	{ "Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n", 2, "no registers below this line" },
	{ " Inst 0,  CP Pipe 0, Queue 2\n", 1, "a slot of a node that is not there" },
	{ " Device is stopped\n", 1, "a line about a node that is not there" },
	{ "is active: yes\n", 1, "a line about a queue that is not there" },
	{ "  SDMA queue on device 1\n    00000000: 00000001", 2, "the file ends within this line" },
	{ "Node 1, gpu_id 1:\n  00000000: 00000001\n", 2, "no packet where one must begin" },
	{ "Node 1, gpu_id 1:\n  00000000: c013a100\n", 2, "the end of this packet is missing" },
	{ "Process 1 PASID 0x1:\n"
	  "  Weird: Queue node with neither kernel nor user queue\n",
	  2, "the driver says: neither kernel nor user queue" },
	{ "    00000000: 0000000g\n", 1, "not a line that the driver prints" },
	{ "    00000000: 00000000 1\n", 1, "not a line that the driver prints" },
	{ "    00000000:00000000\n", 1, "not a line that the driver prints" },
	{ "\x1b[32mNode 1, gpu_id 1:\n", 1, "not a line that the driver prints" },
};

TEST_EACH(damaged, ARRAY_SIZE(damages))
{
	read_string(damages[_i].text);
	ck_assert_uint_ge(data->n_problems, 1);
	expect_problem(0, damages[_i].line, damages[_i].what);
}

TEST(too_long)
{
	say("Node 1, gpu_id 1:\n%70000s\n Device is stopped\n", "x");
	read_made();
	ck_assert_uint_eq(data->n_problems, 1);
	ck_assert_uint_eq(data->problems[0].line, 2);
	ck_assert_str_eq(data->problems[0].what, "too long a line");
	ck_assert_int_eq(data->nodes[0].note, GP_TEXT_STOPPED);
}

TEST(many_problems)
{
	int i;

	for (i = 0; i < 10000; i++)
		say("x\n");
	read_made();
	ck_assert_uint_eq(data->n_problems, 10000);
	ck_assert_uint_eq(data->kept, 4096);
	ck_assert_uint_eq(data->problems[4095].line, 4096);
}

TEST(windows)
{
	read_string("Node 1, gpu_id 1:\r\n Device is stopped\r\n");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_int_eq(data->nodes[0].note, GP_TEXT_STOPPED);
}

TEST(two_files)
{
	say("Process 1 PASID 0x1:\n");
	feed(made, made_len);
	end_file();
	/* Nothing goes from one file into the next. */
	say("x\n  Bad user queue type 5 on device 1\n");
	read_made();
	ck_assert_int_eq(data->queues[0].pid, GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(data->queues[0].file, 1);
	ck_assert_uint_eq(data->queues[0].line, 2);
	ck_assert_uint_eq(data->problems[0].file, 1);
	expect_problem(0, 1, "not a line that the driver prints");
}

/* Pieces of any size give the same. */
TEST_EACH(pieces, 3)
{
	static const size_t sizes[] = { 1, 7, 4096 };
	size_t at, len, step = sizes[_i];
	char *all = unit_load(FIXTURES "mqds", &len);

	for (at = 0; at < len; at += step)
		feed(all + at, len - at < step ? len - at : step);
	end_file();
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 4);
	ck_assert_uint_eq(data->n_mqds, 4);
	free(all);
}

/* Cut anywhere: what came before the cut is there, and the cut is reported. */
TEST(cut)
{
	size_t at, len, queues = 0;
	char *all = unit_load(FIXTURES "mqds", &len);

	for (at = 1; at < len; at += 131) {
		feed(all, at);
		end_file();
		join();
		ck_assert_uint_ge(data->n_queues, queues);
		queues = data->n_queues;
		if (all[at - 1] != '\n')
			ck_assert_uint_ge(data->n_problems, 1);
		text_teardown();
		text_setup();
	}
	ck_assert_uint_eq(queues, 4);
	free(all);
}

TEST(nothing_recognised)
{
	read_string("\n[  12.3] Process 1 PASID 0x1:\n\n     1\tNode 1, gpu_id 2a:\n");
	ck_assert_uint_eq(data->known_lines, 0);
	ck_assert_uint_eq(data->n_problems, 2);
	ck_assert(!data->mqds_seen);
}

TEST_FIXTURE(text_setup, text_teardown)
