// SPDX-License-Identifier: GPL-2.0-only
/* The library's parser of ROCm's log. */
#include <stdlib.h>
#include <string.h>

#include <gpreempt/amdlog.h>

#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	const struct gpreempt_amdlog_data *d;
	struct gpreempt_amdlog *log;
	/* Its end is guarded. */
	char *text = malloc(in->len ? in->len : 1);
	bool taken;

	memcpy(text, in->data, in->len);
	if (gpreempt_amdlog_new(NULL, &log) ||
	    gpreempt_amdlog_feed(log, text, in->len) ||
	    gpreempt_amdlog_end(log))
		abort();
	d = gpreempt_amdlog_get(log);
	if (d->other_lines > d->lines || d->kept > d->n_problems)
		abort();
	taken = d->n_queues;
	gpreempt_amdlog_free(log);
	free(text);
	return taken;
}
