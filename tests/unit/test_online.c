// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explicit requests: the guard's socket and the library's side of it, over a
 * policy without any process.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <gpreempt/online.h>

#include "guard/serve.h"
#include "guard/guard.h"
#include "ipc/client.h"
#include "lib/policy/policy.h"
#include "proto/guard.h"
#include "shared/clock.h"
#include "unit.h"

static struct guard guard;
static struct guard_options args;
static struct guard_server *server;

static void setup(void)
{
	struct gpreempt_policy_options options = {
		.size = sizeof(options), .max_hold_ns = NSEC_PER_SEC,
	};

	memset(&guard, 0, sizeof(guard));
	memset(&args, 0, sizeof(args));
	guard.options = &args;
	pthread_mutex_init(&guard.lock, NULL);
	ck_assert_int_eq(gpreempt_policy_new(&options, 0, &guard.policy), 0);
	ck_assert_int_eq(guard_serve_start(&guard, GUARD_SOCKET, &server),
			 0);
}

static void teardown(void)
{
	guard_serve_stop(server);
	ck_assert_int_eq(access(GUARD_SOCKET, F_OK), -1);
	gpreempt_policy_free(guard.policy);
}

static uint64_t soon(void)
{
	return shr_now_ns() + 10 * NSEC_PER_SEC;
}

/* Requests that are open at the policy, of all clients. */
static unsigned int open_now(void)
{
	unsigned int n = 0, i;

	pthread_mutex_lock(&guard.lock);
	for (i = 0; i < guard.policy->top; i++)
		n += guard.policy->party[i].requests;
	pthread_mutex_unlock(&guard.lock);
	return n;
}

static void expect_open(unsigned int n)
{
	uint64_t deadline = shr_now_ns() + 10 * NSEC_PER_SEC;

	/* The guard learns a little later that a client has gone. */
	while (open_now() != n && shr_now_ns() < deadline)
		shr_sleep_ns(NSEC_PER_MSEC);
	ck_assert_uint_eq(open_now(), n);
}

START_TEST(nested)
{
	struct gpreempt_online *a, *b;

	ck_assert_int_eq(gpreempt_online_open(NULL, &a), 0);
	ck_assert_int_eq(gpreempt_online_open(NULL, &b), 0);
	ck_assert_int_eq(gpreempt_online_end(a), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(a), 1);
	ck_assert_int_eq(gpreempt_online_begin(a), 2);
	ck_assert_int_eq(gpreempt_online_begin(b), 1);
	ck_assert_uint_eq(open_now(), 3);
	ck_assert(guard.changed);
	ck_assert_uint_eq(guard.n_clients, 2);
	ck_assert_int_eq(gpreempt_online_end(a), 1);
	ck_assert_int_eq(gpreempt_online_end(a), 0);
	ck_assert_int_eq(gpreempt_online_end(a), -EINVAL);
	ck_assert_uint_eq(open_now(), 1);
	gpreempt_online_close(b);
	expect_open(0);
	gpreempt_online_close(a);
	gpreempt_online_close(NULL);
}
END_TEST

/* A client that dies with requests open is counted out. */
START_TEST(death)
{
	struct gpreempt_online *online;
	pid_t child = fork();

	if (!child) {
		if (gpreempt_online_open(NULL, &online) ||
		    gpreempt_online_begin(online) != 1 ||
		    gpreempt_online_begin(online) != 2)
			_exit(1);
		pause();
	}
	expect_open(2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_open(0);
}
END_TEST

static int ask(enum guard_verb verb, pid_t pid)
{
	struct guard_request request = { .verb = verb, .pid = pid };
	struct guard_reply reply;
	int fd = gp_ipc_connect(GUARD_SOCKET, soon());

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(gp_guard_ask(fd, &request, &reply, soon()), 0);
	close(fd);
	return reply.code ? reply.code : (int)reply.value;
}

/* Requests for another process outlive who asked, and end with that process. */
START_TEST(for_another)
{
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(ask(GUARD_END, child), -EINVAL);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), 1);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), 2);
	ck_assert_int_eq(ask(GUARD_END, child), 1);
	expect_open(1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_open(0);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), -EACCES);
	ck_assert_int_eq(ask(GUARD_RELEASE, getpid()), -ESRCH);
}
END_TEST

