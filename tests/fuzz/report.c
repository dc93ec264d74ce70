// SPDX-License-Identifier: GPL-2.0-only
/* Files that report makes a page of: tables, Prometheus's text, JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"
#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	static int fd = -1;
	char line[64];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, in->data, in->len, 0) != (ssize_t)in->len)
		abort();
	snprintf(line, sizeof(line), "report /proc/self/fd/%d --json", fd);
	return !fuzz_command(line, NULL, 0);
}
