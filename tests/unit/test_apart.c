// SPDX-License-Identifier: GPL-2.0-only
/* Helper process: its waits, and its leftovers. */
#include <poll.h>
#include <stdatomic.h>
#include <sys/mount.h>

#include "lib/core/apart.h"
#include "lib/core/internal.h"
#include "unit-fuse.h"
#include "unit.h"

/* Much less than in a pause, and long, as all limits, unless a test makes the other one short. */
#define IOCTL_NS (GP_APART_WAIT_NS / 2)

/* A task of the helper, and its report. */
struct task {
	int pipe[2];
	volatile int result;
	volatile bool enter;
	volatile bool waits;
	volatile bool undone;
};

static struct task *t;
static int place;

static void setup(void)
{
	t = gp_apart_new();
	ck_assert_ptr_nonnull(t);
	ck_assert_int_eq(pipe2(t->pipe, O_CLOEXEC), 0);
}

/* Waits until the caller writes, as for a file that does not answer. */
static void wait_for_byte(void *arg)
{
	struct task *task = arg;
	char byte;

	gp_apart_at(task, 7);
	if (task->enter && !gp_apart_enter(task))
		return;
	task->waits = true;
	task->result = read(task->pipe[0], &byte, 1);
	if (task->enter && !gp_apart_leave(task))
		task->undone = true;
}

static int run(void)
{
	return gp_apart_run(NULL, t, t->pipe[0], wait_for_byte, IOCTL_NS, &place);
}

TEST_EACH(does_its_work, 2)
{
	ck_assert_int_eq(write(t->pipe[1], "a", 1), 1);
	t->enter = _i;
	ck_assert_int_eq(run(), 0);
	ck_assert_int_eq(t->result, 1);
	ck_assert_int_eq(place, 7);
	ck_assert(!t->undone);
	/* No child is left, and none was seen. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	gp_apart_free(t);
}

/* A process that was killed ends when it gets a CPU. */
static void wait_for_own_memory(void)
{
	UNIT_WAIT(!gp_apart_own_memory());
}

/*
 * A call that waits is given up after a second; if a signal ends its process, the process is
 * gone.
 */
TEST(is_given_up)
{
	uint64_t start = shr_now_ns();

	unit_set_limit(UNIT_APART, NSEC_PER_SEC);
	ck_assert_int_eq(run(), -ETIMEDOUT);
	ck_assert_uint_ge(shr_now_ns() - start, GP_APART_WAIT_NS);
	ck_assert_int_eq(place, 7);
	wait_for_own_memory();
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
}

static pid_t serve_nothing(int fd)
{
	pid_t server = fork();
	atomic_int asked;

	if (!server) {
		unit_fuse_serve_nothing(fd, &asked);
		_exit(0);
	}
	close(fd);
	return server;
}

static void open_below_mount(void *arg)
{
	open(arg, O_RDONLY);
}

/* The helper waits for a file system that never answers: SIGKILL does not end that. */
TEST(never_answers)
{
	char dir[] = "/tmp/gpreempt-apart-XXXXXX";
	int fd;
	pid_t server;

	unit_set_limit(UNIT_APART, NSEC_PER_SEC);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = unit_fuse_mount(dir, S_IFDIR | 0755, geteuid());
	if (fd < 0) {
		unit_skip("never_answers", "no FUSE here: %s", strerror(-fd));
		rmdir(dir);
		return;
	}
	server = serve_nothing(fd);
	sprintf((char *)t, "%s/file", dir);
	ck_assert_int_eq(gp_apart_run(NULL, t, -1, open_below_mount, IOCTL_NS, &place), -ETIMEDOUT);
	ck_assert_int_eq(gp_apart_own_memory(), -EBUSY);
	umount2(dir, MNT_DETACH);
	unit_end(server);
	wait_for_own_memory();
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	rmdir(dir);
}

static void sleep_in_steps(void *arg)
{
	struct task *task = arg;
	int i;

	for (i = 0; i < 4; i++) {
		poll(NULL, 0, 400);
		gp_apart_at(task, i);
	}
	task->result = 1;
}

static int told;

static void note_busy(void *data, bool busy)
{
	ck_assert_ptr_eq(data, &told);
	told = 10 * told + (busy ? 1 : 2);
}

/* A call with progress is not given up, and the caller's watchdog waits longer meanwhile. */
TEST(is_waited_for)
{
	const struct gpreempt lib = { .busy = note_busy, .data = &told };

	unit_set_limit(UNIT_APART, NSEC_PER_SEC);
	ck_assert_int_eq(gp_apart_run(&lib, t, t->pipe[0], sleep_in_steps, IOCTL_NS, &place), 0);
	ck_assert_int_eq(t->result, 1);
	ck_assert_int_eq(told, 12);
}

static void count_open(void *arg)
{
	struct task *task = arg;
	int fd;

	for (fd = 0; fd < 256; fd++)
		task->result += fcntl(fd, F_GETFD) >= 0;
	task->undone = fcntl(task->pipe[0], F_GETFD) >= 0;
}

/* The helper has one descriptor, or none. */
TEST_EACH(has_one_descriptor, 2)
{
	int keep = _i ? t->pipe[0] : -1;

	ck_assert_int_eq(gp_apart_run(NULL, t, keep, count_open, IOCTL_NS, &place), 0);
	ck_assert_int_eq(t->result, _i);
	ck_assert_int_eq(t->undone, _i);
}

static int global;

static void set_global(void *arg)
{
	struct task *task = arg;

	global = 1;
	task->result = 1;
}

/* The helper has a copy of the memory once this process can have debug sessions. */
TEST(shares_no_memory_of_sessions)
{
	ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], set_global, IOCTL_NS, &place), 0);
	ck_assert_int_eq(global, 1);
	global = 0;
	ck_assert_int_eq(gp_apart_own_memory(), 0);
	t->result = 0;
	ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], set_global, IOCTL_NS, &place), 0);
	ck_assert_int_eq(t->result, 1);
	ck_assert_int_eq(global, 0);
}

