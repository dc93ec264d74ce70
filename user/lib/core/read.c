// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the library reads files, and what it logs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"
#include "shared/parse.h"

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

	return gp_read_small(g, text, sizeof(text), "/sys/module/vgpu/initstate") > 0;
}

/* No file that we want is as large; one of root's may be there to be misused. */
#define MAX_TEXT      (64 << 20)
#define MAX_ROOT_TEXT (1 << 20)

static int read_whole(const struct gpreempt *g,
		      ssize_t (*read)(void *be, const char *path, char *buf, size_t size),
		      const char *path, size_t max, char **text, size_t *len)
{
	/*
	 * The file must come in one read, or a process could change between two halves of its
	 * list: so a buffer that was too small is thrown away and the file read again.
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
		n = read(g->be, path, buf, size - 1);
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
		/* One byte tells that there are more, and one ends the text. */
		if (size == max + 2) {
			free(buf);
			return -EFBIG;
		}
		size = 4 * size < max + 2 ? 4 * size : max + 2;
	}
}

int gp_read_text(const struct gpreempt *g, const char *path, char **text, size_t *len)
{
	return read_whole(g, g->ops->read_file, path, MAX_TEXT, text, len);
}

int gp_read_root_text(const struct gpreempt *g, const char *path, char **text, size_t *len)
{
	return read_whole(g, g->ops->read_root_file, path, MAX_ROOT_TEXT, text, len);
}

static ssize_t read_start(const struct gpreempt *g, const char *path, char *buf, size_t size)
{
	ssize_t n = g->ops->read_file(g->be, path, buf, size - 1);

	if (n >= 0)
		buf[n] = '\0';
	return n;
}

ssize_t gp_read_small(const struct gpreempt *g, char *buf, size_t size, const char *path_format,
		      ...)
{
	char path[128];
	va_list ap;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	return read_start(g, path, buf, size);
}

int gp_read_number(const struct gpreempt *g, uint64_t *value, const char *path_format, ...)
{
	char path[128], text[32];
	va_list ap;
	ssize_t n;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	n = read_start(g, path, text, sizeof(text));
	if (n < 0)
		return n;
	text[strcspn(text, "\n")] = '\0';
	return shr_parse_u64(text, INT64_MAX, value);
}

static int stop(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

int gp_look_in(const struct gpreempt *g, const char *path)
{
	return g->ops->list_dir(g->be, path, stop, NULL);
}

char *gp_pid_path(char *path, const char *folder, pid_t pid, const char *file)
{
	char *at = stpcpy(path, folder);

	*at++ = '/';
	at = shr_put_decimal(at, pid);
	*at++ = '/';
	return stpcpy(at, file);
}

ssize_t gp_read_proc(const struct gpreempt *g, pid_t pid, const char *file, char *buf, size_t size)
{
	char path[GP_PID_PATH];

	gp_pid_path(path, "/proc", pid, file);
	return read_start(g, path, buf, size);
}
