// SPDX-License-Identifier: LGPL-2.1-or-later
/* The library's handle, and how it reads files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/options.h"
#include "lib/recording.h"

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
	g->files = gp_files_new();
	if (!g->files) {
		free(g);
		return -ENOMEM;
	}
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

int gpreempt_new(const struct gpreempt_options *options,
		 struct gpreempt **out)
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
	if (o.record || o.replay) {
		ret = open_recording(g, &o);
		if (ret) {
			gp_files_free(g->files);
			free(g);
			return ret == -EINVAL && !o.record ? -EPROTO : ret;
		}
	}
	*out = g;
	return 0;
}

void gpreempt_free(struct gpreempt *g)
{
	if (g && g->end && g->end(g->be))
		gp_log(g, "the recording could not be written to its end");
	if (g)
		gp_files_free(g->files);
	free(g);
}

const char *gpreempt_version(void)
{
	return GP_VERSION;
}

void gp_log(const struct gpreempt *g, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (!g->log)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	g->log(g->data, text);
}

bool gpreempt_simulated(const struct gpreempt *g)
{
	char text[16];

	return gp_read_small(g, text, sizeof(text),
			     "/sys/module/vgpu/initstate") > 0;
}

#define MAX_TEXT (64 << 20)	/* no file that we want is as large */

int gp_read_text(const struct gpreempt *g, const char *path, char **text,
		 size_t *len)
{
	/*
	 * The file must come in one read, or a process could change between
	 * two halves of its list: so a buffer that was too small is thrown
	 * away and the file read again.
	 */
	size_t size = 4096;
	char *buf = NULL;

	for (;;) {
		char *bigger = realloc(buf, size);
		ssize_t n;

		if (!bigger) {
			free(buf);
			return -ENOMEM;
		}
		buf = bigger;
		n = g->ops->read_file(g->be, path, buf, size - 1);
		if (n < 0) {
			free(buf);
			return n;
		}
		if ((size_t)n < size - 1) {
			buf[n] = '\0';
			*text = buf;
			*len = n;
			return 0;
		}
		size *= 4;
		if (size > MAX_TEXT) {
			free(buf);
			return -EFBIG;
		}
	}
}

ssize_t gp_read_small(const struct gpreempt *g, char *buf, size_t size,
		      const char *path_format, ...)
{
	char path[128];
	va_list ap;
	ssize_t n;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	n = g->ops->read_file(g->be, path, buf, size - 1);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}
