// SPDX-License-Identifier: GPL-2.0-only
/*
 * on-terminal COMMAND...: runs it on a terminal of its own: what comes in here is
 * typed there, and what it prints comes out. SIGTERM closes the terminal, as a
 * window that is closed or a connection that breaks.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* False when there will be no more. */
static int copy(int from, int to)
{
	char buf[1024];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	return write(to, buf, (size_t)n) == n;
}

static void serve(int master)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = master, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents && !copy(STDIN_FILENO, master))
			fds[0].fd = -1;
		if (fds[1].revents && !copy(master, STDOUT_FILENO))
			return;
	}
}

int main(int argc, char **argv)
{
	int master, status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: on-terminal COMMAND...\n");
		return 2;
	}
	pid = forkpty(&master, NULL, NULL, NULL);
	if (pid < 0) {
		perror("on-terminal");
		return 1;
	}
	if (!pid) {
		/* A shell's background job would not see Ctrl-C. */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	serve(master);
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
