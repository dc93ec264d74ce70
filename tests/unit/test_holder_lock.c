// SPDX-License-Identifier: GPL-2.0-only
/* Locks and sockets of holders; HOLD_DIR is a directory of the tests. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ctl/hold-worker.h"
#include "unit.h"

static struct hold_owner owner;

static void clean(void)
{
	ck_assert_int_eq(system("rm -rf " HOLD_DIR), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
}

START_TEST(directory)
{
	struct stat st;

	ck_assert_int_eq(stat(HOLD_DIR, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	/* Made private again, if it was not. */
	chmod(HOLD_DIR, 0777);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	stat(HOLD_DIR, &st);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
}
END_TEST

START_TEST(somebody_elses_directory)
{
	ck_assert_int_eq(rmdir(HOLD_DIR), 0);
	ck_assert_int_eq(symlink("/tmp", HOLD_DIR), 0);
	ck_assert_int_eq(hold_dir_prepare(), -EPERM);
	unlink(HOLD_DIR);
}
END_TEST

START_TEST(one_lock)
{
	struct hold_owner in = {
		.role = HOLD_ROLE_HOLDER, .pid = 815, .guardian = 814,
	};
	int lock = hold_lock(PID);

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	ck_assert_int_ge(hold_lock(PID + 1), 0);
	/* Until its owner has said who it is, it is nobody. */
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_NONE);
	ck_assert_int_eq(hold_write_owner(lock, &in), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	ck_assert_uint_eq(owner.pid, 815);
	ck_assert_uint_eq(owner.guardian, 814);
	ck_assert(hold_is_holder(815));
	ck_assert(hold_is_holder(814));
	ck_assert(!hold_is_holder(PID));
	close(lock);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert(!hold_is_holder(815));
}
END_TEST

/* A lock outlives a copy of it, and ends with the last. */
START_TEST(shared_lock)
{
	int lock = hold_lock(PID), status;
	pid_t child = fork();

	if (!child) {
		usleep(100000);
		_exit(0);
	}
	close(lock);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	waitpid(child, &status, 0);
	ck_assert_int_ge(hold_lock(PID), 0);
}
END_TEST

START_TEST(leftovers)
{
	char path[128];
	int lock;

	lock = hold_lock(PID);
	hold_socket_path(PID, path, sizeof(path));
	fclose(fopen(path, "w"));
	close(lock);
	/* Reading finds nobody, and tidies up. */
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(hold_list(NULL, NULL), 0);
}
END_TEST

/* A lock on a file that was removed is none. */
START_TEST(removed_under_us)
{
	int old = hold_lock(PID);

	hold_forget(PID);
	ck_assert_int_ge(hold_lock(PID), 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	close(old);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
}
END_TEST

static int add_up(void *arg, pid_t target)
{
	*(int *)arg += target;
	return 0;
}

START_TEST(list)
{
	int sum = 0;

	hold_lock(100);
	hold_lock(20);
	fclose(fopen(HOLD_DIR "/x.lock", "w"));
	fclose(fopen(HOLD_DIR "/3.lockx", "w"));
	fclose(fopen(HOLD_DIR "/4.sock", "w"));
	ck_assert_int_eq(hold_list(add_up, &sum), 0);
	ck_assert_int_eq(sum, 120);
}
END_TEST

START_TEST(garbage_in_lock)
{
	int lock = hold_lock(PID);

	ck_assert_int_eq(write(lock, "gpreempt-lock 9 x\n", 18), 18);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_NONE);
}
END_TEST

static void serve_once(int fd, const char *answer)
{
	char buf[HOLD_MAX_PACKET];
	ssize_t n;
	int client;

	do {
		client = accept(fd, NULL, NULL);
	} while (client < 0);
	n = recv(client, buf, sizeof(buf), 0);
	ck_assert_int_gt(n, 0);
	if (answer)
		send(client, answer, strlen(answer), 0);
	_exit(0);
}

static int ask(const char *answer, struct hold_reply *reply)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	int fd = hold_listen(PID), ret;
	pid_t child;

	ck_assert_int_ge(fd, 0);
	child = fork();
	if (!child)
		serve_once(fd, answer);
	close(fd);
	ret = hold_ask(PID, &request, reply);
	waitpid(child, NULL, 0);
	return ret;
}

START_TEST(asking)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	struct hold_reply reply;

	ck_assert_int_eq(hold_ask(PID, &request, &reply), -ENOENT);
	ck_assert_int_eq(ask("gpreempt-hold 1 reply queues=3 text=", &reply),
			 0);
	ck_assert_uint_eq(reply.queues, 3);
	/* It died: a socket without anybody, or an end without an answer. */
	ck_assert_int_eq(hold_ask(PID, &request, &reply), -ENOENT);
	ck_assert_int_eq(ask(NULL, &reply), -ECONNRESET);
	ck_assert_int_eq(ask("nonsense", &reply), -EPROTO);
}
END_TEST

static uint64_t worker_answers(struct hold_worker *w, const char *text)
{
	int pair[2];
	char buf[HOLD_MAX_PACKET];
	struct hold_reply reply = { .status = 99 };
	ssize_t n;

	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair);
	w->clients[0] = pair[0];
	send(pair[1], text, strlen(text), 0);
	hold_serve(w, &w->clients[0]);
	ck_assert_int_eq(w->clients[0], -1);
	n = recv(pair[1], buf, sizeof(buf), 0);
	if (n > 0)
		ck_assert_int_eq(hold_get_reply(buf, n, &reply), 0);
	close(pair[1]);
	return reply.status;
}

/* A worker that has left its target answers so; nonsense gets no answer. */
START_TEST(serving)
{
	struct hold_birth birth = { .target = PID };
	struct hold_worker w = { .birth = &birth };

	ck_assert_uint_eq(worker_answers(&w, "gpreempt-hold 1 status"),
			  GPREEMPT_CLASS_NO_TARGET);
	ck_assert_uint_eq(worker_answers(&w, "gpreempt-hold 1 kill"), 99);
	ck_assert_uint_eq(worker_answers(&w, "x"), 99);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, clean, NULL);
	tcase_add_test(tc, directory);
	tcase_add_test(tc, somebody_elses_directory);
	tcase_add_test(tc, one_lock);
	tcase_add_test(tc, shared_lock);
	tcase_add_test(tc, leftovers);
	tcase_add_test(tc, removed_under_us);
	tcase_add_test(tc, list);
	tcase_add_test(tc, garbage_in_lock);
	tcase_add_test(tc, asking);
	tcase_add_test(tc, serving);
	return unit_run("holder's files");
}
