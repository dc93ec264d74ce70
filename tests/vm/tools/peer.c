// SPDX-License-Identifier: GPL-2.0-only
/*
 * peer PID: another program that has to do with a GPU process: a profiler that attaches
 * by ptrace, or CRIU with its plug-in for amdgpu. It does what it reads, a line at a
 * time, and says "done LINE", or "failed LINE: ERROR".
 *
 *	seize		traces it, without a stop
 *	interrupt	stops it, and reads its registers
 *	cont		lets it go on, still traced
 *	detach		ends tracing: of one that runs, after a stop
 *	info		as CRIU's plug-in begins a dump: the driver pauses the process and
 *			tells its numbers of devices, buffers, queues and events
 *	unpause		as it ends a dump
 *	keep		keeps a copy of its /dev/kfd, as a child of it does
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FD 64

static pid_t pid;
static bool stopped;

static int trace(int request)
{
	return ptrace(request, pid, NULL, NULL) ? -errno : 0;
}

static int interrupt(void)
{
	struct user_regs_struct regs;
	int status, ret = trace(PTRACE_INTERRUPT);

	if (ret)
		return ret;
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	stopped = true;
	return ptrace(PTRACE_GETREGS, pid, NULL, &regs) ? -errno : 0;
}

static int cont(void)
{
	stopped = false;
	return trace(PTRACE_CONT);
}

static int detach(void)
{
	int ret = stopped ? 0 : interrupt();

	stopped = false;
	return ret ? ret : trace(PTRACE_DETACH);
}

/* A descriptor of ours for the one with that number there, if it is /dev/kfd. */
static int take_kfd(int pidfd, int number)
{
	char path[64], name[16] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	if (readlink(path, name, sizeof(name) - 1) < 0 || strcmp(name, "/dev/kfd"))
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
}

/* A descriptor, or -1. */
static int get_kfd(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), fd = -1, i;

	for (i = 0; i < MAX_FD && fd < 0; i++)
		fd = take_kfd(pidfd, i);
	close(pidfd);
	return fd;
}

static int call(struct kfd_ioctl_criu_args *args)
{
	int fd = get_kfd(), ret;

	if (fd < 0)
		return -ENOENT;
	ret = ioctl(fd, AMDKFD_IOC_CRIU_OP, args) ? -errno : 0;
	close(fd);
	return ret;
}

static int get_info(void)
{
	struct kfd_ioctl_criu_args info = { .op = KFD_CRIU_OP_PROCESS_INFO };
	int ret = call(&info);

	if (!ret)
		printf("devices %u buffers %u objects %u\n", info.num_devices, info.num_bos,
		       info.num_objects);
	return ret;
}

static int step(const char *line)
{
	struct kfd_ioctl_criu_args args = { .op = KFD_CRIU_OP_UNPAUSE };

	if (!strcmp(line, "seize"))
		return trace(PTRACE_SEIZE);
	if (!strcmp(line, "interrupt"))
		return interrupt();
	if (!strcmp(line, "cont"))
		return cont();
	if (!strcmp(line, "detach"))
		return detach();
	if (!strcmp(line, "keep"))
		return get_kfd() < 0 ? -ENOENT : 0;
	if (!strcmp(line, "info"))
		return get_info();
	return strcmp(line, "unpause") ? -EINVAL : call(&args);
}

int main(int argc, char **argv)
{
	char line[64];
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: peer PID < LINES\n");
		return 2;
	}
	setlinebuf(stdout);
	pid = atoi(argv[1]);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		ret = step(line);
		if (ret)
			printf("failed %s: %s\n", line, strerror(-ret));
		else
			printf("done %s\n", line);
	}
	return 0;
}
