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
#include <stdint.h>
#include <sys/types.h>

struct guard_file {
	const char *what;	/* in messages */
	const char *path;	/* NULL: not wanted */
	pid_t child;		/* that writes it now; 0: none */
	uint64_t since_ns;	/* when that began */
	bool told;		/* that it can't be written; once */
};

/*
 * Before anything is suspended: can it be written? 0, or the exit status after
 * the reason was printed.
 */
int guard_file_check(const struct guard_file *f);

/*
 * Have it replaced by that text. Skipped, with a note, while the last one is
 * still being written. Never waits.
 */
void guard_file_put(struct guard_file *f, const char *text, size_t size);

/* Take note of how it went; from time to time. Never waits. */
void guard_file_poll(struct guard_file *f);

/*
 * The last one: written when this returns. Waits up to GUARD_FILE_WAIT_NS, and
 * calls @beat each few milliseconds meanwhile. 0, or the exit status after the
 * reason was printed.
 */
#define GUARD_FILE_WAIT_NS 5000000000ULL
int guard_file_finish(struct guard_file *f, const char *text, size_t size,
		      void (*beat)(void *data), void *data);

#endif
