// SPDX-License-Identifier: GPL-2.0-only
/* The driver's mqds, hqds and rls: of real kernels, made up, cut, hostile. */
#include <gpreempt/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define FIXTURES "tests/unit/fixtures/linux-6.12.117/"
#define MQD_WORDS 512
#define SLOT_WORDS 56

static struct gpreempt_text *text;
static const struct gpreempt_text_data *data;

/* --- building a text ----------------------------------------------------- */

static char made[1 << 20];
static size_t made_len;

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	made_len += vsnprintf(made + made_len, sizeof(made) - made_len, format,
			      args);
	va_end(args);
	ck_assert_uint_lt(made_len, sizeof(made));
}

static void say_words(unsigned int offset, const uint32_t *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (i % 8 == 0)
			say("%s    %08zx:", i ? "\n" : "", offset + 4 * i);
		say(" %08x", words[i]);
	}
	say("\n");
}

/* The registers that the join needs, at their places. */
static void set_regs(uint32_t *regs, uint64_t mqd, bool active)
{
	regs[0] = (uint32_t)mqd;
	regs[1] = mqd >> 32;
	regs[2] = active;
}

static void say_mqd(uint64_t address, size_t count)
{
	uint32_t words[MQD_WORDS] = { 0xc0310800 };

	set_regs(words + 128, address, false);
	say_words(0, words, count);
}

static void say_slot(int xcc, int pipe, int queue, uint64_t mqd, bool active)
{
	uint32_t regs[SLOT_WORDS] = { 0 };

	say(" Inst %d,  CP Pipe %d, Queue %d\n", xcc, pipe, queue);
	set_regs(regs, mqd, active);
	say_words(0xc914, regs, SLOT_WORDS);
}

static void setup(void)
{
	made_len = 0;
	ck_assert_int_eq(gpreempt_text_new(&text), 0);
}

static void teardown(void)
{
	gpreempt_text_free(text);
	text = NULL;
}

static void feed(const char *at, size_t len)
{
	/* A copy of its own, so that a read behind its end is caught. */
	char *copy = malloc(len ? len : 1);

	memcpy(copy, at, len);
	ck_assert_int_eq(gpreempt_text_feed(text, copy, len), 0);
	free(copy);
}

static void end_file(void)
{
	ck_assert_int_eq(gpreempt_text_end(text), 0);
	made_len = 0;
}

static void join(void)
{
	ck_assert_int_eq(gpreempt_text_join(text), 0);
	data = gpreempt_text_get(text);
}

static void read_made(void)
{
	feed(made, made_len);
	end_file();
	join();
}

static void read_string(const char *string)
{
	say("%s", string);
	read_made();
}

static char *load(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	char *out;

	if (!file)
		return NULL;
	out = malloc(4 << 20);
	*len = fread(out, 1, 4 << 20, file);
	fclose(file);
	return out;
}

static bool feed_file(const char *dir, const char *name)
{
	char path[512];
	size_t len;
	char *all;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	all = load(path, &len);
	if (!all)
		return false;
	feed(all, len);
	free(all);
	end_file();
	return true;
}

static void expect_problem(size_t nth, uint64_t line, const char *what)
{
	ck_assert_uint_gt(data->kept, nth);
	ck_assert_str_eq(data->problems[nth].what, what);
	ck_assert_uint_eq(data->problems[nth].line, line);
}

/* --- real text ----------------------------------------------------------- */

