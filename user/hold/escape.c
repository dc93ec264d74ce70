// SPDX-License-Identifier: GPL-2.0-only
/* Prepares a process that holds targets: it leaves cgroups, drops rights, and beats. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/message.h"
#include "shared/cgroup.h"
#include "shared/util.h"
#include "client.h"
#include "escape.h"
#include "pause-owner.h"

/* Capabilities, by the system calls: the library for them would be loaded for these few lines. */

/*
 * Lower the set of capabilities that execve() can give. CAP_SETPCAP is needed: a unit or a
 * container that has taken it away has made its own choice, and no_new_privs stands for the rest.
 */
static int lower_bounding_set(uint64_t kept)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(kept & 1ULL << cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EPERM)
			return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	size_t i;
	int ret;

	if (syscall(SYS_capget, &head, data))
		return -errno;
	/* Docker, for example, gives root CAP_DAC_OVERRIDE and not CAP_DAC_READ_SEARCH. */
	if (kept & ~(uint64_t)data[0].permitted & CAPABILITY(DAC_READ_SEARCH))
		kept |= CAPABILITY(DAC_OVERRIDE);
	ret = lower_bounding_set(kept);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(data); i++) {
		data[i].permitted &= kept >> 32 * i;
		data[i].effective &= kept >> 32 * i;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/*
 * A cgroup for the holder alone: when the target's cgroup is frozen or stopped,
 * its holder must not be, or it could neither hold nor release.
 */

/*
 * Name of a directory of root's own. In that of the mount root cannot make or remove anything
 * without CAP_DAC_OVERRIDE, which a holder gives up.
 */
#define BASE "gpreempt-hold"

bool hold_cgroup_mount(char *buf, size_t size)
{
	return !shr_find_mount("cgroup2", NULL, buf, size - 64);
}

int hold_cgroup_move_to(const char *dir)
{
	__cleanup_fd int fd = -1;
	char path[512];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) < 0 ? -errno : 0;
}

void hold_cgroup_sweep(const char *path)
{
	struct dirent *entry;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
}

static bool make_base(char *buf, size_t size)
{
	char mount[HOLD_CGROUP_MOUNT];

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return false;
	snprintf(buf, size, "%s/" BASE, mount);
	return !mkdir(buf, 0755) || errno == EEXIST;
}

bool hold_cgroup_prepare(void)
{
	char base[HOLD_CGROUP_MOUNT + 32];

	return make_base(base, sizeof(base));
}

bool hold_cgroup_enter(pid_t name)
{
	char base[HOLD_CGROUP_MOUNT + 32], group[sizeof(base) + 16];
	int tries;

	/* Another holder may sweep the cgroup away before we are in. */
	for (tries = 0; tries < 5; tries++) {
		if (!make_base(base, sizeof(base)))
			return false;
		hold_cgroup_sweep(base);
		snprintf(group, sizeof(group), "%s/%d", base, name);
		if (mkdir(group, 0755) < 0 && errno != EEXIST && errno != ENOENT)
			return false;
		if (!hold_cgroup_move_to(group))
			return true;
	}
	rmdir(group);
	return false;
}

void hold_cgroup_leave(void)
{
	char mount[HOLD_CGROUP_MOUNT], base[sizeof(mount) + 32];

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return;
	/* The root takes any process; the last one out removes the group. */
	hold_cgroup_move_to(mount);
	snprintf(base, sizeof(base), "%s/" BASE, mount);
	hold_cgroup_sweep(base);
	/* Few of us may remove it; an empty one may stay. */
	rmdir(base);
}

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	/* A terminal or a session that ends must not end this process. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Are we in a cgroup of it that can be frozen? 1, 0 or -errno. */
static int is_inside(void)
{
	char path[SHR_CGROUP_PATH];
	int ret = shr_cgroup_of(0, path, sizeof(path));

	/* A kernel without cgroups has no such file. */
	return ret == -ENOTSUP ? 1 : ret == -ESRCH ? 0 : ret;
}

int freezer_v1_leave(bool *inside)
{
	char mount[HOLD_CGROUP_MOUNT];
	int ret = is_inside();

	*inside = ret > 0;
	if (ret <= 0)
		return ret;
	ret = shr_find_mount("cgroup", "freezer", mount, sizeof(mount));
	if (!ret)
		ret = hold_cgroup_move_to(mount);
	if (ret)
		return ret;
	/* The mount may show only a part of the hierarchy, as in a container. */
	ret = is_inside();
	return ret > 0 ? -EPERM : ret;
}

