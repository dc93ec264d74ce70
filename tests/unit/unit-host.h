/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up parts of this host for commands that ask the kernel itself, and not through the
 * library: cgroups, and calls that fail. Nothing of the real host's cgroups is read or changed
 * meanwhile.
 */
#ifndef UNIT_HOST_H
#define UNIT_HOST_H

#include <stdbool.h>
#include <sys/types.h>

/* An empty HOLD_DIR, and a title that a holder may write over. */
void hold_dir_setup(void);
/*
 * A mount of cgroup v2 with its root alone, and "0::/" in /proc/PID/cgroup of each process.
 */
void unit_cgroups_start(void);
void unit_cgroups_stop(void);
/* There is no cgroup v2 mounted, or also the freezer of cgroup v1. */
void unit_cgroups_mounted(bool v2, bool v1);
/* Or exactly that, in place of /proc/self/mounts. */
void unit_mounts(const char *text);
/* Who reads it waits until then. */
void unit_mounts_wait(void);
void unit_mounts_go_on(void);
/* Set the text of /proc/PID/cgroup for one process (0: for all others). */
void unit_cgroup_of(pid_t pid, const char *text);
/* In place of a path of 4,096 bytes or more: older kernels print none. */
#define UNIT_CGROUP_TOO_LONG "too long"
/* A group, as "/job", with the files that the kernel puts there, and those above it. */
void unit_cgroup_make(const char *group);
/* Make the path that long, by groups whose names have up to so many letters. */
void unit_cgroup_long(char *group, size_t len, size_t part);
/* With the attribute of a role. */
void unit_cgroup_role(const char *group, const char *role);
/* How often the attribute of a file was asked for. */
extern unsigned int unit_attributes_read;
/* Where the made-up cgroups are. */
const char *unit_cgroup_root(void);
/* An empty directory: the same without a process in it can be removed. */
void unit_cgroup_make_unused(const char *group);
void unit_cgroup_freeze(const char *group, bool frozen);
/* cgroup.freeze, and what cgroup.events has. */
void unit_cgroup_set(const char *group, bool freeze, bool frozen);
bool unit_cgroup_exists(const char *group);
/* Has a process moved itself there since? "" is the root. */
bool unit_cgroup_entered(const char *group);
/* Or to the root of the freezer of cgroup v1? That is no way out of it then. */
bool unit_freezer_left(void);
extern bool unit_freezer_stays;

/*
 * open(), openat(), fopen(), setmntent() or mkdir() of a path that ends like this
 * fails with that errno; NULL: none does.
 */
extern const char *unit_path_fails;
extern int unit_path_errno;
void unit_fail_path(const char *end, int code);
/* open() of the one path opens the other; NULL: none does. */
extern const char *unit_path_from, *unit_path_to;
/* The nth fork() from now, in whichever process, fails with EAGAIN; 0: none. */
extern int unit_fork_fails;
/* Each fork() of this process fails with that errno; 0: none. */
extern int unit_fork_errno;
/* The nth pthread_create() of this process from now fails with EAGAIN; 0: none. */
extern int unit_thread_fails;
/* The nth signalfd() of this process from now fails with that errno; 0: none. */
extern int unit_signalfd_fails, unit_signalfd_errno;
/* The nth mmap() of this process from now fails with ENOMEM; 0: none. */
extern int unit_mmap_fails;
/* The nth unshare() of this process from now fails with ENOMEM; 0: none. */
extern int unit_unshare_fails;
/* Before each ppoll() of a process that has a loop; NULL: nothing happens. */
extern void (*unit_before_ppoll)(void);
/* Make a process that does nothing and ends with ours, whatever its group. */
pid_t unit_make_sleeper(void);
/* Threads of a process whose name begins like that. */
size_t unit_threads(pid_t pid, const char *name);
/* Our end of a terminal whose other end is @slave. */
int unit_terminal_open(int *slave);
/* Add the terminal's output to @text, until @until is in it. */
void unit_terminal_read(int terminal, char *text, size_t size, const char *until);
/* The last child that this process has made with fork(); 0: none. */
pid_t unit_last_child(void);
/* Wait for each child that this process has made with fork(), but for one. */
void unit_wait_for_children(pid_t other_than);

#endif
