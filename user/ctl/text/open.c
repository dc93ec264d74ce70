// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/text/open.h"
#include "shared/macro.h"

#define CHUNK (64 * 1024)

int text_open(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* A path that opens nothing yet, so that a device does not notice it. */
static int check_regular(int fd, int64_t max)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return st.st_size > max ? -EFBIG : 0;
}

static int open_regular(int at, const char *path, int flags, int64_t max)
{
	int fd = openat(at, path, O_PATH | O_CLOEXEC | flags), real, ret;
	char self[64];

	if (fd < 0)
		return -errno;
	ret = check_regular(fd, max);
	if (!ret) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		real = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		ret = real < 0 ? -errno : real;
	}
	close(fd);
	return ret;
}

int text_open_in(const char *dir, const char *name, int64_t max)
{
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), ret;

	if (at < 0)
		return -errno;
	ret = open_regular(at, name, O_NOFOLLOW, max);
	close(at);
	return ret;
}

const char *text_open_error(int err)
{
	switch (err) {
	case -ELOOP:
		return "it is a link, and in a directory none is followed";
	case -EINVAL:
		return "it is not a regular file";
	default:
		return strerror(-err);
	}
}

ssize_t text_read_all(int fd, int64_t max, char **out)
{
	int64_t room = 0, used = 0;
	char *all = NULL;
	ssize_t got = 1;

	while (got > 0 && used <= max) {
		if (room - used < CHUNK) {
			room = 2 * room + CHUNK;
			all = shr_must(realloc(all, room + 1));
		}
		got = read(fd, all + used, room - used);
		used += got > 0 ? got : 0;
	}
	if (got < 0 || used > max) {
		got = got < 0 ? -errno : -EFBIG;
		free(all);
		return got;
	}
	all[used] = '\0';
	*out = all;
	return used;
}

static char *read_opened(int fd, int64_t max, size_t *len)
{
	char *all = NULL;
	ssize_t got = fd < 0 ? fd : text_read_all(fd, max, &all);

	if (fd >= 0)
		close(fd);
	if (got < 0) {
		errno = -got;
		return NULL;
	}
	*len = got;
	return all;
}

char *ctl_read_file(const char *path, size_t *len)
{
	return read_opened(open_regular(AT_FDCWD, path, 0, TEXT_FILE_MAX), TEXT_FILE_MAX, len);
}

char *text_read_in(const char *dir, const char *name, size_t *len)
{
	return read_opened(text_open_in(dir, name, TEXT_WHOLE_MAX), TEXT_WHOLE_MAX, len);
}

static const struct text_guess guesses[] = {
	{ "\x1f\x8b", 2, "it is compressed (gzip)", "zcat FILE | gpreempt-ctl ... -" },
	{ "\3757zXZ", 5, "it is compressed (xz)", "xzcat FILE | gpreempt-ctl ... -" },
	{ "BZh", 3, "it is compressed (bzip2)", "bzcat FILE | gpreempt-ctl ... -" },
	{ "\x28\xb5\x2f\xfd", 4, "it is compressed (zstd)", "zstdcat FILE | gpreempt-ctl ... -" },
	{ "PK\x03\x04", 4, "it is a zip archive", "unpack it" },
	{ "\xff\xfe", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | gpreempt-ctl ... -" },
	{ "\xfe\xff", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | gpreempt-ctl ... -" },
	{ "\177ELF", 4, "it is a program", NULL },
};

const struct text_guess *text_guess(const char *begin, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(guesses); i++)
		if (len >= guesses[i].len && !memcmp(begin, guesses[i].begin, guesses[i].len))
			return guesses + i;
	return NULL;
}
