// SPDX-License-Identifier: GPL-2.0-only
/*
 * terminal COLUMNS COMMAND...: runs it on a terminal of that width, and prints what it writes
 * there, without carriage returns. Its exit status is the command's.
 */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define END '\036' /* behind it comes the exit status, as a character */

/*
 * The terminal's session leader. It does not end by itself: the terminal would
 * be hung up, and what is still on its way be lost.
 */
static void lead(char **argv)
{
	unsigned char end[] = { END, 127 };
	struct termios mode;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		end[1] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	/* Write raw bytes: a status may be a control character. */
	tcgetattr(STDOUT_FILENO, &mode);
	cfmakeraw(&mode);
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &mode);
	if (write(STDOUT_FILENO, end, sizeof(end)) < 0)
		_exit(1);
	pause();
	_exit(0);
}

/* Returns the exit status that comes at the end. */
static int copy(FILE *in)
{
	int c;

	while ((c = getc(in)) != EOF && c != END)
		if (c != '\r')
			putchar(c);
	fflush(stdout);
	c = getc(in);
	return c == EOF ? 1 : c;
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
	if (pid == 0)
		lead(argv + 2);
	if (pid < 0) {
		perror("terminal");
		return 1;
	}
	status = copy(fdopen(fd, "r"));
	kill(pid, SIGKILL);
	return status;
}
