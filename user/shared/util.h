/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small helpers of the language that know nothing of GPUs. */
#ifndef SHARED_UTIL_H
#define SHARED_UTIL_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC  1000000000ULL

static inline void shr_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void shr_cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Close a descriptor of which no other copy is used; -1: it is none. */
static inline void shr_close(int *fd)
{
	shr_cleanup_fd(fd);
	*fd = -1;
}

/* Wait for input of a descriptor, too: the event has that number. 0 or -errno. */
int shr_epoll_add(int epoll, int fd, uint64_t number);

/* Returns the memory, or ends a program without it: no report is possible. Not for the library. */
static inline void *shr_must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* The variable is freed, or the descriptor closed, when its scope ends. */
#define __cleanup_free __attribute__((cleanup(shr_cleanup_free)))
#define __cleanup_fd   __attribute__((cleanup(shr_cleanup_fd)))

/* Numbers of queues, GPUs or users; NULL: any. */
struct shr_ids {
	uint32_t *id;
	size_t n;
};

/* Is it one of the list? Never of an empty one. */
static inline bool shr_has(const uint32_t *list, size_t n, int64_t value)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return false;
}

/*
 * System calls for which an older C library has no function: glibc has those of pidfd from 2.36
 * on, and RHEL 9 has 2.34, Ubuntu 22.04 has 2.35. They return -1 and errno, as the functions of
 * the same names.
 */

static inline int shr_pidfd_open(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0);
}

static inline int shr_pidfd_send_signal(int pidfd, int signal)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

static inline int shr_pidfd_getfd(int pidfd, int fd)
{
	return syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

static inline int shr_close_range(unsigned int first, unsigned int last)
{
	return syscall(SYS_close_range, first, last, 0);
}

/* Arrays that grow. They begin with no items, and free() takes their items. */

/*
 * Room for @more items behind @count, in the array that *(type **)items points to. How much room
 * there is follows from the count: no other function may allocate the same array. 0 or -ENOMEM.
 */
int shr_array_room(void *items, size_t count, size_t more, size_t item_size);
/* Counts one more item. Returns it, zeroed, or NULL without memory. */
void *shr_array_add(void *items, size_t *count, size_t item_size);

/* Compare for qsort(): by the first field of the items, an int64_t. */
int shr_compare_first(const void *a, const void *b);

#define SHR_ARRAY(type, name) \
	struct {              \
		type *items;  \
		size_t count; \
	} name
#define shr_add(array) shr_array_add(&(array)->items, &(array)->count, sizeof(*(array)->items))
/* Address behind the last item; NULL plus 0 is not allowed. */
#define shr_end(array) ((array)->items ? (array)->items + (array)->count : NULL)

/* Nanoseconds since boot that no clock setting changes. */
uint64_t shr_now_ns(void);
/* Returns the time with suspend-to-RAM: CLOCK_BOOTTIME. */
uint64_t shr_boottime_ns(void);
/* Processor time that this thread has taken. */
uint64_t shr_thread_cpu_ns(void);
/* And all threads of a process; 0: unknown. */
uint64_t shr_process_cpu_ns(pid_t pid);

/* Returns the time ns after when_ns; UINT64_MAX if it does not fit. */
static inline uint64_t shr_later_ns(uint64_t when_ns, uint64_t ns)
{
	return ns > UINT64_MAX - when_ns ? UINT64_MAX : when_ns + ns;
}

static inline struct timespec shr_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
}

/* Sleeps through signals. */
void shr_sleep_ns(uint64_t ns);

/*
 * Pause between reports of a state that may come and go all the time: the second one comes 10 s
 * after the first one at the earliest, the third 20 s after that, and so on. All zero before the
 * first.
 */
struct shr_report_pause {
	uint64_t until_ns;
	uint64_t ns; /* pause before the next report; grows with each, up to 640 s */
};

/* Is a report due? True: make it now. */
bool shr_report_due(struct shr_report_pause *p, uint64_t now);

/*
 * The number of the character device that a path leads to, as makedev(). dir and flags
 * as for statx(). The path may be a descriptor of a process that is not trusted, with a
 * file of a file system of its own behind it: no such server is asked, which may not
 * answer. 0, -ENODEV: it is something else, or -errno.
 */
int shr_device_at(int dir, const char *path, int flags, uint64_t *device);

/*
 * Is the descriptor readable, within @ms? One of a process is once all its threads are gone; a
 * connection also when its other end is closed.
 */
bool shr_readable(int fd, int ms);

/* Small files of /proc and sysfs. */

/* The start of a file, terminated. Its length, or -errno with an empty text. */
__attribute__((format(printf, 3, 4))) ssize_t shr_read_start(char *buf, size_t size,
							     const char *path_format, ...);

/*
 * Returns the text behind the name in the stat file of a process or thread: first the state, one
 * of R S D T t Z X. NULL: the text ends before it.
 */
const char *shr_stat_state(const char *stat);

/* Is a process @root, or a descendant of it? */
bool shr_is_below(pid_t pid, pid_t root);

/* Signals that a loop reads, in place of handlers. */

/*
 * Block these, up to 0. Returns a signalfd that does not wait, or -errno; then
 * they are not blocked, so that Ctrl-C works still.
 */
int shr_signals_open(const int *signals);

/* Open the signals SIGINT, SIGTERM and SIGHUP, which end a command that runs on. */
int shr_signals_open_stop(void);

/* Processors on which this thread may run. */
unsigned int shr_processors(void);

/* Threads that get no signals, or a small stack. */

