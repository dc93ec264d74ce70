// SPDX-License-Identifier: LGPL-2.1-or-later
/* Helpers that know nothing of GPUs: arrays, clocks, threads, children, signals, files, systemd. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"
#include "util.h"

#define LEAST_ROOM 16

static size_t room_for(size_t count)
{
	size_t room = count ? LEAST_ROOM : 0;

	while (room < count)
		room *= 2;
	return room;
}

int shr_array_room(void *items, size_t count, size_t more, size_t item_size)
{
	void *old, *bigger;

	if (count + more <= room_for(count))
		return 0;
	memcpy(&old, items, sizeof(old));
	bigger = reallocarray(old, room_for(count + more), item_size);
	if (!bigger)
		return -ENOMEM;
	memcpy(items, &bigger, sizeof(bigger));
	return 0;
}

void *shr_array_add(void *items, size_t *count, size_t item_size)
{
	char *all;

	if (shr_array_room(items, *count, 1, item_size))
		return NULL;
	memcpy(&all, items, sizeof(all));
	return memset(all + (*count)++ * item_size, 0, item_size);
}

int shr_compare_first(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t shr_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t shr_boottime_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t shr_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t shr_process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : read_clock(clock);
}

void shr_sleep_ns(uint64_t ns)
{
	struct timespec ts = shr_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

bool shr_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

int shr_epoll_add(int epoll, int fd, uint64_t number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = number };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

#define FIRST_NS (10 * NSEC_PER_SEC)
#define LAST_NS	 (640 * NSEC_PER_SEC)

bool shr_report_due(struct shr_report_pause *p, uint64_t now)
{
	if (now < p->until_ns)
		return false;
	p->ns = p->ns ? 2 * p->ns : FIRST_NS;
	if (p->ns > LAST_NS)
		p->ns = LAST_NS;
	p->until_ns = now + p->ns;
	return true;
}

ssize_t shr_read_start(char *buf, size_t size, const char *path_format, ...)
{
	__cleanup_fd int fd = -1;
	char path[256];
	va_list ap;
	ssize_t n;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n < 0 ? -errno : n;
}

/* The name may have any letters, brackets among them. */
const char *shr_stat_state(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}

/* Ancestry of processes. */

/* A longer line is no family: numbers were given again. */
#define MAX_DEPTH 64

bool shr_is_below(pid_t pid, pid_t root)
{
	const char *state;
	char text[512];
	int depth;

	for (depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
		if (pid == root)
			return true;
		shr_read_start(text, sizeof(text), "/proc/%d/stat", pid);
		state = shr_stat_state(text);
		if (!state || sscanf(state, "%*c %d", &pid) != 1)
			return false;
	}
	return false;
}

int shr_signals_open(const int *signals)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	while (*signals)
		sigaddset(&set, *signals++);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

int shr_signals_open_stop(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };

	return shr_signals_open(signals);
}

unsigned int shr_processors(void)
{
	cpu_set_t set;

	/* More than a cpu_set_t has: the kernel refuses. */
	return sched_getaffinity(0, sizeof(set), &set) ? UINT_MAX : CPU_COUNT(&set);
}

int shr_thread_start(pthread_t *thread, size_t stack, bool quiet, void *(*run)(void *arg),
		     void *arg)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	sigfillset(&all);
	if (quiet)
		pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, &attr, run, arg);
	if (quiet)
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

void shr_sem_wait(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		;
}

/* The title of this process in ps. */

static struct {
	char *start;
	size_t size;
} title;

/*
 * Find the room for the title: the kernel shows the text where it put the arguments; the
 * environment comes right behind.
 */
void shr_title_init(int argc, char **argv)
{
	char **word, *last = argv[argc - 1];

	for (word = environ; word && *word; word++)
		if (*word == last + strlen(last) + 1)
			last = *word;
	title.start = argv[0];
	title.size = last + strlen(last) + 1 - argv[0];
}

