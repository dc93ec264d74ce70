/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the driver's functions, made up. */
#ifndef UNIT_TRACE_H
#define UNIT_TRACE_H

#include "lab/trace.h"
#include "unit.h"

/* Operations of the ioctl in the tests. */
enum trap { TRAP_ENABLE, TRAP_DISABLE, TRAP_SUSPEND = 6, TRAP_RESUME, TRAP_QUERY = 11 };

/* The number of a function, which must be one that is traced. */
unsigned int trace_function(const char *symbol);

/* Entry (with its first two arguments) or return (a is what it returns). */
void trace_event(struct gp_trace *trace, uint64_t ns, int64_t tid, const char *symbol, bool leave,
		 uint64_t a, uint64_t b);

/* No more events come; what they amount to. */
const struct gp_trace_data *trace_end(struct gp_trace *trace);

#endif
