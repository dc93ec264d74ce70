// SPDX-License-Identifier: GPL-2.0-only
/* Files as text: opened, read as a whole, guessed at, and cut into lines. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/util.h"
#include "load.h"

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

int text_fail(const char *path, int err)
{
	bool denied = err == -EACCES || err == -EPERM;

	return ctl_fail_text(denied ? GPREEMPT_CLASS_PERMISSION : GPREEMPT_CLASS_FAILED,
			     denied ? "run it with sudo, or give it a copy that you may read" :
			     err == -ENOENT ? "check the name; - is the standard input" :
					      "name a regular file that can be read",
			     "%s: %s", path, text_open_error(err));
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
	__cleanup_fd int opened = fd;
	char *all = NULL;
	ssize_t got = fd < 0 ? fd : text_read_all(opened, max, &all);

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

char *text_read(const char *path, size_t *len)
{
	return read_opened(text_open(path), TEXT_FILE_MAX, len);
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

void text_append(char **list, const char *format, ...)
{
	char *word, *more;
	va_list args;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0 ||
	    asprintf(&more, "%s%s%s", *list ? *list : "", *list ? "," : "", word) < 0)
		abort();
	va_end(args);
	free(word);
	free(*list);
	*list = more;
}

/* Lines out of pieces of a text. */

/* Mark that some editors put before a text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MARK_LEN	3

static void give(struct gp_lines *lines, struct gp_line line)
{
	if (!lines->within) {
		lines->number++;
		lines->count++;
		if (lines->number == 1 && line.len >= MARK_LEN &&
		    !memcmp(line.at, BYTE_ORDER_MARK, MARK_LEN)) {
			line.at += MARK_LEN;
			line.len -= MARK_LEN;
		}
	}
	lines->take(lines->data, line);
}

static void carry(struct gp_lines *lines, const char *data, size_t len)
{
	if (!lines->carry)
		lines->carry = shr_must(malloc(GP_LINE_MAX));
	if (len > GP_LINE_MAX - lines->carried) {
		len = GP_LINE_MAX - lines->carried;
		lines->too_long = true;
	}
	memcpy(lines->carry + lines->carried, data, len);
	lines->carried += len;
}

static void give_carried(struct gp_lines *lines, bool cut)
{
	struct gp_line line = {
		lines->carry,
		lines->carried,
		cut || lines->too_long,
		lines->too_long,
	};

	lines->carried = 0;
	lines->too_long = false;
	give(lines, line);
}

static void give_whole(struct gp_lines *lines, const char *data, size_t len)
{
	bool too_long = len > GP_LINE_MAX;

	give(lines, (struct gp_line){ data, too_long ? GP_LINE_MAX : len, too_long, too_long });
}

/* Take a line, or the part of it up to a carriage return; @end is behind it. */
static void take_piece(struct gp_lines *lines, const char *data, const char *end)
{
	if (lines->carried) {
		carry(lines, data, end - data);
		give_carried(lines, false);
	} else if (end > data || !lines->within || *end == '\r') {
		give_whole(lines, data, end - data);
	}
	lines->within = *end == '\r';
}

void gp_lines_feed(struct gp_lines *lines, const char *data, size_t len)
{
	const char *stop = data + len, *line_end = NULL, *end;

	for (; data < stop; data = end + 1) {
		if (!line_end || line_end < data)
			line_end = memchr(data, '\n', stop - data) ?: stop;
		end = memchr(data, '\r', line_end - data) ?: line_end;
		if (end == stop) {
			carry(lines, data, stop - data);
			return;
		}
		take_piece(lines, data, end);
	}
}

void gp_lines_end(struct gp_lines *lines)
{
	if (lines->carried)
		give_carried(lines, true);
	lines->number = 0;
	lines->within = false;
}

void gp_lines_free(struct gp_lines *lines)
{
	free(lines->carry);
}

bool gp_line_number(const char **at, const char *end, unsigned int base, uint64_t max,
		    uint64_t *out)
{
	const char *start = *at;
	uint64_t value = 0;
	unsigned int digit;

	for (; *at < end; (*at)++) {
		if (**at >= '0' && **at <= '9')
			digit = **at - '0';
		else if (base == 16 && isxdigit((unsigned char)**at))
			digit = (**at | 0x20) - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value) || value > max)
			return false;
	}
	*out = value;
	return *at > start;
}
