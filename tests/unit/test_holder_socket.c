// SPDX-License-Identifier: GPL-2.0-only
/* Socket of a holder: its client, leftovers of a killed holder, allowed users. */
#include <sys/socket.h>
#include <sys/un.h>

#include "hold/holder.h"
#include "shared/socket.h"
#include "unit.h"
#include "unit-host.h"

static uint64_t soon(void)
{
	return shr_now_ns() + UNIT_LIMIT_NS;
}

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
static int ask(struct packet *answer, struct hold_reply *reply)
{
	struct ipc_server_options options = {
		.limits = { .places = 1 },
		.locked = true,
		.one_request = true,
		.answer = answer_packet,
		.data = answer,
	};
	struct hold_request request = { .verb = HOLD_STATUS };
	struct ipc_server *server;
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), GP_HOLD_SOCKET, PID);
	options.path = path;
	ck_assert_int_eq(gp_ipc_server_start(&options, &server), 0);
	fd = gp_hold_ask_begin(PID, &request, soon());
	ck_assert_int_ge(fd, 0);
	/* Connection and packet are there: one round takes both. */
	gp_ipc_server_dispatch(server);
	gp_ipc_server_dispatch(server);
	ret = gp_hold_ask_end(fd, reply, soon());
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
	ck_assert_int_eq(gp_hold_ask(PID, &request, &reply, soon()), -ENOENT);
	ck_assert_int_eq(ask(&answer, &reply), 0);
	ck_assert_uint_eq(reply.queues, 3);
	ck_assert_int_eq(ask(&nothing, &reply), -ECONNRESET);
	ck_assert_int_eq(ask(&nonsense, &reply), -EPROTO);
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
	ck_assert_int_eq(gp_hold_ask(PID, &request, &reply, soon()), -ENOENT);
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
	char buf[IPC_MAX_PACKET], path[64];
	pid_t child;
	int status;

	snprintf(path, sizeof(path), GP_HOLD_SOCKET, PID);
	chmod(path, 0666);
	chmod(HOLD_DIR, 0755);
	child = fork();
	if (!child) {
		struct hold_reply reply = { 0 };
		ssize_t n;
		int fd;

		if (uid && seteuid(uid))
			_exit(98);
		fd = gp_ipc_connect(path, shr_now_ns() + UNIT_LIMIT_NS);
		if (fd < 0)
			_exit(96);
		memcpy(buf, packet->buf, packet->len);
		n = gp_ipc_ask(fd, buf, packet->len, sizeof(buf), shr_now_ns() + UNIT_LIMIT_NS);
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
