// SPDX-License-Identifier: GPL-2.0-only
/* Signals that a loop reads: they are blocked only if they can be read. */
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "unit.h"

static const int signals[] = { SIGUSR1, SIGUSR2, 0 };

static bool is_blocked(int sig)
{
	sigset_t set;

	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &set), 0);
	return sigismember(&set, sig);
}

TEST(are_read)
{
	struct signalfd_siginfo info;
	int fd = shr_signals_open(signals);

	ck_assert_int_ge(fd, 0);
	ck_assert(is_blocked(SIGUSR1) && is_blocked(SIGUSR2));
	ck_assert(!is_blocked(SIGTERM));
	ck_assert_int_lt(read(fd, &info, sizeof(info)), 0);
	ck_assert_int_eq(errno, EAGAIN);
	raise(SIGUSR2);
	ck_assert_int_eq(read(fd, &info, sizeof(info)), sizeof(info));
	ck_assert_int_eq(info.ssi_signo, SIGUSR2);
	close(fd);
}

TEST(no_descriptor)
{
	struct rlimit limit, none;
	int fd;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = shr_signals_open(signals);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(fd, -EMFILE);
	ck_assert(!is_blocked(SIGUSR1));
}
