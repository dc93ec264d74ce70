// SPDX-License-Identifier: GPL-2.0-only
/* The journal of paused processes: HOLD_DIR is a directory of the tests. */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "hold/run-dir.h"
#include "unit.h"
#include "unit-host.h"

#define ENTRY	   HOLD_DIR "/4194242.pause"
#define NEXT	   ENTRY ".new"
#define OTHER	   HOLD_DIR "/other"
#define OTHER_BOOT "00000000-1111-2222-3333-444444444444"

static struct pause_entry out;
static char text[512];

static void setup(void)
{
	hold_dir_setup();
	unit_path_fails = NULL;
}

static struct pause_entry entry(void)
{
	struct pause_entry e;

	pause_entry_init(&e, PID, 777);
	return e;
}

/* The whole text of the entry's file. */
static size_t get(const char *path)
{
	size_t n;
	char *all = unit_load(path, &n);

	ck_assert_ptr_nonnull(all);
	ck_assert_uint_lt(n, sizeof(text));
	memcpy(text, all, n + 1);
	free(all);
	return n;
}

static void put(const char *path, const char *what, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, what, n), n);
	close(fd);
}

/* Replace a part of the entry's text by another of the same length. */
static void edit(const char *from, const char *to)
{
	size_t n = get(ENTRY);
	char *at = strstr(text, from);

	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strlen(from), strlen(to));
	memcpy(at, to, strlen(to));
	put(ENTRY, text, n);
}

