/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library wants from the system, as a table, so that a test can be
 * the system. Every function returns 0 or more, or -errno.
 */
#ifndef GP_CORE_BACKEND_H
#define GP_CORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gp_backend_ops {
	/* A descriptor of /dev/kfd, made by this process. */
	int (*open_kfd)(void *be);
	/* Not repeated on EINTR; that is the caller's. */
	int (*ioctl)(void *be, int fd, unsigned long request, void *arg);
	int (*ptrace)(void *be, int request, pid_t pid, unsigned long data);
	/* Would a PTRACE_SEIZE of it return? -ETIMEDOUT: not now. */
	int (*try_trace)(void *be, pid_t pid);
	/* The pid when it stopped or ended, 0 when there is nothing. */
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
	/*
	 * The same of a regular file that root owns. -ELOOP for a link, -EACCES
	 * for any other file.
	 */
	ssize_t (*read_root_file)(void *be, const char *path, char *buf, size_t size);
	ssize_t (*read_link)(void *be, const char *path, char *buf, size_t size);
	/* The root directory of cgroup v2; -ENOENT: it is not mounted. */
	int (*open_cgroups)(void *be);
	/* Calls fn for each name but those that begin with a point. */
	int (*list_dir)(void *be, const char *path, int (*fn)(void *arg, const char *name),
			void *arg);
	/* All of size, out of the memory of a process. */
	int (*read_memory)(void *be, pid_t pid, uint64_t address, void *buf, size_t size);
	/* The device number of a device file, links followed. */
	int (*device_of)(void *be, const char *path, uint64_t *device);
	int (*is_root)(void *be);
	/*
	 * What the driver answers to the end of a debug session when neither the tracer
	 * of the target nor the owner of a session asks. It is asked of a process that
	 * is made for this and does nothing but have /dev/kfd open, so that no session
	 * ends. Costs a line in the kernel log.
	 *
	 * -EPERM: the driver minds who asks. -EINVAL: it only looked for a session.
	 * -EBUSY: amdgpu-dkms, which profiles a process just now. Others: it could not
	 * be asked.
	 */
	int (*ask_disable)(void *be);
	/*
	 * What the module shows of the GPUs of a process that is paused twice and does
	 * nothing else, made for this: the text of its file, whose length is returned, or
	 * -errno. It has no address space, so no GPU has any work with it; but where
	 * gp_pause_is_strict() an error of the driver's would crash the host.
	 */
#define GP_PAUSED_TWICE_TEXT 3072
	ssize_t (*pause_twice)(void *be, char *text, size_t size);
	/* A descriptor of the process, which no other gets with its number. */
	int (*open_process)(void *be, pid_t pid);
	/*
	 * A copy of its descriptor n; -ENODEV if that is not the character
	 * device of that number.
	 */
	int (*take_device)(void *be, pid_t pid, int process, int n, uint64_t device);
	/* Are two descriptors of the process one open file? No where unknown. */
	bool (*same_file)(void *be, pid_t pid, int a, int b);
};

extern const struct gp_backend_ops gp_backend_live;
extern const struct gp_backend_ops gp_backend_snapshot;

/*
 * The back-end's own, for the end. -EPROTO: the directory has not the files that
 * gpreempt-ctl snapshot saves; or -errno.
 */
int gp_snapshot_open(const char *dir, void **be);
void gp_snapshot_end(void *be);

#endif
