// SPDX-License-Identifier: LGPL-2.1-or-later
/* The system itself. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <gpreempt/view.h>

#include "lib/core/apart.h"
#include "lib/core/backend.h"
#include "lib/core/internal.h"
#include "lib/backend/enable.h"
#include "lib/backend/names.h"
#include "shared/cgroup.h"
#include "shared/clock.h"
#include "shared/device.h"
#include "shared/macro.h"
#include "shared/syscall.h"
#include "shared/thread.h"

/* Tests have another: the driver need not be there. */
#ifndef GP_KFD_DEVICE
#define GP_KFD_DEVICE "/dev/kfd"
#endif

#define STACK		(16 * 1024)
#define WATCH_STACK	(64 * 1024)
#define STOP_TIMEOUT_NS (2 * NSEC_PER_SEC)
/* For a directory of the module. */
#define LOOKS	20
#define LOOK_NS (5 * NSEC_PER_MSEC)

static int live_open_kfd(void *be)
{
	int fd;

	(void)be;
	fd = gp_apart_own_memory();
	if (fd)
		return fd;
	fd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int do_trap(void *data, struct kfd_ioctl_dbg_trap_args *args)
{
	int ret = ioctl(*(int *)data, AMDKFD_IOC_DBG_TRAP, args);

	return ret < 0 ? -errno : ret;
}

static int live_ioctl(void *be, int fd, unsigned long request, void *arg)
{
	struct kfd_ioctl_dbg_trap_args *trap = arg;
	int ret;

	(void)be;
	if (request == AMDKFD_IOC_DBG_TRAP && trap->op == KFD_IOC_DBG_TRAP_ENABLE)
		return gp_enable_existing(trap, do_trap, &fd);
	ret = ioctl(fd, request, arg);
	return ret < 0 ? -errno : ret;
}

static int live_ptrace(void *be, int request, pid_t pid, unsigned long data)
{
	(void)be;
	if (ptrace(request, pid, NULL, data) < 0)
		return -errno;
	return 0;
}

static void seize(void *shared)
{
	ptrace(PTRACE_SEIZE, *(pid_t *)shared, NULL, 0);
}

static int live_try_trace(void *be, pid_t pid)
{
	pid_t *shared = gp_apart_new();
	int place, ret;

	(void)be;
	if (!shared)
		return -ENOMEM;
	*shared = pid;
	ret = gp_apart_run(NULL, shared, -1, seize, 0, &place);
	if (ret != -ETIMEDOUT)
		gp_apart_free(shared);
	return ret == -EBUSY ? -ETIMEDOUT : ret;
}

static int live_wait(void *be, pid_t pid, int *status)
{
	pid_t ret;

	(void)be;
	do {
		ret = waitpid(pid, status, WNOHANG | __WALL);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/*
 * A thread that waits for stops of one traced process and makes a descriptor
 * readable: waitpid() has none, and SIGCHLD belongs to the program. It leaves
 * the stop itself for the tracer to collect.
 */
struct watch {
	pthread_t thread;
	pid_t pid;
	int fd;
	sem_t next;
	atomic_bool quit;
	atomic_bool done; /* the thread will not touch this any more */
};

static void *watch_thread(void *arg)
{
	struct watch *w = arg;

	while (!atomic_load(&w->quit)) {
		siginfo_t info;

		/* WNOWAIT: the tracer collects it, this only looks. */
		if (waitid(P_PID, w->pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (atomic_load(&w->quit))
			break;
		eventfd_write(w->fd, 1);
		shr_sem_wait(&w->next);
	}
	atomic_store(&w->done, true);
	eventfd_write(w->fd, 1);
	return NULL;
}

static int live_watch_start(void *be, pid_t pid, void **out, int *fd)
{
	struct watch *w = calloc(1, sizeof(*w));
	int ret;

	(void)be;
	if (!w)
		return -ENOMEM;
	w->pid = pid;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd < 0) {
		ret = -errno;
		goto err_free;
	}
	sem_init(&w->next, 0, 0);
	ret = shr_thread_start(&w->thread, WATCH_STACK, true, watch_thread, w);
	if (ret)
		goto err_close;
	*out = w;
	*fd = w->fd;
	return 0;

err_close:
	close(w->fd);
err_free:
	free(w);
	return ret;
}

static void live_watch_next(void *be, void *watch)
{
	struct watch *w = watch;
	eventfd_t count;

	(void)be;
	eventfd_read(w->fd, &count);
	sem_post(&w->next);
}

/* Wait until the thread has said that it is done. */
static bool wait_done(struct watch *w)
{
	uint64_t count, deadline = shr_now_ns() + STOP_TIMEOUT_NS;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	while (!atomic_load(&w->done)) {
		uint64_t now = shr_now_ns();

		if (now > deadline)
			return false;
		/* What is there to read may be of an earlier stop. */
		if (poll(&p, 1, (deadline - now) / NSEC_PER_MSEC + 1) > 0 &&
		    read(w->fd, &count, sizeof(count)) < 0)
			continue;
	}
	return true;
}

static int live_watch_stop(void *be, void *watch)
{
	struct watch *w = watch;

	(void)be;
	atomic_store(&w->quit, true);
	sem_post(&w->next);
	if (!wait_done(w)) {
		/*
		 * The thread sleeps in the kernel until the process stops or
		 * this one ends; it keeps its memory and its descriptor.
		 */
		pthread_detach(w->thread);
		return -ETIMEDOUT;
	}
	pthread_join(w->thread, NULL);
	sem_destroy(&w->next);
	close(w->fd);
	free(w);
	return 0;
}

static ssize_t live_read_file(void *be, const char *path, char *buf, size_t size)
{
	__cleanup_fd int fd = -1;

	(void)be;
	/* Not of strangers, but a path of the command line may be a pipe. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : gp_read_opened(fd, buf, size);
}

static ssize_t live_read_root_file(void *be, const char *path, char *buf, size_t size)
{
	__cleanup_fd int fd = -1;
	struct stat st;

	(void)be;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid)
		return -EACCES;
	return gp_read_opened(fd, buf, size);
}

static int live_open_cgroups(void *be)
{
	(void)be;
	return shr_cgroup_root();
}

static ssize_t live_read_link(void *be, const char *path, char *buf, size_t size)
{
	ssize_t n;

	(void)be;
	n = readlink(path, buf, size);
	return n < 0 ? -errno : n;
}

static int live_list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name),
			 void *arg)
{
	(void)be;
	return gp_list_names(path, fn, arg);
}

static int live_read_memory(void *be, pid_t pid, uint64_t address, void *buf, size_t size)
{
	struct iovec local = { .iov_base = buf, .iov_len = size };
	struct iovec remote = {
		.iov_base = (void *)(uintptr_t)address,
		.iov_len = size,
	};
	ssize_t n;

	(void)be;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

static int live_device_of(void *be, const char *path, uint64_t *device)
{
	(void)be;
	return shr_device_at(AT_FDCWD, path, 0, device);
}

static int live_is_root(void *be)
{
	(void)be;
	return geteuid() == 0;
}

struct question {
	pid_t target;
	int answer;
};

static int ask(void *arg)
{
	struct question *q = arg;
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = q->target,
		.op = KFD_IOC_DBG_TRAP_DISABLE,
	};
	__cleanup_fd int kfd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);

	q->answer = 0;
	if (kfd < 0 || ioctl(kfd, AMDKFD_IOC_DBG_TRAP, &args))
		q->answer = -errno;
	return 0;
}

/* The helper process. It has a child that asks, for it is no stranger to itself. */
static void be_asked_about(void *shared)
{
	struct question *q = shared;
	/* The helper's stack is shared with its child. */
	char stack[STACK] __attribute__((aligned(16)));
	pid_t asker;

	q->answer = -ENODEV;
	q->target = getpid();
	if (open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) < 0 || !gp_apart_enter(q))
		return;
	asker = clone(ask, stack + STACK, 0, q);
	if (asker < 0)
		q->answer = -errno;
	else
		waitpid(asker, NULL, __WALL);
}

static int live_ask_disable(void *be)
{
	struct question *q;
	int place, ret;

	(void)be;
	/* With the caller's memory, the driver would take the helper for the caller. */
	if (gp_apart_own_memory())
		return -ETIMEDOUT;
	q = gp_apart_new();
	if (!q)
		return -ENOMEM;
	/* In all 2 s: a driver that hangs must not keep who only asks. */
	ret = gp_apart_run(NULL, q, -1, be_asked_about, GP_APART_WAIT_NS, &place);
	if (ret == -ETIMEDOUT)
		return ret;
	if (!ret)
		ret = q->answer;
	else if (ret == -EBUSY) /* it is an answer of the driver */
		ret = -ETIMEDOUT;
	gp_apart_free(q);
	return ret;
}

struct paused_twice {
	ssize_t n; /* bytes of text, or -errno */
	char text[GP_PAUSED_TWICE_TEXT];
};

/* The helper process. The module has its directory a moment after it opens /dev/kfd. */
static void be_paused_twice(void *shared)
{
	struct kfd_ioctl_criu_args args = { .op = KFD_CRIU_OP_PROCESS_INFO };
	struct paused_twice *p = shared;
	char path[GP_PID_PATH];
	int i, kfd, fd = -1;

	p->n = -ENODEV;
	kfd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);
	if (kfd < 0 || !gp_apart_enter(p))
		return;
	p->n = 0;
	for (i = 0; i < 2 && !p->n; i++)
		if (ioctl(kfd, AMDKFD_IOC_CRIU_OP, &args))
			p->n = -errno;
	gp_pid_path(path, GP_DEBUGFS "/" GP_VIEW_DIR "/" GP_VIEW_PID_DIR, getpid(),
		    GP_VIEW_GPUS_FILE);
	for (i = 0; i < LOOKS && fd < 0 && !p->n; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			shr_sleep_ns(LOOK_NS);
	}
	if (!p->n)
		p->n = read(fd, p->text, sizeof(p->text));
	if (p->n < 0)
		p->n = fd < 0 ? -ENOENT : -errno;
}

static ssize_t live_pause_twice(void *be, char *text, size_t size)
{
	struct paused_twice *p;
	int place;
	ssize_t n;

	(void)be;
	n = gp_apart_own_memory();
	if (n)
		return n;
	p = gp_apart_new();
	if (!p)
		return -ENOMEM;
	_Static_assert(sizeof(*p) <= GP_APART_SIZE, "it is shared");
	n = gp_apart_run(NULL, p, -1, be_paused_twice, GP_APART_WAIT_NS, &place);
	if (n == -ETIMEDOUT)
		return n;
	n = n ?: p->n;
	if (n > 0)
		memcpy(text, p->text, (size_t)n < size ? (size_t)n : size);
	gp_apart_free(p);
	return n > (ssize_t)size ? (ssize_t)size : n;
}

static int live_open_process(void *be, pid_t pid)
{
	int fd;

	(void)be;
	fd = shr_pidfd_open(pid);
	return fd < 0 ? -errno : fd;
}

static int live_take_device(void *be, pid_t pid, int process, int n, uint64_t device)
{
	uint64_t found;
	int fd, ret;

	(void)be;
	(void)pid;
	fd = shr_pidfd_getfd(process, n);
	if (fd < 0)
		return -errno;
	ret = shr_device_at(fd, "", AT_EMPTY_PATH, &found);
	if (!ret && found == device)
		return fd;
	close(fd);
	return ret ? ret : -ENODEV;
}

static bool live_same_file(void *be, pid_t pid, int a, int b)
{
	(void)be;
	return !syscall(SYS_kcmp, pid, pid, KCMP_FILE, a, b);
}

const struct gp_backend_ops gp_backend_live = {
	.open_kfd = live_open_kfd,
	.ioctl = live_ioctl,
	.ptrace = live_ptrace,
	.try_trace = live_try_trace,
	.wait = live_wait,
	.watch_start = live_watch_start,
	.watch_next = live_watch_next,
	.watch_stop = live_watch_stop,
	.read_file = live_read_file,
	.read_root_file = live_read_root_file,
	.read_link = live_read_link,
	.open_cgroups = live_open_cgroups,
	.list_dir = live_list_dir,
	.read_memory = live_read_memory,
	.device_of = live_device_of,
	.is_root = live_is_root,
	.ask_disable = live_ask_disable,
	.pause_twice = live_pause_twice,
	.open_process = live_open_process,
	.take_device = live_take_device,
	.same_file = live_same_file,
};
