/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of the calls that the library makes to the system, so that a test can be the system.
 * Every function returns 0 or more, or -errno.
 */
#ifndef LIB_CORE_INTERNAL_H
#define LIB_CORE_INTERNAL_H

#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/gpreempt.h>

#include "shared/util.h"

struct gp_backend_ops {
	/* A descriptor of /dev/kfd, made by this process. */
	int (*open_kfd)(void *be);
	/* Call once; the caller repeats on EINTR. */
	int (*ioctl)(void *be, int fd, unsigned long request, void *arg);
	int (*ptrace)(void *be, int request, pid_t pid, unsigned long data);
	/* Would a PTRACE_SEIZE of the process return? -ETIMEDOUT: not now. */
	int (*try_trace)(void *be, pid_t pid);
	/* Wait for the process. Returns its PID when it stopped or ended, else 0. */
	int (*wait)(void *be, pid_t pid, int *status);
	/*
	 * Watch a traced process for stops: *fd becomes readable once there
	 * is something to wait() for, and again only after watch_next().
	 */
	int (*watch_start)(void *be, pid_t pid, void **watch, int *fd);
	void (*watch_next)(void *be, void *watch);
	/*
	 * End the watch, which takes a stop of the process: the caller has
	 * asked for one. -ETIMEDOUT when it did not come.
	 */
	int (*watch_stop)(void *be, void *watch);
	/* Bytes read, at most size. Fewer than size: that was the end. */
	ssize_t (*read_file)(void *be, const char *path, char *buf, size_t size);
	/* Read a regular file that root owns. -ELOOP for a link, -EACCES for any other file. */
	ssize_t (*read_root_file)(void *be, const char *path, char *buf, size_t size);
	ssize_t (*read_link)(void *be, const char *path, char *buf, size_t size);
	/* The root directory of cgroup v2; -ENOENT: it is not mounted. */
	int (*open_cgroups)(void *be);
	/* Call fn for each name but those that begin with a point. */
	int (*list_dir)(void *be, const char *path, int (*fn)(void *arg, const char *name),
			void *arg);
	/* Read @size bytes out of the memory of a process, or fail. */
	int (*read_memory)(void *be, pid_t pid, uint64_t address, void *buf, size_t size);
	/* The CPU time that all threads of a process have used, in ns; 0: unknown. */
	uint64_t (*cpu_time)(void *be, pid_t pid);
	/* The device number of a device file, links followed. */
	int (*device_of)(void *be, const char *path, uint64_t *device);
	int (*is_root)(void *be);
	/*
	 * Ask the driver to end a debug session, from a thread that neither traces the target
	 * nor owns a session. The target is a process made for this, which only has /dev/kfd
	 * open, so no session ends. Costs a line in the kernel log.
	 *
	 * -EPERM: the driver checks who asks. -EINVAL: it only looked for a session. -EBUSY:
	 * amdgpu-dkms, which is profiling a process. Others: the question failed.
	 */
	int (*ask_disable)(void *be);
	/*
	 * Read the module's text about the GPUs of a process that is paused twice: a process
	 * made for this, which does nothing else. Returns the length, or -errno. The process has
	 * no address space, so no GPU works for it; but where gp_pause_is_strict() an error of
	 * the driver would crash the host.
	 */
#define GP_PAUSED_TWICE_TEXT 3072
	ssize_t (*pause_twice)(void *be, char *text, size_t size);
	/* A descriptor of the process, which no other gets with its number. */
	int (*open_process)(void *be, pid_t pid);
	/*
	 * A copy of its descriptor n; -ENODEV if that is not the character device of that number.
	 */
	int (*take_device)(void *be, pid_t pid, int process, int n, uint64_t device);
	/* Are two descriptors of the process one open file? No where unknown. */
	bool (*same_file)(void *be, pid_t pid, int a, int b);
};

extern const struct gp_backend_ops gp_backend_live;
extern const struct gp_backend_ops gp_backend_snapshot;

/*
 * The back-end's own, for the end. -EPROTO: the directory has not the files that
 * gpreempt-lab snapshot saves; or -errno.
 */
int gp_snapshot_open(const char *dir, void **be);
void gp_snapshot_end(void *be);

#define GP_SYSFS_PROC "/sys/class/kfd/kfd/proc"
#define GP_DEBUGFS    "/sys/kernel/debug"

struct gp_files;

/* Number of processes whose descriptor is remembered; two may share a place. */
#define GP_KFD_HINTS 64

struct gpreempt {
	const struct gp_backend_ops *ops;
	void *be;   /* the back-end's own */
	bool saved; /* reads a snapshot: its PIDs are not of this host */
	void (*log)(void *data, const char *text);
	void (*busy)(void *data, bool busy);
	void *data;
	struct gp_files *files; /* files that name containers, or NULL */
	void (*free_files)(struct gp_files *files);
	/*
	 * PID << 32 | its descriptor of /dev/kfd at the last pause or unpause. Any thread writes
	 * it, and checks it before use.
	 */
	_Atomic uint64_t kfd_hints[GP_KFD_HINTS];
	_Atomic int pause_kind; /* user/lib/preempt/pause.c */
};

