// SPDX-License-Identifier: LGPL-2.1-or-later
/* The library's handle. */
#include <stdlib.h>

#include "lib/core/internal.h"
#include "lib/core/options.h"

/* Programs may be older than the last fields, but not than these. */
#define FIRST_SIZE offsetof(struct gpreempt_options, from)

int gp_new_backend(const struct gpreempt_options *options, const struct gp_backend_ops *ops,
		   void *be, struct gpreempt **out)
{
	struct gpreempt *g;

	if (options && options->size < FIRST_SIZE)
		return -EINVAL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->ops = ops;
	g->be = be;
	if (options) {
		g->log = options->log;
		g->busy = options->busy;
		g->data = options->data;
	}
	*out = g;
	return 0;
}

int gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out)
{
	const struct gp_backend_ops *ops = &gp_backend_live;
	struct gpreempt_options o = { .size = sizeof(o) };
	void *be = NULL;
	int ret = 0;

	if (options)
		ret = gp_options_take(options, FIRST_SIZE, &o, sizeof(o));
	if (!ret && o.from) {
		ops = &gp_backend_snapshot;
		ret = gp_snapshot_open(o.from, &be);
	}
	if (ret)
		return ret;
	ret = gp_new_backend(&o, ops, be, out);
	if (!ret)
		(*out)->saved = o.from;
	else if (o.from)
		gp_snapshot_end(be);
	return ret;
}

void gpreempt_free(struct gpreempt *g)
{
	if (!g)
		return;
	if (g->saved)
		gp_snapshot_end(g->be);
	if (g->files)
		g->free_files(g->files);
	free(g);
}

const char *gpreempt_version(void)
{
	return GP_VERSION;
}
