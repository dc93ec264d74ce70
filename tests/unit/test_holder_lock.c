// SPDX-License-Identifier: GPL-2.0-only
/* Locks and sockets of holders; HOLD_DIR is a directory of the tests. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "agent/owner-text.h"
#include "holder/worker.h"
#include "ipc/client.h"
#include "shared/clock.h"
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

START_TEST(directory_of_another_user)
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
	/* It is held, also while its owner has not written a record. */
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
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
	int lock = hold_lock(PID), status, end[2];
	pid_t child;

	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (!child) {
		close(end[1]);
		_exit(read(end[0], &status, 1) != 0);
	}
	close(lock);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	close(end[1]);
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
	/* Reading finds no owner, and removes the file. */
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
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
	ck_assert_int_eq(pwrite(lock, "gpreempt-lock 1 role=77 pid=1 guardian=2\n",
				41, 0), 41);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
}
END_TEST

/* As on a disk that is full. */
static void limit_files(rlim_t size)
{
	struct rlimit limit = { .rlim_cur = size, .rlim_max = RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0) {
		getrlimit(RLIMIT_FSIZE, &limit);
		limit.rlim_cur = size;
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	}
}

/* Without its record the lock is not taken: status could not show it. */
START_TEST(no_room)
{
	struct hold_owner in = { .role = HOLD_ROLE_FOLLOW, .pid = 815 };
	int lock;

	limit_files(0);
	ck_assert_int_eq(hold_take(PID, &in), -EFBIG);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	limit_files(50);
	ck_assert_int_lt(hold_take(PID, &in), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	limit_files(4096);
	lock = hold_take(PID, &in);
	ck_assert_int_ge(lock, 0);
	/* A record that cannot be changed stays as it is. */
	limit_files(0);
	in.pid = 816;
	ck_assert_int_eq(hold_write_owner(lock, &in), -EFBIG);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_uint_eq(owner.pid, 815);
	limit_files(4096);
	in.pid = 7;
	ck_assert_int_eq(hold_write_owner(lock, &in), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_uint_eq(owner.pid, 7);
	hold_drop(PID, lock);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
}
END_TEST

/* A lock that names no owner: who has it open is one. */
START_TEST(unknown_owner)
{
	int lock = hold_lock(PID);

	ck_assert(hold_is_holder(getpid()));
	ck_assert(hold_skip_holder(NULL, getpid()));
	ck_assert(!hold_is_holder(1));
	ck_assert(!hold_is_holder(getppid()));
	close(lock);
	ck_assert(!hold_is_holder(getpid()));
}
END_TEST

static void remove_lock(void)
{
	hold_forget(PID);
}

/* Its owner goes after we have opened its file: that lock would be no one's. */
START_TEST(removed_while_taking)
{
	int lock;

	unit_before_flock = remove_lock;
	lock = hold_lock(PID);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
}
END_TEST

START_TEST(another_owners_directory)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(HOLD_DIR, 12345, -1), 0);
	ck_assert_int_eq(hold_dir_prepare(), -EPERM);
	ck_assert_int_eq(chown(HOLD_DIR, 0, -1), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
}
END_TEST

START_TEST(no_directory)
{
	ck_assert_int_eq(rmdir(HOLD_DIR), 0);
	ck_assert_int_eq(hold_lock(PID), -ENOENT);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert_int_eq(hold_list(NULL, NULL), 0);
	ck_assert_uint_eq(hold_socket_inode(PID), 0);
}
END_TEST

/* What the user reads of it, with what to do on the second line. */
START_TEST(texts)
{
	static const struct {
		enum hold_role role;
		const char *what, *next;
	} rows[] = {
		{ HOLD_ROLE_HOLDER, "gpreempt-ctl suspend (815)",
		  "gpreempt-ctl resume 4242" },
		{ HOLD_ROLE_PREEMPT, "gpreempt-ctl preempt (815)",
		  "kill 815" },
		{ HOLD_ROLE_FOLLOW, "gpreempt-ctl follow (815)", "kill 815" },
		{ HOLD_ROLE_GUARD, "gpreempt-ctl guard (814)",
		  "gpreempt-ctl release 4242" },
		{ HOLD_ROLE_UNKNOWN, "unknown holder (its lock is held)",
		  "fuser -v " HOLD_DIR "/4242.lock" },
		{ HOLD_ROLE_NONE, "by another gpreempt-ctl", "try again" },
	};
	char text[HOLD_MAX_TEXT], *next;
	size_t i;
	int lock;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		owner = (struct hold_owner){
			.role = rows[i].role, .pid = 815, .guardian = 814,
		};
		hold_taken_text(&owner, PID, text, sizeof(text));
		next = strchr(text, '\n');
		ck_assert_ptr_nonnull(next);
		ck_assert_ptr_nonnull(strstr(text, rows[i].what));
		ck_assert_ptr_nonnull(strstr(next, rows[i].next));
	}
	hold_not_taken_text(-ENOSPC, PID, text, sizeof(text));
	ck_assert_str_eq(text, "cannot lock process 4242 in " HOLD_DIR ": No "
			 "space left on device\nmake room in " HOLD_DIR
			 " and try again");
	hold_not_taken_text(-EROFS, PID, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "Read-only file system\n"));
	owner.role = HOLD_ROLE_GUARD;
	lock = hold_take(PID, &owner);
	hold_not_taken_text(-EWOULDBLOCK, PID, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "gpreempt-ctl guard (814)\n"));
	close(lock);
}
END_TEST

