/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a recording: what the library asked of a system, and got. */
#ifndef GP_BACKEND_RECORDING_H
#define GP_BACKEND_RECORDING_H

#include <linux/kfd_ioctl.h>
#include <stdio.h>

#include "lib/core/internal.h"

#define GP_RECORDING_NAME    "gpreempt-recording"
#define GP_RECORDING_VERSION "1.0"
#define GP_RECORDING_COLUMNS "call pid key ret ns value data"

/* One call of the back-end. */
struct gp_record {
	char call[24];
	pid_t pid; /* whose, 0: of no process */
	char *key; /* what was asked for */
	int64_t ret;
	uint64_t ns;	/* how long it took */
	uint64_t value; /* a number that came out of it */
	char *data;	/* bytes that came out of it */
	size_t len;
	bool used; /* has been replayed */
};

/* 0 or -errno; a field that is NULL is written as "-". */
int gp_record_write(FILE *f, const struct gp_record *record);
/* A line without its end, which it cuts up. 0, -EINVAL, -ENOMEM. */
int gp_record_parse(char *line, struct gp_record *record);
void gp_record_free(struct gp_record *record);

/*
 * Read all of a file. What was read before an error is in the array, too; *line
 * is that of the error.
 */
int gp_recording_read(FILE *f, struct gp_record **records, size_t *count,
		      unsigned int *line);

/* The calls of a process that have to come in the order they were made in. */
bool gp_record_in_order(const struct gp_record *record);

/*
 * Of an operation of the debug trap: the name of its call. NULL: it is not recorded,
 * and of no effect in a replay.
 */
const char *gp_trap_call(const struct kfd_ioctl_dbg_trap_args *args);
/* What the driver writes to, and its size. */
void *gp_trap_buffer(const struct kfd_ioctl_dbg_trap_args *args, size_t *len);
/* The number that comes back in the arguments. */
uint64_t gp_trap_value(const struct kfd_ioctl_dbg_trap_args *args);
void gp_trap_set_value(struct kfd_ioctl_dbg_trap_args *args, uint64_t value);

const char *gp_ptrace_call(int request);
/* Of an operation of checkpoints. */
const char *gp_pause_call(const struct kfd_ioctl_criu_args *args);

/* Back-ends with a state: *be is for the end. */
int gp_record_open(const char *path, void **be);
int gp_record_end(void *be);
/* *line: where it is no recording, or 0. */
int gp_replay_open(const char *path, void **be, unsigned int *line);
int gp_replay_end(void *be);

extern const struct gp_backend_ops gp_backend_record;
extern const struct gp_backend_ops gp_backend_replay;

#endif
