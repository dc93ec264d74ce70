// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whom the driver is given for ENABLE, over real processes: a thread that is not
 * traced, or the first one while it cannot execute a program.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "lib/core/internal.h"
#include "unit-host.h"
#include "unit.h"

static pid_t child, asked; /* asked: 0, it was not */
static char state;	   /* state of its first thread when it was asked */
static int asks, answer;
static bool killed_when_asked;
static int go[2]; /* the child goes on after a byte */

static char state_of(pid_t pid)
{
	char text[256];

	ck_assert_int_gt(shr_read_start(text, sizeof(text), "/proc/%d/stat", pid), 0);
	return *shr_stat_state(text);
}

/* Is a stop left for the session? */
static int stop_left(void)
{
	siginfo_t info = { 0 };

	ck_assert_int_eq(waitid(P_PID, child, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL), 0);
	return info.si_pid ? info.si_status : 0;
}

static void wait_for_stop(int event)
{
	UNIT_WAIT(stop_left() >> 8 == event);
}

static int ask(void *data, struct kfd_ioctl_dbg_trap_args *args)
{
	ck_assert_ptr_eq(data, &asked);
	asked = args->pid;
	state = state_of(child);
	asks++;
	if (killed_when_asked) {
		kill(child, SIGKILL);
		wait_for_stop(PTRACE_EVENT_EXIT);
	}
	return answer;
}

static int enable(void)
{
	struct kfd_ioctl_dbg_trap_args args = { .pid = child };
	int ret;

	asked = asks = 0;
	ret = gp_enable_existing(&args, ask, &asked);
	ck_assert_int_eq(args.pid, child);
	return ret;
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void wait_for_byte(void)
{
	char c;

	if (read(go[0], &c, 1) != 1)
		_exit(1);
}

static void alone(void)
{
	sleep_for_ever(NULL);
}

static void busy(void)
{
	for (;;)
		;
}

static void threaded(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_for_ever, NULL);
	/* The test reads it: the next sleep is the last one. */
	if (write(go[1], "", 1) == 1)
		sleep_for_ever(NULL);
}

/* Sleep in state D, until its child ends. */
static void asleep(void)
{
	pid_t pid = vfork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_for_byte();
		_exit(0);
	}
	sleep_for_ever(NULL);
}

static void executes(void)
{
	wait_for_byte();
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void start(void (*run)(void), char wanted)
{
	ck_assert_int_eq(pipe(go), 0);
	child = fork();
	if (!child)
		run();
	UNIT_WAIT(state_of(child) == wanted);
}

static void seize(void)
{
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC),
			 0);
}

static void teardown(void)
{
	kill(child, SIGKILL);
	while (waitpid(child, NULL, __WALL) > 0)
		ptrace(PTRACE_CONT, child, NULL, 0);
	close(go[0]);
	close(go[1]);
}

/* Asleep or running: it is stopped while the driver is asked, and goes on. */
TEST_EACH(one_thread, 2)
{
	start(_i ? busy : alone, _i ? 'R' : 'S');
	seize();
	answer = -_i;
	ck_assert_int_eq(enable(), answer);
	ck_assert_int_eq(asked, child);
	ck_assert_int_eq(state, 't');
	ck_assert_int_eq(stop_left(), 0);
	ck_assert_int_ne(state_of(child), 't');
}

TEST(several_threads)
{
	start(threaded, 'S');
	wait_for_byte();
	UNIT_WAIT(state_of(child) == 'S');
	seize();
	ck_assert_int_eq(enable(), 0);
	ck_assert_int_ne(asked, child);
	ck_assert_int_eq(state, 'S');
	ck_assert_int_eq(asks, 1);
	/* Each has ended when the driver looks, or it is no KFD process. */
	answer = -ESRCH;
	ck_assert_int_eq(enable(), -ESRCH);
	ck_assert_int_gt(asks, 1);
	ck_assert_int_ne(asked, child);
	answer = -EPERM;
	ck_assert_int_eq(enable(), -EPERM);
	ck_assert_int_eq(asks, 1);
	ck_assert_int_eq(stop_left(), 0);
}

/* No signal wakes it, but it does not execute a program where it is. */
TEST(asleep_in_the_kernel)
{
	start(asleep, 'D');
	seize();
	ck_assert_int_eq(enable(), 0);
	ck_assert_int_eq(asked, child);
	ck_assert_int_eq(state, 'D');
	/* The thread stops before it goes on, and the session lets it. */
	ck_assert_int_eq(write(go[1], "", 1), 1);
	wait_for_stop(PTRACE_EVENT_STOP);
}

/* The process runs another program by now: the driver is not asked. */
TEST(executed)
{
	start(executes, 'S');
	seize();
	ck_assert_int_eq(write(go[1], "", 1), 1);
	wait_for_stop(PTRACE_EVENT_EXEC);
	ck_assert_int_eq(enable(), -ESRCH);
	ck_assert_int_eq(asks, 0);
	ck_assert_int_eq(stop_left() >> 8, PTRACE_EVENT_EXEC);
}

/* A stop of another cause serves as well, and is the session's to end. */
TEST_EACH(stopped, 2)
{
	start(alone, 'S');
	if (_i) {
		kill(child, SIGSTOP);
		UNIT_WAIT(state_of(child) == 'T');
	}
	seize();
	if (!_i) {
		kill(child, SIGUSR1);
		UNIT_WAIT(stop_left());
	}
	ck_assert_int_eq(enable(), 0);
	ck_assert_int_eq(asked, child);
	ck_assert_int_eq(state, 't');
	ck_assert_int_eq(stop_left() & 0xff, _i ? SIGSTOP : SIGUSR1);
}

TEST(not_traced)
{
	start(alone, 'S');
	ck_assert_int_eq(enable(), 0);
	ck_assert_int_eq(asked, child);
	ck_assert_int_eq(state, 'S');
}

/* The process is killed while the driver is asked: its exit waits for the session. */
TEST(killed)
{
	start(alone, 'S');
	seize();
	killed_when_asked = true;
	ck_assert_int_eq(enable(), 0);
	ck_assert_int_eq(asked, child);
	ck_assert_int_eq(stop_left() >> 8, PTRACE_EVENT_EXIT);
	ck_assert_int_eq(state_of(child), 't');
}

/* The process ends in the same manner. */
TEST(ends)
{
	start(alone, 'S');
	seize();
	kill(child, SIGKILL);
	wait_for_stop(PTRACE_EVENT_EXIT);
	ck_assert_int_eq(enable(), -ESRCH);
	ck_assert_int_eq(asks, 0);
}

TEST_FIXTURE(NULL, teardown)