/* A client works on the GPUs where the guard knows it, or on all. */
START_TEST(nodes)
{
	struct gpreempt_online *online;

	ck_assert_int_eq(gpreempt_online_open(NULL, &online), 0);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	ck_assert_uint_eq(guard.policy->party[0].nodes, ~0ULL);
	pthread_mutex_lock(&guard.lock);
	guard.online[0].target.pid = getpid();
	guard.online[0].nodes = 6;
	guard.n_online = 1;
	pthread_mutex_unlock(&guard.lock);
	ck_assert_int_eq(gpreempt_online_begin(online), 2);
	ck_assert_uint_eq(guard.policy->party[0].nodes, 6);
	gpreempt_online_close(online);
}
END_TEST

START_TEST(release)
{
	guard.offline[0].target.pid = 4711;
	guard.n_offline = 1;
	ck_assert_int_eq(ask(GUARD_RELEASE, 4711), 0);
	ck_assert_int_eq(ask(GUARD_RELEASE, 4712), -ESRCH);
	pthread_mutex_lock(&guard.lock);
	ck_assert_uint_eq(guard.n_releases, 1);
	ck_assert_int_eq(guard.releases[0].pid, 4711);
	pthread_mutex_unlock(&guard.lock);
}
END_TEST

START_TEST(two_guards)
{
	struct guard_server *second;

	ck_assert_int_eq(guard_serve_start(&guard, GUARD_SOCKET, &second),
			 -EADDRINUSE);
}
END_TEST

START_TEST(no_guard)
{
	struct gpreempt_online *online;

	guard_serve_stop(server);
	server = NULL;
	ck_assert_int_eq(gpreempt_online_open(NULL, &online), -ENOENT);
}
END_TEST

/*
 * Other users. Only root can be one, so these tests are root's.
 */

#define ALLOWED 4711
#define STRANGER 65534

static uid_t uids[] = { ALLOWED };

/* The guard again, with --allow-uid; where the others can get to its socket. */
static void restart(size_t n_uids)
{
	guard_serve_stop(server);
	args.uids = (struct shr_ids){ uids, n_uids };
	ck_assert_int_eq(guard_serve_start(&guard, GUARD_SOCKET, &server), 0);
}

/* As that user: the reply's code or what the socket says, made positive. */
static int ask_as(uid_t uid, enum guard_verb verb, pid_t pid)
{
	pid_t child = fork();
	int status;

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
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Without --allow-uid, only root: the kernel and the guard refuse others. */
START_TEST(stranger)
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
END_TEST

/* An allowed user may begin, for its own processes, and may not release. */
START_TEST(allowed_user)
{
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child) {
		/* As a program that this user has started. */
		if (setresuid(ALLOWED, ALLOWED, ALLOWED) ||
		    prctl(PR_SET_DUMPABLE, 1) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &(char){ 0 }, 1), 1);
	close(ready[0]);
	close(ready[1]);
	restart(1);
	guard.offline[0].target.pid = 4711;
	guard.n_offline = 1;
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_RELEASE, 4711), EACCES);
	ck_assert_uint_eq(guard.n_releases, 0);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, getpid()), EACCES);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, child), 0);
	expect_open(1);
	ck_assert_int_eq(ask_as(0, GUARD_RELEASE, 4711), 0);
	ck_assert_uint_eq(guard.n_releases, 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/* That many connections of one user, each with a request open. */
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

/* One user gets its part of the places; others, and root, get theirs. */
START_TEST(one_user_takes_all)
{
	int ready[2], open = 0;
	pid_t child;

	uids[0] = ALLOWED;
	restart(1);
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child)
		fill(ALLOWED, 2 * GUARD_CLIENTS, ready[1]);
	ck_assert_int_eq(read(ready[0], &open, sizeof(open)), sizeof(open));
	ck_assert_int_eq(open, GUARD_CLIENTS_USER);
	ck_assert_uint_eq(open_now(), GUARD_CLIENTS_USER);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, 0), 100 + EUSERS);
	guard.offline[0].target.pid = 4711;
	guard.n_offline = 1;
	ck_assert_int_eq(ask_as(0, GUARD_RELEASE, 4711), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_open(0);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

/*
 * The library's side
 */

/* A guard that was restarted gets what is open here at the next call. */
START_TEST(guard_restarts)
{
	struct gpreempt_online *online;

	ck_assert_int_eq(gpreempt_online_open(NULL, &online), 0);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	ck_assert_int_eq(gpreempt_online_begin(online), 2);
	guard_serve_stop(server);
	server = NULL;
	expect_open(0);
	/* None runs: it is not open, and no end of it is wanted. */
	ck_assert_int_eq(gpreempt_online_begin(online), -ENOENT);
	restart(0);
	ck_assert_int_eq(gpreempt_online_begin(online), 3);
	ck_assert_uint_eq(open_now(), 3);
	restart(0);
	ck_assert_int_eq(gpreempt_online_end(online), 2);
	ck_assert_uint_eq(open_now(), 2);
	ck_assert_int_eq(gpreempt_online_end(online), 1);
	restart(0);
	/* The last one: nothing is opened, no request is sent. */
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	gpreempt_online_close(online);
	expect_open(0);
}
END_TEST

/* A guard that does not run for a while: calls end in time, nothing is lost. */
START_TEST(guard_is_stopped)
{
	struct gpreempt_online_options options = {
		.size = sizeof(options), .timeout_ns = 2 * NSEC_PER_SEC,
	};
	struct gpreempt_online *online;

	ck_assert_int_eq(gpreempt_online_open(&options, &online), 0);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	/* Its thread waits for this before it can answer. */
	pthread_mutex_lock(&guard.lock);
	ck_assert_int_eq(gpreempt_online_begin(online), -ETIMEDOUT);
	pthread_mutex_unlock(&guard.lock);
	/* The guard counts out what came over the old connections. */
	expect_open(0);
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	gpreempt_online_close(online);
}
END_TEST

START_TEST(options)
{
	struct {
		struct gpreempt_online_options known;
		uint64_t newer;
	} o = { .known.size = sizeof(o) };
	struct gpreempt_online *online = (void *)&o;

	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), 0);
	gpreempt_online_close(online);
	o.newer = 1;
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -E2BIG);
	o.known.size = sizeof(o.known) - 1;
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -EINVAL);
	o.known = (struct gpreempt_online_options){
		.size = sizeof(o.known), .pid = -1,
	};
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -EINVAL);
}
END_TEST

