/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening text. A file that the user names is opened as it is; in a directory,
 * which another user may have made, only regular files are, and no links.
 */
#ifndef CTL_TEXT_OPEN_H
#define CTL_TEXT_OPEN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* A file in a directory is not larger: bytes. */
#define TEXT_FILE_MAX (1ll << 30)
/* One that is read as a whole: ids, views, results, plans. */
#define TEXT_WHOLE_MAX (16ll << 20)

/* "-" is stdin. A descriptor or -errno. */
int text_open(const char *path);

/*
 * A descriptor, or -errno: -ELOOP for a link, -EINVAL for what is neither a link
 * nor a regular file, -EFBIG for one that has more than @max bytes.
 */
int text_open_in(const char *dir, const char *name, int64_t max);

/* What a reason of these means for who reads it. */
const char *text_open_error(int err);

/* All of it, with a NUL behind it, for free(). The length or -errno. */
ssize_t text_read_all(int fd, int64_t max, char **out);

/* The same of a regular file; NULL: errno says why. */
char *ctl_read_file(const char *path, size_t *len);
char *text_read_in(const char *dir, const char *name, size_t *len);

/* What a file is that is not text of this kind. */
struct text_guess {
	const char *begin; /* its first bytes */
	size_t len;	   /* of these */
	const char *what;  /* a clause */
	const char *next;  /* what to do about it; or NULL */
};

/* By the first bytes of a file; NULL: not known. */
const struct text_guess *text_guess(const char *begin, size_t len);

#endif