/* Do the same as gpreempt_new(), over another system. */
int gp_new_backend(const struct gpreempt_options *options, const struct gp_backend_ops *ops,
		   void *be, struct gpreempt **out);

__attribute__((format(printf, 2, 3))) void gp_log(const struct gpreempt *g, const char *format,
						  ...);

/* Fill in *err, which may be NULL. Returns code. */
int gp_error(struct gpreempt_error *err, int code, enum gpreempt_reason reason, pid_t pid,
	     const char *step);

/* The whole text of a file, terminated, for free(). */
int gp_read_text(const struct gpreempt *g, const char *path, char **text, size_t *len);
/* Read a file that root owns, with read_root_file(); -EFBIG: more than 1 MiB. */
int gp_read_root_text(const struct gpreempt *g, const char *path, char **text, size_t *len);

/* The start of a small file, terminated. Returns its length or -errno. */
__attribute__((format(printf, 4, 5))) ssize_t
gp_read_small(const struct gpreempt *g, char *buf, size_t size, const char *path_format, ...);

/* The number in a file of sysfs, at most INT64_MAX. 0 or -errno. */
__attribute__((format(printf, 3, 4))) int gp_read_number(const struct gpreempt *g, uint64_t *value,
							 const char *path_format, ...);

/* Look for names in that directory. 1: there are some; 0: none; -errno. */
int gp_look_in(const struct gpreempt *g, const char *path);

#define GP_PID_PATH 96 /* bytes for such a path */

/*
 * The path of a file that each process has: @folder, a PID and @file, which are
 * ours and short. Returns its end.
 */
char *gp_pid_path(char *path, const char *folder, pid_t pid, const char *file);

/* Read a file of /proc/<pid>/ as gp_read_small() does. */
ssize_t gp_read_proc(const struct gpreempt *g, pid_t pid, const char *file, char *buf, size_t size);

/* State of a process, from /proc. */
struct gp_process {
	char state; /* R S D T t Z X */
	pid_t tgid;
	int64_t ns_pid; /* in its innermost namespace; or GPREEMPT_UNKNOWN */
	uid_t uid;	/* real */
	pid_t tracer;	/* 0: none */
	unsigned int threads;
};

int gp_process_read(const struct gpreempt *g, pid_t pid, struct gp_process *out);
/* Read the process's name; "": not known. */
void gp_read_comm(const struct gpreempt *g, pid_t pid, char *buf, size_t size);

/* Does the driver survive a suspend of this process? See gpus.c. */
int gp_check_gpus(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err);

/*
 * Has it an address space on all of its GPUs, as gpreempt.ko shows them? 0, or
 * GPREEMPT_NO_ADDRESS_SPACE, or GPREEMPT_PAUSE_UNSAFE when that is not known.
 */
int gp_check_spaces(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err);

/* Are process numbers the host's here, and is there a /dev/kfd? */
int gp_check_host(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err);

/* Does its first thread live, and has it no tracer? */
int gp_check_traceable(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err);

/* Is there such a process, and does it use the GPU? */
int gp_target_exists(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err);

/*
 * Copy a structure that begins with its size_t size, in the form of the caller's header. An older
 * and shorter one gets zeros; members of a newer and longer one that this library does not know
 * must be zeros. @least: size in the first version. 0, -EINVAL for a shorter one, or -E2BIG.
 */
int gp_options_take(const void *from, size_t least, void *to, size_t size);

/* The ioctl: 0 or -errno. */
typedef int (*gp_enable_fn)(void *data, struct kfd_ioctl_dbg_trap_args *args);

/*
 * KFD_IOC_DBG_TRAP_ENABLE of a process that is a KFD process, and stays so until the ioctl is done.
 * For a task that the caller traces the driver would make one (kfd_ioctl_set_debug_trap()); when
 * the process has just executed another program, kernels up to 6.18 crash at its end. To ask
 * before, and then to enable, is not enough: it may execute the program in between. So the driver
 * gets the number of a thread that is not traced, which it looks up only. Without one, the process
 * is stopped for the ioctl: from then on nothing of it can execute a program.
 *
 * By the thread that traces it. Returns what ask() returned; -ESRCH when it is, or may be, another
 * program; -ETIMEDOUT when it does not stop; -errno. A stop that is not of our making is left to be
 * collected.
 */
int gp_enable_existing(struct kfd_ioctl_dbg_trap_args *args, gp_enable_fn ask, void *data);

/*
 * Call fn for each name in a directory of the system, but for those that begin with
 * ".", until it returns another value than 0, which comes back. -errno.
 */
int gp_list_names(const char *path, int (*fn)(void *arg, const char *name), void *arg);

/* The number of a device, which is the text of its file in a snapshot: n bytes, or -errno. */
int gp_parse_device(char *text, ssize_t n, uint64_t *device);
#define GP_DEVICE_TEXT 32

#endif
