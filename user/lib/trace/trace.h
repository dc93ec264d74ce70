/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the reader of traces share. */
#ifndef GP_TRACE_H
#define GP_TRACE_H

#include <gpreempt/trace.h>

/* Rows of the table of functions that mean more than a phase. */
enum {
	GP_TRACE_IOCTL,	  /* pid, operation */
	GP_TRACE_SUSPEND, /* address of the stack */
	GP_TRACE_RESUME,
	GP_TRACE_COPY, /* address of the work, on that stack */
	GP_TRACE_PACKETS,
	GP_TRACE_FUNCTIONS = GP_TRACE_PACKETS + 6,
};

/* Of the ioctl's operation; GPREEMPT_TRACE_KINDS: one that is not traced. */
enum gpreempt_trace_kind gp_trace_kind(uint64_t operation);

#endif
