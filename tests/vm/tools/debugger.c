// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugger PID [kfd|disable|stop [S]]: another debugger. Attaches to the process, with "kfd"
 * also opens a KFD debug session, says "attached" and stays until killed. With "disable" it
 * only ends whatever session the process has, which needs no right on older kernels. With
 * "stop" it stops that thread alone for 3 s, or S.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int debug_trap(struct kfd_ioctl_dbg_trap_args *args)
{
	int kfd;

	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		return -errno;
	return ioctl(kfd, AMDKFD_IOC_DBG_TRAP, args) ? -errno : 0;
}

static int enable_session(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = (uint32_t)pid,
		.op = KFD_IOC_DBG_TRAP_ENABLE,
	};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	args.enable.dbg_fd = (uint32_t)fds[1];
	return debug_trap(&args);
}

static int disable_session(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = (uint32_t)pid,
		.op = KFD_IOC_DBG_TRAP_DISABLE,
	};
	int ret = debug_trap(&args);

	if (ret)
		fprintf(stderr, "debugger: disable: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}

/* Passes the target's signals on for as long as it lives. */
static void trace(pid_t pid)
{
	int status, sig;

	while (waitpid(pid, &status, __WALL) == pid) {
		if (!WIFSTOPPED(status))
			return;
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig);
	}
}

/*
 * One thread alone: it goes on when we end. Of one that is killed meanwhile, its parent
 * does not see the end before ours.
 */
static int stop(pid_t tid, int seconds)
{
	int i, status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
		perror("debugger: stop");
		return 1;
	}
	for (i = 0; i < seconds * 10; i++) {
		if (waitpid(tid, &status, __WALL | WNOHANG) == tid && !WIFSTOPPED(status))
			break;
		usleep(100000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: debugger PID [kfd|disable|stop [S]]\n");
		return 2;
	}
	pid = atoi(argv[1]);
	if (argc > 2 && strcmp(argv[2], "disable") == 0)
		return disable_session(pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		perror("debugger: attach");
		return 1;
	}
	ret = argc > 2 && strcmp(argv[2], "kfd") == 0 ? enable_session(pid) : 0;
	if (ret) {
		fprintf(stderr, "debugger: session: %s\n", strerror(-ret));
		return 1;
	}
	printf("attached\n");
	fflush(stdout);
	if (argc > 2 && strcmp(argv[2], "stop") == 0)
		return stop(pid, argc > 3 ? atoi(argv[3]) : 3);
	trace(pid);
	return 0;
}
