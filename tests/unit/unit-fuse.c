// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit-fuse.h"

int unit_fuse_mount(const char *path, mode_t mode, uid_t user)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), ret;
	char options[128];

	if (fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=%u,group_id=%u", fd, mode,
		 user, user);
	if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("x", path, "fuse", MS_NOSUID | MS_NODEV, options))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static void answer(int fd, uint64_t unique, const void *body, size_t size)
{
	char buf[256];
	struct fuse_out_header h = { sizeof(h) + size, 0, unique };

	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), body, size);
	if (write(fd, buf, h.len) != (ssize_t)h.len)
		_exit(1);
}

/* The next request but for the mount's own, which is answered; 0: no more. */
static uint32_t next_request(int fd, uint64_t *unique)
{
	static struct {
		struct fuse_in_header h;
		char rest[1 << 17];
	} in;
	struct fuse_init_out init = {
		.major = 7,
		.minor = 31,
		.max_write = 4096,
	};

	while (read(fd, &in, sizeof(in)) > 0) {
		*unique = in.h.unique;
		if (in.h.opcode != FUSE_INIT)
			return in.h.opcode;
		answer(fd, *unique, &init, sizeof(init));
	}
	return 0;
}

void unit_fuse_serve_nothing(int fd, atomic_int *asked)
{
	uint64_t unique;

	while (next_request(fd, &unique))
		atomic_store(asked, 1);
}

void unit_fuse_serve_file(int fd, size_t size, atomic_int *asked)
{
	struct fuse_attr_out attr = {
		.attr = { .ino = 1, .size = size, .nlink = 1, .mode = S_IFREG | 0644 },
	};
	struct fuse_open_out open = { 0 };
	uint32_t opcode;
	uint64_t unique;

	while ((opcode = next_request(fd, &unique))) {
		if (opcode == FUSE_GETATTR)
			answer(fd, unique, &attr, sizeof(attr));
		else if (opcode == FUSE_OPEN)
			answer(fd, unique, &open, sizeof(open));
		else if (opcode == FUSE_READ)
			atomic_store(asked, 1);
	}
}