/*
 * @stack: its size, small where a holder locks its memory; 0: the usual one. @quiet: the
 * program's signals are not for it. 0 or -errno.
 */
int shr_thread_start(pthread_t *thread, size_t stack, bool quiet, void *(*run)(void *arg),
		     void *arg);

/* Whatever signals come. */
void shr_sem_wait(sem_t *sem);

/* Set the title in ps. Call init before the arguments are used; set clears the environment. */
void shr_title_init(int argc, char **argv);
__attribute__((format(printf, 2, 3))) void shr_title_set(const char *name, const char *format, ...);

/* How the kernel shares a CPU among threads of ours that poll in the driver. */

/* The kernel's struct sched_attr (uapi/linux/sched/types.h), which not every libc has. */
struct shr_sched {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* ns; of an ordinary thread: its slice */
	uint64_t deadline;
	uint64_t period;
};

/* Ask for short slices for this thread, if it is an ordinary one. */
void shr_ask_short_slices(void);

/*
 * Put an ordinary thread before all ordinary ones, and before those of a lower level, until
 * shr_not_urgent(). tid 0: this thread. False if it is no ordinary one or we may not.
 */
bool shr_urgent(pid_t tid, uint32_t level, struct shr_sched *before);
void shr_not_urgent(pid_t tid, const struct shr_sched *before);

/* Tell systemd, if it has started us, how we are. See sd_notify(3); it needs no library. */

/* "READY=1", "STOPPING=1", "WATCHDOG=1". Does nothing without a manager. */
void notify_manager(const char *state);

/* "WATCHDOG=1" must come that often; 0: no manager waits for it. */
uint64_t notify_watchdog_ns(void);

/*
 * Replace a file in one step: a reader sees the old file or the new one, never a part. Root may
 * do it in a directory of another user: no name that others could foresee is opened, no link is
 * followed, and nothing but a regular file is replaced.
 */

/*
 * Can @path be replaced? Makes a new file beside it and removes that again. Returns the result
 * that shr_file_replace() would.
 */
int shr_file_check(const char *path);

/*
 * Replace @path, or make it, with that mode, whatever the umask is. May wait for the disk.
 *
 * Returns 0 or -errno, with these meanings of their own: -ENOTSUP: a link is there; -ENXIO: a FIFO,
 * socket or device is; -EISDIR: a directory is. Nothing has changed then, and no file is left over.
 */
int shr_file_replace(const char *path, mode_t mode, const char *text, size_t size);

/* Returns a sentence for the user about an error of these two. */
const char *shr_file_reason(int code);

/* Wait until a file or a directory is on the disk. 0 or -errno. */
int shr_flush(const char *path);

/* A lock that lasts as long as a descriptor, however its process ends. */

/*
 * Make the file, for its owner alone, and lock it; the process with the lock may remove the file.
 * Never waits. Returns a descriptor, -EWOULDBLOCK if another process has the lock, another -errno.
 */
int shr_lock_file(const char *path);

/* An owner may have removed the file since it was opened: is it there still? */
bool shr_lock_is_at(int fd, const char *path);

/*
 * Child processes for work that may never end: a driver that waits for the hardware, a file or
 * a page of another process that never answers. A process, not a thread: a thread that the
 * kernel can't interrupt would keep the descriptors of its process, its socket and locks among
 * them, after the death of that process.
 */

/*
 * Fork. The child has all memory of its parent and none of its threads, stdio and the
 * descriptors @keep (64 at most). It calls @work and exits with the result, and the kernel kills
 * it when the thread that made it ends. Returns its PID, or -errno.
 */
pid_t shr_child_start(int (*work)(void *arg), void *arg, const int *keep, size_t n_keep);

/* Patience with a child that reads a process's memory: it takes microseconds, if it answers. */
#ifndef SHR_CHILD_PATIENCE_MS
#define SHR_CHILD_PATIENCE_MS 500
#endif

/* Work on processes that may not answer, at the start of memory that children share. */
struct shr_apart {
	atomic_uint begun; /* processes; the reader counts them */
	size_t count;
	int code; /* 0, or -errno: a child could not be made, or was killed */
	void (*ask)(struct shr_apart *work, size_t i); /* asks for one; may hang */
	/* called for each one that did not answer for SHR_CHILD_PATIENCE_MS */
	void (*silent)(struct shr_apart *work, size_t i);
	void (*beat)(void *data); /* called all the time meanwhile; or NULL */
	void *data;
};

/* A child asks one after the other, and is left behind if it hangs. */
void shr_ask_apart(struct shr_apart *work);

/*
 * Kill it and do not wait: it may be where no signal ends that. If it has not ended
 * by then, init has it when we have.
 */
void shr_child_abandon(pid_t child);

/* Has the child ended? Then *child is 0 and *status is the status of waitpid(). Never waits. */
bool shr_child_gone(pid_t *child, int *status);

/* Close all descriptors from that number on, but @keep; negative ones are none. */
void shr_close_others(unsigned int from, const int *keep, size_t n);

/* Figures of samples; percentiles by nearest rank. */
struct shr_stats {
	size_t n;
	uint64_t min;
	uint64_t mean; /* rounded to the nearest */
	uint64_t p50;
	uint64_t p90;
	uint64_t p99;
	uint64_t p999; /* 99.9 percent */
	uint64_t max;
};

/* Sort samples and summarise them; none give 0 everywhere. */
void shr_stats(uint64_t *samples, size_t n, struct shr_stats *out);

#endif
