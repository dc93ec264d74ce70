/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_CORE_INTERNAL_H
#define GP_CORE_INTERNAL_H

#include <errno.h>
#include <gpreempt/gpreempt.h>

#include "lib/core/backend.h"
#include "shared/macro.h"

#define GP_SYSFS_PROC "/sys/class/kfd/kfd/proc"
#define GP_DEBUGFS    "/sys/kernel/debug"

struct gp_files;

/* Processes whose descriptor is remembered; two may share a place. */
#define GP_KFD_HINTS 64

struct gpreempt {
	const struct gp_backend_ops *ops;
	void *be;   /* the back-end's own */
	bool saved; /* it is a snapshot: its PIDs are not of this host */
	void (*log)(void *data, const char *text);
	void (*busy)(void *data, bool busy);
	void *data;
	struct gp_files *files; /* that name containers, or NULL */
	void (*free_files)(struct gp_files *files);
	/*
	 * PID << 32 | its descriptor of /dev/kfd, when it was last paused or
	 * unpaused. Of any thread; what is there is checked before it is used.
	 */
	_Atomic uint64_t kfd_hints[GP_KFD_HINTS];
	_Atomic int pause_kind; /* user/lib/pause/strict.c */
};

/* As gpreempt_new(), over another system. */
int gp_new_backend(const struct gpreempt_options *options, const struct gp_backend_ops *ops,
		   void *be, struct gpreempt **out);

__attribute__((format(printf, 2, 3))) void gp_log(const struct gpreempt *g, const char *format,
						  ...);

/* Fill in *err, which may be NULL. Returns code. */
int gp_error(struct gpreempt_error *err, int code, enum gpreempt_reason reason, pid_t pid,
	     const char *step);

/* The whole text of a file, terminated, for free(). */
int gp_read_text(const struct gpreempt *g, const char *path, char **text, size_t *len);
/* The same of root's own, with read_root_file(); -EFBIG: it has more than 1 MiB. */
int gp_read_root_text(const struct gpreempt *g, const char *path, char **text, size_t *len);

/* The start of a small file, terminated. Returns its length or -errno. */
__attribute__((format(printf, 4, 5))) ssize_t
gp_read_small(const struct gpreempt *g, char *buf, size_t size, const char *path_format, ...);

/* The number in a file of sysfs, at most INT64_MAX. 0 or -errno. */
__attribute__((format(printf, 3, 4))) int gp_read_number(const struct gpreempt *g, uint64_t *value,
							 const char *path_format, ...);

/* 1: there are names in that directory; 0: none; -errno. */
int gp_look_in(const struct gpreempt *g, const char *path);

#define GP_PID_PATH 96 /* bytes for such a path */

/*
 * The path of a file that each process has: @folder, a PID and @file, which are
 * ours and short. Returns its end.
 */
char *gp_pid_path(char *path, const char *folder, pid_t pid, const char *file);

/* As gp_read_small(), of /proc/<pid>/. */
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
/* Its name; "": not known. */
void gp_read_comm(const struct gpreempt *g, pid_t pid, char *buf, size_t size);
/* Its words with a space between, as ps shows them. Their length, or -errno with "". */
ssize_t gp_read_command(const struct gpreempt *g, pid_t pid, char *buf, size_t size);

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

#endif
