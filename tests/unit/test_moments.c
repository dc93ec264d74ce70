// SPDX-License-Identifier: GPL-2.0-only
/* decode and diff of directories as scripts leave them, and of queues that do not move. */
#include "unit-command.h"
#include "unit-text.h"

#define ONE "tests/text/one-queue/"
#define TWO "tests/text/two-queues/"

/*
 * Files that a script left: the driver's by the role in the name, with these marks before it: a
 * note (!), one that quotes the driver (?), an empty file (0), the refusal of a shell (-), and all
 * three in one file (+).
 */
static void make_layout(const char *files)
{
	static const char quote[] = "What I saw in these files:\n\nProcess 700 PASID 700:\n"
				    "It has one queue.\nThat is all.\n";
	char copy[1024], *word, *save, *path;
	size_t len, more;
	char *all, *rest;

	snprintf(copy, sizeof(copy), "%s", files);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		path = strdup(unit_text("d/%s", word + !!strchr("!?0-+", *word)));
		if (*word == '!')
			make_text(path, "=== Findings ===\n  queues: 1\n=== End ===\n");
		else if (*word == '?')
			make_text(path, quote);
		else if (*word == '0')
			make_text(path, "");
		else if (*word == '-')
			make_text(path, "cat: /sys/kernel/debug/kfd: Operation not permitted\n");
		else if (strcasestr(word, "mqd") && *word != '+')
			copy_fixture(ONE "mqds", path);
		else if (strcasestr(word, "hqd") && *word != '+')
			copy_fixture(ONE "hqds", path);
		else if (*word != '+')
			copy_fixture(ONE "rls", path);
		if (*word == '+') {
			all = fixture_text(ONE "mqds", &len);
			rest = fixture_text(ONE "hqds", &more);
			all = realloc(all, len + more);
			memcpy(all + len, rest, more);
			make_file(path, all, len + more);
			free(all);
			free(rest);
		}
		free(path);
	}
}

