// SPDX-License-Identifier: GPL-2.0-only
/* decode: files, directories that others made, series, unknown values. */
#include "lab/diff.h"
#include "unit-command.h"
#include "unit-text.h"

/* The queue is elsewhere in one of its XCCs: each place counts once. */
TEST(places)
{
	static const struct {
		int pipe, queue;
	} at[] = { { 1, 4 }, { 2, 5 }, { 1, 4 } };
	const uint64_t mqd = 0x17ba000, ring = 0x7f0000100000;
	int xcc;

	say("Process 1 PASID 1:\n  Compute queue on device 2a\n");
	for (xcc = 0; xcc < 3; xcc++)
		say_ring_mqd(mqd + 0x1000 * xcc, ring);
	make_file("a", made, made_len);
	made_len = 0;
	say("Node 1, gpu_id 2a:\n");
	for (xcc = 0; xcc < 3; xcc++)
		say_ring_slot(xcc, at[xcc].pipe, at[xcc].queue, mqd + 0x1000 * xcc, ring);
	make_file("b", made, made_len);
	made_len = 0;
	LAB(0, "decode a b");
	OUT_HAS("\t1.4,2.5\t");
}

TEST(two_moments)
{
	make_other_rings("other");
	LAB(6, "decode other now/hqds");
	OUT_HAS("\n3 problems in the text\n");
	OUT_HAS("this slot has another ring than the MQD of its address");
	OUT_HAS("Queues and slots add up: no\n");
	ERR_HAS("slots without an owner");
	LAB(6, "decode other now/hqds --json");
	expect_rows("problems", 3);
}

TEST(gpus_without_slots)
{
	make_text("stopped", "Node 1, gpu_id 2d60:\n Device is stopped\n");
	make_text("other", "Node 1, gpu_id 1234:\n Device is stopped\n");
	LAB(0, "decode now/mqds stopped");
	ERR_HAS("GPU 0x2d60: the driver has stopped it");
	LAB(0, "decode now/mqds other");
	ERR_HAS("GPU 0x2d60: hqds does not have it");
	OUT_HAS("Queues and slots add up: not known\n");
}

TEST(many_problems)
{
	size_t len, i, n = 0;
	char *all = fixture_text(DRIVER "mqds", &len);

	for (i = 0; i + 9 < len; i++)
		if (!memcmp(all + i, "\n    0000", 9) && n++ % 2)
			all[i + 5] = 'x';
	make_file("damaged", all, len);
	free(all);
	LAB(6, "decode damaged");
	ERR_HAS("more; --json has the first ");
	/* The text has a head, 20 of them, and the lines before. */
	for (i = 0, n = 0; ctl_out[i]; i++)
		n += !strncmp(ctl_out + i, "\ndamaged\t", 9);
	ck_assert_uint_eq(n, 20);
}

TEST(older_text)
{
	make_text("older", "Compute queue on device f7bc\n    Queue ID: 5\n"
			   "    Process: pid 12 pasid 0x1\n    is active: yes\n");
	LAB(0, "decode older");
	ERR_HAS("older than Linux 6.5");
	OUT_HAS("12\t5\t0xf7bc\tcompute\t");
	LAB(0, "decode older --json");
	expect_number("queues.0.is_active", 1);
	expect_number("queues.0.older", 1);
}

static const struct {
	const char *begin;
	size_t len;
	const char *what;
	const char *next;
} others[] = {
	{ "\x1f\x8b\x08", 3, "it is compressed (gzip)", "zcat" },
	{ "\3757zXZ", 5, "it is compressed (xz)", "xzcat" },
	{ "BZh9", 4, "it is compressed (bzip2)", "bzcat" },
	{ "\x28\xb5\x2f\xfd", 4, "it is compressed (zstd)", "zstdcat" },
	{ "PK\x03\x04", 4, "it is a zip archive", "unpack" },
	{ "\xff\xfeN\0o\0", 6, "it is UTF-16", "iconv" },
	{ "\xfe\xff\0N\0o", 6, "it is UTF-16", "iconv" },
	{ "\177ELF", 4, "it is a program", "" },
	{ "[  12.3] Node 1, gpu_id 2d60:\n", 30, "no line of it is", "something before each line" },
	{ "hello\n", 6, "no line of it is", "/sys/kernel/debug/kfd" },
};

