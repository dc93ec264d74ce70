// SPDX-License-Identifier: GPL-2.0-only
/* The library's parser of ROCm's log. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lab/amdlog.h"

bool fuzz_one(const struct fuzz_input *in)
{
	const struct gp_amdlog_data *d;
	struct gp_amdlog *log = gp_amdlog_new(in->len % 4 ? GPREEMPT_UNKNOWN : 7, NULL, NULL);
	/* Its end is guarded. */
	char *text = malloc(in->len ? in->len : 1);
	bool taken;

	memcpy(text, in->data, in->len);
	gp_amdlog_feed(log, text, in->len);
	gp_amdlog_end(log);
	d = gp_amdlog_get(log);
	if (d->other_lines > d->lines || d->kept > d->n_problems)
		abort();
	taken = d->n_queues;
	gp_amdlog_free(log);
	free(text);
	return taken;
}
