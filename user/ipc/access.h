/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IPC_ACCESS_H
#define IPC_ACCESS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Let only these users, besides the owner, connect to the socket at @path:
 * the kernel refuses others, and the server does not see that. -EOPNOTSUPP
 * when the file system has no access control lists.
 */
int gp_ipc_allow_users(const char *path, const uid_t *uids, size_t n);

#endif
