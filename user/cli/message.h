/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors, notes and progress in the form that all commands share. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdio.h>

#include <gpreempt/gpreempt.h>

static inline void ctl_cleanup_list(void *list)
{
	gpreempt_list_free(*(void **)list);
}

static inline void ctl_cleanup_handle(struct gpreempt **g)
{
	gpreempt_free(*g);
}

/* The library's list or handle is freed when its scope ends; it begins as NULL. */
#define __cleanup_list	 __attribute__((cleanup(ctl_cleanup_list)))
#define __cleanup_handle __attribute__((cleanup(ctl_cleanup_handle)))

/* Set *err. Returns code. */
int ctl_set_error(struct gpreempt_error *err, int code, enum gpreempt_reason reason, pid_t pid,
		  const char *step);

/* Set the names of the program and of the command that runs, or NULL, for messages. */
void ctl_set_name(const char *name, const char *cmd);

/*
 * Print an error and its next step on stderr. Returns the exit status. A wrong use without a next
 * step gets the command's help.
 */
int ctl_fail(const struct gpreempt_error *err);
__attribute__((format(printf, 3, 4))) int ctl_fail_text(enum gpreempt_class class, const char *next,
							const char *format, ...);
/* Return the next step after a write that failed: make room on a full disk, else @otherwise. */
const char *ctl_want_room(int code, const char *otherwise);
/* Print the error of a file that we could not write, by the reason of shr_file_replace(). */
int ctl_fail_file(const char *what, const char *path, const char *when, int code);
/* Print an error whose reason needs only the process. */
int ctl_fail_reason(enum gpreempt_reason reason, int code, pid_t pid);
/* Get the next step of an error: a clause, perhaps with a command. */
void ctl_next_step(const struct gpreempt_error *err, char *buf, size_t size);
/* Returns the next step after a system call that failed with this -errno; NULL: none is known. */
const char *ctl_want(int code);

/*
 * Print a line on stdout, flushed. As in all lines of text here, text from a process or a user
 * can't harm a terminal or break the line.
 */
__attribute__((format(printf, 1, 2))) void ctl_say(const char *format, ...);

/* Print a note on stderr. */
__attribute__((format(printf, 1, 2))) void ctl_note(const char *format, ...);

/* Print a note on a process: the reason, and the next step. */
void ctl_note_reason(enum gpreempt_reason reason, pid_t pid);

/*
 * How far long work is: one line on stderr that the next one replaces, on a
 * terminal only, until it is taken away.
 */
__attribute__((format(printf, 1, 2))) void ctl_progress(const char *format, ...);
void ctl_progress_end(void);

/* Print the reason why the driver's sysfs serves, on stderr. */
void ctl_note_sysfs(bool snapshot);

/* Check that we are root; "only root may @to". 0, or the exit status after a message. */
int ctl_need_root(const char *to);

/* Is the GPU here the simulated one? */
bool ctl_simulated(void);
/* Are we in the host's namespaces? Elsewhere PIDs and start times mislead: *err. */
bool ctl_is_host(struct gpreempt *g, struct gpreempt_error *err);
/* Check that we see the host's processes. 0, or the exit status after a message. */
int ctl_need_host(struct gpreempt *g);

/* Print a note that the times come from a simulated GPU. */
void ctl_label_times(void);

/* "debug" or "pause" */
const char *ctl_method_name(enum gpreempt_method method);
const char *ctl_verdict_name(enum gpreempt_verdict verdict);
/* Returns the evidence's name; NULL: there is none. */
const char *ctl_verified_by_name(enum gpreempt_verified_by by);

/* The offered name that a wrong word is nearest to. */
struct ctl_nearest {
	const char *typed;
	const char *name; /* NULL: none is near */
	size_t edits;
};

void ctl_offer(struct ctl_nearest *nearest, const char *name);

#endif
