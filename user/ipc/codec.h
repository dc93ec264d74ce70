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
#ifndef IPC_CODEC_H
#define IPC_CODEC_H

#include <stddef.h>
#include <stdint.h>

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
int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to,
	       size_t size);

#endif
