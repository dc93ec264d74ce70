// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ipc/listen.h"
#include "shared/lock-file.h"
#include "shared/macro.h"

#define SUFFIX	  ".lock"
#define PATH_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(SUFFIX))
#define BACKLOG	  128

#define MAY_CONNECT (ACL_READ | ACL_WRITE)

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

/* Access control lists without libacl: little-endian words (linux/posix_acl_xattr.h). */
static struct posix_acl_xattr_entry entry(unsigned int tag, unsigned int perm,
					  uid_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag),
		.e_perm = htole16(perm),
		.e_id = htole32(id),
	};
}

/*
 * Let only these users, besides the owner, connect: the kernel refuses others, and
 * the server does not see that. -EOPNOTSUPP when the file system has no lists.
 */
static int allow_users(const char *path, const uid_t *uids, size_t n)
{
	__cleanup_free struct posix_acl_xattr_header *header = NULL;
	struct posix_acl_xattr_entry *list;
	size_t size = sizeof(*header) + (n + 4) * sizeof(*list), i;

	header = calloc(1, size);
	if (!header)
		return -ENOMEM;
	header->a_version = htole32(POSIX_ACL_XATTR_VERSION);
	list = (void *)(header + 1);
	*list++ = entry(ACL_USER_OBJ, MAY_CONNECT, ACL_UNDEFINED_ID);
	for (i = 0; i < n; i++)
		*list++ = entry(ACL_USER, MAY_CONNECT, uids[i]);
	*list++ = entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID);
	*list++ = entry(ACL_MASK, MAY_CONNECT, ACL_UNDEFINED_ID);
	*list++ = entry(ACL_OTHER, 0, ACL_UNDEFINED_ID);
	return setxattr(path, "system.posix_acl_access", header, size, 0) < 0 ?
		       -errno :
		       0;
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
		ret = allow_users(path, uids, n);
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
