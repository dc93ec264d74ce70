// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt-holder, the program that gpreempt_hold() starts; and the socket of a holder: its
 * client, leftovers of a killed holder, allowed users.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "hold/holder.h"
#include "shared/socket.h"
#include "unit-holder.h"
#include "unit-host.h"

int holder_main(int argc, char **argv);

static void setup(void)
{
	holder_setup();
	ck_assert_int_eq(hold_dir_prepare(), 0);
}

/* Start the program with that word; returns our end of the starter's socket. */
static int start(const char *word, pid_t *child)
{
	/* The holder writes its title over both words. */
	static char words[] = "gpreempt-holder\0 4194304";
	char *name = words + strlen(words) + 1;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	strcpy(name, word);
	*child = fork();
	if (!*child) {
		char *argv[] = { words, name, NULL };

		close(pair[0]);
		dup2(pair[1], HOLD_START_FD);
		if (pair[1] != HOLD_START_FD)
			close(pair[1]);
		_exit(holder_main(2, argv));
	}
	close(pair[1]);
	return pair[0];
}

/* Ask the holder for a process; the end stays open. */
static int ask(pid_t pid, struct hold_reply *reply)
{
	struct hold_request request = { .verb = HOLD_SUSPEND };
	char buf[IPC_MAX_PACKET];
	pid_t child;
	ssize_t n;
	int fd = start(unit_text("%d", pid), &child);

	send(fd, buf, gp_hold_put_request(&request, buf), 0);
	n = gp_ipc_recv(fd, buf, sizeof(buf), unit_soon());
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(gp_hold_get_reply(buf, n, reply), 0);
	ck_assert_int_eq(unit_status(child),
			 reply->reason ? GPREEMPT_CLASS_FAILED : GPREEMPT_CLASS_DONE);
	return fd;
}

/* Its starter may be of another version. */
TEST(bad_start)
{
	char buf[IPC_MAX_PACKET];
	pid_t child;
	int fd;

	close(start("x", &child));
	ck_assert_int_eq(unit_status(child), GPREEMPT_CLASS_USAGE);
	fd = start("4194242", &child);
	send(fd, "nonsense", 8, 0);
	ck_assert_int_eq(unit_status(child), GPREEMPT_CLASS_FAILED);
	ck_assert_int_eq(gp_ipc_recv(fd, buf, sizeof(buf), unit_soon()), -EPROTO);
	close(fd);
}

/* The holder holds as long as its starter has the other end. */
TEST_AS_ROOT(holds)
{
	struct hold_owner owner;
	struct hold_reply reply;
	int fd = ask(target, &reply);

	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_DONE);
	ck_assert_uint_eq(reply.queues, 2);
	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	ck_assert_uint_eq(owner.pid, reply.worker);
	ck_assert_uint_eq(owner.guardian, reply.guardian);
	close(fd);
	UNIT_WAIT(is_free(target));
}

TEST_AS_ROOT(held_already)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .pid = 5, .guardian = 6 };
	int lock = hold_take(target, &owner);
	struct hold_reply reply;

	ck_assert_int_ge(lock, 0);
	close(ask(target, &reply));
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_BUSY);
	ck_assert_uint_eq(reply.reason, GPREEMPT_HELD);
	ck_assert_int_eq(reply.code, -EBUSY);
	ck_assert_uint_eq(reply.other, 6);
	hold_drop(target, lock);
}

/* No such process: no lock of it is left. */
TEST_AS_ROOT(no_process)
{
	struct hold_reply reply;

	close(ask(4194303, &reply));
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_NO_TARGET);
	ck_assert(is_free(4194303));
}

TEST_AS_ROOT(not_root)
{
	struct hold_reply reply;

	ck_assert_int_eq(seteuid(65534), 0);
	close(ask(target, &reply));
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_PERMISSION);
	ck_assert(is_free(target));
}

TEST_FIXTURE(setup, holder_teardown)

struct packet {
	char buf[IPC_MAX_PACKET];
	size_t len;
};

/* Answer in place of a holder. */
static size_t answer_packet(void *data, struct ipc_client *client, char *buf, size_t len)
{
	const struct packet *packet = data;

	(void)client;
	(void)len;
	memcpy(buf, packet->buf, packet->len);
	return packet->len;
}

