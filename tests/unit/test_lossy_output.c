// SPDX-License-Identifier: GPL-2.0-only
/* Output that drops the lines that its reader does not take, and does not wait. */
#include <pty.h>
#include <sys/socket.h>
#include <termios.h>

#include "guard/guard.h"
#include "unit.h"

#define LINES  5000
#define NOTICE "dropped %zu lines\n"

static char text[LINES * 128];

static void print_lines(FILE *f, int first, int n)
{
	int i;

	for (i = first; i < first + n; i++) {
		fprintf(f, "line %d of a reader that sleeps, %070d\n", i, i);
		fflush(f);
	}
}

/* Read all that is there now. */
static void read_all(int fd)
{
	size_t used = strlen(text);
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	text[used] = '\0';
}

/* Check that each line is whole and in order; missing ones are counted. */
static void check_lines(int printed)
{
	int next = 0, seen = 0, number, same, dropped, lost = 0;
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
		if (sscanf(line, "dropped %d lines", &dropped) == 1) {
			lost += dropped;
			next += dropped;
			continue;
		}
		ck_assert_msg(sscanf(line, "line %d of a reader that sleeps, %d", &number, &same) ==
				      2,
			      "torn: %s", line);
		ck_assert_int_eq(number, same);
		ck_assert_int_eq(number, next);
		next++;
		seen++;
	}
	ck_assert_int_eq(seen + lost, printed);
}

/* A reader that sleeps, reads, sleeps again, and reads to the end. */
static void sleep_and_read(FILE *f, int fd)
{
	ck_assert_int_eq(lossy_output_start(&f, NOTICE), 0);
	print_lines(f, 0, LINES);
	ck_assert_int_eq(ferror(f), 0);
	read_all(fd);
	ck_assert_ptr_null(strstr(text, "dropped"));
	print_lines(f, LINES, 3);
	read_all(fd);
	ck_assert_ptr_nonnull(strstr(text, "dropped"));
	check_lines(LINES + 3);
	text[0] = '\0';
	print_lines(f, 0, LINES);
	read_all(fd);
	fclose(f);
	/* Read the notice of the last dropped lines. */
	read_all(fd);
	ck_assert_ptr_nonnull(strstr(text, "dropped"));
	check_lines(LINES);
	_exit(0);
}

TEST_EXIT(to_pipe)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	sleep_and_read(fdopen(fds[1], "w"), fds[0]);
}

TEST_EXIT(to_socket)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	sleep_and_read(fdopen(fds[1], "w"), fds[0]);
}

/* Ctrl-S. */
TEST_EXIT(to_terminal)
{
	int master, slave;
	FILE *f;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	f = fdopen(slave, "w");
	ck_assert_int_eq(lossy_output_start(&f, NOTICE), 0);
	tcflow(slave, TCOOFF);
	print_lines(f, 0, LINES);
	tcflow(slave, TCOON);
	print_lines(f, LINES, 1);
	read_all(master);
	check_lines(LINES + 1);
	/* The terminal itself is as it was: the shell shares it. */
	ck_assert(!(fcntl(slave, F_GETFL) & O_NONBLOCK));
	_exit(0);
}

TEST_EXIT(to_file)
{
	char path[] = HOLD_DIR "-lossy.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(dup(fd), "w");

	unlink(path);
	ck_assert_int_eq(lossy_output_start(&f, NOTICE), 0);
	print_lines(f, 0, LINES);
	lseek(fd, 0, SEEK_SET);
	read_all(fd);
	ck_assert_ptr_null(strstr(text, "dropped"));
	check_lines(LINES);
	_exit(0);
}

/* A line that was taken in part is not given up when the reader sleeps on. */
TEST_EXIT(taken_in_part)
{
	int fds[2], i;
	FILE *f;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_ge(fcntl(fds[1], F_SETPIPE_SZ, 4096), 4096);
	f = fdopen(fds[1], "w");
	ck_assert_int_eq(lossy_output_start(&f, NOTICE), 0);
	/* Print at once more than the pipe has room for: one write, taken in part. */
	for (i = 0; i < 200; i++)
		fprintf(f, "line %d of a reader that sleeps, %070d\n", i, i);
	fflush(f);
	/* The reader has read nothing; then it reads again and again. */
	print_lines(f, 200, 2);
	for (i = 202; i < 220; i++) {
		read_all(fds[0]);
		print_lines(f, i, 1);
	}
	read_all(fds[0]);
	fclose(f);
	read_all(fds[0]);
	ck_assert_ptr_nonnull(strstr(text, "line 199 "));
	ck_assert_ptr_nonnull(strstr(text, "dropped"));
	check_lines(220);
	_exit(0);
}

/* A reader that has ended is an error, as without us. */
TEST_EXIT(broken_pipe)
{
	int fds[2];
	FILE *f;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	f = fdopen(fds[1], "w");
	ck_assert_int_eq(lossy_output_start(&f, NOTICE), 0);
	close(fds[0]);
	fputs("x\n", f);
	ck_assert_int_eq(fflush(f), EOF);
	ck_assert_int_eq(errno, EPIPE);
	_exit(0);
}

static void print_late(void)
{
	fputs("late\n", stdout);
	fputs("late, too\n", stderr);
}

/* Text printed after the end goes where it went before the start. */
TEST(printed_at_exit)
{
	int fds[2];
	pid_t child;

	ck_assert_int_eq(pipe(fds), 0);
	fflush(NULL);
	child = fork();
	if (!child) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		atexit(print_late);
		if (lossy_output_start_both(NOTICE, NOTICE))
			_exit(1);
		fputs("in time\n", stdout);
		exit(0);
	}
	ck_assert_int_eq(unit_status(child), 0);
	read_all(fds[0]);
	/* stderr has no buffer then. */
	ck_assert_str_eq(text, "in time\nlate, too\nlate\n");
}
