// SPDX-License-Identifier: LGPL-2.1-or-later
/* The systems behind the table of calls: the live one, and the files of a snapshot. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/kfd_ioctl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpreempt/view.h>

#include "shared/cgroup.h"
#include "shared/util.h"
#include "apart.h"
#include "internal.h"

/* The kernel's struct linux_dirent64, which has no header. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/* opendir() takes memory, which the copy of a process with threads must not. */
static int gp_list_opened(int dir, int (*fn)(void *arg, const char *name), void *arg)
{
	char some[4096] __attribute__((aligned(_Alignof(struct entry))));
	const struct entry *entry;
	int ret = 0;
	long at, n;

	while ((n = syscall(SYS_getdents64, dir, some, sizeof(some))) > 0) {
		for (at = 0; at < n && !ret; at += entry->len) {
			entry = (const struct entry *)(some + at);
			if (entry->name[0] != '.')
				ret = fn(arg, entry->name);
		}
		if (ret)
			return ret;
	}
	return n < 0 ? -errno : 0;
}

int gp_list_names(const char *path, int (*fn)(void *arg, const char *name), void *arg)
{
	__cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -errno : gp_list_opened(dir, fn, arg);
}

/* Read up to size bytes of a file. Returns how many, or -errno. */
static ssize_t gp_read_opened(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += n;
	}
	return used;
}

/* How often its threads are listed again, when all had ended since. */
#define ROUNDS 8
/* Longest time until the thread stops. */
#define STOP_NS (2 * NSEC_PER_SEC)
/* After this time the thread may be asleep where no signal wakes it. */
#define ASLEEP_NS      (5 * NSEC_PER_MSEC)
#define ENABLE_LOOK_NS (50 * NSEC_PER_USEC)

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

/* Ask by this thread. Not 0: the driver has found the process by it. */
static int ask_thread(void *arg, const char *name)
{
	struct attempt *a = arg;
	pid_t task = strtol(name, NULL, 10);

	if (task == a->pid)
		return 0;
	a->others++;
	return ask_as(a, task) != -ESRCH;
}

/* Ask by another thread. 1: one that is not traced answered; 0: there is none; -errno. */
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
	/* The text is "running", -1 (a page fault), or the number; x32's has a bit. */
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
 * Look at the first thread's state without collecting it. 1: it is in the stop that we asked
 * for; 2: in another stop; 0: in none; -ESRCH: it runs another program, or is ending.
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

/* Wait for a result of look_for_stop(). 0: the thread sleeps, and will stop before it runs. */
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
		shr_sleep_ns(ENABLE_LOOK_NS);
	}
}

/*
 * Let the thread go on from the stop that we asked for. If it was killed meanwhile, its next
 * stop is that of its exit. The session has to end before that one, so leave it to be collected.
 */
static void go_on(pid_t pid)
{
	int status;

	if (look_for_stop(pid) == 1 && waitpid(pid, &status, WNOHANG | __WALL) == pid)
		ptrace(PTRACE_CONT, pid, NULL, 0);
}

/* Ask for a process with one thread, which is the thread that we trace. */
static int ask_alone(struct attempt *a)
{
	int stop, ret;

	/* The driver only looks up a process that we do not trace. */
	if (ptrace(PTRACE_INTERRUPT, a->pid, NULL, 0) < 0)
		return ask_as(a, a->pid);
	stop = wait_for_stop(a->pid);
	if (stop < 0)
		return stop;
	/* The process may have made a thread before it stopped; that thread is not stopped. */
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

/* The system itself. */

/* Tests have another: the driver need not be there. */
#ifndef GP_KFD_DEVICE
#define GP_KFD_DEVICE "/dev/kfd"
#endif

#define STACK		(16 * 1024)
#define WATCH_STACK	(64 * 1024)
#define STOP_TIMEOUT_NS (2 * NSEC_PER_SEC)
/* Looks for a directory of the module. */
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
	return ptrace(request, pid, NULL, data) < 0 ? -errno : 0;
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

		/* WNOWAIT leaves the stop to the tracer, which collects it. */
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
	sem_init(&w->next, 0, 0);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = w->fd < 0 ? -errno : shr_thread_start(&w->thread, WATCH_STACK, true, watch_thread, w);
	if (ret) {
		shr_cleanup_fd(&w->fd);
		free(w);
		return ret;
	}
	*out = w;
	*fd = w->fd;
	return 0;
}

static void live_watch_next(void *be, void *watch)
{
	struct watch *w = watch;
	eventfd_t count;

	(void)be;
	eventfd_read(w->fd, &count);
	sem_post(&w->next);
}

