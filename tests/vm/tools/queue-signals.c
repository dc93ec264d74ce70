// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue-signals PID N: sends SIGRTMIN to the process N times, with values that
 * count up from 1. What does not fit into its queue waits until it does.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	union sigval value;
	int i, n, pid;

	pid = argc == 3 ? atoi(argv[1]) : 0;
	n = argc == 3 ? atoi(argv[2]) : 0;
	if (pid < 1 || n < 1) {
		fprintf(stderr, "usage: queue-signals PID N\n");
		return 2;
	}
	for (i = 1; i <= n; i++) {
		value.sival_int = i;
		while (sigqueue(pid, SIGRTMIN, value)) {
			if (errno != EAGAIN) {
				perror("queue-signals");
				return 1;
			}
			usleep(1000);
		}
	}
	return 0;
}