/* Returns the client's result for that answer. */
static int ask_socket(struct packet *answer, struct hold_reply *reply)
{
	struct ipc_server_options options = {
		.path = unit_text(GP_HOLD_SOCKET, PID),
		.limits = { .places = 1 },
		.locked = true,
		.one_request = true,
		.answer = answer_packet,
		.data = answer,
	};
	struct hold_request request = { .verb = HOLD_STATUS };
	struct ipc_server *server;
	int fd, ret;

	ck_assert_int_eq(gp_ipc_server_start(&options, &server), 0);
	fd = gp_hold_ask_begin(PID, &request, unit_soon());
	ck_assert_int_ge(fd, 0);
	/* Connection and packet are there: one round takes both. */
	gp_ipc_server_dispatch(server);
	gp_ipc_server_dispatch(server);
	ret = gp_hold_ask_end(fd, reply, unit_soon());
	gp_ipc_server_stop(server);
	return ret;
}

TEST(asking)
{
	struct packet answer, nonsense = { "nonsense", 8 }, nothing = { 0 };
	struct hold_request request = { .verb = HOLD_STATUS };
	struct hold_reply reply = { .queues = 3 };

	answer.len = gp_hold_put_reply(&reply, answer.buf);
	memset(&reply, 0, sizeof(reply));
	ck_assert_int_eq(gp_hold_ask(PID, &request, &reply, unit_soon()), -ENOENT);
	ck_assert_int_eq(ask_socket(&answer, &reply), 0);
	ck_assert_uint_eq(reply.queues, 3);
	ck_assert_int_eq(ask_socket(&nothing, &reply), -ECONNRESET);
	ck_assert_int_eq(ask_socket(&nonsense, &reply), -EPROTO);
}

/* A holder that was killed leaves a socket behind, which is not one. */
TEST(leftover_socket)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct hold_request request = { .verb = HOLD_STATUS };
	struct hold_birth birth = { .target = PID };
	struct hold_worker w = { .birth = &birth };
	struct hold_reply reply;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), GP_HOLD_SOCKET, PID);
	ck_assert_int_eq(bind(fd, (void *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(gp_hold_ask(PID, &request, &reply, unit_soon()), -ENOENT);
	ck_assert_int_eq(hold_listen(&w), 0);
	ck_assert_uint_eq(hold_socket_inode(PID), gp_ipc_server_inode(w.server));
	gp_ipc_server_stop(w.server);
	ck_assert_uint_eq(hold_socket_inode(PID), 0);
}

/*
 * Ask as root or another user. Returns the status of the reply, 99 without one, 95: refused, 94:
 * unknown.
 */
static int worker_answers(struct hold_worker *w, uid_t uid, const struct packet *packet)
{
	const char *path = unit_text(GP_HOLD_SOCKET, PID);
	char buf[IPC_MAX_PACKET];
	pid_t child;
	int status;

	chmod(path, 0666);
	chmod(HOLD_DIR, 0755);
	child = fork();
	if (!child) {
		struct hold_reply reply = { 0 };
		ssize_t n;
		int fd;

		if (uid && seteuid(uid))
			_exit(98);
		fd = gp_ipc_connect(path, unit_soon());
		if (fd < 0)
			_exit(96);
		memcpy(buf, packet->buf, packet->len);
		n = gp_ipc_ask(fd, buf, packet->len, sizeof(buf), unit_soon());
		if (n > 0 && gp_hold_get_reply(buf, n, &reply))
			_exit(97);
		if (n == -EACCES)
			_exit(95);
		if (n == -EPROTO)
			_exit(94);
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
 * A worker without a session answers that its target has ended. Nonsense gets an error;
 * a user that is not root is refused, even where the directory would let it in. After the
 * end of the hold there is no answer at all. Only root is answered, and only root can be
 * another user.
 */
TEST_AS_ROOT(serving)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	struct packet status, kill, nonsense = { "x", 1 };
	struct hold_birth birth = { .target = PID, .request = &request };
	struct hold_worker w = { .birth = &birth };

	status.len = gp_hold_put_request(&request, status.buf);
	request.verb = HOLD_VERBS;
	kill.len = gp_hold_put_request(&request, kill.buf);
	ck_assert_int_eq(hold_listen(&w), 0);
	ck_assert_uint_eq(worker_answers(&w, 0, &status), GPREEMPT_CLASS_NO_TARGET);
	ck_assert_uint_eq(worker_answers(&w, 0, &kill), 94);
	ck_assert_uint_eq(worker_answers(&w, 0, &nonsense), 94);
	ck_assert(!w.over);
	ck_assert_uint_eq(worker_answers(&w, 65534, &status), 95);
	w.over = true;
	ck_assert_uint_eq(worker_answers(&w, 0, &status), 99);
	gp_ipc_server_stop(w.server);
}

TEST_FIXTURE(hold_dir_setup, NULL)