static const struct {
	const char *files;
	const char *names;  /* moments, each with a queue in its slot; "": one moment */
	const char *passed; /* the end of a note */
} layouts[] = {
	/* Whole names with an end. */
	{ "mqds.txt hqds.txt rls.txt", "", NULL },
	{ "mqds.log hqds.log rls.log", "", NULL },
	{ "MQDs.out HQDs.out", "", NULL },
	{ "mqds hqds.txt rls.log", "", NULL },
	{ "node1.mqds node1.hqds", "", NULL },
	{ "kfd_mqds_dump.txt kfd_hqds_dump.txt", "", NULL },
	{ "+mqd_hqd_all.txt", "", NULL },
	{ "+mqds_1.txt +mqds_2.txt", "1 2", NULL },
	/* Files beside them. */
	{ "kfd-mqds.txt kfd-hqds.txt kfd-rls.txt 0kfd-mqds.err 0kfd-hqds.err", "", NULL },
	{ "mqds.txt hqds.txt -rls.err", "", "rls.err is passed over: the end" },
	{ "mqds.txt hqds.txt mqds.txt~ hqds.txt.bak", "", "mqds.txt~ is passed over" },
	{ "mqds hqds !parse_kfd_mqds.py", "", "mqds.py is passed over" },
	{ "mqds.txt hqds.txt !mqds.txt.gz", "", "gz is passed over" },
	{ "a_mqds_8.txt a_hqds_8.txt !mqd_hqd_findings_8.txt", "",
	  "8.txt is passed over: no line" },
	{ "mqds.txt hqds.txt ?mqds_notes.txt", "", "notes.txt is passed over: most lines" },
	{ "mqds_1.txt hqds_1.txt mqds_1_summary.txt", "", "summary.txt is passed over: a summary" },
	{ "mqds.txt hqds.txt -rls.txt", "", "rls.txt is passed over: no line" },
	{ "mqds hqds -rls", "", "rls is passed over: no line" },
	/* Times. */
	{ "mqds_20260203_101500.txt hqds_20260203_101501.txt rls_20260203_101502.txt", "", NULL },
	{ "mqds_1790000001.txt hqds_1790000002.txt", "", NULL },
	{ "2026-02-03T10:15:00_mqds.txt 2026-02-03T10:15:01_hqds.txt", "", NULL },
	{ "mqds.1790000001.25 hqds.1790000001.75", "", NULL },
	{ "mqds_1790000001_123456789.txt hqds_1790000001_345678901.txt", "", NULL },
	{ "kfd_mqds_20260203T101500Z.txt kfd_hqds_20260203T101501Z.txt", "", NULL },
	{ "Tue_Feb_03_10:15:00_2026.mqds Tue_Feb_03_10:15:01_2026.hqds", "", NULL },
	{ "mqds_10:15:00.txt hqds_10:15:01.txt", "", NULL },
	{ "mqds_1790000001 hqds_1790000002 rls_1790000003 "
	  "mqds_1790000011 hqds_1790000012 rls_1790000013",
	  "1790000001 1790000011", NULL },
	{ "hqds_1790000001 mqds_1790000002 hqds_1790000011 mqds_1790000012",
	  "1790000001 1790000011", NULL },
	{ "t_hqds_1_101500.txt t_mqds_1_101501.txt t_hqds_2_101505.txt t_mqds_2_101506.txt",
	  "t_1_101500 t_2_101505", NULL },
	/* The order of time, not of names. */
	{ "active_mqds_16_20260203_101100.txt active_hqds_16_20260203_101100.txt "
	  "active_mqds_8_20260203_101500.txt active_hqds_8_20260203_101500.txt",
	  "active_16_20260203_101100 active_8_20260203_101500", NULL },
	{ "z-1790000001-mqds z-1790000001-hqds a-1790000009-mqds a-1790000009-hqds",
	  "z-1790000001 a-1790000009", NULL },
	{ "after_mqds_1.txt after_hqds_1.txt mqds_2.txt hqds_2.txt before_mqds.txt "
	  "before_hqds.txt",
	  "before 2 after_1", NULL },
	{ "mqds_10 hqds_10 mqds_9 hqds_9", "9 10", NULL },
	/* A run list is no moment. */
	{ "mqds_a.txt hqds_a.txt rls.txt", "", "rls.txt is passed over: no mqds or hqds" },
	/* Directories below. */
	{ "sample_1/mqds.txt sample_1/hqds.txt sample_1/rls.txt sample_2/mqds.txt "
	  "sample_2/hqds.txt",
	  "sample_1 sample_2", NULL },
	{ "sample_2/mqds sample_2/hqds sample_10/mqds sample_10/hqds", "sample_2 sample_10", NULL },
	{ "n1/s_1/kfd_mqds.log n1/s_1/kfd_hqds.log n1/s_2/kfd_mqds.log n1/s_2/kfd_hqds.log",
	  "n1/s_1 n1/s_2", NULL },
	{ "n1/s_1/kfd/mqds n1/s_1/kfd/hqds n1/s_2/kfd/mqds n1/s_2/kfd/hqds",
	  "n1/s_1/kfd n1/s_2/kfd", NULL },
	{ "day/mqds_1.txt day/hqds_1.txt day/mqds_2.txt day/hqds_2.txt", "day/1 day/2", NULL },
	{ "20260203_101500/mqds.txt 20260203_101500/hqds.txt", "", NULL },
	/* No moments, but the host's own files in a snapshot. */
	{ "mqds hqds rls sys/mqds.txt", "", NULL },
};

TEST_EACH(layout, ARRAY_SIZE(layouts))
{
	char copy[256], *word, *save;
	const char *at;

	make_layout(layouts[_i].files);
	LAB(0, "decode d");
	if (layouts[_i].passed)
		ERR_HAS(layouts[_i].passed);
	else
		ck_assert_ptr_null(strstr(ctl_err, "passed over"));
	if (!*layouts[_i].names) {
		OUT_HAS("\n1 compute queue\n");
		OUT_HAS("Queues and slots add up: yes\n");
		LAB(0, "diff d d");
		OUT_HAS("rings: 1 common, 0 only in A, 0 only in B, overlap 100%");
		return;
	}
	at = ctl_out;
	snprintf(copy, sizeof(copy), "%s", layouts[_i].names);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		at = strstr(at, unit_text("\n%s\t1\t1\t1\t1\t0\t-\t-\t-\n", word));
		ck_assert_msg(at, "no %s, or not in its order: %s", word, ctl_out);
	}
	at = strrchr(layouts[_i].names, ' ') + 1;
	LAB(0, "decode d/%s", at);
	OUT_HAS("\n1 compute queue\n");
	LAB(2, "diff d d");
	ERR_HAS("name one of them: DIR/NAME");
	LAB(0, "diff d/%s d/%s", at, at);
	OUT_HAS("rings: 1 common");
}

