// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/text/open.h"
#include "ctl/text/snapshot.h"
#include "shared/macro.h"

int snapshot_fail(const char *what, int err)
{
	return ctl_fail_text(err == EACCES || err == EPERM ? GPREEMPT_CLASS_PERMISSION :
							     GPREEMPT_CLASS_FAILED,
			     NULL, "%s: %s", what, strerror(err));
}

/* All directories above the last part of a path. 0, or the exit status. */
static int make_parents(const char *whole)
{
	char path[4096], *slash;

	snprintf(path, sizeof(path), "%s", whole);
	for (slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return snapshot_fail(path, errno);
		*slash = '/';
	}
	return 0;
}

int snapshot_make(const char *dir)
{
	int ret = make_parents(dir);

	if (ret || !mkdir(dir, 0700))
		return ret;
	/* An empty one will do. */
	if (errno != EEXIST || rmdir(dir) || mkdir(dir, 0700))
		return snapshot_fail(dir, errno == ENOTEMPTY ? EEXIST : errno);
	return 0;
}

int snapshot_make_dir(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s/", dir, name);
	return make_parents(path);
}

FILE *snapshot_create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (make_parents(path))
		return NULL;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		snapshot_fail(path, errno);
	return file;
}

int snapshot_end_file(FILE *file, const char *dir, const char *name)
{
	char path[4096];
	bool bad;

	if (!file)
		return GPREEMPT_CLASS_FAILED;
	bad = ferror(file);
	if (!fclose(file) && !bad)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return snapshot_fail(path, errno ? errno : EIO);
}

int snapshot_copy(const char *from, const char *dir, const char *name)
{
	size_t len;
	char *all = ctl_read_file(from, &len);
	FILE *file;

	if (!all)
		return -errno;
	file = snapshot_create(dir, name);
	if (file)
		fwrite(all, 1, len, file);
	free(all);
	return snapshot_end_file(file, dir, name);
}
