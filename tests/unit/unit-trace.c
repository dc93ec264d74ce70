// SPDX-License-Identifier: GPL-2.0-only
#include "unit-trace.h"

unsigned int trace_function(const char *symbol)
{
	unsigned int n;

	for (n = 0; n < GP_TRACE_FUNCTIONS; n++)
		if (!strcmp(gp_trace_functions[n].symbol, symbol))
			return n;
	ck_abort_msg("no function %s", symbol);
	return 0;
}

void trace_event(struct gp_trace *trace, uint64_t ns, int64_t tid, const char *symbol, bool leave,
		 uint64_t a, uint64_t b)
{
	struct gp_trace_event event = {
		.ns = ns,
		.tid = tid,
		.function = trace_function(symbol),
		.leave = leave,
		.args = { a, b },
		.ret = leave ? (int64_t)a : 0,
	};

	gp_trace_add(trace, &event);
}

const struct gp_trace_data *trace_end(struct gp_trace *trace)
{
	gp_trace_end(trace);
	ck_assert_ptr_nonnull(gp_trace_get(trace));
	return gp_trace_get(trace);
}