int hold_become(int *const *kept, size_t n, bool *cgroup, const char **step)
{
	int fds[HOLD_KEPT], null, ret;
	bool inside;
	size_t i;

	*step = "making room for the holder's descriptors";
	for (i = 0; i < n; i++) {
		fds[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (fds[i] < 0)
			return -errno;
	}
	for (i = 0; i < n; i++)
		*kept[i] = fds[i];
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		return -errno;
	shr_close_others(STDERR_FILENO + 1, fds, n);
	setsid();
	reset_signals();
	/* A late answer looks like death to the watching process. */
	setpriority(PRIO_PROCESS, 0, -20);
	*step = "going to the root directory";
	if (chdir("/") < 0)
		return -errno;
	ret = freezer_v1_leave(&inside);
	*step = inside ? "leaving the old freezer (cgroup v1)" : "reading /proc/self/cgroup";
	if (ret)
		return ret;
	*cgroup = hold_cgroup_enter(getpid());
	*step = "giving up the capabilities of root";
	return capabilities_keep(CAPABILITIES_HOLDER);
}

#ifndef sigev_notify_thread_id /* glibc has the field, but not this name of it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * A thread that stays in an ioctl of the driver gets a signal that does nothing but interrupt a
 * wait. The end of a debug session may wait there for an interrupt of the GPU that never comes (gfx
 * 9.4.3); only a signal ends that wait, and the target may be a process that is about to exit.
 *
 * Longer than any call of a driver that is well, but for a suspend's wait for the hardware, which
 * no signal ends; and short against the 100 ms in which a target may end.
 */
#define KICK_NS (20 * NSEC_PER_MSEC)

/* A thread's own timer, made with its first call of the driver. */
static __thread timer_t timer;
static __thread bool have_timer;
static pthread_key_t key;

static void do_nothing(int sig)
{
	(void)sig;
}

static void end_thread(void *value)
{
	(void)value;
	timer_delete(timer);
}

static void start_kicks(void)
{
	/*
	 * SA_RESTART, so that our output is not torn: the driver's wait ends all the same, and
	 * the driver goes on after it.
	 */
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	pthread_key_create(&key, end_thread);
}

static bool make_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };

	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return false;
	/* Set a value, so that end_thread() is called. */
	pthread_setspecific(key, &have_timer);
	return true;
}

/* The calling thread enters the driver, or has returned from it. */
static void kick(bool busy)
{
	struct itimerspec when = { 0 };

	/* Without a timer, the watchdog ends a process that hangs. */
	if (!have_timer)
		have_timer = make_timer();
	if (!have_timer)
		return;
	if (busy) {
		when.it_value.tv_nsec = KICK_NS;
		when.it_interval.tv_nsec = KICK_NS;
	}
	timer_settime(timer, 0, &when, NULL);
}

/* Beat. Under the lock. */
static void beat(struct heartbeat *h)
{
	watchdog_pet(&h->watchdog,
		     HEARTBEAT_SPARE_NS + (h->busy ? HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS));
	if (h->also)
		h->also(h->data, h->busy);
}

int heartbeat_start(struct heartbeat *h)
{
	int ret = watchdog_start(&h->watchdog);

	if (ret)
		return ret;
	pthread_mutex_init(&h->lock, NULL);
	start_kicks();
	heartbeat_beat(h);
	return 0;
}

void heartbeat_stop(struct heartbeat *h)
{
	watchdog_stop(&h->watchdog);
}

void heartbeat_beat(struct heartbeat *h)
{
	pthread_mutex_lock(&h->lock);
	/* A thread in the driver has set a longer time, which has to stay. */
	if (!h->busy)
		beat(h);
	pthread_mutex_unlock(&h->lock);
}

void heartbeat_busy(void *data, bool busy)
{
	struct heartbeat *h = data;

	pthread_mutex_lock(&h->lock);
	h->busy += busy ? 1 : -1;
	beat(h);
	pthread_mutex_unlock(&h->lock);
	kick(busy);
}

int watchdog_start(struct watchdog *w)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };

	return timer_create(CLOCK_MONOTONIC, &event, &w->timer) < 0 ? -errno : 0;
}

void watchdog_pet(const struct watchdog *w, uint64_t ns)
{
	struct itimerspec when = { .it_value = shr_timespec(ns) };

	timer_settime(w->timer, 0, &when, NULL);
}

void watchdog_stop(struct watchdog *w)
{
	timer_delete(w->timer);
}

int foreground_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };

	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	return shr_signals_open(signals);
}

int foreground_dir(void)
{
	int ret = hold_dir_prepare();

	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     ret == -ENOSPC ? "make room there, and try again" :
					      "it must be a directory of root's",
			     "cannot make " HOLD_DIR ": %s", strerror(-ret));
}

int foreground_freezer(void)
{
	bool inside;
	int ret = freezer_v1_leave(&inside);
	const char *want = ctl_want(ret);

	if (!ret)
		return 0;
	if (!inside)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     want ? want :
					    "it is needed to see whether this "
					    "process could be frozen while it holds a target",
				     "cannot read /proc/self/cgroup: %s", strerror(-ret));
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
			     "start it from another cgroup, or boot with cgroup v2 alone",
			     "this process is in a cgroup of the old freezer "
			     "(cgroup v1) and cannot leave it: %s; frozen "
			     "there it could not be killed, nor its target",
			     strerror(-ret));
}

int foreground_capabilities(uint64_t kept)
{
	int ret = capabilities_keep(kept);

	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "does a filter of system calls (seccomp) forbid capset() or prctl()?",
			     "cannot give up the capabilities of root that are not needed: %s",
			     strerror(-ret));
}

int foreground_take(pid_t target, enum hold_role role)
{
	struct hold_owner owner = { .role = role, .pid = getpid() };
	struct hold_reply why;
	int lock, ret;

	ret = foreground_dir();
	if (!ret)
		ret = foreground_freezer();
	if (ret)
		return -ret;
	lock = pause_take(target, &owner);
	if (lock >= 0)
		return lock;
	hold_not_taken(&why, lock, target);
	return -hold_fail(&why);
}
