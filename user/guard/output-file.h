/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that guard writes while it runs: metrics, the timeline, samples. A
 * child process replaces it in one step, so that a disk or a network file
 * system that does not answer never makes guard late.
 */
#ifndef GUARD_OUTPUT_FILE_H
#define GUARD_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct guard_file {
	const char *what; /* in the caller's messages */
	const char *path; /* NULL: not wanted; then only poll may be called */
	pid_t child;	  /* that writes it now; 0: none */
	bool failed;	  /* and that was returned; once */
	char *last; /* what is to be in it at the end, for its caller; or NULL */
	size_t last_size;
};

/*
 * All functions return 0 or -errno, for shr_file_reason(). A failure of a write
 * is returned once, until a write has worked again.
 */

/*
 * Have it replaced by that text. -EBUSY: skipped, since the last one is still
 * being written. Never waits.
 */
int guard_file_put(struct guard_file *f, const char *text, size_t size);

/* How did it go? From time to time. Never waits. */
int guard_file_poll(struct guard_file *f);

/*
 * The last one: written when this returns. Waits up to GUARD_FILE_WAIT_NS, and
 * calls @beat each few milliseconds meanwhile. Each failure is returned.
 */
#define GUARD_FILE_WAIT_NS 5000000000ULL
int guard_file_finish(struct guard_file *f, const char *text, size_t size,
		      void (*beat)(void *data), void *data);

#endif
