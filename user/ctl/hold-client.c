// SPDX-License-Identifier: GPL-2.0-only
/* Asking a holder. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ctl/hold.h"

/* Longer than the driver waits for a GPU that hangs. */
#define ANSWER_TIMEOUT_S 30

static int connect_to(pid_t target)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int fd, ret;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	hold_socket_path(target, address.sun_path, sizeof(address.sun_path));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	ret = errno == ECONNREFUSED ? -ENOENT : -errno;
	close(fd);
	return ret;
}

int hold_ask(pid_t target, const struct hold_request *request,
	     struct hold_reply *reply)
{
	__cleanup_fd int fd = -1;
	char buf[HOLD_MAX_PACKET];
	ssize_t n;

	fd = connect_to(target);
	if (fd < 0)
		return fd;
	n = send(fd, buf, hold_put_request(request, buf), MSG_NOSIGNAL);
	if (n >= 0)
		n = recv(fd, buf, sizeof(buf), 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return -ETIMEDOUT;
	if (n < 0 && errno != ECONNRESET && errno != EPIPE)
		return -errno;
	if (n <= 0)
		return -ECONNRESET;
	return hold_get_reply(buf, n, reply);
}
