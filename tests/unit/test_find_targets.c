// SPDX-License-Identifier: GPL-2.0-only
/* Words and command lines of processes whose memory does not answer. */
#include <stdatomic.h>

#include "cli/program.h"
#include "hold/targets.h"
#include "lib/core/internal.h"
#include "lib/see/words.h"
#include "unit.h"

#define FIRST	4194200
#define COUNT	(FIND_MUTE + 2)
#define KFD_DIR "/sys/class/kfd/kfd/proc/"

static struct gp_backend_ops ops;
static struct find find;
static struct gpreempt_targets *targets;
static struct gpreempt_error err;

/* Memory that the test and the child share. */
struct seen {
	atomic_int hangs[COUNT];
	atomic_int reads;
};

static struct seen *shared;

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	int pid, n = 0;

	if (sscanf(path, "/proc/%d/cmdline%n", &pid, &n) == 1 && n && pid >= FIRST &&
	    pid < FIRST + COUNT) {
		atomic_fetch_add(&shared->reads, 1);
		unit_answers(!atomic_load(&shared->hangs[pid - FIRST]));
	}
	return gp_backend_loop.read_file(be, path, buf, size);
}

static void set_start(size_t i, size_t start)
{
	set_file(unit_text("/proc/%zu/stat", FIRST + i),
		 unit_text("%zu (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %zu 20\n",
			   FIRST + i, start));
}

static void setup(void)
{
	const char *list = "";
	size_t i;

	unit_setup();
	shared = unit_share(sizeof(*shared));
	for (i = 0; i < COUNT; i++) {
		list = unit_text("%s%zu\n", list, FIRST + i);
		set_start(i, 9000 + i);
		set_file(unit_text("/proc/%zu/cmdline", FIRST + i), "train");
	}
	set_file(KFD_DIR, list);
	ops = gp_backend_loop;
	ops.read_file = read_file;
	g->ops = &ops;
	find.g = g;
}

static void teardown(void)
{
	gpreempt_list_free(targets);
	find_free(&find);
	unit_teardown();
}

static int look_for(const char *a, const char *b)
{
	const char *words[] = { a, b };

	gpreempt_list_free(targets);
	targets = NULL;
	return find_targets(&find, words, b ? 2 : 1, &targets, &err);
}

static bool has(pid_t pid)
{
	size_t i;

	for (i = 0; i < targets->count; i++)
		if (targets->targets[i].pid == pid)
			return true;
	return false;
}

TEST(all_answer)
{
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert_uint_eq(targets->count, COUNT);
	ck_assert_uint_eq(targets->targets[0].start, 9000);
	ck_assert_uint_eq(find.n_mute, 0);
	/* The words find both kinds, each process once, by PID. */
	ck_assert_int_eq(look_for("cmd:^train$", "4194201"), 0);
	ck_assert_uint_eq(targets->count, COUNT);
	ck_assert_int_eq(targets->targets[1].pid, 4194201);
}

static unsigned int beats;

static void beat(void *data)
{
	ck_assert_ptr_eq(data, &beats);
	beats++;
}

/* A watchdog of the caller gets its beats between processes, and while one hangs. */
TEST(watchdog)
{
	find.beat = beat;
	find.data = &beats;
	beats = 0;
	ck_assert_int_eq(look_for("role:offline", "cgroup:/x"), -ESRCH);
	ck_assert_uint_ge(beats, COUNT);
	beats = 0;
	atomic_store(&shared->hangs[2], 1);
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert_uint_ge(beats, 2);
}

TEST(nothing)
{
	ck_assert_int_eq(look_for("cmd:^other$", NULL), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_MATCH);
	ck_assert_str_eq(err.word, "cmd:^other$");
	ck_assert_int_eq(look_for("cmd:(", NULL), -EINVAL);
	ck_assert_int_eq(err.reason, GPREEMPT_BAD_PATTERN);
}

/* The other processes are found, and the mute one is not read again. */
TEST(one_hangs)
{
	int reads;

	atomic_store(&shared->hangs[2], 1);
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert_uint_eq(targets->count, COUNT - 1);
	ck_assert(!has(FIRST + 2));
	ck_assert_uint_eq(find.n_mute, 1);
	ck_assert_int_eq(find.mute[0].pid, FIRST + 2);
	reads = atomic_load(&shared->reads);
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert_int_eq(atomic_load(&shared->reads) - reads, COUNT - 1);
	ck_assert_uint_eq(targets->count, COUNT - 1);
	/* The mute process's PID names it all the same. */
	ck_assert_int_eq(look_for("cmd:^train$", "4194202"), 0);
	ck_assert_uint_eq(targets->count, COUNT);
	ck_assert(has(FIRST + 2));
	/* Another process has the mute one's number now. */
	atomic_store(&shared->hangs[2], 0);
	set_start(2, 9102);
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert(has(FIRST + 2));
}