/* A file without the driver's text is as if it were not there. */
TEST(refused_hqds)
{
	make_layout("mqds.txt -hqds.txt");
	LAB(0, "decode d");
	ERR_HAS("hqds.txt is passed over: no line of it is what the driver prints");
	ERR_HAS("there is no hqds among it");
	OUT_HAS("\n700\t-\t0x5a1c\tcompute\t0\t-\t1\t-\t");
	make_layout("-mqds.txt");
	LAB(1, "decode d");
	ERR_HAS("it has neither mqds nor hqds");
}

/* A lone half, for want of one at its side. */
TEST(missing_half)
{
	make_layout("mqds_1790000001 hqds_1790000002 hqds_1790000012 mqds_1790000021 "
		    "hqds_1790000022");
	LAB(0, "decode d");
	/* Queues that are not known neither came nor went. */
	OUT_HAS("\n1790000012\t-\t-\t-\t1\t-\t-\t-\t-\n");
	OUT_HAS("\n1790000021\t1\t1\t1\t1\t0\t-\t-\t-\n");
}

TEST(links_and_pipes)
{
	make_layout("mqds_1.txt hqds_1.txt");
	ck_assert_int_eq(symlink("mqds_1.txt", "d/mqds_latest.txt"), 0);
	ck_assert_int_eq(mkfifo("d/hqds_2.txt", 0600), 0);
	LAB(0, "decode d");
	OUT_HAS("Queues and slots add up: yes\n");
	ERR_HAS("mqds_latest.txt is passed over: it is a link");
	ERR_HAS("hqds_2.txt is passed over: it is not a regular file");
	LAB(1, "decode d/nothing");
	ERR_HAS("No such file");
}

TEST(stale_pointers)
{
	copy_fixture(TWO "mqds", "d/mqds");
	copy_fixture(TWO "hqds", "d/hqds");
	LAB(0, "decode d --json");
	expect_number("queues.0.rptr", 0x4100);
	expect_number("queues.0.wptr", 0x4240);
	expect_number("queues.0.waiting_packets", 20);
	expect_text("queues.0.pointers", "slot");
	expect_number("queues.1.rptr", 128);
	expect_number("queues.1.waiting_packets", 0);
	LAB(0, "decode d/mqds --json");
	expect_number("queues.0.rptr", 0);
	expect_null("queues.0.waiting_packets");
	expect_text("queues.0.pointers", "mqd");
	LAB(0, "decode d/hqds");
	OUT_HAS("\n0x5a1c\t0\t0\t2\t1\t-\t-\t0x41000000\t8\t0x1002\t0x7e2000000000\t16640\t16960\t"
		"20\n");
	LAB(0, "decode d/hqds --json");
	expect_number("slots.0.waiting_packets", 20);
}

/* PQ_CONTROL of an AQL queue with a ring of 2 to the power of this and one, in dwords. */
#define AQL(size) (0x18084500 | (size))

#define RING 0x7e2000000000ull

