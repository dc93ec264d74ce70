/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a user, who may mean harm, keeps in a place of its own.
 *
 * Whatever is found there, reading it opens no device, no pipe and no link,
 * takes a bounded time, and does no more than that user could do itself.
 */
#ifndef GP_CORE_PLACE_H
#define GP_CORE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GP_PLACE_MAX (1 << 20) /* bytes of a file, or of a list of names */

/*
 * A file or a directory. Root has chosen base, and links in it are followed.
 * path is below it: there, no link is followed.
 */
struct gp_place {
	uid_t uid; /* who must own it, and as whom it is read */
	gid_t gid;
	const char *base;
	const char *path;
	bool directory;
};

/* The same numbers: the same content. All 0: not known. */
struct gp_file_id {
	uint64_t dev;
	uint64_t ino;
	int64_t mtime_ns;
	uint64_t size;
};

/*
 * The text of the file, or the names in the directory, each with a newline.
 * When *id is what the file still has: -EALREADY, and nothing is read. Else
 * *id gets what it has now. Returns the length or -errno: -EFBIG for more than
 * size bytes, -EACCES for another owner, -EINVAL for what is no regular file,
 * -ELOOP for a link, -ETIMEDOUT when the place did not answer in
 * GP_PLACE_WAIT_NS, -EBUSY when too many have not answered yet.
 */
ssize_t gp_place_read(const struct gp_place *place, struct gp_file_id *id,
		      char *buf, size_t size);

#define GP_PLACE_WAIT_NS (500 * 1000 * 1000ULL)

#endif
