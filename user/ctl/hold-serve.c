// SPDX-License-Identifier: GPL-2.0-only
/* Commands come to the holder through its socket. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ctl/hold-worker.h"

int hold_listen(pid_t target)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	hold_socket_path(target, address.sun_path, sizeof(address.sun_path));
	/* We have the lock: whatever is there is of a holder that died. */
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, HOLD_CLIENTS) == 0)
		return fd;
	close(fd);
	return -EIO;
}

static void drop(int *client)
{
	close(*client);
	*client = -1;
}

static bool is_root(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       peer.uid == 0;
}

void hold_accept(struct hold_worker *w)
{
	int *slot, fd;

	fd = accept4(w->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	if (!is_root(fd)) {
		close(fd);
		return;
	}
	/* Who is silent while eight others come has waited long enough. */
	slot = &w->clients[w->next_client++ % HOLD_CLIENTS];
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

void hold_serve(struct hold_worker *w, int *client)
{
	struct hold_request request;
	struct hold_reply reply = { 0 };
	char buf[HOLD_MAX_PACKET];
	ssize_t n;

	n = recv(*client, buf, sizeof(buf), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && !hold_get_request(buf, n, &request)) {
		hold_answer(w, &request, &reply);
		n = send(*client, buf, hold_put_reply(&reply, buf),
			 MSG_NOSIGNAL);
	}
	drop(client);
}