/* The slots of a moment: pointers by XCC. */
static void make_moment(const char *name, uint32_t control, const uint32_t (*pointers)[2],
			size_t xccs)
{
	uint32_t regs[SLOT_WORDS] = { 0 };
	size_t i;

	made_len = 0;
	say("Process 7 PASID 7:\n  Compute queue on device 2a\n");
	for (i = 0; i < xccs; i++)
		say_ring_mqd(0x41000000 + 0x1000 * i, RING);
	make_file(unit_text("s/%s/mqds", name), made, made_len);
	made_len = 0;
	say("Node 1, gpu_id 2a:\n");
	for (i = 0; i < xccs; i++) {
		regs[0] = 0x41000000 + 0x1000 * i;
		regs[2] = 1;
		regs[8] = RING >> 8 & 0xffffffff;
		regs[9] = RING >> 40;
		regs[10] = pointers[i][0];
		regs[17] = control;
		regs[54] = pointers[i][1];
		say(" Inst %zu,  CP Pipe 0, Queue 2\n", i);
		say_words(0xc914, regs, SLOT_WORDS);
	}
	make_file(unit_text("s/%s/hqds", name), made, made_len);
}

static const struct {
	uint32_t control, rptr, wptr;
	int64_t waiting; /* or unknown */
} waits[] = {
	{ AQL(8), 0, 0, 0 },
	{ AQL(8), 0x32250, 0x32450, 32 }, /* the whole ring */
	{ AQL(8), 496, 16, 2 },		  /* round the ring */
	{ AQL(8), 0xfffffff0, 0x10, 2 },
	{ AQL(17), 0x4100, 0x4240, 20 },
	{ 0x18080508, 0, 32, GPREEMPT_UNKNOWN }, /* no AQL queue */
	{ AQL(0x3f), 0, 32, GPREEMPT_UNKNOWN },	 /* no ring is so large */
};

TEST_EACH(waiting, ARRAY_SIZE(waits))
{
	const uint32_t pointers[][2] = { { waits[_i].rptr, waits[_i].wptr } };

	make_moment("1", waits[_i].control, pointers, 1);
	LAB(0, "decode s/1 --json");
	expect_number("queues.0.rptr", waits[_i].rptr);
	if (waits[_i].waiting == GPREEMPT_UNKNOWN)
		expect_null("queues.0.waiting_packets");
	else
		expect_number("queues.0.waiting_packets", waits[_i].waiting);
}

/* The first of several XCCs counts. */
TEST(first_xcc)
{
	static const uint32_t pointers[][2] = { { 32, 64 }, { 16, 64 }, { 0, 64 } };

	make_moment("1", AQL(8), pointers, ARRAY_SIZE(pointers));
	LAB(0, "decode s/1 --json");
	expect_number("queues.0.slots_active", 3);
	expect_number("queues.0.rptr", 32);
	expect_number("queues.0.waiting_packets", 2);
}

static const struct {
	uint32_t pointers[3][2];
	int64_t moved, added;
	const char *line;
} series[] = {
	{ { { 64, 384 }, { 64, 384 }, { 64, 384 } },
	  0,
	  0,
	  "7@0x7e2000000000 (20 packets, since 1)" },
	{ { { 64, 384 }, { 96, 384 }, { 96, 400 } },
	  32,
	  16,
	  "7@0x7e2000000000 (19 packets, since 2)" },
	{ { { 64, 384 }, { 64, 384 }, { 96, 384 } }, 32, 0, "none" },
	{ { { 64, 64 }, { 64, 64 }, { 64, 64 } }, 0, 0, "none" },
	{ { { 64, 64 }, { 64, 64 }, { 64, 80 } }, 0, 16, "none" },
	{ { { 0xfffffff0, 0 }, { 0x10, 0x20 }, { 0x30, 0x40 } }, 0x40, 0x40, "none" },
	/* Another queue in its place. */
	{ { { 6400, 6416 }, { 6400, 6400 }, { 0, 16 } },
	  GPREEMPT_UNKNOWN,
	  GPREEMPT_UNKNOWN,
	  "none" },
};

TEST_EACH(moved, ARRAY_SIZE(series))
{
	size_t i;

	for (i = 0; i < 3; i++)
		make_moment(unit_text("%zu", i + 1), AQL(17), &series[_i].pointers[i], 1);
	LAB(0, "decode s");
	OUT_LINE("\nwaiting and not moving: %s\n", series[_i].line);
	LAB(0, "decode s --json");
	if (series[_i].moved == GPREEMPT_UNKNOWN) {
		expect_null("queues_seen.0.rptr_moved");
		expect_null("queues_seen.0.wptr_moved");
	} else {
		expect_number("queues_seen.0.rptr_moved", series[_i].moved);
		expect_number("queues_seen.0.wptr_moved", series[_i].added);
	}
	expect_number("queues_seen.0.not_moving", strcmp(series[_i].line, "none") != 0);
}