TEST_EACH(other_files, ARRAY_SIZE(others))
{
	make_file("file", others[_i].begin, others[_i].len);
	LAB(1, "decode file");
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS(others[_i].what);
	ERR_HAS(others[_i].next);
	LAB(1, "decode now/mqds file");
}

TEST(missing_files)
{
	LAB(1, "decode nothing");
	ERR_HAS("No such file");
	ck_assert_int_eq(mkdir("empty", 0700), 0);
	LAB(1, "decode empty");
	ERR_HAS("it has neither mqds nor hqds");
	LAB(2, "decode - -");
	make_text("-dash", "Node 1, gpu_id 2d60:\n Device is stopped\n");
	LAB(0, "decode -- -dash");
	LAB(1, "decode now -- -none");
}

/* Make a pipe in the place of a file for root. */
static void make_pipe(const char *path)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_link(const char *path)
{
	ck_assert_int_eq(symlink("/dev/zero", path), 0);
}

static void make_dir(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_giant(const char *path)
{
	make_text(path, "");
	ck_assert_int_eq(truncate(path, (1ll << 30) + 1), 0);
}

static const struct {
	void (*make)(const char *path);
	const char *what;
} hostile[] = {
	{ make_pipe, "it is not a regular file" },
	{ make_link, "it is a link" },
	{ make_dir, "it is not a regular file" },
	{ make_giant, "File too large" },
};

TEST_EACH(hostile_directory, ARRAY_SIZE(hostile))
{
	static const char *const names[] = { "mqds", "hqds", "rls" };
	const char *path;
	size_t i;

	for (i = 0; i < 3; i++) {
		make_text(unit_text("bad%zu/hqds", i),
			  "Node 1, gpu_id 2d60:\n Device is stopped\n");
		path = unit_text("bad%zu/%s", i, names[i]);
		unlink(path);
		hostile[_i].make(path);
		LAB(1, "decode bad%zu", i);
		ERR_HAS(hostile[_i].what);
		ERR_HAS(names[i]);
	}
	/* Ids are left out then. */
	hostile[_i].make("now/queues-7");
	hostile[_i].make("now/sysfs");
	LAB(0, "decode now");
}

TEST(series_of_snapshots)
{
	copy_fixture(DRIVER "hqds", "day/000-baseline/hqds");
	make_text("day/000-baseline/mqds", "");
	copy_fixture(DRIVER "mqds", "day/001-sample/mqds");
	copy_fixture(DRIVER "hqds", "day/001-sample/hqds");
	copy_fixture(DRIVER "queues-144", "day/001-sample/queues-144");
	copy_fixture(DRIVER "queues-156", "day/001-sample/queues-156");
	make_text("day/002-final/mqds", "");
	copy_fixture(DRIVER "hqds", "day/002-final/hqds");
	LAB(0, "decode day");
	OUT_HAS("\n001-sample\t2\t4\t3\t3\t0\t144:0,144:1,144:2,156:0\t"
		"144:0,144:1,144:2,156:0\t-\n");
	OUT_HAS("\n002-final\t0\t0\t0\t3\t3\t-\t-\t144:0,144:1,144:2,156:0\n");
	OUT_HAS("Queues of 1 samples: mean 4.0, least 4, most 4: stable\n");
	OUT_HAS("Queue ids of all samples: the same\n");
	OUT_HAS("\n156\t0\t0x2d60\tcompute\t7\t0x7f51976f9000\t1\t1\t-\t-\t196\t-\t-\n");
	LAB(0, "decode day --json");
	expect_number("summary.samples", 1);
	expect_number("summary.stable", 1);
	expect_number("queues_seen.0.seen", 1);
	expect_number("snapshots.1.queues", 4);
	LAB(0, "decode day --pid 156");
	OUT_HAS("mean 1.0");
	LAB(0, "decode day/001-sample");
	OUT_HAS("\n3 compute queues\n");
}

TEST(series_that_is_not_stable)
{
	make_text("s/1/mqds", "");
	make_text("s/1/hqds", "Node 1, gpu_id 2d60:\n Device is stopped\n");
	copy_fixture(DRIVER "mqds", "s/2/mqds");
	copy_fixture(DRIVER "mqds", "s/3/mqds");
	make_text("s/3/hqds", "Node 1, gpu_id 2d60:\nrubbish\n");
	LAB(6, "decode s");
	OUT_HAS("Queues of 3 samples: mean 2.7, least 0, most 4: not stable\n");
	ERR_HAS("1 problems in the text");
	make_pipe("s/2/hqds");
	LAB(1, "decode s");
}

/* hqds alone, moment by moment: there are no queues to count. */
TEST(series_without_mqds)
{
	copy_fixture(DRIVER "hqds", "s/1/hqds");
	copy_fixture(DRIVER "hqds", "s/2/hqds");
	LAB(0, "decode s");
	OUT_HAS("\nQueues: not known\n");
	LAB(0, "decode s --json");
	expect_null("summary.queues_mean");
	expect_null("summary.stable");
	expect_null("snapshots.0.queues");
	expect_number("snapshots.0.slots_active", 3);
}

/* A file of the snapshot, with other text of the same length in it. */
static void change_file(const char *name, const char *from, const char *to)
{
	size_t len;
	char *all = fixture_text(unit_text(DRIVER "%s", name), &len);
	char *at = strstr(all, from);

	ck_assert_ptr_nonnull(at);
	memcpy(at, to, strlen(from));
	make_file(unit_text("now/%s", name), all, len);
	free(all);
}

/* Linux 7's driver has a PASID for each GPU, which mqds does not print. */
TEST(run_list_of_linux_7)
{
	change_file("mqds", "PASID 0x2:", "PASID 156:");
	LAB(0, "decode now --json");
	expect_rows("run_list", 6);
	expect_number("run_list.0.pid", 156);
	expect_null("run_list.0.queue_id");
	LAB(0, "decode now --json --pid 156");
	expect_rows("run_list", 2);
}

/* Its MQDs have none. */
TEST(priority_of_the_view)
{
	change_file("queues-156", "compute-aql 7", "compute-aql 9");
	LAB(0, "decode now --json");
	expect_number("queues.0.priority", 9);
	expect_number("queues.2.priority", 7);
}

#define SMI_TABLE "PID   \tPROCESS NAME\tGPU(s)\tVRAM USED\tSDMA USED\tCU OCCUPANCY\t\n"

static const struct {
	const char *text;
	int status;
	const char *row; /* its end is beside the snapshot */
} smi[] = {
	{ SMI_TABLE "144   \tvgpu-load   \t1     \t4096     \t7        \t4           \t\n", 0,
	  "\n144\tvgpu-load\t1\t-\t4096\t4\t3\t0x2d60\n" },
	{ SMI_TABLE "156 pt main thread  2  UNKNOWN  UNKNOWN  UNKNOWN  \r\n", 0,
	  "\n156\tpt main thread\t2\t-\t-\t-\t1\t0x2d60\n" },
	{ "PID PROCESS NAME GPU(s) VRAM USED SDMA USED\n9 x 0 1 2\n====\n10 y\n", 0,
	  "\n9\tx\t0\t-\t1\t-\t0\t-\n" },
	{ "> PID PROCESS NAME GPU VRAM USED SDMA USED CU OCCUPANCY\n> 144 a 2 1 0 0\n"
	  "> 144 a 2 2 0 0\n",
	  0, "\n144\ta\t2\t-\t2\t0\t3\t0x2d60\n" },
	{ "PID 144 is using 2 DRM device(s):\n0 1\nPID 7 is using 0 DRM device(s)\n", 0,
	  "\n144\t-\t2\t0,1\t-\t-\t3\t0x2d60\n7\t-\t0\t-\t-\t-\t0\t-\n" },
	{ SMI_TABLE "144 a 1 2 3 4\n==\nPID 144 is using 1 DRM device(s):\n0\n", 0,
	  "\n144\ta\t1\t0\t2\t4\t3\t0x2d60\n" },
	{ SMI_TABLE "12 x 1\n144 a 1 2 3 4\n", 6, "\n144\ta\t1\t-\t2\t4\t3\t0x2d60\n" },
	{ "No KFD PIDs currently running\n", 0, NULL },
	{ "PID TTY TIME CMD\n144 pts/0 0:00 a\n", 1, NULL },
	{ "", 1, NULL },
};

TEST_EACH(showpids, ARRAY_SIZE(smi))
{
	make_text("smi", smi[_i].text);
	LAB(smi[_i].status, "pidmap --showpids smi --from now");
	if (smi[_i].row)
		OUT_HAS(smi[_i].row);
	LAB(smi[_i].status, "pidmap --showpids smi");
	if (smi[_i].status != 1)
		ERR_HAS("--from DIR");
}

TEST(showpids_json)
{
	make_text("smi", SMI_TABLE "144 a 1 2 3 4\n");
	LAB(0, "pidmap --showpids smi --json --from now");
	expect_number("showpids.0.queues", 3);
	expect_text("showpids.0.kfd_gpu_ids.0", "0x2d60");
	make_text("smi", "PID 144 is using 2 DRM device(s):\n0 1\n");
	LAB(0, "pidmap --showpids smi --json --from now");
	expect_text("showpids.0.gpu_indexes.0", "0");
	LAB(0, "pidmap --showpids smi --json --from now/hqds");
	expect_null("showpids.0.queues");
	LAB(1, "pidmap --showpids nothing");
	LAB(1, "pidmap --showpids smi --from nothing");
	LAB(2, "pidmap --showpids smi 144");
	LAB(2, "pidmap --from now");
}

TEST_FIXTURE(snapshots_setup, command_teardown)

/* The module's files and the driver's text of one moment of a real driver. */
static void view_setup(void)
{
	size_t len;

	system_setup();
	set_view(156, fixture_text(DRIVER "queues-156", &len));
	copy_fixture(DRIVER "mqds", "made/kfd/mqds");
	copy_fixture(DRIVER "hqds", "made/kfd/hqds");
}

static const struct {
	const char *slot; /* slot, as the module prints it */
	int status, compared, agree;
	const char *differs;
} beside[] = {
	{ "0 0 2 1 3 0xc00", 0, 10, 10, NULL },
	{ "0 0 2 1 4 0xc00", 1, 10, 9, "vmid 0x4, in the text 0x3" },
	{ "0 0 2 1 - 0xc00", 0, 9, 9, NULL },
	/* The text has no such slot. */
	{ "0 9 2 1 3 0xc00", 1, 10, 7, "active 0x1, not in the text" },
};

TEST_EACH(view_beside, ARRAY_SIZE(beside))
{
	set_file("/sys/kernel/debug/gpreempt/pid/156/hqds",
		 unit_text("gpreempt-hqds - version: 1.1\n"
			   "# qid gpu_id type xcc pipe queue active vmid doorbell\n"
			   "0 0x2d60 compute-aql %s\n",
			   beside[_i].slot));
	LAB(beside[_i].status, "decode --pid 156 --view --json");
	expect_number("view.compared", beside[_i].compared);
	expect_number("view.agree", beside[_i].agree);
	if (beside[_i].differs)
		expect_text("view.differs", beside[_i].differs);
	else
		expect_null("view.differs");
	LAB(beside[_i].status, "decode --pid 156 --view");
	OUT_HAS(unit_text("\n%d\t%d\t", beside[_i].compared, beside[_i].agree));
	LAB(2, "decode --view");
	LAB(2, "decode --view --pid 156 made/kfd/mqds");
	ERR_HAS("--view is for a process of this system");
}

TEST_FIXTURE(view_setup, system_teardown)
