// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/whole.h"

/* 0 or -errno */
static int open_next(struct whole *w, const char *path)
{
	w->path = path;
	if (snprintf(w->next, sizeof(w->next), "%s.new", path) >=
	    (int)sizeof(w->next))
		return -ENAMETOOLONG;
	w->f = fopen(w->next, "we");
	return w->f ? 0 : -errno;
}

static int fail_path(const char *what, const char *path, const char *why)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "name a file in a directory that can be written",
			     "the %s %s cannot be written: %s", what, path, why);
}

int whole_check(const char *what, const char *path)
{
	struct whole w;
	struct stat st;
	int ret;

	/* A device or a link would be replaced by a file. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return fail_path(what, path, "it is there, and no regular file");
	ret = open_next(&w, path);
	if (ret)
		return fail_path(what, path, strerror(-ret));
	fclose(w.f);
	unlink(w.next);
	return 0;
}

FILE *whole_begin(struct whole *w, const char *path)
{
	int ret = open_next(w, path);

	if (!ret)
		return w->f;
	ctl_note("%s cannot be written: %s", path, strerror(-ret));
	return NULL;
}

void whole_end(struct whole *w)
{
	int error = fflush(w->f) || ferror(w->f) ? errno : 0;

	if (fclose(w->f) && !error)
		error = errno;
	if (!error && rename(w->next, w->path))
		error = errno;
	if (!error)
		return;
	unlink(w->next);
	ctl_note("%s cannot be written: %s", w->path, strerror(error));
}
