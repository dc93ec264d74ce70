// SPDX-License-Identifier: GPL-2.0-only
/*
 * user-time N COMMAND...: runs the command N times with its output thrown away,
 * and prints the mean user and system time of one run, in us, and its exit
 * status. Exits 1 when the runs did not all end alike.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char **argv)
{
	pid_t pid = fork();
	int status, null;

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static double us(const struct timeval *tv, int n)
{
	return ((double)tv->tv_sec * 1e6 + (double)tv->tv_usec) / n;
}

int main(int argc, char **argv)
{
	int i, n, status, first = 0;
	struct rusage usage;

	n = argc > 2 ? atoi(argv[1]) : 0;
	if (n < 1) {
		fprintf(stderr, "usage: user-time N COMMAND...\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		status = run(argv + 2);
		if (!i)
			first = status;
		else if (status != first)
			return 1;
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("user_us %.0f system_us %.0f status %d\n", us(&usage.ru_utime, n),
	       us(&usage.ru_stime, n), first);
	return 0;
}
