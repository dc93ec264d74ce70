/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the memory of a process, in a thread of its own.
 *
 * The process decides what its memory is: a page of a file system that does not
 * answer, or one that a userfaultfd serves, keeps the reader for as long as the
 * process likes. The thread that traces the process must not wait for it.
 */
#ifndef GP_SESSION_READER_H
#define GP_SESSION_READER_H

#include "lib/core/internal.h"

struct gp_reader;

/* At most so many bytes at once. */
#define GP_READER_MAX 64

/* What the caller waits at most. */
#ifndef GP_READER_NS
#define GP_READER_NS (5 * NSEC_PER_MSEC)
#endif

/* 0, -ENOMEM, -EAGAIN. The handle must outlive the reader. */
int gp_reader_start(const struct gpreempt *g, pid_t pid, struct gp_reader **out);

/*
 * All of size. -ETIMEDOUT when it takes longer than GP_READER_NS; until that
 * read has come back every further one fails with -EBUSY at once.
 */
int gp_reader_read(struct gp_reader *r, uint64_t address, void *buf, size_t size);

/*
 * Does not wait: a thread that still reads frees it later. NULL is allowed.
 */
void gp_reader_stop(struct gp_reader *r);

#endif
