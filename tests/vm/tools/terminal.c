// SPDX-License-Identifier: GPL-2.0-only
/*
 * terminal COLUMNS COMMAND...: runs it on a terminal of that width, and prints
 * what it writes there, without carriage returns. Its exit status is the
 * command's.
 */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Up to the end of the command and of all who have its terminal. */
static void copy(int fd)
{
	char buf[4096];
	ssize_t n, i;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			if (buf[i] != '\r')
				putchar(buf[i]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 50 };
	int fd, status;
	pid_t pid;

	if (argc < 3 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: terminal COLUMNS COMMAND...\n");
		return 2;
	}
	size.ws_col = atoi(argv[1]);
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0) {
		perror("terminal");
		return 1;
	}
	copy(fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
