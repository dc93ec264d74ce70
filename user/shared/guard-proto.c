// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/guard-proto.h"
#include "shared/macro.h"

#define MAGIC "gpreempt-guard 1 "
/* A guard that lets go of a process may wait for the hardware first. */
#define PATIENCE_S 30

static const char *const verbs[SHR_GUARD_VERBS] = {
	[SHR_GUARD_BEGIN] = "begin",
	[SHR_GUARD_END] = "end",
	[SHR_GUARD_RELEASE] = "release",
};

size_t shr_guard_put_request(const struct shr_guard_request *request,
			     char *buf)
{
	return snprintf(buf, SHR_GUARD_PACKET, MAGIC "%s %d %" PRIu64,
			verbs[request->verb], request->pid, request->ns);
}

size_t shr_guard_put_reply(const struct shr_guard_reply *reply, char *buf)
{
	return snprintf(buf, SHR_GUARD_PACKET, MAGIC "%d %" PRIu64,
			reply->code, reply->value);
}

/* The packet as text, which has to be all of it. */
static int get_text(const char *buf, size_t len, char *text)
{
	if (len >= SHR_GUARD_PACKET || memchr(buf, '\0', len))
		return -EPROTO;
	memcpy(text, buf, len);
	text[len] = '\0';
	return 0;
}

int shr_guard_get_request(const char *buf, size_t len,
			  struct shr_guard_request *out)
{
	char text[SHR_GUARD_PACKET], verb[16];
	struct shr_guard_request request;
	int end = 0;
	size_t i;

	if (get_text(buf, len, text) ||
	    sscanf(text, MAGIC "%15s %d %" SCNu64 "%n", verb, &request.pid,
		   &request.ns, &end) != 3 || text[end] || request.pid < 0)
		return -EPROTO;
	for (i = 0; i < SHR_GUARD_VERBS; i++)
		if (!strcmp(verb, verbs[i])) {
			request.verb = i;
			*out = request;
			return 0;
		}
	return -EPROTO;
}

int shr_guard_get_reply(const char *buf, size_t len,
			struct shr_guard_reply *out)
{
	char text[SHR_GUARD_PACKET];
	struct shr_guard_reply reply;
	int end = 0;

	if (get_text(buf, len, text) ||
	    sscanf(text, MAGIC "%d %" SCNu64 "%n", &reply.code, &reply.value,
		   &end) != 2 || text[end] || reply.code > 0)
		return -EPROTO;
	*out = reply;
	return 0;
}

int shr_guard_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int shr_guard_ask(int fd, const struct shr_guard_request *request,
		  struct shr_guard_reply *reply)
{
	char buf[SHR_GUARD_PACKET];
	size_t len = shr_guard_put_request(request, buf);
	ssize_t n;

	if (send(fd, buf, len, MSG_NOSIGNAL) < 0)
		return -errno;
	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	/* It is gone, or we are not allowed to ask. */
	if (!n)
		return -ECONNRESET;
	return shr_guard_get_reply(buf, n, reply);
}
