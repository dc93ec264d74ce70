// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ipc/client.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* A server that has just closed a connection answers at once, or ends. */
#define FIRST_VERSION_NS (2 * NSEC_PER_SEC)

size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf)
{
	struct ipc_head head = { .kind = kind, .size = sizeof(head) + size };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), from, size);
	return head.size;
}

size_t gp_ipc_refuse(char *buf, size_t len)
{
	static const char text[] = "gpreempt-";
	int code = -EPROTO;

	/* A client of the first version knows text only. */
	if (len >= strlen(text) && !memcmp(buf, text, strlen(text)))
		return sprintf(buf, "gpreempt-ipc 1 refused code=%d", -EPROTONOSUPPORT);
	return gp_ipc_put(IPC_REFUSAL, &code, sizeof(code), buf);
}

int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to, size_t size)
{
	struct ipc_head head;

	if (len != sizeof(head) + size)
		return -EPROTO;
	memcpy(&head, buf, sizeof(head));
	if (head.kind != kind || head.size != len)
		return -EPROTO;
	memcpy(to, buf + sizeof(head), size);
	return 0;
}

/* 0 when the deadline is over. */
static uint64_t time_left(uint64_t deadline_ns)
{
	uint64_t now = shr_now_ns();

	return deadline_ns > now ? deadline_ns - now : 0;
}

/*
 * The time limit of a connect() is that of sending; poll() does not know when a
 * server's queue has a place.
 */
static int connect_until(int fd, const struct sockaddr_un *address, uint64_t deadline_ns)
{
	for (;;) {
		/* 0 would be no limit. */
		uint64_t left_us = time_left(deadline_ns) / NSEC_PER_USEC + 1;
		struct timeval limit = {
			.tv_sec = left_us / 1000000,
			.tv_usec = left_us % 1000000,
		};

		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
			return 0;
		if (errno == EAGAIN || (errno == EINTR && !time_left(deadline_ns)))
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int gp_ipc_connect(const char *path, uint64_t deadline_ns)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = connect_until(fd, &address, deadline_ns);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Signals do not make it longer. */
static int wait_until(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd one = { .fd = fd, .events = events };

	for (;;) {
		struct timespec limit = shr_timespec(time_left(deadline_ns));
		int ret = ppoll(&one, 1, &limit, NULL);

		if (ret > 0)
			return 0;
		if (!ret)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static bool is_closed(int error)
{
	return error == EPIPE || error == ECONNRESET;
}

int gp_ipc_send(int fd, const char *buf, size_t len, uint64_t deadline_ns)
{
	for (;;) {
		int ret;

		if (send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (is_closed(errno))
			return -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		ret = wait_until(fd, POLLOUT, deadline_ns);
		if (ret)
			return ret;
	}
}

/*
 * A server that closes before it has read our packet makes an error of that,
 * which comes before its last packet to us.
 */
static ssize_t recv_until(int fd, char *buf, size_t size, uint64_t deadline_ns)
{
	bool closed = false;

	for (;;) {
		ssize_t n = recv(fd, buf, size, MSG_DONTWAIT | MSG_TRUNC);
		int ret;

		if (n > 0)
			return n;
		if (n < 0 && is_closed(errno) && !closed) {
			closed = true;
			continue;
		}
		if (!n || closed)
			return -ECONNRESET;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		ret = wait_until(fd, POLLIN, deadline_ns);
		if (ret)
			return ret;
	}
}

ssize_t gp_ipc_recv(int fd, char *buf, size_t size, uint64_t deadline_ns)
{
	ssize_t n = recv_until(fd, buf, size, deadline_ns);
	int code;

	if (n < 0)
		return n;
	if ((size_t)n > size)
		return -EPROTO;
	if (!gp_ipc_get(IPC_REFUSAL, buf, n, &code, sizeof(code)) && code < 0)
		return code;
	return n;
}

ssize_t gp_ipc_ask(int fd, char *buf, size_t len, size_t size, uint64_t deadline_ns)
{
	int ret = gp_ipc_send(fd, buf, len, deadline_ns);

	/* It may have told us why before it closed. */
	if (ret && ret != -ECONNRESET)
		return ret;
	return gp_ipc_recv(fd, buf, size, deadline_ns);
}

bool gp_ipc_is_first_version(const char *path, const char *request, const char *answer,
			     uint64_t deadline_ns)
{
	uint64_t soon = shr_now_ns() + FIRST_VERSION_NS;
	size_t len = strlen(request), expected = strlen(answer);
	char buf[IPC_MAX_PACKET];
	ssize_t n;
	int fd;

	if (deadline_ns > soon)
		deadline_ns = soon;
	fd = gp_ipc_connect(path, deadline_ns);
	if (fd < 0)
		return false;
	memcpy(buf, request, len);
	n = gp_ipc_ask(fd, buf, len, sizeof(buf), deadline_ns);
	close(fd);
	return n >= (ssize_t)expected && !memcmp(buf, answer, expected);
}
