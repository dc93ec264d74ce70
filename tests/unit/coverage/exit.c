// SPDX-License-Identifier: GPL-2.0-only
/*
 * For "make coverage": a process that ends with _exit() writes its counters, too, and so does one
 * that a test ends by unit_end(). One that is killed otherwise cannot.
 */
#include <stdnoreturn.h>
#include <sys/resource.h>

#include "unit.h"

void __gcov_dump(void);
noreturn void __real__exit(int status);
noreturn void __wrap__exit(int status);

noreturn void __wrap__exit(int status)
{
	struct rlimit all;

	/* The test may have left it no descriptor for the files of the counters. */
	if (!getrlimit(RLIMIT_NOFILE, &all)) {
		all.rlim_cur = all.rlim_max;
		setrlimit(RLIMIT_NOFILE, &all);
	}
	__gcov_dump();
	__real__exit(status);
}

static void on_end(int sig)
{
	__wrap__exit(sig);
}

__attribute__((constructor)) static void wait_for_end(void)
{
	signal(SIGRTMAX, on_end);
}

void __real_unit_end(pid_t child);
void __wrap_unit_end(pid_t child);

/* A child that does not take the signal, as one that is stopped, is killed after all. */
void __wrap_unit_end(pid_t child)
{
	siginfo_t info = { 0 };
	int left = 1000;

	kill(child, SIGRTMAX);
	while (!waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid && left--)
		usleep(1000);
	__real_unit_end(child);
}
