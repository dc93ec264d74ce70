// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A host whose files gpreempt-ctl snapshot has saved: each at its own path, below the
 * snapshot's directory. A device is a file with its number ("226:128"), and a link is
 * one with its target. There is no driver, and no process to act on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "lib/backend/names.h"
#include "lib/core/internal.h"

/* The back-end's own is the descriptor of the snapshot's directory. */
static int root_of(const void *be)
{
	return (int)(intptr_t)be;
}

/*
 * Another user may have made the directory: no link leads out of it, and only
 * regular files and directories are opened. type is S_IFREG or S_IFDIR. A
 * descriptor, -EINVAL for another type, or -errno.
 */
static int open_below(const void *be, const char *path, mode_t type)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	__cleanup_fd int found = -1;
	struct stat st;
	char again[32];
	int fd;

	path += strspn(path, "/");
	found = syscall(SYS_openat2, root_of(be), path, &how, sizeof(how));
	if (found < 0 || fstat(found, &st))
		return -errno;
	if ((st.st_mode & S_IFMT) != type)
		return -EINVAL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t snapshot_read_file(void *be, const char *path, char *buf, size_t size)
{
	__cleanup_fd int fd = open_below(be, path, S_IFREG);

	return fd < 0 ? fd : gp_read_opened(fd, buf, size);
}

static int snapshot_list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name),
			     void *arg)
{
	__cleanup_fd int fd = open_below(be, path, S_IFDIR);

	return fd < 0 ? fd : gp_list_opened(fd, fn, arg);
}

int gp_parse_device(char *text, ssize_t n, uint64_t *device)
{
	unsigned int major, minor;

	if (n < 0)
		return n;
	text[n] = '\0';
	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		return -ENODEV;
	*device = makedev(major, minor);
	return 0;
}

static int snapshot_device_of(void *be, const char *path, uint64_t *device)
{
	char text[GP_DEVICE_TEXT];

	return gp_parse_device(text, snapshot_read_file(be, path, text, sizeof(text) - 1), device);
}

/* Only root can take a snapshot. */
static int snapshot_is_root(void *be)
{
	(void)be;
	return 1;
}

static int no_driver(void *be)
{
	(void)be;
	return -EOPNOTSUPP;
}

/* The roles of a host are not in a snapshot. */
static int no_cgroups(void *be)
{
	(void)be;
	return -ENOENT;
}

static ssize_t no_pause(void *be, char *text, size_t size)
{
	(void)be;
	(void)text;
	(void)size;
	return -EOPNOTSUPP;
}

static int no_process(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return -EOPNOTSUPP;
}

/* Without the driver or a process nothing is called that is not here. */
const struct gp_backend_ops gp_backend_snapshot = {
	.open_kfd = no_driver,
	.read_file = snapshot_read_file,
	.read_link = snapshot_read_file,
	.open_cgroups = no_cgroups,
	.list_dir = snapshot_list_dir,
	.read_root_file = snapshot_read_file,
	.device_of = snapshot_device_of,
	.is_root = snapshot_is_root,
	.ask_disable = no_driver,
	.pause_twice = no_pause,
	.try_trace = no_process,
	.open_process = no_process,
};

/* The directory is there: no more is asked. */
static int end_list(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

int gp_snapshot_open(const char *dir, void **be)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	*be = (void *)(intptr_t)fd;
	ret = snapshot_list_dir(*be, GP_SYSFS_PROC, end_list, NULL);
	if (ret >= 0)
		return 0;
	close(fd);
	return ret == -EACCES ? ret : -EPROTO;
}

void gp_snapshot_end(void *be)
{
	close(root_of(be));
}
