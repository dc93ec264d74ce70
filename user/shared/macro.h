/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small helpers of the language that know nothing of GPUs. */
#ifndef SHARED_MACRO_H
#define SHARED_MACRO_H

#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC  1000000000ULL

static inline void shr_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void shr_cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* For programs, not for the library: without memory no useful report is possible. */
static inline void *shr_must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* The variable is freed, or the descriptor closed, when its scope ends. */
#define __cleanup_free __attribute__((cleanup(shr_cleanup_free)))
#define __cleanup_fd   __attribute__((cleanup(shr_cleanup_fd)))

#endif
