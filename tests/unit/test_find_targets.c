// SPDX-License-Identifier: GPL-2.0-only
/* The words of a command, when the memory of a process does not answer. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "hold/targets.h"
#include "unit.h"

#define FIRST	4300
#define COUNT	(FIND_MUTE + 2)
#define KFD_DIR "/sys/class/kfd/kfd/proc/"

static struct gp_backend_ops ops;
static struct find find;
static struct gpreempt_targets *targets;
static struct gpreempt_error err;
static char stats[COUNT][128], list[256];

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

static void setup(void)
{
	size_t i;

	unit_setup();
	shared = unit_share(sizeof(*shared));
	list[0] = '\0';
	for (i = 0; i < COUNT; i++) {
		sprintf(list + strlen(list), "%zu\n", FIRST + i);
		sprintf(stats[i],
			"%zu (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
			"15 16 17 18 %zu 20\n",
			FIRST + i, 9000 + i);
		set_file(unit_text("/proc/%zu/stat", FIRST + i), stats[i]);
		set_file(unit_text("/proc/%zu/cmdline", FIRST + i), "train");
	}
	set_file(KFD_DIR, list);
	ops = gp_backend_loop;
	ops.read_file = read_file;
	g->ops = &ops;
	find = (struct find){ .g = g };
	targets = NULL;
}

static void teardown(void)
{
	gpreempt_list_free(targets);
	find_free(&find);
	munmap(shared, sizeof(*shared));
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
	ck_assert_int_eq(look_for("cmd:^train$", "4301"), 0);
	ck_assert_uint_eq(targets->count, COUNT);
	ck_assert_int_eq(targets->targets[1].pid, 4301);
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
	ck_assert_int_eq(look_for("cmd:^train$", "4302"), 0);
	ck_assert_uint_eq(targets->count, COUNT);
	ck_assert(has(FIRST + 2));
	/* Another process has the mute one's number now. */
	atomic_store(&shared->hangs[2], 0);
	strcpy(strstr(stats[2], "9002"), "9102 20\n");
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
