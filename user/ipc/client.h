/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One packet for each request and each reply: a head, and after it a structure
 * as it lies in memory. Both ends are on one machine. The members have fixed
 * sizes and there is no padding, so that all programs see the same layout and a
 * packet has no byte that its sender did not set.
 *
 * A structure that changes gets another kind: a program of another version, such
 * as a holder that an upgrade left running, refuses it.
 */
#ifndef IPC_CLIENT_H
#define IPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IPC_MAX_PACKET 8192

struct ipc_head {
	uint32_t kind; /* "gp", a letter of the protocol, a number */
	uint32_t size; /* of the packet */
};

/*
 * What a server sends before it closes a connection that it does not take: an
 * int, a negative errno value.
 */
#define IPC_REFUSAL 0x67706901

/* Length of the packet. @buf has IPC_MAX_PACKET bytes. */
size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf);

/* In place of the request in @buf, which is of another version or none: a refusal. */
size_t gp_ipc_refuse(char *buf, size_t len);

/* 0; -EPROTO for another kind, or another size than that structure's. */
int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to, size_t size);

/*
 * Connections to a server of ours (ipc/server.h). Return -errno.
 */

/*
 * A connection to the socket at @path. It waits until @deadline_ns of the monotonic clock when
 * the server has no place in its queue, as one that is stopped; then -ETIMEDOUT.
 */
int gp_ipc_connect(const char *path, uint64_t deadline_ns);

/* 0; -ECONNRESET: the server has closed the connection; -ETIMEDOUT. */
int gp_ipc_send(int fd, const char *buf, size_t len, uint64_t deadline_ns);

/*
 * The length of the packet; -ECONNRESET: the server has closed the connection; -ETIMEDOUT; or
 * why the server refused it: -EACCES, -EUSERS, and -EPROTO: it does not know the request.
 */
ssize_t gp_ipc_recv(int fd, char *buf, size_t size, uint64_t deadline_ns);

/* Both, with the same buffer. */
ssize_t gp_ipc_ask(int fd, char *buf, size_t len, size_t size, uint64_t deadline_ns);

/*
 * Does a server of the first version listen at @path? It knows text only, closes
 * on our packets, and gives @request an answer that begins with @answer.
 */
bool gp_ipc_is_first_version(const char *path, const char *request, const char *answer,
			     uint64_t deadline_ns);

#endif
