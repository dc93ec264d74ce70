/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef IPC_LISTEN_H
#define IPC_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/server.h"

/* A socket in the file system that listens, and the lock beside it. */
struct ipc_listener {
	int fd;
	int lock;	/* -1: the caller has one */
	uint64_t inode; /* of the socket */
	bool private;	/* the kernel refuses other users */
};

/* As gp_ipc_server_start(). On failure nothing is left behind. */
int gp_ipc_listen(struct ipc_listener *l,
		  const struct ipc_server_options *options);
void gp_ipc_listen_end(struct ipc_listener *l, const char *path);

#endif
