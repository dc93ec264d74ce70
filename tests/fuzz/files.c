// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "lib/core/internal.h"

#define MAX_FILES 256

struct file {
	const char *path;
	const char *text;
	size_t len;
};

static struct file files[MAX_FILES];
static size_t n_files;

void fuzz_files_take(char *text, size_t len)
{
	char *line = text, *end = text + len, *next;
	struct file *f;

	for (n_files = 0; line < end && n_files < MAX_FILES; line = next) {
		f = &files[n_files];
		next = memmem(line, end - line, "\n@", 2);
		next = next ? next + 1 : end;
		f->text = memchr(line, '\n', next - line);
		if (*line != '@' || !f->text)
			continue;
		line[f->text - line] = '\0';
		f->path = line + 1;
		f->len = next - ++f->text;
		f->len -= f->len && next[-1] == '\n';
		n_files++;
	}
}

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	size_t i;

	(void)be;
	for (i = 0; i < n_files; i++) {
		if (strcmp(files[i].path, path))
			continue;
		if (size > files[i].len)
			size = files[i].len;
		memcpy(buf, files[i].text, size);
		return size;
	}
	return -ENOENT;
}

/* The name below a directory; 0: it is not below it. */
static size_t name_in(const char *path, size_t len, const char *dir, const char **name)
{
	if (strncmp(path, dir, len) || path[len] != '/')
		return 0;
	*name = path + len + 1;
	return strcspn(*name, "/");
}

static bool seen_before(size_t file, size_t dir_len, const char *dir, const char *name, size_t len)
{
	const char *other;
	size_t i;

	for (i = 0; i < file; i++)
		if (name_in(files[i].path, dir_len, dir, &other) == len &&
		    !memcmp(other, name, len))
			return true;
	return false;
}

static int list_dir(void *be, const char *dir, int (*fn)(void *arg, const char *name), void *arg)
{
	size_t i, len, dir_len = strlen(dir);
	int ret = 0, found = 0;
	const char *name;
	char copy[256];

	(void)be;
	while (dir_len && dir[dir_len - 1] == '/')
		dir_len--;
	for (i = 0; i < n_files && !ret; i++) {
		len = name_in(files[i].path, dir_len, dir, &name);
		if (!len || len >= sizeof(copy))
			continue;
		found = 1;
		if (*name == '.' || seen_before(i, dir_len, dir, name, len))
			continue;
		memcpy(copy, name, len);
		copy[len] = '\0';
		ret = fn(arg, copy);
	}
	return found ? ret : -ENOENT;
}

static int device_of(void *be, const char *path, uint64_t *device)
{
	char text[GP_DEVICE_TEXT];

	return gp_parse_device(text, read_file(be, path, text, sizeof(text) - 1), device);
}

int fuzz_files_open(const struct gpreempt_options *options, struct gpreempt **out)
{
	static struct gp_backend_ops ops;
	int ret;

	ops = gp_backend_snapshot;
	ops.read_file = ops.read_link = ops.read_root_file = read_file;
	ops.list_dir = list_dir;
	ops.device_of = device_of;
	/* The library closes that descriptor at its end. */
	ret = gp_new_backend(options, &ops, (void *)-1, out);
	if (!ret)
		(*out)->saved = true;
	return ret;
}
