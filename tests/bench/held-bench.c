// SPDX-License-Identifier: GPL-2.0-only
/*
 * held-bench COUNT COMMAND...: runs it that often and prints what one run takes
 * on the average, in microseconds: its own time in user space, in the kernel,
 * and from start to end. The kernel counts the first two in ticks, so that they
 * are right only over many runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static double us(const struct timeval *t)
{
	return t->tv_sec * 1e6 + t->tv_usec;
}

/* The exit status, or -1. */
static int run_once(char **command)
{
	int status, null;
	pid_t pid = fork();

	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	long i, count;
	uint64_t start;

	if (argc < 3)
		return 2;
	count = strtol(argv[1], NULL, 10);
	if (count < 1)
		return 2;
	start = now_us();
	for (i = 0; i < count; i++) {
		int status = run_once(argv + 2);

		if (status) {
			fprintf(stderr, "held-bench: %s ended with %d\n",
				argv[2], status);
			return 1;
		}
	}
	start = now_us() - start;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("user_us %.0f\n", us(&usage.ru_utime) / count);
	printf("system_us %.0f\n", us(&usage.ru_stime) / count);
	printf("wall_us %.0f\n", (double)start / count);
	return 0;
}