/* Wait until the thread reports that it is done. */
static bool wait_done(struct watch *w)
{
	uint64_t count, deadline = shr_now_ns() + STOP_TIMEOUT_NS;

	while (!atomic_load(&w->done)) {
		uint64_t now = shr_now_ns();

		if (now > deadline)
			return false;
		/* The count that we read may be of an earlier stop. */
		if (shr_readable(w->fd, (deadline - now) / NSEC_PER_MSEC + 1) &&
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
	/* The path is not a stranger's, but one of the command line may be a pipe. */
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

/*
 * Without this right in the first user namespace the kernel answers for each attribute trusted.*
 * that there is none: xattr_permission().
 */
static bool sees_trusted_attributes(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	char ns[32] = "";

	return !syscall(SYS_capget, &head, caps) &&
	       caps[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN) &&
	       readlink("/proc/self/ns/user", ns, sizeof(ns) - 1) > 0 &&
	       !strcmp(ns, "user:[4026531837]");
}

static int live_open_cgroups(void *be)
{
	int root = shr_cgroup_root();

	(void)be;
	if (root < 0 || sees_trusted_attributes())
		return root;
	close(root);
	return -EPERM;
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
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t n;

	(void)be;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

static uint64_t live_cpu_time(void *be, pid_t pid)
{
	(void)be;
	return shr_process_cpu_ns(pid);
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
	struct kfd_ioctl_dbg_trap_args args = { .pid = q->target, .op = KFD_IOC_DBG_TRAP_DISABLE };
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
	/* A helper that shares the caller's memory is the caller for the driver. */
	if (gp_apart_own_memory())
		return -ETIMEDOUT;
	q = gp_apart_new();
	if (!q)
		return -ENOMEM;
	/* Wait 2 s at most: a driver that hangs must not keep a caller that only asks. */
	ret = gp_apart_run(NULL, q, -1, be_asked_about, GP_APART_WAIT_NS, &place);
	if (ret == -ETIMEDOUT)
		return ret;
	if (!ret)
		ret = q->answer;
	else if (ret == -EBUSY) /* the driver's answer, not ours */
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
	.cpu_time = live_cpu_time,
	.device_of = live_device_of,
	.is_root = live_is_root,
	.ask_disable = live_ask_disable,
	.pause_twice = live_pause_twice,
	.open_process = live_open_process,
	.take_device = live_take_device,
	.same_file = live_same_file,
};

/*
 * A host whose files gpreempt-lab snapshot has saved: each at its own path, below the
 * snapshot's directory. A device is a file with its number ("226:128"), and a link is
 * one with its target. There is no driver, and no process to act on.
 */

/* The back-end's own is the descriptor of the snapshot's directory. */
static int root_of(const void *be)
{
	return (int)(intptr_t)be;
}

/*
 * Open a file below the directory, which another user may have made: no link leads out of it,
 * and only regular files and directories are opened. type is S_IFREG or S_IFDIR. Returns a
 * descriptor, -EINVAL for another type, or -errno.
 */
static int open_below(const void *be, const char *path, mode_t type)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	__cleanup_fd int found = -1;
	struct stat st;
	char again[32];
	int fd;

	path += strspn(path, "/");
	found = syscall(SYS_openat2, root_of(be), path, &how, sizeof(how));
	if (found < 0 || fstat(found, &st))
		return -errno;
	if ((st.st_mode & S_IFMT) != type)
		return -EINVAL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t snapshot_read_file(void *be, const char *path, char *buf, size_t size)
{
	__cleanup_fd int fd = open_below(be, path, S_IFREG);

	return fd < 0 ? fd : gp_read_opened(fd, buf, size);
}

static int snapshot_list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name),
			     void *arg)
{
	__cleanup_fd int fd = open_below(be, path, S_IFDIR);

	return fd < 0 ? fd : gp_list_opened(fd, fn, arg);
}

int gp_parse_device(char *text, ssize_t n, uint64_t *device)
{
	unsigned int major, minor;

	if (n < 0)
		return n;
	text[n] = '\0';
	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		return -ENODEV;
	*device = makedev(major, minor);
	return 0;
}

static int snapshot_device_of(void *be, const char *path, uint64_t *device)
{
	char text[GP_DEVICE_TEXT];

	return gp_parse_device(text, snapshot_read_file(be, path, text, sizeof(text) - 1), device);
}

/* Yes: only root can take a snapshot. */
static int snapshot_is_root(void *be)
{
	(void)be;
	return 1;
}

static int no_driver(void *be)
{
	(void)be;
	return -EOPNOTSUPP;
}

/* The roles of a host are not in a snapshot. */
static int no_cgroups(void *be)
{
	(void)be;
	return -ENOENT;
}

static ssize_t no_pause(void *be, char *text, size_t size)
{
	(void)be;
	(void)text;
	(void)size;
	return -EOPNOTSUPP;
}

static int no_process(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return -EOPNOTSUPP;
}

/* Calls that need the driver or a process fail. */
const struct gp_backend_ops gp_backend_snapshot = {
	.open_kfd = no_driver,
	.read_file = snapshot_read_file,
	.read_link = snapshot_read_file,
	.open_cgroups = no_cgroups,
	.list_dir = snapshot_list_dir,
	.read_root_file = snapshot_read_file,
	.device_of = snapshot_device_of,
	.is_root = snapshot_is_root,
	.ask_disable = no_driver,
	.pause_twice = no_pause,
	.try_trace = no_process,
	.open_process = no_process,
};

int gp_snapshot_open(const char *dir, void **be)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	__cleanup_fd int below = -1;

	if (fd < 0)
		return -errno;
	*be = (void *)(intptr_t)fd;
	below = open_below(*be, GP_SYSFS_PROC, S_IFDIR);
	if (below >= 0)
		return 0;
	close(fd);
	return below == -EACCES ? below : -EPROTO;
}

void gp_snapshot_end(void *be)
{
	close(root_of(be));
}