/* In place of a holder's answer. */
static size_t answer_text(void *data, struct ipc_client *client, char *buf,
			  size_t len)
{
	(void)client;
	(void)len;
	return snprintf(buf, IPC_MAX_PACKET, "%s", (const char *)data);
}

/* What the client of a holder makes of that answer. */
static int ask(char *answer, struct hold_reply *reply)
{
	struct ipc_server_options options = {
		.limits = { .places = 1 },
		.locked = true,
		.one_request = true,
		.answer = answer_text,
		.data = answer,
	};
	struct hold_request request = { .verb = HOLD_STATUS };
	struct ipc_server *server;
	char path[64];
	int fd, ret;

	hold_socket_path(PID, path, sizeof(path));
	options.path = path;
	ck_assert_int_eq(gp_ipc_server_start(&options, &server), 0);
	fd = hold_ask_begin(PID, &request);
	ck_assert_int_ge(fd, 0);
	/* Connection and packet are there: one round takes both. */
	gp_ipc_server_dispatch(server);
	gp_ipc_server_dispatch(server);
	ret = hold_ask_end(fd, reply);
	gp_ipc_server_stop(server);
	return ret;
}

START_TEST(asking)
{
	static char answer[] = "gpreempt-hold 1 reply queues=3 text=";
	static char nonsense[] = "nonsense", nothing[] = "";
	struct hold_request request = { .verb = HOLD_STATUS };
	struct hold_reply reply;

	ck_assert_int_eq(hold_ask(PID, &request, &reply), -ENOENT);
	ck_assert_int_eq(ask(answer, &reply), 0);
	ck_assert_uint_eq(reply.queues, 3);
	ck_assert_int_eq(ask(nothing, &reply), -ECONNRESET);
	ck_assert_int_eq(ask(nonsense, &reply), -EPROTO);
}
END_TEST

/* A holder that was killed leaves a socket behind, which is not one. */
START_TEST(leftover_socket)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct hold_request request = { .verb = HOLD_STATUS };
	struct hold_birth birth = { .target = PID };
	struct hold_worker w = { .birth = &birth };
	struct hold_reply reply;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	hold_socket_path(PID, address.sun_path, sizeof(address.sun_path));
	ck_assert_int_eq(bind(fd, (void *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(hold_ask(PID, &request, &reply), -ENOENT);
	ck_assert_int_eq(hold_listen(&w), 0);
	ck_assert_uint_eq(hold_socket_inode(PID),
			  gp_ipc_server_inode(w.server));
	gp_ipc_server_stop(w.server);
	ck_assert_uint_eq(hold_socket_inode(PID), 0);
}
END_TEST

/* As root or another user; the status of the reply, 99 without one, 95: refused. */
static int worker_answers(struct hold_worker *w, uid_t uid, const char *text)
{
	char buf[HOLD_MAX_PACKET], path[64];
	pid_t child;
	int status;

	hold_socket_path(PID, path, sizeof(path));
	chmod(path, 0666);
	chmod(HOLD_DIR, 0755);
	child = fork();
	if (!child) {
		struct hold_reply reply = { 0 };
		ssize_t n;
		int fd;

		if (uid && seteuid(uid))
			_exit(98);
		fd = gp_ipc_connect(path, shr_now_ns() + NSEC_PER_SEC);
		if (fd < 0)
			_exit(96);
		snprintf(buf, sizeof(buf), "%s", text);
		n = gp_ipc_ask(fd, buf, strlen(text), sizeof(buf),
			       shr_now_ns() + 10 * NSEC_PER_SEC);
		if (n > 0 && gp_hold_get_reply(buf, n, &reply))
			_exit(97);
		if (n == -EACCES)
			_exit(95);
		_exit(n > 0 ? (int)reply.status : 99);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		gp_ipc_server_dispatch(w->server);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * A worker that has left its target answers that it has; nonsense gets no
 * answer, and a user that is not root neither, even where the directory would
 * let it in.
 */
START_TEST(serving)
{
	static const char text[] = "gpreempt-hold 1 status";
	struct hold_birth birth = { .target = PID };
	struct hold_worker w = { .birth = &birth };

	ck_assert_int_eq(hold_listen(&w), 0);
	ck_assert_uint_eq(worker_answers(&w, 0, text),
			  GPREEMPT_CLASS_NO_TARGET);
	ck_assert_uint_eq(worker_answers(&w, 0, "gpreempt-hold 1 kill"), 99);
	ck_assert_uint_eq(worker_answers(&w, 0, "x"), 99);
	ck_assert_uint_eq(worker_answers(&w, 65534, text), 95);
	gp_ipc_server_stop(w.server);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, clean, NULL);
	tcase_add_test(tc, directory);
	tcase_add_test(tc, directory_of_another_user);
	tcase_add_test(tc, one_lock);
	tcase_add_test(tc, shared_lock);
	tcase_add_test(tc, leftovers);
	tcase_add_test(tc, removed_under_us);
	tcase_add_test(tc, list);
	tcase_add_test(tc, garbage_in_lock);
	tcase_add_test(tc, no_room);
	tcase_add_test(tc, unknown_owner);
	tcase_add_test(tc, removed_while_taking);
	tcase_add_test(tc, another_owners_directory);
	tcase_add_test(tc, no_directory);
	tcase_add_test(tc, texts);
	tcase_add_test(tc, asking);
	tcase_add_test(tc, leftover_socket);
	/* Only root is answered, and only root can be another user. */
	if (!geteuid())
		tcase_add_test(tc, serving);
	return unit_run("holder's files");
}
