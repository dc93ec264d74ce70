// SPDX-License-Identifier: GPL-2.0-only
/*
 * takeover PID: two debuggers of one process, the first of which detaches after it
 * has opened the debug session, as newer drivers allow. It suspends all queues; the
 * second one traces the process and asks for a session, too. Prints
 *
 *	suspend by the first: N, or an error
 *	session of the second: an error
 *	resume by the first: N, or an error
 *
 * and "waits" when the first has ended. On SIGUSR1 the second ends the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX 16

static pid_t target;
static int kfd = -1;

static int trap(struct kfd_ioctl_dbg_trap_args *args, uint32_t op)
{
	int ret;

	args->pid = (uint32_t)target;
	args->op = op;
	ret = ioctl(kfd, AMDKFD_IOC_DBG_TRAP, args);
	return ret < 0 ? -errno : ret;
}

static int attach(void)
{
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || ptrace(PTRACE_SEIZE, target, NULL, NULL))
		return -errno;
	return 0;
}

static int enable(void)
{
	struct kfd_ioctl_dbg_trap_args args = { 0 };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	args.enable.dbg_fd = (uint32_t)fds[1];
	return trap(&args, KFD_IOC_DBG_TRAP_ENABLE);
}

/* A process that is traced is left in a stop alone. */
static int detach(void)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, target, NULL, NULL) ||
	    waitpid(target, &status, __WALL) != target || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_DETACH, target, NULL, NULL))
		return -errno;
	return 0;
}

/* Suspend all queues; new ones have to be acknowledged first. */
static int suspend(uint32_t *ids, uint32_t *count)
{
	struct kfd_queue_snapshot_entry entries[MAX];
	struct kfd_ioctl_dbg_trap_args snapshot = {
		.queue_snapshot = {
			.exception_mask = KFD_EC_MASK(EC_QUEUE_NEW),
			.snapshot_buf_ptr = (uintptr_t)entries,
			.num_queues = MAX,
			.entry_size = sizeof(entries[0]),
		},
	};
	struct kfd_ioctl_dbg_trap_args args = { 0 };
	uint32_t i;
	int ret;

	ret = trap(&snapshot, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT);
	if (ret < 0)
		return ret;
	*count = snapshot.queue_snapshot.num_queues;
	for (i = 0; i < *count && i < MAX; i++)
		ids[i] = entries[i].queue_id;
	args.suspend_queues.queue_array_ptr = (uintptr_t)ids;
	args.suspend_queues.num_queues = *count;
	return trap(&args, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES);
}

static int resume(uint32_t *ids, uint32_t count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.resume_queues = {
			.queue_array_ptr = (uintptr_t)ids,
			.num_queues = count,
		},
	};

	return trap(&args, KFD_IOC_DBG_TRAP_RESUME_QUEUES);
}

static int report(const char *what, int ret)
{
	if (ret < 0)
		printf("%s: %s\n", what, strerror(-ret));
	else
		printf("%s: %d\n", what, ret);
	fflush(stdout);
	return ret;
}

/* A byte to the second when its queues are suspended, and one from it. */
static int be_first(int to, int from)
{
	uint32_t ids[MAX], count = 0;
	int ret = attach();
	char byte = 0;

	if (!ret)
		ret = enable();
	if (!ret)
		ret = detach();
	if (ret) {
		report("session of the first", ret);
		return 1;
	}
	ret = report("suspend by the first", suspend(ids, &count));
	if (ret < 0 || write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		return 1;
	report("resume by the first", resume(ids, count));
	return 0;
}

static int be_second(int to, int from, pid_t first)
{
	struct kfd_ioctl_dbg_trap_args args = { 0 };
	sigset_t set;
	char byte = 0;
	int ret, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (read(from, &byte, 1) != 1)
		return 1;
	ret = attach();
	if (!ret)
		ret = enable();
	report("session of the second", ret);
	if (write(to, &byte, 1) != 1 || waitpid(first, NULL, 0) != first)
		return 1;
	printf("waits\n");
	fflush(stdout);
	sigwait(&set, &sig);
	ret = report("end by the second", trap(&args, KFD_IOC_DBG_TRAP_DISABLE));
	return ret < 0 || detach() ? 1 : 0;
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	pid_t first;

	if (argc != 2 || pipe(there) || pipe(back)) {
		fprintf(stderr, "usage: takeover PID\n");
		return 2;
	}
	target = atoi(argv[1]);
	first = fork();
	if (!first) {
		close(there[0]);
		close(back[1]);
		return be_first(there[1], back[0]);
	}
	close(there[1]);
	close(back[0]);
	return be_second(back[1], there[0], first);
}
