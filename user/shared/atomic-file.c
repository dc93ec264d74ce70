// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "shared/atomic-file.h"
#include "shared/macro.h"

#define TRIES	  16  /* random names may be taken */
#define KEPT_NAME 200 /* of 255 bytes that a name may have */

/* A directory, so that it stays the same one, and names in it. */
struct place {
	int dir;
	const char *name;
	char next[256]; /* of the new file, until it is whole */
};

static int open_place(const char *path, struct place *p)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];

	p->name = slash ? slash + 1 : path;
	if (!*p->name || !strcmp(p->name, ".") || !strcmp(p->name, ".."))
		return -EISDIR;
	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1,
		     slash ? path : ".") >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	p->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->dir < 0 ? -errno : 0;
}

/* 0 for a regular file, or none. */
static int check_old(const struct place *p)
{
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return 0;
	case S_IFLNK:
		return -ENOTSUP;
	case S_IFDIR:
		return -EISDIR;
	default:
		return -ENXIO;
	}
}

/* A descriptor of a file that was not there before, or -errno. */
static int make_next(struct place *p)
{
	int tries, fd = -1;
	uint64_t random;

	for (tries = 0; tries < TRIES; tries++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		snprintf(p->next, sizeof(p->next), "%.*s.%016llx.new", KEPT_NAME, p->name,
			 (unsigned long long)random);
		fd = openat(p->dir, p->next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		text += n;
		size -= n;
	}
	return 0;
}

/* fd is closed. Only some file systems find out then that there is no room. */
static int finish_next(int fd, mode_t mode, const char *text, size_t size)
{
	int ret = write_all(fd, text, size);

	/* umask() is about what others leave in it. */
	if (!ret && fchmod(fd, mode) < 0)
		ret = -errno;
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret;
}

static int replace(const char *path, mode_t mode, const char *text, size_t size, bool keep)
{
	struct place p = { .dir = -1 };
	int ret, fd;

	ret = open_place(path, &p);
	if (ret)
		return ret;
	ret = check_old(&p);
	fd = ret ? ret : make_next(&p);
	ret = fd;
	if (fd >= 0) {
		ret = finish_next(fd, mode, text, size);
		if (!ret && keep && renameat(p.dir, p.next, p.dir, p.name) < 0)
			ret = -errno;
		if (ret || !keep)
			unlinkat(p.dir, p.next, 0);
	}
	close(p.dir);
	return ret;
}

int shr_file_check(const char *path)
{
	return replace(path, 0600, "", 0, false);
}

int shr_file_replace(const char *path, mode_t mode, const char *text, size_t size)
{
	return replace(path, mode, text, size, true);
}

const char *shr_file_reason(int code)
{
	switch (code) {
	case -ENOTSUP:
		return "a link is there, not a regular file";
	case -ENXIO:
		return "a FIFO, socket or device is there, not a regular file";
	case -EISDIR:
		return "a directory is there, not a regular file";
	default:
		return strerror(-code);
	}
}