/* Requests for another process, such as the shell of a command. */
START_TEST(library_for_another)
{
	struct gpreempt_online_options options = { .size = sizeof(options) };
	struct gpreempt_online *online;

	options.pid = getppid();
	ck_assert_int_eq(gpreempt_online_open(&options, &online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	gpreempt_online_close(online);
	ck_assert_int_eq(gpreempt_online_open(&options, &online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	gpreempt_online_close(online);
}
END_TEST

/* Nonsense ends the connection, and nothing else. */
START_TEST(nonsense)
{
	static const char *const texts[] = {
		"", "gpreempt-guard 1", "gpreempt-guard 2 begin pid=0",
		"gpreempt-guard 1 start pid=0", "gpreempt-guard 1 begin pid=-1",
		"gpreempt-guard 1 begin pid=0 ", "gpreempt-guard 1 begin ns=x",
		"gpreempt-guard 1 begin pid=2147483648",
	};
	struct guard_request request;
	struct guard_reply reply;
	char buf[2 * IPC_MAX_PACKET] = "gpreempt-guard 1 begin pid=0";
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_int_eq(gp_guard_get_request(texts[i],
						      strlen(texts[i]),
						       &request), -EPROTO);
	ck_assert_int_eq(gp_guard_get_request(buf, 28, &request), 0);
	ck_assert_int_eq(gp_guard_get_request(buf, 29, &request), -EPROTO);
	ck_assert_int_eq(gp_guard_get_request(buf, sizeof(buf), &request),
			 -EPROTO);
	ck_assert_int_eq(gp_guard_get_reply("gpreempt-guard 1 reply code=1",
					    29, &reply), -EPROTO);
	fd = gp_ipc_connect(GUARD_SOCKET, soon());
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(send(fd, "hello", 5, MSG_NOSIGNAL), 5);
	ck_assert_int_eq(recv(fd, buf, sizeof(buf), 0), 0);
	close(fd);
	ck_assert_int_eq(ask(GUARD_BEGIN, 0), 1);
	expect_open(0);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nested);
	tcase_add_test(tc, death);
	tcase_add_test(tc, for_another);
	tcase_add_test(tc, nodes);
	tcase_add_test(tc, release);
	tcase_add_test(tc, two_guards);
	tcase_add_test(tc, no_guard);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, guard_restarts);
	tcase_add_test(tc, guard_is_stopped);
	tcase_add_test(tc, options);
	tcase_add_test(tc, library_for_another);
	if (geteuid())
		return unit_run("online");
	tcase_add_test(tc, stranger);
	tcase_add_test(tc, allowed_user);
	tcase_add_test(tc, one_user_takes_all);
	return unit_run("online");
}
