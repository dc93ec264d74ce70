// SPDX-License-Identifier: GPL-2.0-only
/* Tests that need the real kernel and no GPU: watching a traced process, and the watchdog. */
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "hold/escape.h"
#include "unit-host.h"
#include "unit.h"

#define MSEC 1000000ULL

static const struct gp_backend_ops *ops = &gp_backend_live;
static void *watch;
static pid_t child;
static int fd;

static void start_watch(void)
{
	child = unit_make_sleeper();
	ck_assert_int_eq(ops->ptrace(NULL, PTRACE_SEIZE, child, PTRACE_O_TRACEEXIT), 0);
	ck_assert_int_eq(ops->watch_start(NULL, child, &watch, &fd), 0);
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
}

static bool readable(int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

/* A device that is no driver refuses; the process that was made is gone. */
TEST(asks_disable)
{
	ck_assert_int_eq(ops->ask_disable(NULL), -ENOTTY);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* No helper is left that can't open the device: it ends at once. */
TEST(asks_without_device)
{
	unit_fail_path("/dev/null", ENOENT);
	ck_assert_int_eq(ops->ask_disable(NULL), -ENODEV);
	unit_path_fails = NULL;
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST(sees_stops)
{
	int i, status;

	start_watch();
	ck_assert(!readable(20));
	ck_assert_int_eq(ops->wait(NULL, child, &status), 0);
	for (i = 0; i < 100; i++) {
		kill(child, SIGUSR1);
		unit_readable(fd);
		ck_assert_int_eq(ops->wait(NULL, child, &status), child);
		ck_assert_int_eq(status, SIGUSR1 << 8 | 0x7f);
		ops->ptrace(NULL, PTRACE_CONT, child, 0);
		ops->watch_next(NULL, watch);
	}
	ck_assert(!readable(20));
	ops->ptrace(NULL, PTRACE_INTERRUPT, child, 0);
	ck_assert_int_eq(ops->watch_stop(NULL, watch), 0);
	/* The stop was left for us. */
	ck_assert_int_eq(ops->wait(NULL, child, &status), child);
	ck_assert_int_eq(ops->ptrace(NULL, PTRACE_DETACH, child, 0), 0);
	end_child();
}

/* The watch ends while a stop waits to be collected: the stop is there afterwards. */
TEST(stop_with_stop)
{
	int status;

	start_watch();
	kill(child, SIGUSR1);
	unit_readable(fd);
	ck_assert_int_eq(ops->watch_stop(NULL, watch), 0);
	ck_assert_int_eq(ops->wait(NULL, child, &status), child);
	ck_assert_int_eq(status, SIGUSR1 << 8 | 0x7f);
	end_child();
}

TEST(sees_end)
{
	int status;

	start_watch();
	kill(child, SIGKILL);
	unit_readable(fd);
	ck_assert_int_eq(ops->wait(NULL, child, &status), child);
	/* The process was killed, and is in the exit stop, which is ours to end. */
	ck_assert_int_eq(status >> 16, PTRACE_EVENT_EXIT);
	ck_assert_int_eq(ops->watch_stop(NULL, watch), 0);
	ck_assert_int_eq(ops->ptrace(NULL, PTRACE_DETACH, child, 0), 0);
	ck_assert_int_eq(waitpid(child, &status, __WALL), child);
	ck_assert(WIFSIGNALED(status));
}

static int thread_waits(void *arg, const char *tid)
{
	char text[128];

	(void)arg;
	shr_read_start(text, sizeof(text), "/proc/self/task/%s/syscall", tid);
	return atol(text) == SYS_waitid;
}

/* There is no stop that wakes the watch: it returns that. */
TEST(no_stop)
{
	start_watch();
	/* Else it ends before it begins to wait. */
	while (!ops->list_dir(NULL, "/proc/self/task", thread_waits, NULL))
		shr_sleep_ns(MSEC);
	ck_assert_int_eq(ops->watch_stop(NULL, watch), -ETIMEDOUT);
	end_child();
}

TEST(files)
{
	char text[64];
	ssize_t n;

	n = ops->read_file(NULL, "/proc/self/comm", text, sizeof(text));
	ck_assert_int_gt(n, 3);
	ck_assert_int_eq(ops->read_file(NULL, "/proc/self/comm", text, 3), 3);
	ck_assert_int_eq(ops->read_file(NULL, "/no/such", text, 9), -ENOENT);
	ck_assert_int_eq(ops->read_link(NULL, "/no/such", text, 9), -ENOENT);
	ck_assert_int_eq(ops->read_link(NULL, "/proc", text, 9), -EINVAL);
}

/* The device here is no driver, and refuses a driver's calls. */
TEST(device)
{
	struct kfd_ioctl_get_version_args version = { 0 };
	struct kfd_ioctl_dbg_trap_args enable = {
		.pid = getpid(),
		.op = KFD_IOC_DBG_TRAP_ENABLE,
	};
	uint64_t number = 0;
	int kfd = ops->open_kfd(NULL);

	/* A child of the program that uses the library must not keep it open. */
	ck_assert_int_eq(fcntl(kfd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(ops->ioctl(NULL, kfd, AMDKFD_IOC_GET_VERSION, &version), -ENOTTY);
	ck_assert_int_lt(ops->ioctl(NULL, kfd, AMDKFD_IOC_DBG_TRAP, &enable), 0);
	close(kfd);
	ck_assert_int_eq(ops->device_of(NULL, "/dev/null", &number), 0);
	ck_assert_uint_eq(number, makedev(1, 3));
	ck_assert_int_eq(ops->device_of(NULL, "/proc/self/comm", &number), -ENODEV);
	ck_assert_int_eq(ops->is_root(NULL), !geteuid());
}

TEST(memory)
{
	uint64_t here = 0x1234567890abcdef, there = 0;

	ck_assert_int_eq(ops->read_memory(NULL, getpid(), (uintptr_t)&here, &there, sizeof(there)),
			 0);
	ck_assert_uint_eq(there, here);
	ck_assert_int_lt(ops->read_memory(NULL, getpid(), 8, &there, sizeof(there)), 0);
}

/* The library opens on this host, whatever it has. */
TEST(library)
{
	struct gpreempt_options options = { .size = sizeof(options) };
	struct {
		struct gpreempt_options known;
		uint64_t more;
	} newer = { 0 };
	struct gpreempt *one = NULL, *two = NULL;
	uint64_t ticks = 0;

	ck_assert_int_eq(gpreempt_new(NULL, &one), 0);
	ck_assert_int_eq(gpreempt_new(&options, &two), 0);
	ck_assert_int_eq(gpreempt_start_time(one, getpid(), &ticks), 0);
	ck_assert_uint_gt(ticks, 0);
	gpreempt_free(one);
	gpreempt_free(two);
	gpreempt_free(NULL);
	options.size = 3;
	ck_assert_int_eq(gpreempt_new(&options, &one), -EINVAL);
	/* Options of an older header, and of a newer one. */
	options.size = offsetof(struct gpreempt_options, from);
	ck_assert_int_eq(gpreempt_new(&options, &one), 0);
	gpreempt_free(one);
	newer.known.size = sizeof(newer);
	ck_assert_int_eq(gpreempt_new(&newer.known, &one), 0);
	gpreempt_free(one);
	newer.more = 1;
	ck_assert_int_eq(gpreempt_new(&newer.known, &one), -E2BIG);
	ck_assert_str_eq(gpreempt_version(), GP_VERSION);
}

/* How long a child with a watchdog lives that does that. */
static uint64_t time_to_death(void (*that)(const struct watchdog *d))
{
	uint64_t start = shr_now_ns();

	child = fork();
	if (!child) {
		struct watchdog d;

		if (watchdog_start(&d))
			_exit(1);
		that(&d);
		_exit(0);
	}
	ck_assert_int_eq(unit_status(child), -SIGKILL);
	return shr_now_ns() - start;
}

static void be_stopped(const struct watchdog *d)
{
	watchdog_pet(d, 100 * MSEC);
	raise(SIGSTOP);
}

static void block_everything(const struct watchdog *d)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	watchdog_pet(d, 100 * MSEC);
	for (;;)
		pause();
}

static void live_longer(const struct watchdog *d)
{
	watchdog_pet(d, 400 * MSEC);
	watchdog_pet(d, 1000 * MSEC);
	raise(SIGSTOP);
}

static void live_shorter(const struct watchdog *d)
{
	watchdog_pet(d, 3600000 * MSEC);
	watchdog_pet(d, 100 * MSEC);
	raise(SIGSTOP);
}

TEST(watchdog_kills)
{
	ck_assert_uint_ge(time_to_death(be_stopped), 100 * MSEC);
	ck_assert_uint_ge(time_to_death(block_everything), 100 * MSEC);
	ck_assert_uint_ge(time_to_death(live_longer), 1000 * MSEC);
	ck_assert_uint_ge(time_to_death(live_shorter), 100 * MSEC);
}

TEST(watchdog_stopped)
{
	struct itimerspec left;
	struct watchdog d;

	ck_assert_int_eq(watchdog_start(&d), 0);
	watchdog_pet(&d, UNIT_LIMIT_NS);
	ck_assert_int_eq(timer_gettime(d.timer, &left), 0);
	watchdog_stop(&d);
	ck_assert_int_eq(timer_gettime(d.timer, &left), -1);
}

/* A file that a user replaces must not keep us. */
TEST(file_without_writer)
{
	static const char path[] = HOLD_DIR "-no-writer";
	char text[8];

	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	/* Ends the test when the open waits for a writer. */
	alarm(UNIT_LIMIT_S);
	ck_assert_int_eq(ops->read_file(NULL, path, text, sizeof(text)), 0);
	alarm(0);
	unlink(path);
}

/* Files of root, regular, and no link; another kind of file is not waited for. */
TEST(root_files)
{
	char dir[] = "/tmp/gpreempt-live-XXXXXX", text[8];
	const char *path;
	static const struct {
		const char *name;
		ssize_t code;
	} others[] = {
		{ "link", -ELOOP },
		{ "pipe", -EACCES },
		{ "users", -EACCES },
		{ "none", -ENOENT },
	};
	size_t i;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(symlink("/etc/passwd", unit_text("%s/link", dir)), 0);
	ck_assert_int_eq(mkfifo(unit_text("%s/pipe", dir), 0666), 0);
	path = unit_text("%s/users", dir);
	ck_assert_int_eq(close(open(path, O_CREAT | O_WRONLY, 0644)), 0);
	if (!geteuid())
		ck_assert_int_eq(chown(path, 12345, 0), 0);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		path = unit_text("%s/%s", dir, others[i].name);
		ck_assert_int_eq(ops->read_root_file(NULL, path, text, 8), others[i].code);
		unlink(path);
	}
	ck_assert_int_eq(ops->read_root_file(NULL, "/etc/passwd", text, 8), 8);
	ck_assert_int_eq(ops->read_root_file(NULL, "/etc", text, 8), -EACCES);
	rmdir(dir);
}
