/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections to a server of ours (ipc/server.h). Return -errno. */
#ifndef IPC_CLIENT_H
#define IPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A connection to the socket at @path. It waits until @deadline_ns of the
 * monotonic clock when the server has no place in its queue, as one that is
 * stopped; then -ETIMEDOUT.
 */
int gp_ipc_connect(const char *path, uint64_t deadline_ns);

/* 0; -ECONNRESET: the server has closed the connection; -ETIMEDOUT. */
int gp_ipc_send(int fd, const char *buf, size_t len, uint64_t deadline_ns);

/*
 * The length of the packet; -ECONNRESET: the server has closed the connection;
 * -ETIMEDOUT; or why the server refused it: -EACCES, -EUSERS, and -EPROTO: it does
 * not know the request.
 */
ssize_t gp_ipc_recv(int fd, char *buf, size_t size, uint64_t deadline_ns);

/* Both, with the same buffer. */
ssize_t gp_ipc_ask(int fd, char *buf, size_t len, size_t size,
		   uint64_t deadline_ns);

/*
 * Does a server of the first version listen at @path? It knows text only, closes
 * on our packets, and gives @request an answer that begins with @answer.
 */
bool gp_ipc_is_first_version(const char *path, const char *request,
			     const char *answer, uint64_t deadline_ns);

#endif
