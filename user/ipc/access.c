// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Access control lists without libacl: an extended attribute of little-endian
 * words, linux/posix_acl_xattr.h.
 */
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "ipc/access.h"
#include "shared/macro.h"

#define MAY_CONNECT (ACL_READ | ACL_WRITE)

static int compare(const void *a, const void *b)
{
	uid_t left = *(const uid_t *)a, right = *(const uid_t *)b;

	return left < right ? -1 : left > right;
}

static struct posix_acl_xattr_entry entry(unsigned int tag, unsigned int perm,
					  uid_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag),
		.e_perm = htole16(perm),
		.e_id = htole32(id),
	};
}

/* In the order that the kernel wants, users by number. */
static size_t fill(struct posix_acl_xattr_entry *list, const uid_t *uids,
		   size_t n)
{
	size_t i, used = 0;

	list[used++] = entry(ACL_USER_OBJ, MAY_CONNECT, ACL_UNDEFINED_ID);
	for (i = 0; i < n; i++)
		if (!i || uids[i] != uids[i - 1])
			list[used++] = entry(ACL_USER, MAY_CONNECT, uids[i]);
	list[used++] = entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID);
	list[used++] = entry(ACL_MASK, MAY_CONNECT, ACL_UNDEFINED_ID);
	list[used++] = entry(ACL_OTHER, 0, ACL_UNDEFINED_ID);
	return used;
}

int gp_ipc_allow_users(const char *path, const uid_t *uids, size_t n)
{
	struct posix_acl_xattr_header *header;
	__cleanup_free uid_t *sorted = calloc(n + 1, sizeof(*sorted));
	__cleanup_free char *value = NULL;
	size_t i, size;

	value = calloc(1,
		       sizeof(*header) +
			       (n + 4) * sizeof(struct posix_acl_xattr_entry));
	if (!sorted || !value)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sorted[i] = uids[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	header = (void *)value;
	header->a_version = htole32(POSIX_ACL_XATTR_VERSION);
	size = sizeof(*header) + sizeof(struct posix_acl_xattr_entry) *
					 fill((void *)(header + 1), sorted, n);
	return setxattr(path, "system.posix_acl_access", value, size, 0) < 0 ?
		       -errno :
		       0;
}
