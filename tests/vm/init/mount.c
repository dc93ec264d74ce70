// SPDX-License-Identifier: GPL-2.0-only
/* The file systems that programs expect. */
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "init.h"

static const struct {
	const char *type, *where, *data;
} mounts[] = {
	/* clang-format off */
	{ "proc",	"/proc",		"" },
	{ "sysfs",	"/sys",			"" },
	{ "devtmpfs",	"/dev",			"mode=0755" },
	{ "devpts",	"/dev/pts",		"mode=0620,ptmxmode=0666" },
	{ "tmpfs",	"/dev/shm",		"mode=1777" },
	{ "tmpfs",	"/run",			"mode=0755" },
	{ "tmpfs",	"/tmp",			"mode=1777" },
	{ "debugfs",	"/sys/kernel/debug",	"mode=0755" },
	{ "tracefs",	"/sys/kernel/tracing",	"" },
	{ "cgroup2",	"/sys/fs/cgroup",	"" },
	/* clang-format on */
};

void mount_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].data))
			fprintf(stderr, "init: mount %s: %s\n", mounts[i].where, strerror(errno));
	}
}
