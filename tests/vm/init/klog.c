// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's log, copied to the runner as it comes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* A job that fills the log faster than we copy must still come to an end. */
#define DRAIN_MAX 20000

int klog_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* "priority,sequence,microseconds,flags;text", then lines of properties. */
static void put_record(int to, char *record)
{
	unsigned long long us = 0;
	char *text = strchr(record, ';');

	if (!text)
		return;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	sscanf(record, "%*u,%*u,%llu", &us);
	say(to, "[%5llu.%06llu] %s", us / 1000000, us % 1000000, text);
}

void klog_drain(int from, int to)
{
	char record[8192];
	ssize_t n;
	int i;

	for (i = 0; i < DRAIN_MAX; i++) {
		n = read(from, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE) {
			say(to, "(records lost: the log was written faster than read)");
			continue;
		}
		if (n <= 0)
			return;
		record[n] = '\0';
		put_record(to, record);
	}
}
