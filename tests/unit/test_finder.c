// SPDX-License-Identifier: GPL-2.0-only
/* Words that a child of guard looks for: it may hang, guard never waits. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "hold/run-dir.h"
#include "guard/guard.h"
#include "unit-host.h"
#include "unit.h"

static struct gp_backend_ops ops;
static struct guard_finder finder;
static atomic_int *hang; /* both processes see it */

/* A command line that never answers. */
static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	while (!strcmp(path, "/proc/4194242/cmdline") && atomic_load(hang))
		shr_sleep_ns(NSEC_PER_MSEC);
	return gp_backend_loop.read_file(be, path, buf, size);
}

static void setup(void)
{
	unit_setup();
	ops = gp_backend_loop;
	ops.read_file = read_file;
	g->ops = &ops;
	hang = unit_share(sizeof(*hang));
	set_file("/proc/4194242/cmdline", "train");
	set_file("/proc/4194242/comm", "train\n");
	finder.sought[finder.n++].word = "cmd:^train$";
	finder.sought[finder.n++].word = "container:web";
	ck_assert_int_eq(guard_finder_start(&finder, g), 0);
}

static void teardown(void)
{
	guard_finder_stop(&finder);
	unit_teardown();
}

static const struct guard_finding *get(const char *word, bool online)
{
	return guard_finder_get(&finder, (struct guard_sought){ word, online });
}

/* Poll until a word's code is that. */
static const struct guard_finding *wait_for(const char *word, int code)
{
	const struct guard_finding *f;

	UNIT_WAIT((guard_finder_poll(&finder), f = get(word, false), f->code == code));
	return f;
}

TEST(kinds)
{
	ck_assert_int_eq(guard_word_kind("cmd:x"), GUARD_WORD_HANGS);
	ck_assert_int_eq(guard_word_kind("container:x"), GUARD_WORD_HANGS);
	ck_assert_int_eq(guard_word_kind("cgroup:/x"), GUARD_WORD_SLOW);
	ck_assert_int_eq(guard_word_kind("role:offline"), GUARD_WORD_SLOW);
	ck_assert_int_eq(guard_word_kind("user:1000"), GUARD_WORD_SLOW);
	ck_assert_int_eq(guard_word_kind("comm:cmd:x"), GUARD_WORD_QUICK);
	ck_assert_int_eq(guard_word_kind("123"), GUARD_WORD_QUICK);
	ck_assert_ptr_null(get("comm:other", false));
	/* The word is the same in the other role. */
	ck_assert_ptr_null(get("cmd:^train$", true));
}

TEST(found)
{
	const struct guard_finding *f = wait_for("cmd:^train$", 0);

	ck_assert_uint_eq(f->n, 1);
	ck_assert_int_eq(f->target[0].pid, PID);
	ck_assert_uint_eq(f->target[0].start, 777);
	f = wait_for("container:web", 0);
	ck_assert_uint_eq(f->n, 0);
}

/* A process in doubt makes way, and none makes way for it. */
TEST(in_doubt)
{
	struct guard_sought what = { .word = "role:offline" };
	struct hold_owners owners = { 0 };
	struct guard_finding found;

	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	set_file("/proc/4194242/cgroup", "0::/gone\n");
	guard_find_word(g, what, NULL, hold_skip_owner, &owners, &found);
	ck_assert_uint_eq(found.n, 1);
	what.online = true;
	guard_find_word(g, what, NULL, hold_skip_owner, &owners, &found);
	ck_assert_uint_eq(found.n, 0);
	hold_owners_free(&owners);
	unit_cgroups_stop();
}

/* Cgroups with words come from the child, too: guard reads no attribute again. */
TEST(words_of_cgroups)
{
	struct guard_finder roles = { .sought = { { .word = "role:offline" } }, .n = 1 };
	const struct guard_finding *f;

	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	unit_cgroup_role("/batch", "offline weight=200");
	set_file("/proc/4194242/cgroup", "0::/batch\n");
	ck_assert_int_eq(guard_finder_start(&roles, g), 0);
	f = guard_finder_get(&roles, roles.sought[0]);
	UNIT_WAIT((guard_finder_poll(&roles), !f->code));
	ck_assert_uint_eq(f->n, 1);
	ck_assert_uint_eq(f->n_own, 1);
	ck_assert_uint_eq(f->of[0], 1);
	ck_assert_str_eq(f->own[0].cgroup, "/batch");
	ck_assert_str_eq(f->own[0].words, "weight=200");
	guard_finder_stop(&roles);
	unit_cgroups_stop();
}