TEST(too_many_hang)
{
	size_t i;

	for (i = 0; i <= FIND_MUTE; i++)
		atomic_store(&shared->hangs[i], 1);
	ck_assert_int_eq(look_for("cmd:^train$", NULL), -ETIMEDOUT);
	ck_assert_int_eq(err.code, -ETIMEDOUT);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert_uint_eq(find.n_mute, FIND_MUTE);
}

/* Everything in a snapshot is read in this process. */
TEST(saved)
{
	find.saved = true;
	ck_assert_int_eq(look_for("cmd:^train$", NULL), 0);
	ck_assert_uint_eq(targets->count, COUNT);
}

TEST_FIXTURE(setup, teardown)

#define DESCRIBED 12

static struct gpreempt *lib;
static struct gpreempt_target described_targets[DESCRIBED];
static struct gpreempt_targets described_list = { .targets = described_targets };
static struct ctl_described *all;
static pid_t first_mute, last_mute, gone;

static ssize_t put(char *buf, size_t size, const char *text)
{
	size_t len = strlen(text);

	ck_assert_uint_lt(len, size);
	memcpy(buf, text, len);
	return len;
}

/* Read a file of /proc, where some processes keep the reader of their memory for ever. */
static ssize_t describe_read(void *be, const char *path, char *buf, size_t size)
{
	char name[32];
	int pid;

	(void)be;
	ck_assert_int_eq(sscanf(path, "/proc/%d/%31s", &pid, name), 2);
	if (pid == gone)
		return -ENOENT;
	if (!strcmp(name, "stat"))
		return put(buf, size,
			   "1 (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 8 20 "
			   "0 3 0 777 100 200\n");
	if (!strcmp(name, "status"))
		return put(buf, size,
			   "Name:\tjob\nState:\tS\nTgid:\t1\n"
			   "TracerPid:\t0\nUid:\t7\t7\t7\t7\nThreads:\t1\n");
	if (!strcmp(name, "comm"))
		return put(buf, size, "job\n");
	ck_assert_str_eq(name, "cmdline");
	unit_answers(pid < first_mute || pid > last_mute);
	return put(buf, size, "job --now");
}

static const struct gp_backend_ops describe_ops = {
	.read_file = describe_read,
};

static void describe_setup(void)
{
	size_t i;

	ck_assert_int_eq(gp_new_backend(NULL, &describe_ops, NULL, &lib), 0);
	for (i = 0; i < DESCRIBED; i++)
		described_targets[i].pid = 100 + i;
	described_list.count = 4;
}

static void describe_teardown(void)
{
	ctl_described_free(all, &described_list);
	ctl_described_free(NULL, &described_list);
	gpreempt_free(lib);
}

static void is_described(size_t i, bool mute)
{
	ck_assert_int_eq(all[i].code, 0);
	ck_assert_int_eq(all[i].mute, mute);
	ck_assert_str_eq(all[i].who.comm, "job");
	ck_assert_str_eq(all[i].who.command, mute ? "" : "job --now");
	ck_assert_uint_eq(all[i].who.uid, 7);
	ck_assert_uint_eq(all[i].who.start, 777);
}

TEST_EACH(all_described, 2)
{
	size_t i;

	gone = 102;
	all = ctl_describe_all(lib, &described_list, _i);
	ck_assert_ptr_nonnull(all);
	for (i = 0; i < described_list.count; i++)
		if (i == 2)
			ck_assert_int_eq(all[i].code, -ESRCH);
		else
			is_described(i, false);
	/* Its child has ended, and was waited for. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(none)
{
	described_list.count = 0;
	all = ctl_describe_all(lib, &described_list, true);
	ck_assert_ptr_nonnull(all);
}

/* One hangs in the middle, and one at the end: the others have their command lines. */
TEST_EACH(one_is_mute, 2)
{
	first_mute = last_mute = _i ? 103 : 101;
	all = ctl_describe_all(lib, &described_list, true);
	ck_assert_ptr_nonnull(all);
	is_described(0, false);
	is_described(1, !_i);
	is_described(2, false);
	is_described(3, _i);
}

/* No further command line is read after some that hang. */
TEST(many_are_mute)
{
	size_t i;

	described_list.count = DESCRIBED;
	first_mute = 101;
	last_mute = 108;
	all = ctl_describe_all(lib, &described_list, true);
	ck_assert_ptr_nonnull(all);
	is_described(0, false);
	for (i = 1; i < DESCRIBED; i++)
		is_described(i, true);
}

TEST(identify)
{
	struct gpreempt_description who;

	first_mute = last_mute = 100;
	gone = 101;
	memset(&who, 'x', sizeof(who));
	ck_assert_int_eq(gp_identify(lib, 100, &who), 0);
	ck_assert_str_eq(who.command, "");
	ck_assert_str_eq(who.comm, "job");
	ck_assert_int_eq(gp_identify(lib, 101, &who), -ESRCH);
}

TEST_FIXTURE(describe_setup, describe_teardown)
