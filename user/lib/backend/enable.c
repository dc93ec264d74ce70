// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/backend/enable.h"
#include "lib/backend/names.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/proc.h"

/* How often its threads are listed again, when all had ended since. */
#define ROUNDS 8
/* How long it may take to stop. */
#define STOP_NS (2 * NSEC_PER_SEC)
/* After so long it may be asleep where no signal wakes it. */
#define ASLEEP_NS (5 * NSEC_PER_MSEC)
#define LOOK_NS	  (50 * NSEC_PER_USEC)

struct attempt {
	struct kfd_ioctl_dbg_trap_args *args;
	gp_enable_fn ask;
	void *data;
	pid_t pid;
	size_t others; /* threads but the first */
	int ret;       /* the last answer */
};

static int ask_as(struct attempt *a, pid_t task)
{
	a->args->pid = task;
	a->ret = a->ask(a->data, a->args);
	a->args->pid = a->pid;
	return a->ret;
}

/* Not 0: the driver has found the process by this thread. */
static int ask_thread(void *arg, const char *name)
{
	struct attempt *a = arg;
	pid_t task = strtol(name, NULL, 10);

	if (task == a->pid)
		return 0;
	a->others++;
	return ask_as(a, task) != -ESRCH;
}

/* 1: by a thread that is not traced; 0: there is none, or none any more; -errno. */
static int ask_threads(struct attempt *a)
{
	char path[32];
	int ret;

	a->others = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", a->pid);
	ret = gp_list_names(path, ask_thread, a);
	return ret == -ENOENT ? -ESRCH : ret;
}

/*
 * Is its first thread asleep in the kernel, and not in a call that executes a program or makes
 * a thread? Once it has been asked to stop it runs nothing of its own before it does.
 */
static bool sleeps_elsewhere(pid_t pid)
{
	char text[32];

	if (shr_read_start(text, sizeof(text), "/proc/%d/syscall", pid) <= 0)
		return false;
	/* "running", -1 for none (a page fault), or the number; that of x32 has a bit. */
	if (*text == 'r')
		return false;
	switch (strtol(text, NULL, 10) & ~0x40000000L) {
	case 56: /* clone, execve, execveat, clone3 */
	case 59:
	case 322:
	case 435:
	case 520: /* execve and execveat of x32 */
	case 545:
	case 11: /* execve, clone and execveat of i386 */
	case 120:
	case 358:
		return false;
	}
	return true;
}

/*
 * What the first thread does now, left to be collected. 1: it is in the stop that we
 * asked for; 2: in another; 0: in none; -ESRCH: another program, or its end.
 */
static int look_for_stop(pid_t pid)
{
	siginfo_t info = { 0 };
	int event;

	if (waitid(P_PID, pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
		return -ESRCH;
	if (!info.si_pid)
		return 0;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		return -ESRCH;
	event = info.si_status >> 8;
	if (event == PTRACE_EVENT_EXEC || event == PTRACE_EVENT_EXIT)
		return -ESRCH;
	return event == PTRACE_EVENT_STOP && (info.si_status & 0xff) == SIGTRAP ? 1 : 2;
}

/* As look_for_stop(); 0: it is asleep, and will stop before it runs. */
static int wait_for_stop(pid_t pid)
{
	uint64_t start = shr_now_ns();

	for (;;) {
		uint64_t waited;
		int ret = look_for_stop(pid);

		if (ret)
			return ret;
		waited = shr_now_ns() - start;
		if (waited > ASLEEP_NS && sleeps_elsewhere(pid))
			return 0;
		if (waited > STOP_NS)
			return -ETIMEDOUT;
		shr_sleep_ns(LOOK_NS);
	}
}

/*
 * From the stop that we asked for. When it was killed meanwhile, its next stop is that
 * of its exit, before which the session has to end: that one is left to be collected.
 */
static void go_on(pid_t pid)
{
	int status;

	if (look_for_stop(pid) == 1 && waitpid(pid, &status, WNOHANG | __WALL) == pid)
		ptrace(PTRACE_CONT, pid, NULL, 0);
}

/* It has one thread only, which is the one that is traced. */
static int ask_alone(struct attempt *a)
{
	int stop, ret;

	/* Whom we do not trace the driver only looks up. */
	if (ptrace(PTRACE_INTERRUPT, a->pid, NULL, 0) < 0)
		return ask_as(a, a->pid);
	stop = wait_for_stop(a->pid);
	if (stop < 0)
		return stop;
	/* It may have made a thread before, which is not stopped. */
	ret = ask_threads(a);
	if (!ret && !a->others)
		ask_as(a, a->pid);
	if (stop == 1)
		go_on(a->pid);
	return ret < 0 ? ret : a->ret;
}

int gp_enable_existing(struct kfd_ioctl_dbg_trap_args *args, gp_enable_fn ask, void *data)
{
	struct attempt a = {
		.args = args,
		.ask = ask,
		.data = data,
		.pid = args->pid,
		.ret = -ESRCH,
	};
	int ret, i;

	for (i = 0; i < ROUNDS; i++) {
		ret = ask_threads(&a);
		if (ret)
			return ret < 0 ? ret : a.ret;
		if (!a.others)
			return ask_alone(&a);
	}
	return -ESRCH;
}