void shr_title_set(const char *name, const char *format, ...)
{
	va_list ap;

	prctl(PR_SET_NAME, name);
	clearenv();
	memset(title.start, 0, title.size);
	va_start(ap, format);
	vsnprintf(title.start, title.size, format, ap);
	va_end(ap);
}

/* How the kernel shares a CPU among threads of ours that poll in the driver. */

#define SLICE_NS (100 * NSEC_PER_USEC)

static bool get_ordinary(pid_t tid, struct shr_sched *attr)
{
	*attr = (struct shr_sched){ 0 };
	return !syscall(SYS_sched_getattr, tid, attr, sizeof(*attr), 0) &&
	       attr->policy == SCHED_OTHER;
}

/*
 * The driver polls for the hardware and offers its CPU only in between (amdkfd_fence_wait_timeout()
 * in kfd_device_queue_manager.c). With the usual slices of milliseconds each of us would keep a CPU
 * for so long that others could have made their call, where there are fewer CPUs than GPUs. From
 * 6.12 on a thread can ask for shorter ones; before, the kernel ignores it.
 */
void shr_ask_short_slices(void)
{
	struct shr_sched attr;

	if (!get_ordinary(0, &attr))
		return;
	attr.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

bool shr_urgent(pid_t tid, uint32_t level, struct shr_sched *before)
{
	struct shr_sched attr = {
		.size = sizeof(attr),
		.policy = SCHED_FIFO,
		/* A process that the thread makes meanwhile is an ordinary one. */
		.flags = SCHED_FLAG_RESET_ON_FORK,
		.priority = level,
	};

	return get_ordinary(tid, before) && !syscall(SYS_sched_setattr, tid, &attr, 0);
}

void shr_not_urgent(pid_t tid, const struct shr_sched *before)
{
	syscall(SYS_sched_setattr, tid, before, 0);
}

void notify_manager(const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	__cleanup_fd int fd = -1;
	socklen_t size;

	if (!path || !*path || strlen(path) >= sizeof(address.sun_path))
		return;
	strcpy(address.sun_path, path);
	size = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	/* A name that is in no directory. */
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		       (struct sockaddr *)&address, size);
}

uint64_t notify_watchdog_ns(void)
{
	const char *time = getenv("WATCHDOG_USEC");
	const char *who = getenv("WATCHDOG_PID");
	uint64_t usec, pid;

	if (!time || shr_parse_u64(time, UINT64_MAX / NSEC_PER_USEC, &usec))
		return 0;
	if (who && (shr_parse_u64(who, INT32_MAX, &pid) || pid != (uint64_t)getpid()))
		return 0;
	return usec * NSEC_PER_USEC;
}

#define TRIES	  16  /* random names may be taken */
#define KEPT_NAME 200 /* bytes kept of the name, which may have 255 */

/* A directory, so that it stays the same one, and names in it. */
struct place {
	int dir;
	const char *name;
	char next[256]; /* name of the new file, until it is whole */
};

static int open_place(const char *path, struct place *p)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];

	p->name = slash ? slash + 1 : path;
	if (!*p->name || !strcmp(p->name, ".") || !strcmp(p->name, ".."))
		return -EISDIR;
	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1,
		     slash ? path : ".") >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	p->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->dir < 0 ? -errno : 0;
}

/* Check the old file. 0 for a regular file, or none. */
static int check_old(const struct place *p)
{
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return 0;
	case S_IFLNK:
		return -ENOTSUP;
	case S_IFDIR:
		return -EISDIR;
	default:
		return -ENXIO;
	}
}

