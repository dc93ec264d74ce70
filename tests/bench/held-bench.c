// SPDX-License-Identifier: GPL-2.0-only
/*
 * held-bench COUNT COMMAND...: runs it that often and prints what one run takes on the average,
 * in microseconds: CPU time, and from start to end. Then it runs it once more, instruction by
 * instruction, and prints how many there are in user space, and the time that they take on the
 * bench's counted clock. The kernel divides CPU time into user and system time by ticks of 4
 * ms, and a command that is over before the first tick counts as user time alone.
 *
 * vgpu.ko counts the steps, if it is there: a stop for each takes minutes of an
 * emulated CPU. Then we see only those behind system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The counted clock's; a figure of docs/measuring.md. */
#define NS_PER_INSTRUCTION 2

/* Takes a PID whose steps are to be counted, or 0, and has their number. */
#define COUNTER "/sys/kernel/debug/vgpu/steps"

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

/* Its PID, or -1. */
static pid_t start(char **command, bool traced)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_WRONLY);
	dup2(null, STDOUT_FILENO);
	if (traced)
		ptrace(PTRACE_TRACEME, 0, 0, 0);
	execvp(command[0], command);
	_exit(127);
}

/* The exit status, or -1. */
static int run_once(char **command)
{
	pid_t pid = start(command, false);
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void set_counter(pid_t pid)
{
	FILE *file = fopen(COUNTER, "w");

	if (!file)
		return;
	fprintf(file, "%d", pid);
	fclose(file);
}

/* 0 without the counter, which then was not asked for any. */
static uint64_t counted_steps(void)
{
	FILE *file = fopen(COUNTER, "r");
	unsigned long long n = 0;

	if (file && fscanf(file, "%llu", &n) != 1)
		n = 0;
	if (file)
		fclose(file);
	return n;
}

/*
 * From the first instruction of the dynamic linker to the last one before the
 * end. A string instruction counts as many times as it repeats.
 */
static int count_steps(char **command, uint64_t *steps)
{
	pid_t pid = start(command, true);
	int status;

	*steps = 0;
	set_counter(pid);
	while (pid > 0 && waitpid(pid, &status, 0) == pid) {
		int signal = 0;

		if (!WIFSTOPPED(status)) {
			set_counter(0);
			*steps += counted_steps();
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		}
		if (WSTOPSIG(status) == SIGTRAP)
			++*steps;
		else
			signal = WSTOPSIG(status);
		ptrace(PTRACE_SINGLESTEP, pid, 0, signal);
	}
	return -1;
}

static int expect_done(const char *command, int status)
{
	if (status)
		fprintf(stderr, "held-bench: %s ended with %d\n", command, status);
	return status;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t began, steps;
	long i, count;

	if (argc < 3)
		return 2;
	count = strtol(argv[1], NULL, 10);
	if (count < 1)
		return 2;
	began = now_us();
	for (i = 0; i < count; i++)
		if (expect_done(argv[2], run_once(argv + 2)))
			return 1;
	began = now_us() - began;
	getrusage(RUSAGE_CHILDREN, &usage);
	if (expect_done(argv[2], count_steps(argv + 2, &steps)))
		return 1;
	printf("user_instructions %llu\n", (unsigned long long)steps);
	printf("user_us %.0f\n", steps * NS_PER_INSTRUCTION / 1000.0);
	printf("cpu_us %.0f\n", (us(&usage.ru_utime) + us(&usage.ru_stime)) / count);
	printf("wall_us %.0f\n", (double)began / count);
	return 0;
}
