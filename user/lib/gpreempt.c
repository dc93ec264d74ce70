// SPDX-License-Identifier: LGPL-2.1-or-later
/* The library's handle. */
#include <stdlib.h>

#include "lib/core/options.h"
#include "lib/backend/recording.h"

/* Programs may be older than the last fields, but not than these. */
#define FIRST_SIZE offsetof(struct gpreempt_options, record)

int gp_new_backend(const struct gpreempt_options *options,
		   const struct gp_backend_ops *ops, void *be,
		   struct gpreempt **out)
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

static int open_recording(struct gpreempt *g,
			  const struct gpreempt_options *options)
{
	unsigned int line;
	int ret;

	if (options->record && options->replay)
		return -EINVAL;
	if (options->record) {
		ret = gp_record_open(options->record, &g->be);
		g->ops = &gp_backend_record;
		g->end = gp_record_end;
	} else {
		ret = gp_replay_open(options->replay, &g->be, &line);
		g->ops = &gp_backend_replay;
		g->end = gp_replay_end;
		if (ret && line)
			gp_log(g, "%s: line %u is not of a recording",
			       options->replay, line);
	}
	return ret;
}

static int open_snapshot(struct gpreempt *g, const char *dir)
{
	int ret = gp_snapshot_open(dir, &g->be);

	if (ret)
		return ret;
	g->ops = &gp_backend_snapshot;
	g->saved = true;
	return 0;
}

int gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out)
{
	struct gpreempt_options o = { .size = sizeof(o) };
	struct gpreempt *g;
	int ret = 0;

	if (options)
		ret = gp_options_take(options, FIRST_SIZE, &o, sizeof(o));
	if (!ret)
		ret = gp_new_backend(&o, &gp_backend_live, NULL, &g);
	if (ret)
		return ret;
	if (o.from)
		ret = open_snapshot(g, o.from);
	else if (o.record || o.replay)
		ret = open_recording(g, &o);
	if (ret) {
		free(g);
		return ret == -EINVAL && !o.record ? -EPROTO : ret;
	}
	*out = g;
	return 0;
}

void gpreempt_free(struct gpreempt *g)
{
	if (g && g->saved)
		gp_snapshot_end(g->be);
	if (g && g->end && g->end(g->be))
		gp_log(g, "the recording could not be written to its end");
	if (g && g->files)
		g->free_files(g->files);
	free(g);
}

const char *gpreempt_version(void)
{
	return GP_VERSION;
}
