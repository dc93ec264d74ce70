// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send a packet to guard's socket as another user, without the checks of
 * gpreempt-ctl, and print the reply.
 *
 * ask-guard UID PACKET [TIMES]
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

static char reply[8192];

/* 0, or an errno value. */
static int ask(const char *packet)
{
	struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/gpreempt-guard.sock",
	};
	struct timeval limit = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), ret = 0;
	ssize_t n = -1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		ret = errno;
	} else {
		send(fd, packet, strlen(packet), MSG_NOSIGNAL);
		n = recv(fd, reply, sizeof(reply) - 1, 0);
		/* A reply can come after an error of what was sent. */
		if (n < 0)
			n = recv(fd, reply, sizeof(reply) - 1, 0);
		ret = n < 0 ? errno : n ? 0 : ECONNRESET;
	}
	reply[n < 0 ? 0 : n] = '\0';
	close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	struct timespec from, to;
	int i, times, ret = 0;
	uid_t uid;

	if (argc < 3)
		return 2;
	uid = strtoul(argv[1], NULL, 10);
	times = argc > 3 ? atoi(argv[3]) : 1;
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid)) {
		perror("setuid");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < times; i++)
		ret = ask(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (times > 1)
		printf("%d in %.0f us\n", times,
		       (to.tv_sec - from.tv_sec) * 1e6 +
			       (to.tv_nsec - from.tv_nsec) / 1e3);
	puts(ret ? strerror(ret) : reply);
	return ret ? 4 : 0;
}
