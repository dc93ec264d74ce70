/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of root that a process keeps while it holds a target. It lives long, reads data
 * of the target, and runs no other program: a mistake in it must not be worth all of root.
 */
#ifndef HOLD_ESCAPE_H
#define HOLD_ESCAPE_H

#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "shared/util.h"
#include "run-dir.h"

#define CAPABILITY(name) (1ULL << CAP_##name)

/*
 * Capabilities that a holder keeps: to trace the target, read its memory and
 * open gpreempt.ko's files (SYS_PTRACE); to pause it, by an ioctl that is made for checkpoints
 * (CHECKPOINT_RESTORE); to see in which system call a thread of another user's process waits,
 * and its descriptors, which are that user's (DAC_READ_SEARCH); to be scheduled in time and not
 * to be paged out (SYS_NICE, IPC_LOCK). Their own files, /dev/kfd, the root of the cgroups and
 * the files of container engines are root's, whose id they keep.
 */
#define CAPABILITIES_HOLDER                                                                      \
	(CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(CHECKPOINT_RESTORE) | \
	 CAPABILITY(SYS_NICE) | CAPABILITY(IPC_LOCK))

/* Capabilities of guard and follow, which read the roles of cgroups, too. */
#define CAPABILITIES_FINDER (CAPABILITIES_HOLDER | CAPABILITY(SYS_ADMIN))

/* Capabilities of a guard that writes files into another user's directory. */
#define CAPABILITIES_WRITER (CAPABILITIES_FINDER | CAPABILITY(DAC_OVERRIDE) | CAPABILITY(FOWNER))

/*
 * Give up all other capabilities, for this thread and its later threads, and for all programs
 * that they start. Capabilities that are not there are not asked for; without DAC_READ_SEARCH,
 * DAC_OVERRIDE stands in for it. 0 or -errno.
 */
int capabilities_keep(uint64_t kept);

/*
 * The freezer of cgroup v1. It stops a process so that not even SIGKILL ends
 * it before the thaw: neither a watchdog's nor another process's. A process
 * that holds a target must not be in a cgroup that can be frozen so.
 */

/*
 * Move this process to the root of that freezer, which cannot be frozen. 0, also when there is
 * nothing to leave, or -errno. @inside: it was in a cgroup of that freezer; with an error it
 * may still be there. False with an error: its cgroups could not be read.
 */
int freezer_v1_leave(bool *inside);

#define HOLD_CGROUP_MOUNT 256

/* Find the mount of cgroup v2; false: there is none. */
bool hold_cgroup_mount(char *buf, size_t size);
/* Move this process into the cgroup in that directory. 0 or -errno. */
int hold_cgroup_move_to(const char *dir);
/* Remove the cgroups below @dir whose processes have ended; one in use stays. */
void hold_cgroup_sweep(const char *dir);
/* Prepare the cgroup for a later entry, without the capability that the first entry takes. */
bool hold_cgroup_prepare(void);
/* A cgroup of its own for this process. */
bool hold_cgroup_enter(pid_t name);
void hold_cgroup_leave(void);

#define HOLD_KEPT 4
/*
 * Become a process that holds a target for longer than the command lives: a session of its own, no
 * signals of a terminal's, the root directory, the best possible priority, out of the old
 * freezer, in a *@cgroup of its own, with the capabilities of a holder, and no descriptors but the
 * @kept ones, which get other numbers. 0, or -errno and the @step that failed.
 */
int hold_become(int *const *kept, size_t n, bool *cgroup, const char **step);

/*
 * The heartbeat of a process that holds a target. If it stops, the watchdog
 * ends the process, and the driver then resumes the target's queues. A tracer
 * that is stopped would otherwise make its target unkillable.
 */

/*
 * A dead man's switch: the kernel kills this process with SIGKILL unless the
 * process pets the watchdog in time. That works on a process that is stopped
 * or frozen (cgroup v2) too, where no code of the process itself could.
 */

struct watchdog {
	timer_t timer;
};

/* Start a watchdog. 0 or -errno. It belongs to this process; a child inherits none. */
int watchdog_start(struct watchdog *w);
/* The process is killed in so many ns, unless this is called again before. */
void watchdog_pet(const struct watchdog *w, uint64_t ns);
void watchdog_stop(struct watchdog *w);

/* How often a process beats at least. */
#define HEARTBEAT_TICK_NS (200 * NSEC_PER_MSEC)
/* How long it may be silent, and how long while it is in the driver. */
#ifndef HEARTBEAT_SILENCE_NS
#define HEARTBEAT_SILENCE_NS (2 * NSEC_PER_SEC)
#endif
#ifndef HEARTBEAT_BUSY_NS
#define HEARTBEAT_BUSY_NS (20 * NSEC_PER_SEC)
#endif
/* The watchdog leaves another process that watches us that much more time. */
#define HEARTBEAT_SPARE_NS NSEC_PER_SEC
#define HEARTBEAT_WATCH_NS (HEARTBEAT_SILENCE_NS + HEARTBEAT_SPARE_NS)

struct heartbeat {
	struct watchdog watchdog;
	/*
	 * Lock of busy and of the order of beats: a short time that is set late would kill a
	 * thread that waits for the hardware.
	 */
	pthread_mutex_t lock;
	unsigned int busy; /* threads that are in the driver */
	/*
	 * Called at each beat, under the lock, for another process that
	 * watches us; or NULL. It must not wait.
	 */
	void (*also)(void *data, bool busy);
	void *data;
};

/* Start the watchdog and beat once. 0 or -errno. also and data are set. */
int heartbeat_start(struct heartbeat *h);
void heartbeat_stop(struct heartbeat *h);
/* Any thread. It must come within HEARTBEAT_SILENCE_NS. */
void heartbeat_beat(struct heartbeat *h);
/*
 * The calling thread enters the driver, or has returned from it: for
 * struct gpreempt_options, with the heartbeat as its data. Silence is allowed for longer only
 * in between: a process that is stopped elsewhere is missed soon.
 */
void heartbeat_busy(void *data, bool busy);

/*
 * Commands that keep their sessions themselves and end with their terminal:
 * their signals, and the locks of their targets.
 */

/*
 * A descriptor that is readable after Ctrl-C, a hangup and their like; other signals of job
 * control are ignored, so that this process is not stopped while it holds its target. -errno.
 */
int foreground_signals(void);

/*
 * Check that /run/gpreempt is there, and that this process is in no cgroup of the old freezer.
 * 0, or the exit status after a message.
 */
int foreground_dir(void);
int foreground_freezer(void);

/*
 * Keep only these capabilities (see escape.h), for this process and its later children. 0, or
 * the exit status after a message.
 */
int foreground_capabilities(uint64_t kept);

/* The lock of a target, in that role; or, after saying why not, the negated exit status. */
int foreground_take(pid_t target, enum hold_role role);

#endif