/* Slots alone have no processes, and show as well which of them wait. */
TEST(slots_alone)
{
	static const uint32_t pointers[][2] = { { 64, 384 } };

	make_moment("1", AQL(17), pointers, 1);
	make_moment("2", AQL(17), pointers, 1);
	ck_assert_int_eq(unlink("s/1/mqds"), 0);
	ck_assert_int_eq(unlink("s/2/mqds"), 0);
	LAB(0, "decode s");
	OUT_HAS("\nwaiting and not moving: ring 0x7e2000000000 (20 packets, since 1)\n");
	LAB(0, "diff s/1 s/2");
	OUT_HAS("\nwaiting and not moving: ring 0x7e2000000000 (20 packets, since A)\n");
}

TEST(diff_of_stuck)
{
	copy_fixture(TWO "mqds", "s/1/mqds");
	copy_fixture(TWO "hqds", "s/1/hqds");
	copy_fixture(TWO "mqds", "s/2/mqds");
	copy_fixture(TWO "hqds", "s/2/hqds");
	LAB(0, "diff s/1 s/2");
	OUT_HAS("\nwaiting and not moving: 700@0x7e2000000000 (20 packets, since A)\n");
	LAB(0, "diff s/1 s/2 --json");
	expect_rows("queues_seen", 2);
	expect_number("queues_seen.0.not_moving", 1);
	expect_number("queues_seen.0.rptr_moved", 0);
	expect_number("queues_seen.1.not_moving", 0);
	LAB(0, "diff s/1 s/2/mqds");
	ck_assert_ptr_null(strstr(ctl_out, "not moving"));
	LAB(0, "diff s/1 s/2/mqds --json");
	expect_null("queues_seen.0.not_moving");
}

/* Without hqds it is not known whether a queue was in its slots: never 0. */
TEST(series_without_hqds)
{
	make_layout("mqds_1.txt mqds_2.txt");
	LAB(0, "decode d");
	OUT_HAS("\nwaiting and not moving: not known");
	LAB(0, "decode d --json");
	expect_null("queues_seen.0.in_slots");
	expect_null("queues_seen.0.not_moving");
	copy_fixture(ONE "hqds", "d/hqds_2.txt");
	LAB(0, "decode d --json");
	expect_number("queues_seen.0.in_slots", 1);
}

static const struct {
	const char *text;
	const char *hint;
} hints[] = {
	{ "[  950.8] Node 1, gpu_id 5a1c:\n[  950.8]    Inst 0,  CP Pipe 0, Queue 2\n"
	  "[  950.8]     0000c824: 41000000 00000000\n",
	  "something before each line" },
	{ "hqds:Node 1, gpu_id 5a1c:\nhqds:  SDMA Engine 0, RLC 0\n",
	  "something before each line" },
	{ "> Process 700 PASID 700:\n>   Compute queue on device 5a1c\n",
	  "something before each line" },
	{ "[ 1.2] amdgpu: Evicting PASID 1 queues\n[ 1.3] amdgpu: Restoring PASID 1 queues\n",
	  NULL },
	{ "import re\nHEAD = re.compile(r'Inst (\\d+),  CP Pipe (\\d+)')\n", NULL },
	{ "CP Pipe 0, Queue 2: rptr=0x32250, wptr=0x32450\n", NULL },
	{ "My notes\nThe slot:\nit is that of CP Pipe 0, Queue 2\nand it hangs\n", NULL },
};

TEST_EACH(hint, ARRAY_SIZE(hints))
{
	make_text("file", hints[_i].text);
	LAB(1, "decode file");
	ERR_HAS(hints[_i].hint ? hints[_i].hint : "files of /sys/kernel/debug/kfd");
}

TEST_FIXTURE(command_setup, command_teardown)
