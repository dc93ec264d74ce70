// SPDX-License-Identifier: GPL-2.0-only
/* Other users at the guard's socket. Only root can become one: the tests are root's. */
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "shared/socket.h"
#include "lib/preempt/wire.h"
#include "unit-online.h"

#define STRANGER 65534

/* Ask as that user. Returns the reply's code or the socket's error, made positive. */
static int ask_as(uid_t uid, enum guard_verb verb, pid_t pid)
{
	pid_t child = fork();

	if (!child) {
		struct guard_request request = { .verb = verb, .pid = pid };
		struct guard_reply reply = { 0 };
		int fd, ret;

		if (setgroups(0, NULL) || setegid(uid) || seteuid(uid))
			_exit(255);
		fd = gp_ipc_connect(GUARD_SOCKET, soon());
		if (fd < 0)
			_exit(-fd);
		ret = gp_guard_ask(fd, &request, &reply, soon());
		_exit(ret ? 100 - ret : -reply.code);
	}
	return unit_status(child);
}

/* The kernel and the guard refuse all but root without --allow-uid. */
TEST_AS_ROOT(stranger)
{
	ck_assert_int_eq(ask_as(STRANGER, GUARD_BEGIN, 0), EACCES);
	ck_assert_int_eq(chmod(GUARD_SOCKET, 0666), 0);
	ck_assert_int_eq(ask_as(STRANGER, GUARD_BEGIN, 0), 100 + EACCES);
	ck_assert_int_eq(ask_as(0, GUARD_BEGIN, 0), 0);
	restart(1);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, 0), 0);
	ck_assert_int_eq(ask_as(STRANGER, GUARD_BEGIN, 0), EACCES);
	ck_assert_int_eq(chmod(GUARD_SOCKET, 0666), 0);
	ck_assert_int_eq(ask_as(STRANGER, GUARD_BEGIN, 0), 100 + EACCES);
	expect_open(0);
}

/* An allowed user may begin, for its own processes, and may not release. */
TEST_AS_ROOT(allowed_user)
{
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child) {
		/* Become a program that this user has started. */
		if (setresuid(ALLOWED, ALLOWED, ALLOWED) || prctl(PR_SET_DUMPABLE, 1) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &(char){ 0 }, 1), 1);
	close(ready[0]);
	close(ready[1]);
	restart(1);
	online_guard.offline[0].target.pid = 4711;
	online_guard.n_offline = 1;
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_RELEASE, 4711), EACCES);
	ck_assert(!online_guard.offline[0].unwanted);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, getpid()), EACCES);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, child), 0);
	expect_open(1);
	ck_assert_int_eq(ask_as(0, GUARD_RELEASE, 4711), 0);
	ck_assert(online_guard.offline[0].unwanted);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Open that many connections of one user, each with a request. */
static void fill(uid_t uid, int n, int ready)
{
	struct guard_request request = { .verb = GUARD_BEGIN };
	struct guard_reply reply;
	int i, open = 0;

	if (setgroups(0, NULL) || setegid(uid) || seteuid(uid))
		_exit(255);
	for (i = 0; i < n; i++) {
		int fd = gp_ipc_connect(GUARD_SOCKET, soon());

		if (fd >= 0 && !gp_guard_ask(fd, &request, &reply, soon()))
			open++;
	}
	if (write(ready, &open, sizeof(open)) != sizeof(open))
		_exit(1);
	pause();
	_exit(0);
}

/* One user gets its part of the places; other users, and root, get theirs. */
TEST_AS_ROOT(one_user_takes_all)
{
	int ready[2], open = 0;
	pid_t child;

	restart(1);
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child)
		fill(ALLOWED, 2 * GUARD_CLIENTS, ready[1]);
	ck_assert_int_eq(read(ready[0], &open, sizeof(open)), sizeof(open));
	ck_assert_int_eq(open, GUARD_CLIENTS_USER);
	ck_assert_uint_eq(open_now(), GUARD_CLIENTS_USER);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, 0), 100 + EUSERS);
	online_guard.offline[0].target.pid = 4711;
	online_guard.n_offline = 1;
	ck_assert_int_eq(ask_as(0, GUARD_RELEASE, 4711), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_open(0);
	close(ready[0]);
	close(ready[1]);
}

TEST_FIXTURE(online_setup, online_teardown)
