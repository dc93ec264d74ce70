// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/access.h"
#include "ipc/listen.h"
#include "shared/lock-file.h"

#define SUFFIX	  ".lock"
#define PATH_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(SUFFIX))
#define BACKLOG	  128

static void lock_path(const char *path, char buf[PATH_SIZE])
{
	snprintf(buf, PATH_SIZE, "%s" SUFFIX, path);
}

static int lock(const char *path)
{
	int fd = shr_lock_file(path);

	return fd == -EWOULDBLOCK ? -EADDRINUSE : fd;
}

/* What a dead server has left. With the lock, no living one has it. */
static int remove_leftover(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

/* Before listen(): until then each connect() fails. */
static int set_access(struct ipc_listener *l, const char *path,
		      const uid_t *uids, size_t n)
{
	struct stat st;
	int ret = 0;

	if (chmod(path, 0600) < 0 || lstat(path, &st) < 0)
		return -errno;
	l->inode = st.st_ino;
	l->private = true;
	if (n)
		ret = gp_ipc_allow_users(path, uids, n);
	if (ret != -EOPNOTSUPP)
		return ret;
	/* All can connect, and the server closes what it does not want. */
	l->private = false;
	return chmod(path, 0666) < 0 ? -errno : 0;
}

static int bind_socket(struct ipc_listener *l,
		       const struct ipc_server_options *options)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret;

	strcpy(address.sun_path, options->path);
	l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);
	if (l->fd < 0)
		return -errno;
	if (bind(l->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		ret = -errno;
		goto err_close;
	}
	ret = set_access(l, options->path, options->uids, options->n_uids);
	if (!ret && listen(l->fd, BACKLOG) < 0)
		ret = -errno;
	if (!ret)
		return 0;
	unlink(options->path);
err_close:
	close(l->fd);
	return ret;
}

static void unlock(int fd, const char *path)
{
	char other[PATH_SIZE];

	if (fd < 0)
		return;
	lock_path(path, other);
	/* While we have it: a later server makes another file. */
	unlink(other);
	close(fd);
}

int gp_ipc_listen(struct ipc_listener *l,
		  const struct ipc_server_options *options)
{
	char other[PATH_SIZE];
	int ret;

	if (strlen(options->path) >= PATH_SIZE - sizeof(SUFFIX))
		return -ENAMETOOLONG;
	l->lock = -1;
	if (!options->locked) {
		lock_path(options->path, other);
		l->lock = lock(other);
		if (l->lock < 0)
			return l->lock;
	}
	ret = remove_leftover(options->path);
	if (!ret)
		ret = bind_socket(l, options);
	if (ret)
		unlock(l->lock, options->path);
	return ret;
}

void gp_ipc_listen_end(struct ipc_listener *l, const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && st.st_ino == l->inode)
		unlink(path);
	unlock(l->lock, path);
	close(l->fd);
}