/* A descriptor of a file that was not there before, or -errno. */
static int make_next(struct place *p)
{
	int tries, fd = -1;
	uint64_t random;

	for (tries = 0; tries < TRIES; tries++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		snprintf(p->next, sizeof(p->next), "%.*s.%016llx.new", KEPT_NAME, p->name,
			 (unsigned long long)random);
		fd = openat(p->dir, p->next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		text += n;
		size -= n;
	}
	return 0;
}

/* fd is closed. Only some file systems find out then that there is no room. */
static int finish_next(int fd, mode_t mode, const char *text, size_t size)
{
	int ret = write_all(fd, text, size);

	/* umask() must not change the mode. */
	if (!ret && fchmod(fd, mode) < 0)
		ret = -errno;
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret;
}

static int replace(const char *path, mode_t mode, const char *text, size_t size, bool keep)
{
	struct place p = { .dir = -1 };
	int ret, fd;

	ret = open_place(path, &p);
	if (ret)
		return ret;
	ret = check_old(&p);
	fd = ret ? ret : make_next(&p);
	ret = fd;
	if (fd >= 0) {
		ret = finish_next(fd, mode, text, size);
		if (!ret && keep && renameat(p.dir, p.next, p.dir, p.name) < 0)
			ret = -errno;
		if (ret || !keep)
			unlinkat(p.dir, p.next, 0);
	}
	close(p.dir);
	return ret;
}

int shr_file_check(const char *path)
{
	return replace(path, 0600, "", 0, false);
}

int shr_file_replace(const char *path, mode_t mode, const char *text, size_t size)
{
	return replace(path, mode, text, size, true);
}

int shr_flush(const char *path)
{
	__cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

const char *shr_file_reason(int code)
{
	switch (code) {
	case -ENOTSUP:
		return "a link is there, not a regular file";
	case -ENXIO:
		return "a FIFO, socket or device is there, not a regular file";
	case -EISDIR:
		return "a directory is there, not a regular file";
	default:
		return strerror(-code);
	}
}

bool shr_lock_is_at(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !lstat(path, &there) && ours.st_ino == there.st_ino &&
	       ours.st_dev == there.st_dev;
}

int shr_lock_file(const char *path)
{
	for (;;) {
		int fd, ret;

		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			ret = -errno;
			close(fd);
			return ret;
		}
		if (shr_lock_is_at(fd, path))
			return fd;
		close(fd);
	}
}

#define MAX_KEPT 64
#define TICK_MS	 20

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void shr_close_others(unsigned int from, const int *keep, size_t n)
{
	int sorted[MAX_KEPT];
	size_t i;

	for (i = 0; i < n; i++)
		sorted[i] = keep[i];
	qsort(sorted, n, sizeof(*sorted), compare_fds);
	for (i = 0; i < n; i++) {
		unsigned int fd = sorted[i];

		if (sorted[i] < 0)
			continue;
		if (fd > from)
			shr_close_range(from, fd - 1);
		from = fd >= from ? fd + 1 : from;
	}
	shr_close_range(from, ~0U);
}

pid_t shr_child_start(int (*work)(void *arg), void *arg, const int *keep, size_t n_keep)
{
	pid_t parent = getpid(), child;

	if (n_keep > MAX_KEPT)
		return -EINVAL;
	child = fork();
	if (child < 0)
		return -errno;
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	/* A client's connection, for one, must not stay open in the child. */
	shr_close_others(STDERR_FILENO + 1, keep, n_keep);
	_exit(work(arg));
}

/* Processes that may hang, at most; the others are then not asked. */
#define MAX_STUCK 8

/* The reader. If it hangs, it must not keep a pipe of ours open. */
static int ask_rest(void *arg)
{
	struct shr_apart *work = arg;
	size_t i;

	shr_close_range(STDIN_FILENO, STDERR_FILENO);
	for (i = work->begun; i < work->count; i++) {
		atomic_store(&work->begun, i + 1);
		work->ask(work, i);
	}
	return EXIT_SUCCESS;
}

/*
 * Have a child go on with the work. 0 when it has ended; -ETIMEDOUT: a process did not answer, and
 * the child is left behind; -EIO: the child was killed; or -errno.
 */
static int run_reader(struct shr_apart *work)
{
	const unsigned int first = atomic_load(&work->begun);
	pid_t child = shr_child_start(ask_rest, work, NULL, 0);
	__cleanup_fd int fd = child < 0 ? -1 : shr_pidfd_open(child);
	unsigned int now, seen = first;
	uint64_t since = 0;
	int status = 0, ret = -errno;

	if (child < 0)
		return child;
	if (fd < 0) {
		shr_child_abandon(child);
		return ret;
	}
	do {
		if (work->beat)
			work->beat(work->data);
		now = atomic_load(&work->begun);
		/* The time does not run before the child's first step: it looks for its work. */
		if (now == first || now != seen)
			since = shr_now_ns();
		seen = now;
		if (!shr_readable(fd, TICK_MS))
			continue;
		waitpid(child, &status, 0);
		return WIFEXITED(status) ? 0 : -EIO;
	} while (shr_now_ns() - since < SHR_CHILD_PATIENCE_MS * NSEC_PER_MSEC);
	shr_child_abandon(child);
	return -ETIMEDOUT;
}

/* Go on with another reader behind the process that hangs. */
void shr_ask_apart(struct shr_apart *work)
{
	size_t stuck, first;
	int ret;

	for (stuck = 0; stuck < MAX_STUCK && work->begun < work->count; stuck++) {
		first = work->begun;
		ret = run_reader(work);
		if (!ret)
			return;
		if (ret != -ETIMEDOUT)
			work->code = ret;
		if (work->begun == first)
			break;
		work->silent(work, work->begun - 1);
	}
	while (work->begun < work->count)
		work->silent(work, work->begun++);
}

void shr_child_abandon(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, WNOHANG);
}