TEST(hangs)
{
	const struct guard_finding *f = wait_for("cmd:^train$", 0);
	pid_t child = finder.child;

	atomic_store(hang, 1);
	unit_set_limit(UNIT_GUARD_WORD, 2 * NSEC_PER_SEC);
	f = wait_for("cmd:^train$", -ETIMEDOUT);
	unit_reset_limits();
	ck_assert_ptr_nonnull(strstr(f->text, "looking for it has taken 2 s"));
	ck_assert_int_eq(finder.child, 0);
	/* The finder makes no other child at once; the killed one is collected. */
	guard_finder_poll(&finder);
	ck_assert_int_eq(finder.child, 0);
	UNIT_WAIT((guard_finder_poll(&finder), !finder.n_stuck));
	ck_assert_int_lt(kill(child, 0), 0);
	/* The next one begins with the other word, and both are well again. */
	ck_assert_uint_eq(finder.first, 1);
	atomic_store(hang, 0);
	finder.retry_ns = 0;
	f = wait_for("cmd:^train$", 0);
	ck_assert_uint_eq(f->n, 1);
	ck_assert_int_gt(finder.child, 0);
}

TEST(killed)
{
	wait_for("cmd:^train$", 0);
	ck_assert_int_eq(kill(finder.child, SIGKILL), 0);
	UNIT_WAIT((guard_finder_poll(&finder), !finder.child));
	/* The time for it has not come. */
	unit_frozen_ns = shr_now_ns();
	finder.retry_ns = unit_frozen_ns + 1;
	guard_finder_poll(&finder);
	ck_assert_int_eq(finder.child, 0);
	unit_frozen_ns++;
	guard_finder_poll(&finder);
	ck_assert_int_gt(finder.child, 0);
	unit_frozen_ns = 0;
	ck_assert_uint_eq(wait_for("cmd:^train$", 0)->n, 1);
}

/* Children that even SIGKILL does not end are few. */
TEST(all_stuck)
{
	wait_for("cmd:^train$", 0);
	ck_assert_int_eq(kill(finder.child, SIGKILL), 0);
	UNIT_WAIT((guard_finder_poll(&finder), !finder.child));
	/* Processes that are no children of ours stand for stuck ones. */
	while (finder.n_stuck < GUARD_FINDER_STUCK)
		finder.stuck[finder.n_stuck++] = getppid();
	finder.retry_ns = 0;
	guard_finder_poll(&finder);
	ck_assert_int_eq(finder.child, 0);
	finder.n_stuck = 0;
	guard_finder_poll(&finder);
	ck_assert_int_gt(finder.child, 0);
}

/* Has it been killed, or is it gone already? */
static bool is_killed(pid_t child)
{
	int status;

	return waitpid(child, &status, WNOHANG) ? errno == ECHILD || WIFSIGNALED(status) : false;
}

/* Its child and its memory go with it; to stop twice is no mistake. */
TEST(stopped)
{
	void *memory = finder.memory;
	pid_t child = finder.child;

	wait_for("cmd:^train$", 0);
	guard_finder_stop(&finder);
	UNIT_WAIT(is_killed(child));
	ck_assert_int_lt(msync(memory, sizeof(struct guard_finding), MS_ASYNC), 0);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(get("cmd:^train$", false));
	guard_finder_poll(&finder);
	guard_finder_stop(&finder);
}

/* The program has no standard input, whose number the finder gets. */
TEST(descriptor_0)
{
	struct guard_finder other = { .sought = { { .word = "cmd:^train$" } }, .n = 1 };

	close(STDIN_FILENO);
	ck_assert_int_eq(guard_finder_start(&other, g), 0);
	ck_assert_int_eq(other.wake, STDIN_FILENO);
	guard_finder_stop(&other);
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(open("/dev/null", O_RDONLY), STDIN_FILENO);
}

/* The child knows each of many holders. */
TEST(many_owners)
{
	struct hold_owners owners = { 0 };
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER };
	int i, locks[512];

	ck_assert_int_eq(hold_dir_prepare(), 0);
	for (i = 0; i < 512; i++) {
		owner.pid = 100000 + i;
		owner.guardian = 200000 + i;
		locks[i] = hold_take(1000 + i, &owner);
		ck_assert_int_ge(locks[i], 0);
	}
	for (i = 0; i < 512; i++) {
		ck_assert(hold_skip_owner(&owners, 100000 + i));
		ck_assert(hold_skip_owner(&owners, 200000 + i));
	}
	ck_assert(!hold_skip_owner(&owners, 99999));
	for (i = 0; i < 512; i++)
		hold_drop(1000 + i, locks[i]);
	hold_owners_free(&owners);
}

TEST(without_words)
{
	struct guard_finder none = { 0 };

	ck_assert_int_eq(guard_finder_start(&none, g), 0);
	guard_finder_poll(&none);
	ck_assert_ptr_null(guard_finder_get(&none, (struct guard_sought){ .word = "cmd:x" }));
	guard_finder_stop(&none);
}

TEST_FIXTURE(setup, teardown)
