// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/util.h"
#include "load.h"

#define CHUNK (64 * 1024)

static void add_file(struct ctl_text *out, const char *name)
{
	char **file = shr_must(shr_array_add(&out->files, &out->n_files, sizeof(*file)));

	*file = shr_must(strdup(name));
}

/* Feed the bytes that were read already, and the rest. */
static int feed(struct ctl_text *out, int fd, const char *begin, size_t have)
{
	static char chunk[CHUNK];
	ssize_t len;

	gp_text_feed(out->text, begin, have);
	while ((len = read(fd, chunk, sizeof(chunk))) > 0)
		gp_text_feed(out->text, chunk, len);
	gp_text_end(out->text);
	return len < 0 ? -errno : 0;
}

static int feed_csv(struct ctl_text *out, const char *path, int fd, const char *begin, size_t have)
{
	struct ids_problems bad;
	char *rest, *all;
	ssize_t len = text_read_all(fd, TEXT_FILE_MAX, &rest);
	int ret;

	if (len < 0)
		return len;
	all = shr_must(malloc(have + len + 1));
	memcpy(all, begin, have);
	memcpy(all + have, rest, len + 1);
	ret = ids_read_csv(out, all, &bad);
	if (ret)
		ctl_note("%s: it begins as monitor --csv does, but has no "
			 "columns pid and ids",
			 path);
	if (bad.count)
		ctl_note("%s: %" PRIu64 " lines could not be read, the first "
			 "is line %" PRIu64,
			 path, bad.count, bad.first);
	out->bad_lines += bad.count;
	free(rest);
	free(all);
	return ret;
}

int text_fail(const char *path, int err)
{
	return ctl_fail_text(err == -EACCES || err == -EPERM ? GPREEMPT_CLASS_PERMISSION :
							       GPREEMPT_CLASS_FAILED,
			     err == -EACCES ? "run it as root" : NULL, "%s: %s", path,
			     text_open_error(err));
}

/* Guess by lines: text with something before each line is a frequent mistake. */
static const char *guess_from_lines(const char *begin, size_t len)
{
	static const char *const words[] = {
		"Compute queue on device", "SDMA queue on device", "CP Pipe", "gpu_id ", " PASID ",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(begin, len, words[i], strlen(words[i])))
			return "there is something before each line, as of "
			       "dmesg, journalctl, grep or cat -n: take it away";
	return "they are files of /sys/kernel/debug/kfd; a log of ROCm is for "
	       "gpreempt-lab amdlog";
}

static int fail_other(const char *path, const char *begin, size_t len)
{
	const struct text_guess *guess = text_guess(begin, len);

	if (guess)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess->next,
				     "%s: %s, not the driver's text", path, guess->what);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess_from_lines(begin, len),
			     "%s: no line of it is what the driver prints in "
			     "mqds, hqds or rls",
			     path);
}

/*
 * Feed a file, read only once from its begin on: it may be a pipe. The first word shows a file
 * of monitor --csv.
 */
int text_feed_fd(struct ctl_text *out, const char *path, int fd)
{
	static char begin[CHUNK];
	const struct gp_text_data *d = out->data;
	uint64_t known = d->known_lines, problems = d->n_problems;
	ssize_t len = 1;
	size_t have = 0;
	int ret;

	while (have < sizeof(begin) && len > 0) {
		len = read(fd, begin + have, sizeof(begin) - have);
		have += len > 0 ? len : 0;
	}
	if (len < 0)
		return text_fail(path, -errno);
	if (ids_is_csv(begin, have)) {
		ret = feed_csv(out, path, fd, begin, have);
		return ret ? text_fail(path, ret) : 0;
	}
	add_file(out, path);
	ret = feed(out, fd, begin, have);
	if (ret)
		return text_fail(path, ret);
	return d->known_lines == known && d->n_problems > problems ? fail_other(path, begin, have) :
								     0;
}

int text_feed_path(struct ctl_text *out, const char *path)
{
	int fd = text_open(path), ret;

	if (fd < 0)
		return text_fail(path, fd);
	ret = text_feed_fd(out, path, fd);
	close(fd);
	return ret;
}

int text_feed_in(struct ctl_text *out, const char *dir, const char *name)
{
	int fd = text_open_in(dir, name, TEXT_FILE_MAX), ret;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : text_fail(path, fd);
	ret = text_feed_fd(out, path, fd);
	close(fd);
	return ret;
}

#define OPEN_CHUNK (64 * 1024)

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
		if (room - used < OPEN_CHUNK) {
			room = 2 * room + OPEN_CHUNK;
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
	{ "\x1f\x8b", 2, "it is compressed (gzip)", "zcat FILE | gpreempt-lab ... -" },
	{ "\3757zXZ", 5, "it is compressed (xz)", "xzcat FILE | gpreempt-lab ... -" },
	{ "BZh", 3, "it is compressed (bzip2)", "bzcat FILE | gpreempt-lab ... -" },
	{ "\x28\xb5\x2f\xfd", 4, "it is compressed (zstd)", "zstdcat FILE | gpreempt-lab ... -" },
	{ "PK\x03\x04", 4, "it is a zip archive", "unpack it" },
	{ "\xff\xfe", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | gpreempt-lab ... -" },
	{ "\xfe\xff", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | gpreempt-lab ... -" },
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
