// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "unit-trace.h"

unsigned int trace_function(const char *symbol)
{
	const struct gpreempt_trace_function *f;
	unsigned int n;

	ck_assert_ptr_nonnull(gpreempt_trace_function(0));
	for (n = 0; (f = gpreempt_trace_function(n)); n++)
		if (!strcmp(f->symbol, symbol))
			return n;
	ck_abort_msg("no function %s", symbol);
	return 0;
}

void trace_event(struct gpreempt_trace *trace, uint64_t ns, int64_t tid,
		 const char *symbol, bool leave, uint64_t a, uint64_t b)
{
	struct gpreempt_trace_event event = {
		.ns = ns,
		.tid = tid,
		.function = trace_function(symbol),
		.leave = leave,
		.args = { a, b },
		.ret = leave ? (int64_t)a : 0,
	};

	ck_assert_int_eq(gpreempt_trace_add(trace, &event), 0);
}

const struct gpreempt_trace_data *trace_end(struct gpreempt_trace *trace)
{
	ck_assert_int_eq(gpreempt_trace_end(trace), 0);
	ck_assert_ptr_nonnull(gpreempt_trace_get(trace));
	return gpreempt_trace_get(trace);
}
