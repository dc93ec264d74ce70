// SPDX-License-Identifier: GPL-2.0-only
/*
 * The few words of QEMU's machine protocol that saving and restoring need.
 * Answers are one JSON object a line; we look for the words in them.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

#define ANSWER_TIMEOUT 60000 /* ms; a loaded host may take its time */

/* One line, cut to size; long ones (query-migrate) keep their beginning. */
static int get_line(int fd, char *line, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	char c;

	for (;;) {
		if (poll(&p, 1, ANSWER_TIMEOUT) <= 0)
			return -ETIMEDOUT;
		if (read(fd, &c, 1) != 1)
			return -EPIPE;
		if (c == '\n')
			break;
		if (n < size - 1)
			line[n++] = c;
	}
	line[n] = '\0';
	return 0;
}

/* Events come between a command and its answer. */
static int get_answer(int fd, char *line, size_t size)
{
	int ret;

	do {
		ret = get_line(fd, line, size);
		if (ret)
			return ret;
	} while (strncmp(line, "{\"return\"", 9) && strncmp(line, "{\"error\"", 8));
	return line[2] == 'e' ? -EIO : 0;
}

static int ask(int fd, const char *command, char *line, size_t size)
{
	size_t len = strlen(command);

	if (write(fd, command, len) != (ssize_t)len)
		return -EPIPE;
	return get_answer(fd, line, size);
}

int qmp_run(int fd, const char *command)
{
	char line[512];

	return ask(fd, command, line, sizeof(line));
}

int qmp_open(int fd)
{
	return qmp_run(fd, "{\"execute\":\"qmp_capabilities\"}");
}

int qmp_migrate(int fd, const char *uri, int timeout)
{
	long long until = now_ms() + timeout * 1000LL;
	char line[PATH_MAX + 128];
	int ret;

	snprintf(line, sizeof(line), "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"%s\"}}",
		 uri);
	ret = qmp_run(fd, line);
	while (!ret && now_ms() < until) {
		ret = ask(fd, "{\"execute\":\"query-migrate\"}", line, sizeof(line));
		if (strstr(line, "\"status\": \"completed\""))
			return 0;
		if (strstr(line, "\"status\": \"failed\""))
			return -EIO;
		usleep(50000);
	}
	return ret ? ret : -ETIMEDOUT;
}

/* A guest was saved while stopped: wait until it is here, then let it run. */
int qmp_go_on(int fd, int timeout)
{
	long long until = now_ms() + timeout * 1000LL;
	char line[512];
	int ret;

	do {
		ret = ask(fd, "{\"execute\":\"query-status\"}", line, sizeof(line));
		if (ret)
			return ret;
		if (!strstr(line, "inmigrate"))
			return qmp_run(fd, "{\"execute\":\"cont\"}");
		usleep(20000);
	} while (now_ms() < until);
	return -ETIMEDOUT;
}
