// SPDX-License-Identifier: GPL-2.0-only
/*
 * notify-log SOCKET: logs the messages to systemd. A line for each message:
 * when it came (CLOCK_MONOTONIC, in ms), from which process, and its text. Makes
 * SOCKET, and stays until killed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* The sender is in its credentials, as systemd takes it. */
static int take(int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char text[256];
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct ucred who = { 0 };
	struct cmsghdr *c;
	ssize_t n = recvmsg(fd, &msg, 0);

	if (n < 0)
		return -1;
	text[n] = '\0';
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_CREDENTIALS)
		memcpy(&who, CMSG_DATA(c), sizeof(who));
	printf("%lld %d %s\n", now_ms(), (int)who.pid, text);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: notify-log SOCKET\n");
		return 2;
	}
	strcpy(address.sun_path, argv[1]);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		perror("notify-log");
		return 1;
	}
	while (!take(fd))
		;
	return 1;
}