TEST(round_trip)
{
	struct pause_entry e = entry();
	struct stat st;

	ck_assert_int_eq(pause_journal_read(PID, &out), -ENOENT);
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(stat(ENTRY, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_ne(access(NEXT, F_OK), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	ck_assert_int_eq(out.pid, PID);
	ck_assert_uint_eq(out.start, 777);
	ck_assert_uint_eq(out.since_ns, e.since_ns);
	ck_assert_int_eq(out.by, getpid());
	ck_assert_str_eq(out.comm, e.comm);
	ck_assert_int_eq(pause_journal_remove(PID), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), -ENOENT);
	ck_assert_int_eq(pause_journal_remove(PID), 0);
}

/* The largest numbers and the longest name fit into a record. */
TEST(largest)
{
	struct pause_entry e = {
		.pid = INT32_MAX,
		.start = UINT64_MAX,
		.since_ns = UINT64_MAX,
		.by = INT32_MAX,
		.uid = UINT32_MAX,
	};

	memset(e.comm, 'x', sizeof(e.comm) - 1);
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(pause_journal_read(INT32_MAX, &out), 0);
	ck_assert_uint_eq(out.start, UINT64_MAX);
	ck_assert_str_eq(out.comm, e.comm);
}

/* A name can be anything; an entry stays one line of words. */
TEST(name_is_escaped)
{
	struct pause_entry e;

	prctl(PR_SET_NAME, "a \\\n\033[31m=x");
	e = entry();
	ck_assert_str_eq(e.comm, "a\\040\\134\\012\\033[31m=x");
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	ck_assert_str_eq(out.comm, e.comm);
	prctl(PR_SET_NAME, "\001\002\003\004\005\006\007\010\011\012\013\014"
			   "\015\016\017");
	e = entry();
	ck_assert_uint_eq(strlen(e.comm), 60);
}

TEST(one_entry)
{
	struct pause_entry e = entry();

	ck_assert_int_eq(pause_journal_write(&e), 0);
	e.by++;
	ck_assert_int_eq(pause_journal_write(&e), -EALREADY);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	ck_assert_int_eq(out.by, getpid());
	/* Another process has the number now. */
	e.start++;
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	ck_assert_uint_eq(out.start, 778);
}

TEST(other_boot)
{
	struct pause_entry e = entry();
	char *at;
	size_t n;

	ck_assert_int_eq(pause_journal_write(&e), 0);
	n = get(ENTRY);
	at = strstr(text, "boot=");
	ck_assert_ptr_nonnull(at);
	memcpy(at + 5, OTHER_BOOT, strlen(OTHER_BOOT));
	put(ENTRY, text, n);
	ck_assert_int_eq(pause_journal_read(PID, &out), -ESTALE);
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
}

/* The change is refused before it begins, and no file is left over. */
TEST(full_disk)
{
	struct rlimit limit, small = { .rlim_cur = 100 };
	struct pause_entry e = entry();

	unit_fail_path(".pause.new", ENOSPC);
	ck_assert_int_eq(pause_journal_write(&e), -ENOSPC);
	unit_path_fails = NULL;
	/* Only a part of the record could be written. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	ck_assert_int_eq(pause_journal_write(&e), -ENOSPC);
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_ne(access(NEXT, F_OK), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), -ENOENT);
	ck_assert_int_eq(pause_journal_write(&e), 0);
}

/* A file that a killed process has left, or a link in its place. */
TEST(leftover)
{
	struct pause_entry e = entry();

	put(OTHER, "mine", 4);
	ck_assert_int_eq(symlink(OTHER, NEXT), 0);
	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	get(OTHER);
	ck_assert_str_eq(text, "mine");
}

static void expect_damaged(void)
{
	struct pause_entry e = entry();

	ck_assert_int_eq(pause_journal_read(PID, &out), -EPROTO);
	/* The entry is not replaced: its old content is not known. */
	ck_assert_int_eq(pause_journal_write(&e), -EPROTO);
	ck_assert_int_eq(access(NEXT, F_OK), -1);
}

TEST(no_file)
{
	struct pause_entry e = entry();

	ck_assert_int_eq(pause_journal_write(&e), 0);
	ck_assert_int_eq(rename(ENTRY, OTHER), 0);
	ck_assert_int_eq(symlink(OTHER, ENTRY), 0);
	expect_damaged();
	unlink(ENTRY);
	ck_assert_int_eq(link(OTHER, ENTRY), 0);
	expect_damaged();
	unlink(ENTRY);
	/* Opening it would wait for a writer. */
	ck_assert_int_eq(mkfifo(ENTRY, 0600), 0);
	expect_damaged();
	unlink(ENTRY);
	ck_assert_int_eq(mkdir(ENTRY, 0700), 0);
	expect_damaged();
	rmdir(ENTRY);
	ck_assert_int_eq(rename(OTHER, ENTRY), 0);
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
	chmod(ENTRY, 0644);
	expect_damaged();
}

TEST(damaged_text)
{
	static const char *const edits[][2] = {
		{ "gpreempt-pause 1", "gpreempt-pause 2" },
		{ "pid=4194242", "pid=4194243" },
		{ "pid=4194242", "pid=-194242" },
		{ "start=777", "start=-77" },
		{ "start=777", "start=077" },
		{ "since_ns=", "since-ns=" },
		{ " uid=", "\tuid=" },
		{ "comm=", "comm " },
	};
	struct pause_entry e = entry();
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(edits); i++) {
		setup();
		ck_assert_int_eq(pause_journal_write(&e), 0);
		edit(edits[i][0], edits[i][1]);
		expect_damaged();
	}
	setup();
	ck_assert_int_eq(pause_journal_write(&e), 0);
	n = get(ENTRY);
	/* Longer, shorter, empty, with something behind, without its end. */
	put(ENTRY, text, n - 1);
	expect_damaged();
	put(ENTRY, "", 0);
	expect_damaged();
	text[n] = 'x';
	put(ENTRY, text, n + 1);
	expect_damaged();
	text[n - 2] = 'x';
	put(ENTRY, text, n);
	expect_damaged();
	memset(text, 0, n);
	put(ENTRY, text, n);
	expect_damaged();
}

/* One byte is changed: the text is no entry, or one that reads the same again. */
TEST(random_damage)
{
	struct pause_entry e = entry();
	unsigned int seed = 15;
	char good[512];
	size_t n;
	int i;

	ck_assert_int_eq(pause_journal_write(&e), 0);
	n = get(ENTRY);
	memcpy(good, text, n);
	for (i = 0; i < 300; i++) {
		int at = rand_r(&seed) % n, ret;

		memcpy(text, good, n);
		text[at] = rand_r(&seed) % 256;
		put(ENTRY, text, n);
		ret = pause_journal_read(PID, &out);
		ck_assert(ret == 0 || ret == -EPROTO || ret == -ESTALE);
		if (!ret) {
			ck_assert_int_eq(out.pid, PID);
			ck_assert_int_eq(pause_journal_remove(PID), 0);
			ck_assert_int_eq(pause_journal_write(&out), 0);
			memcpy(good, text, n);
			get(ENTRY);
			ck_assert_mem_eq(text, good, n);
		}
	}
}

static int add_up(void *arg, pid_t target)
{
	*(int *)arg += target;
	return 0;
}

TEST(list)
{
	struct pause_entry e = entry();
	int sum = 0, lock = hold_lock(PID);

	ck_assert_int_eq(pause_journal_write(&e), 0);
	e.pid = 1000;
	ck_assert_int_eq(pause_journal_write(&e), 0);
	put(HOLD_DIR "/77.pause.new", "", 0);
	put(HOLD_DIR "/x.pause", "", 0);
	put(HOLD_DIR "/99999999999.pause", "", 0);
	ck_assert_int_eq(pause_journal_list(add_up, &sum), 0);
	ck_assert_int_eq(sum, PID + 1000);
	sum = 0;
	ck_assert_int_eq(hold_list(add_up, &sum), 0);
	ck_assert_int_eq(sum, PID);
	hold_drop(PID, lock);
	/* The lock's end is not the entry's. */
	ck_assert_int_eq(pause_journal_read(PID, &out), 0);
}

TEST_FIXTURE(setup, NULL)