START_TEST(real_blocks)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t count;

	ck_assert(feed_file(FIXTURES, "mqds"));
	ck_assert(feed_file(FIXTURES, "hqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_processes, 2);
	ck_assert_uint_eq(data->n_queues, 4);
	ck_assert_str_eq(gpreempt_text_type_name(data->queues[1].type),
			 "sdma");
	ck_assert_int_eq(data->processes[0].pid, 156);
	ck_assert_int_eq(data->processes[0].pasid, 2);
	/* 24 CP slots, the HIQ, 8 engines with 8 each. */
	ck_assert_uint_eq(data->n_slots, 24 + 1 + 64);
	ck_assert_int_eq(gpreempt_text_check(text, GPREEMPT_UNKNOWN, &sum,
					     &by_xcc, &count), 0);
	ck_assert_uint_eq(sum.queues, 3);
	ck_assert_uint_eq(sum.slots_expected, 3);
	ck_assert_uint_eq(sum.slots_active, 3);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(count, 1);
	free(by_xcc);
	ck_assert_int_eq(gpreempt_text_check(text, 156, &sum, &by_xcc, &count),
			 0);
	ck_assert_uint_eq(sum.queues, 1);
	ck_assert_uint_eq(sum.slots_active, 1);
	free(by_xcc);
}
END_TEST

/* The module's view of the same queues is another way to the same facts. */
START_TEST(real_fields)
{
	const struct gpreempt_text_regs *regs;
	struct gpreempt_view *view;
	unsigned int compared = 0;
	size_t i, j, len;
	char *all = load(FIXTURES "queues-144", &len);

	ck_assert_int_eq(gpreempt_view_parse(all, len, &view), 0);
	ck_assert(feed_file(FIXTURES, "mqds"));
	ck_assert(feed_file(FIXTURES, "hqds"));
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
			ck_assert_int_eq(data->queues[data->mqds[j].queue].gpu_id,
					 q->gpu_id);
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
	gpreempt_view_free(view);
	free(all);
}
END_TEST

START_TEST(real_run_list)
{
	static const unsigned int ops[] = {
		GPREEMPT_TEXT_MAP_PROCESS, GPREEMPT_TEXT_MAP_QUEUES,
		GPREEMPT_TEXT_MAP_PROCESS, GPREEMPT_TEXT_MAP_QUEUES,
		GPREEMPT_TEXT_MAP_QUEUES, GPREEMPT_TEXT_MAP_QUEUES,
	};
	size_t i, owned = 0;

	ck_assert(feed_file(FIXTURES, "rls"));
	ck_assert(feed_file(FIXTURES, "mqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_packets, ARRAY_SIZE(ops));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct gpreempt_text_packet *packet = data->packets + i;

		ck_assert_uint_eq(packet->op, ops[i]);
		if (packet->queue < 0)
			continue;
		owned++;
		ck_assert_int_eq(packet->pasid,
				 data->queues[packet->queue].pasid);
		ck_assert_int_eq(packet->doorbell, data->mqds[data->queues
				 [packet->queue].mqds].regs.doorbell);
	}
	/* Text of an SDMA MQD does not have its address. */
	ck_assert_uint_eq(owned, 3);
}
END_TEST

START_TEST(captures)
{
	const char *dir = getenv("CAPTURES");
	struct gpreempt_text_check sum, *by_xcc;
	char path[512];
	size_t i, count;

	snprintf(path, sizeof(path), "%s/mi308x/", dir ? dir : "../shared/captures");
	if (!feed_file(path, "mqds_16_streams.txt")) {
		puts("captures: skipped, none in ../shared/captures (set CAPTURES)");
		return;
	}
	ck_assert(feed_file(path, "hqds_16_streams.txt"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 5);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(data->queues[i].pid, 94314);
		ck_assert_int_eq(data->queues[i].pasid, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(data->queues[i].gpu_id, 0xf7bc);
		ck_assert_int_eq(data->queues[i].type, GPREEMPT_TEXT_COMPUTE);
		ck_assert_int_eq(data->queues[i].slots_active, 4);
		ck_assert_int_eq(data->queues[i].slots_expected, 4);
	}
	ck_assert_int_eq(gpreempt_text_check(text, GPREEMPT_UNKNOWN, &sum,
					     &by_xcc, &count), 0);
	ck_assert_uint_eq(sum.slots_active, 20);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(count, 32);
	free(by_xcc);
	teardown();
	setup();
	ck_assert(feed_file(path, "hqds_idle.txt"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_slots, 768 + 32 + 512);
	/* Some SDMA slots of that host hold a ring even so. */
	for (i = 0; i < data->n_slots; i++)
		if (data->slots[i].type == GPREEMPT_TEXT_COMPUTE)
			ck_assert_int_eq(data->slots[i].regs.active, 0);
}
END_TEST

/* --- what other kernels and GPUs print ----------------------------------- */

static const struct {
	const char *line;
	int64_t pid, pasid;
} process_lines[] = {
	{ "Process 7 PASID 0x8001:", 7, 0x8001 },	/* 6.5 to 6.12 */
	{ "Process 94314 PASID 94314:", 94314, GPREEMPT_UNKNOWN },
	{ "Process 4294967295 PASID 0xffffffff:", UINT32_MAX, UINT32_MAX },
};

START_TEST(process)
{
	say("%s\n  Bad user queue type 9 on device a\n",
	    process_lines[_i].line);
	read_made();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 1);
	ck_assert_int_eq(data->queues[0].pid, process_lines[_i].pid);
	ck_assert_int_eq(data->queues[0].pasid, process_lines[_i].pasid);
	ck_assert_int_eq(data->queues[0].gpu_id, 10);
	ck_assert_int_eq(data->queues[0].type, GPREEMPT_TEXT_OTHER);
}
END_TEST

START_TEST(process_broken)
{
	static const char *const lines[] = {
		"Process 7 PASID 0x:", "Process -7 PASID 0x1:",
		"Process 4294967296 PASID 0x1:", "Process 7 PASID 0x1",
		"Process 7 PASID 0x1: x", "Process  PASID 0x1:", "Process",
		"Process 99999999999999999999999999 PASID 1:",
	};

	say("%s\n", lines[_i]);
	read_made();
	ck_assert_uint_eq(data->n_processes, 0);
	ck_assert_uint_eq(data->n_problems, 1);
	expect_problem(0, 1, "not a line that the driver prints");
}
END_TEST

START_TEST(contexts)
{
	int i;

	for (i = 0; i < 3; i++) {
		say("Process 5 PASID 5:\n  Compute queue on device 1\n");
		say_mqd(0x1000 + i, MQD_WORDS);
		say("Process 6 PASID 6:\n");
	}
	read_made();
	ck_assert_uint_eq(data->n_problems, 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(data->queues[i].context, i);
}
END_TEST

START_TEST(xccs)
{
	int xcc, xccs = 1 + _i;

	say("Process 1 PASID 0x1:\n  Compute queue on device 2a\n");
	for (xcc = 0; xcc < xccs; xcc++)
		say_mqd(0x100000 * (xcc + 1), MQD_WORDS);
	say("  DIQ on device 2a\n");
	say_mqd(0x77000, MQD_WORDS);
	/* A partition: XCCs that do not begin with 0. */
	say("Node 3, gpu_id 2a:\n");
	for (xcc = 0; xcc < xccs; xcc++) {
		say_slot(xcc + 4, 2, 5, 0x100000 * (xcc + 1), true);
		say_slot(xcc + 4, 2, 6, 0, false);
	}
	read_made();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert_int_eq(data->queues[0].slots_expected, xccs);
	ck_assert_int_eq(data->queues[0].slots_active, xccs);
	ck_assert_int_eq(data->queues[1].type, GPREEMPT_TEXT_DIQ);
	ck_assert_int_eq(data->slots[0].xcc, 4);
	ck_assert_int_eq(data->slots[0].nth_xcc, 0);
	ck_assert_int_eq(data->slots[0].pipe, 2);
	ck_assert_int_eq(data->slots[0].queue, 5);
}
END_TEST

START_TEST(same_address_elsewhere)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t count;

	/* Addresses are a GPU's own. */
	say("Process 1 PASID 0x1:\n  Compute queue on device 2a\n");
	say_mqd(0x1000, MQD_WORDS);
	say("Node 3, gpu_id 2b:\n");
	say_slot(0, 0, 2, 0x1000, true);
	read_made();
	ck_assert_int_eq(data->queues[0].slots_active, 0);
	ck_assert_int_eq(data->slots[0].owner, -1);
	ck_assert_int_eq(gpreempt_text_check(text, GPREEMPT_UNKNOWN, &sum,
					     &by_xcc, &count), 0);
	ck_assert_uint_eq(sum.slots_without_owner, 1);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(by_xcc[0].gpu_id, 0x2a);
	ck_assert_uint_eq(by_xcc[0].slots_expected, 1);
	ck_assert_uint_eq(by_xcc[1].slots_without_owner, 1);
	free(by_xcc);
}
END_TEST

START_TEST(wrong_xcc)
{
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_mqd(0x1000, MQD_WORDS);
	say_mqd(0x2000, MQD_WORDS);
	say("Node 1, gpu_id 1:\n");
	say_slot(0, 0, 2, 0x2000, true);
	say_slot(1, 0, 2, 0x2000, true);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	ck_assert_str_eq(data->problems[0].what,
			 "this MQD is one for another XCC");
	ck_assert_str_eq(data->problems[1].what,
			 "this MQD is in another slot, too");
}
END_TEST

START_TEST(one_xcc_of_old)
{
	uint32_t regs[SLOT_WORDS] = { 0 };

	say("Node 1, gpu_id 9:\n  HIQ on MEC 2 Pipe 0 Queue 0\n");
	say_words(0xc914, regs, SLOT_WORDS);
	say("  CP Pipe 1, Queue 3\n");
	say_words(0xc914, regs, SLOT_WORDS);
	read_made();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_int_eq(data->slots[0].type, GPREEMPT_TEXT_HIQ);
	ck_assert_int_eq(data->slots[1].pipe, 1);
	ck_assert_int_eq(data->slots[1].nth_xcc, 0);
}
END_TEST

START_TEST(notes)
{
	read_string("Node 1, gpu_id 9:\n Device is stopped\n"
		    "Node 2, gpu_id ffff:\n  No active runlist\n");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_int_eq(data->nodes[0].note, GPREEMPT_TEXT_STOPPED);
	ck_assert_int_eq(data->nodes[1].note, GPREEMPT_TEXT_NO_LIST);
	ck_assert_int_eq(data->nodes[1].gpu_id, 0xffff);
}
END_TEST

/* struct v10_sdma_mqd is longer, and has its doorbell where it is known. */
START_TEST(sdma_layouts)
{
	static const struct {
		size_t words;
		size_t engine_at;
		int64_t known, engine, doorbell;
		uint64_t problems;
	} layouts[] = {
		{ 128, 126, 1, 3, GPREEMPT_UNKNOWN, 0 },
		{ 130, 128, 1, 3, 0x600, 0 },
		{ 127, 125, 1, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
		{ 3, 0, 1, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
		{ 200, 0, 0, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
	};
	uint32_t words[200] = { [1] = 0x12345, [2] = 0x6 };

	words[layouts[_i].engine_at] = 3;
	words[22] = 0x600 << 2;
	words[0] = 11 << 1 | 1;
	say("Process 1 PASID 0x1:\n  SDMA queue on device 1\n");
	say_words(0, words, layouts[_i].words);
	read_made();
	ck_assert_uint_eq(data->n_problems, layouts[_i].problems);
	ck_assert_int_eq(data->mqds[0].regs.known, layouts[_i].known);
	ck_assert_int_eq(data->mqds[0].regs.engine, layouts[_i].engine);
	ck_assert_int_eq(data->mqds[0].regs.doorbell, layouts[_i].doorbell);
	ck_assert_uint_eq(data->mqds[0].n_words, layouts[_i].words);
	if (!layouts[_i].known)
		return;
	ck_assert_int_eq(data->mqds[0].regs.ring, 0x60001234500);
	ck_assert_int_eq(data->mqds[0].regs.ring_size, 4 << 11);
}
END_TEST

START_TEST(unknown_layout)
{
	uint32_t words[MQD_WORDS] = { 0xc0310801, 0xabcd };

	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, MQD_WORDS);
	read_made();
	ck_assert_int_eq(data->mqds[0].regs.known, 0);
	ck_assert_int_eq(data->mqds[0].regs.mqd, GPREEMPT_UNKNOWN);
	/* Kept as it is. */
	ck_assert_uint_eq(data->mqds[0].n_words, MQD_WORDS);
	ck_assert_uint_eq(data->words[data->mqds[0].words + 1], 0xabcd);
	expect_problem(0, 3, "the layout of this MQD is not known");
}
END_TEST

START_TEST(largest_ring)
{
	uint32_t words[MQD_WORDS] = { 0xc0310800 };

	memset(words + 1, 0xff, sizeof(words) - 4);
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, MQD_WORDS);
	read_made();
	ck_assert_int_eq(data->mqds[0].regs.ring_size, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(data->mqds[0].regs.vmid, 15);
}
END_TEST

START_TEST(older)
{
	read_string("=== MQD Snapshot ===\n"
		    "Compute queue on device f7bc\n"
		    "    Queue ID: 5 (0x5)\n"
		    "    Process: pid 1234 pasid 0x8001\n"
		    "    is active: yes\n"
		    "    priority: 11\n"
		    "Compute queue on device 0001:0a:00.0\n"
		    "    Queue ID: 6\n"
		    "    is active: no\n");
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert(data->queues[0].older);
	ck_assert_int_eq(data->queues[0].qid, 5);
	ck_assert_int_eq(data->queues[0].pid, 1234);
	ck_assert_int_eq(data->queues[0].pasid, 0x8001);
	ck_assert_int_eq(data->queues[0].is_active, 1);
	ck_assert_int_eq(data->queues[0].priority, 11);
	ck_assert_int_eq(data->queues[0].gpu_id, 0xf7bc);
	ck_assert_int_eq(data->queues[1].gpu_id, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(data->queues[1].is_active, 0);
	ck_assert_int_eq(data->queues[1].pid, GPREEMPT_UNKNOWN);
	/* Only that the second one's device is no number. */
	ck_assert_uint_eq(data->n_problems, 1);
	expect_problem(0, 7, "the GPU of this queue has no id that is known");
}
END_TEST

/* What the seeds' grep of that text leaves. */
START_TEST(older_summary)
{
	read_string("Queue ID: 0\nProcess: pid 9 pasid 0x1\nis active: yes\n"
		    "priority: 7\nQueue ID: 1\nProcess: pid 9 pasid 0x1\n");
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert_int_eq(data->queues[0].priority, 7);
	ck_assert_int_eq(data->queues[1].qid, 1);
	ck_assert_int_eq(data->queues[1].pid, 9);
	ck_assert_uint_eq(data->n_problems, 0);
}
END_TEST

/* --- damaged text -------------------------------------------------------- */

START_TEST(nothing)
{
	read_string("");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 0);
	ck_assert_uint_eq(data->lines, 0);
}
END_TEST

START_TEST(set_qid)
{
	read_string("Process 1 PASID 0x1:\n  Bad user queue type 5 on device 1\n");
	gpreempt_text_set_qid(text, 0, 12);
	gpreempt_text_set_qid(text, 1, 13);
	ck_assert_int_eq(data->queues[0].qid, 12);
}
END_TEST

START_TEST(garbled_line)
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
	ck_assert_uint_eq(data->mqds[0].n_words, MQD_WORDS);
}
END_TEST

/* What belonged to a head that was lost is not given to the block before. */
START_TEST(garbled_head)
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
END_TEST

START_TEST(missing_lines)
{
	uint32_t words[64] = { 0xc0310800 };

	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, 16);
	say_words(0x80, words, 16);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	expect_problem(0, 5, "this dump does not go on where it stopped");
	expect_problem(1, 3,
		       "too short an MQD, or one of a layout that is not known");
}
END_TEST

START_TEST(missing_start)
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
END_TEST

static const struct {
	const char *text;
	uint64_t line;
	const char *what;
} damages[] = {
	{ "Process 1 PASID 0x1:\n  Compute queue on device 1\n", 2,
	  "no MQD below this line" },
	{ "Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n", 2,
	  "no registers below this line" },
	{ " Inst 0,  CP Pipe 0, Queue 2\n", 1,
	  "a slot of a node that is not there" },
	{ " Device is stopped\n", 1, "a line about a node that is not there" },
	{ "is active: yes\n", 1, "a line about a queue that is not there" },
	{ "  SDMA queue on device 1\n    00000000: 00000001", 2,
	  "the file ends within this line" },
	{ "Node 1, gpu_id 1:\n  00000000: 00000001\n", 2,
	  "no packet where one must begin" },
	{ "Node 1, gpu_id 1:\n  00000000: c013a100\n", 2,
	  "the end of this packet is missing" },
	{ "Process 1 PASID 0x1:\n"
	  "  Weird: Queue node with neither kernel nor user queue\n", 2,
	  "the driver says: neither kernel nor user queue" },
	{ "    00000000: 0000000g\n", 1, "not a line that the driver prints" },
	{ "    00000000: 00000000 1\n", 1, "not a line that the driver prints" },
	{ "    00000000:00000000\n", 1, "not a line that the driver prints" },
	{ "\x1b[32mNode 1, gpu_id 1:\n", 1,
	  "not a line that the driver prints" },
};

START_TEST(damaged)
{
	read_string(damages[_i].text);
	ck_assert_uint_ge(data->n_problems, 1);
	expect_problem(0, damages[_i].line, damages[_i].what);
}
END_TEST

START_TEST(too_long)
{
	say("Node 1, gpu_id 1:\n%70000s\n Device is stopped\n", "x");
	read_made();
	ck_assert_uint_eq(data->n_problems, 1);
	ck_assert_uint_eq(data->problems[0].line, 2);
	ck_assert_str_eq(data->problems[0].what, "too long a line");
	ck_assert_int_eq(data->nodes[0].note, GPREEMPT_TEXT_STOPPED);
}
END_TEST

START_TEST(many_problems)
{
	int i;

	for (i = 0; i < 10000; i++)
		say("x\n");
	read_made();
	ck_assert_uint_eq(data->n_problems, 10000);
	ck_assert_uint_eq(data->kept, 4096);
	ck_assert_uint_eq(data->problems[4095].line, 4096);
}
END_TEST

START_TEST(windows)
{
	read_string("Node 1, gpu_id 1:\r\n Device is stopped\r\n");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_int_eq(data->nodes[0].note, GPREEMPT_TEXT_STOPPED);
}
END_TEST

START_TEST(two_files)
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
END_TEST

/* Pieces of any size give the same. */
START_TEST(pieces)
{
	static const size_t sizes[] = { 1, 7, 4096 };
	size_t at, len, step = sizes[_i];
	char *all = load(FIXTURES "mqds", &len);

	for (at = 0; at < len; at += step)
		feed(all + at, len - at < step ? len - at : step);
	end_file();
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 4);
	ck_assert_uint_eq(data->n_words, 3 * MQD_WORDS + 128);
	free(all);
}
END_TEST

/* Cut anywhere: what came before the cut is there, and the cut is told of. */
START_TEST(cut)
{
	size_t at, len, queues = 0;
	char *all = load(FIXTURES "mqds", &len);

	for (at = 1; at < len; at += 131) {
		feed(all, at);
		end_file();
		join();
		ck_assert_uint_ge(data->n_queues, queues);
		queues = data->n_queues;
		if (all[at - 1] != '\n')
			ck_assert_uint_ge(data->n_problems, 1);
		teardown();
		setup();
	}
	ck_assert_uint_eq(queues, 4);
	free(all);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, real_blocks);
	tcase_add_test(tc, real_fields);
	tcase_add_test(tc, real_run_list);
	tcase_add_test(tc, captures);
	tcase_add_loop_test(tc, process, 0, ARRAY_SIZE(process_lines));
	tcase_add_loop_test(tc, process_broken, 0, 8);
	tcase_add_test(tc, contexts);
	tcase_add_loop_test(tc, xccs, 0, 8);
	tcase_add_test(tc, same_address_elsewhere);
	tcase_add_test(tc, wrong_xcc);
	tcase_add_test(tc, one_xcc_of_old);
	tcase_add_test(tc, notes);
	tcase_add_loop_test(tc, sdma_layouts, 0, 5);
	tcase_add_test(tc, unknown_layout);
	tcase_add_test(tc, largest_ring);
	tcase_add_test(tc, older);
	tcase_add_test(tc, older_summary);
	tcase_add_test(tc, nothing);
	tcase_add_test(tc, set_qid);
	tcase_add_test(tc, garbled_line);
	tcase_add_test(tc, garbled_head);
	tcase_add_test(tc, missing_lines);
	tcase_add_test(tc, missing_start);
	tcase_add_loop_test(tc, damaged, 0, ARRAY_SIZE(damages));
	tcase_add_test(tc, too_long);
	tcase_add_test(tc, many_problems);
	tcase_add_test(tc, windows);
	tcase_add_test(tc, two_files);
	tcase_add_loop_test(tc, pieces, 0, 3);
	tcase_add_test(tc, cut);
	return unit_run("text");
}
