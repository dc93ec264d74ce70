/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_APART_H
#define CTL_APART_H

#include <stdatomic.h>
#include <stddef.h>

/* Work on processes that may not answer, at the start of memory that children share. */
struct ctl_apart {
	atomic_uint begun; /* processes; the reader counts them */
	size_t count;
	void (*ask)(struct ctl_apart *work, size_t i);	  /* it may hang */
	void (*silent)(struct ctl_apart *work, size_t i); /* it did */
};

/* A child asks one after the other, and is left behind if it hangs. */
void ctl_ask_apart(struct ctl_apart *work);

#endif
