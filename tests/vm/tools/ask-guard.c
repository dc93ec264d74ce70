// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send a request to guard's socket as another user, without the checks of
 * gpreempt-ctl, and print the reply.
 *
 * ask-guard UID begin|release PID NS [TIMES]
 *
 * Exit status: 0 with a reply, 4 when the connection is refused or closed
 * without one. TIMES: so often, each on a connection of its own; the time that
 * it took is printed, and the last reply.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "shared/socket.h"
#include "lib/preempt/wire.h"

static char reply[64];

static void take_reply(const char *buf, size_t len)
{
	struct guard_reply r;
	int code;

	if (!gp_ipc_get(IPC_REFUSAL, buf, len, &code, sizeof(code)))
		snprintf(reply, sizeof(reply), "refused code=%d", code);
	else if (!gp_guard_get_reply(buf, len, &r))
		snprintf(reply, sizeof(reply), "reply code=%d value=%u", r.code, r.value);
}

/* 0, or an errno value. */
static int ask(const struct guard_request *request)
{
	struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/gpreempt-guard.sock",
	};
	struct timeval limit = { .tv_sec = 20 };
	char buf[IPC_MAX_PACKET];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), ret = 0;
	ssize_t n = -1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		ret = errno;
	} else {
		send(fd, buf, gp_guard_put_request(request, buf), MSG_NOSIGNAL);
		n = recv(fd, buf, sizeof(buf), 0);
		/* A reply can come after an error of send(). */
		if (n < 0)
			n = recv(fd, buf, sizeof(buf), 0);
		ret = n < 0 ? errno : n ? 0 : ECONNRESET;
	}
	reply[0] = '\0';
	if (!ret)
		take_reply(buf, n);
	close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	struct guard_request request = { 0 };
	struct timespec from, to;
	int i, times, ret = 0;
	uid_t uid;

	if (argc < 5)
		return 2;
	uid = strtoul(argv[1], NULL, 10);
	request.verb = strcmp(argv[2], "release") ? GUARD_BEGIN : GUARD_RELEASE;
	request.pid = atoi(argv[3]);
	request.ns = strtoull(argv[4], NULL, 10);
	times = argc > 5 ? atoi(argv[5]) : 1;
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid)) {
		perror("setuid");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < times; i++)
		ret = ask(&request);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (times > 1)
		printf("%d in %.0f us\n", times,
		       (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3);
	puts(ret ? strerror(ret) : reply);
	return ret ? 4 : 0;
}
