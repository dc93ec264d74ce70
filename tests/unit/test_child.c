// SPDX-License-Identifier: GPL-2.0-only
/* Inheritance of a child process: the descriptors that it gets. */
#include "unit.h"
#include "unit-host.h"

#define MANY 8

static int fds[MANY];

static void setup(void)
{
	int i;

	for (i = 0; i < MANY; i++) {
		fds[i] = open("/dev/null", O_RDONLY);
		ck_assert_int_gt(fds[i], STDERR_FILENO);
	}
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A bit for each of fds that is open; at most 8. */
static int open_ones(void *arg)
{
	int i, bits = 0;

	(void)arg;
	for (i = 0; i < MANY; i++)
		bits |= is_open(fds[i]) << i;
	return bits;
}

static int status_of(pid_t child)
{
	int status = 0;

	UNIT_WAIT(shr_child_gone(&child, &status));
	ck_assert_int_eq(child, 0);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(descriptors)
{
	const int keep[] = { fds[6], -1, fds[1], fds[6], fds[2] };

	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, NULL, 0)), 0);
	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, keep, ARRAY_SIZE(keep))),
			 1 << 6 | 1 << 1 | 1 << 2);
	/* The parent has all of its own. */
	ck_assert_int_eq(open_ones(NULL), 0xff);
}

/* The child's text on stderr is read. */
static int has_stderr(void *arg)
{
	(void)arg;
	return is_open(STDERR_FILENO);
}

TEST(standard_ones)
{
	ck_assert_int_eq(status_of(shr_child_start(has_stderr, NULL, NULL, 0)), 1);
}

/* The list has room for 64. */
TEST(many_to_keep)
{
	int keep[65], i;

	for (i = 0; i < 65; i++)
		keep[i] = fds[1];
	ck_assert_int_eq(status_of(shr_child_start(open_ones, NULL, keep, 64)), 1 << 1);
	ck_assert_int_eq(shr_child_start(open_ones, NULL, keep, 65), -EINVAL);
}

TEST(no_process)
{
	unit_fork_errno = EAGAIN;
	ck_assert_int_eq(shr_child_start(has_stderr, NULL, NULL, 0), -EAGAIN);
	unit_fork_errno = 0;
}

static int wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return !!arg;
}

TEST(not_gone)
{
	pid_t child = shr_child_start(wait_for_ever, NULL, NULL, 0), none = 0;
	pid_t before = child;
	int status;

	ck_assert_int_gt(child, 0);
	ck_assert(!shr_child_gone(&child, &status));
	ck_assert_int_eq(child, before);
	ck_assert(shr_child_gone(&none, &status));
	kill(child, SIGKILL);
	UNIT_WAIT(shr_child_gone(&child, &status));
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_FIXTURE(setup, NULL)