/*
 * The ioctl lasts longer than the caller waits: the helper stays, undoes it, and a
 * process that has it in its memory opens no session before.
 */
TEST(undoes_what_came_late)
{
	/* Not the limit of a pause, which is GP_APART_IOCTL_NS. */
	const uint64_t ns = 2 * NSEC_PER_SEC;
	uint64_t start = shr_now_ns();
	struct task *task = t;

	unit_set_limit(UNIT_APART, NSEC_PER_SEC);
	t->enter = true;
	ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], wait_for_byte, ns, &place), -ETIMEDOUT);
	ck_assert_uint_ge(shr_now_ns() - start, GP_APART_WAIT_NS + ns);
	ck_assert_int_eq(gp_apart_own_memory(), -EBUSY);
	ck_assert_int_eq(write(task->pipe[1], "a", 1), 1);
	UNIT_WAIT(task->undone);
	wait_for_own_memory();
}

/*
 * A caller that dies takes its helper along, and no process reads the pipe any more; but
 * in the ioctl: that one undoes it first.
 */
TEST_EACH(ends_with_its_caller, 2)
{
	pid_t child;

	t->enter = _i;
	child = fork();
	if (!child) {
		run();
		_exit(0);
	}
	close(t->pipe[0]);
	UNIT_WAIT(t->waits);
	unit_end(child);
	if (t->enter)
		ck_assert_int_eq(write(t->pipe[1], "a", 1), 1);
	/* No process reads it any more. */
	ck_assert_int_ne(unit_readable(t->pipe[1]) & POLLERR, 0);
	ck_assert_int_eq(t->undone, t->enter);
}

/* A child has areas of its own, and does not wait for its parent's calls. */
TEST(fork_has_its_own)
{
	struct task *mine = t;
	pid_t child;

	gp_apart_free(mine);
	child = fork();
	if (!child) {
		t = gp_apart_new();
		_exit(!t || t == mine || gp_apart_own_memory());
	}
	ck_assert_int_eq(unit_status(child), 0);
	ck_assert_ptr_eq(gp_apart_new(), mine);
}

/* Returns the process that waits for its call, or 0. */
static pid_t waiting_child(void)
{
	char text[32] = "";
	int fd = open("/proc/thread-self/children", O_RDONLY);

	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	return atoi(text);
}

static void tell_pid(void *arg)
{
	((struct task *)arg)->result = getpid();
}

/* The helper makes the call, unless it was killed before: another one makes it then. */
TEST_EACH(waits_for_its_call, 2)
{
	pid_t child;

	/* A process that a busy host does not run within a second does not wait. */
	do {
		gp_apart_ready(t, t->pipe[0], tell_pid);
		child = waiting_child();
	} while (!child);
	ck_assert_int_eq(t->result, 0);
	if (_i)
		ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], tell_pid, IOCTL_NS, &place), 0);
	ck_assert_int_ne(t->result, 0);
	ck_assert_int_eq(t->result == child, !_i);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
}

/* No process waits that shares the memory of sessions, nor one whose area is gone. */
TEST_EACH(waits_no_more, 3)
{
	if (_i == 2)
		gp_apart_own_memory();
	gp_apart_ready(t, t->pipe[0], tell_pid);
	if (_i == 0)
		gp_apart_free(t);
	if (_i == 1)
		ck_assert_int_eq(gp_apart_own_memory(), 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	if (_i)
		ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], tell_pid, IOCTL_NS, &place), 0);
}

static void kill_itself(void *arg)
{
	(void)arg;
	kill(getpid(), SIGKILL);
}

/* A helper that was killed has not done its work. */
TEST(was_killed)
{
	ck_assert_int_eq(gp_apart_run(NULL, t, t->pipe[0], kill_itself, IOCTL_NS, &place), -EINTR);
}

TEST_FIXTURE(setup, NULL)