bool shr_child_gone(pid_t *child, int *status)
{
	if (*child && waitpid(*child, status, WNOHANG) == *child)
		*child = 0;
	return !*child;
}

static int compare_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that so many thousandths of all do not exceed. */
static uint64_t nearest_rank(const uint64_t *sorted, size_t n, size_t mille)
{
	size_t rank = n / 1000 * mille + (n % 1000 * mille + 999) / 1000;

	return sorted[rank - 1];
}

/* Returns the mean, rounded to the nearest; the sum may need more than 64 bits. */
static uint64_t mean_of(const uint64_t *samples, size_t n)
{
	unsigned __int128 sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += samples[i];
	return (sum + n / 2) / n;
}

void shr_stats(uint64_t *samples, size_t n, struct shr_stats *out)
{
	*out = (struct shr_stats){ .n = n };
	if (!n)
		return;
	qsort(samples, n, sizeof(*samples), compare_samples);
	out->min = samples[0];
	out->mean = mean_of(samples, n);
	out->p50 = nearest_rank(samples, n, 500);
	out->p90 = nearest_rank(samples, n, 900);
	out->p99 = nearest_rank(samples, n, 990);
	out->p999 = nearest_rank(samples, n, 999);
	out->max = samples[n - 1];
}

/*
 * The parts of the kernel's struct statx that shr_device_at() reads, at their offsets: some C
 * libraries have no statx(), and the header of the kernel clashes with that of others.
 */
struct device_statx {
	uint32_t unused[7];
	uint16_t mode;
	uint16_t unused_too[49];
	uint32_t major;
	uint32_t minor;
	uint32_t rest[30];
};

_Static_assert(offsetof(struct device_statx, mode) == 28, "stx_mode");
_Static_assert(offsetof(struct device_statx, major) == 128, "stx_rdev_major");
_Static_assert(sizeof(struct device_statx) == 256, "struct statx");

int shr_device_at(int dir, const char *path, int flags, uint64_t *device)
{
	struct device_statx st;

	if (syscall(SYS_statx, dir, path, flags | AT_STATX_DONT_SYNC, 1 /* STATX_TYPE */, &st) < 0)
		return -errno;
	if ((st.mode & S_IFMT) != S_IFCHR)
		return -ENODEV;
	*device = makedev(st.major, st.minor);
	return 0;
}
