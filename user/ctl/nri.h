/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats on NRI's socket, in three layers: pieces of two connections; on each connection
 * ttrpc's messages, which may take several pieces; in the messages protocol buffers.
 */
#ifndef CTL_NRI_H
#define CTL_NRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/see/words.h"

/* Bytes of another owner. */
struct wire_bytes {
	const uint8_t *at;
	size_t len;
};

bool wire_is(struct wire_bytes bytes, const char *text);

/* A field of a protocol buffer. It has a number or bytes. */
struct wire_field {
	uint64_t field;
	uint64_t number;
	struct wire_bytes bytes;
};

/* Takes the next one off @left. 1; 0: there is none; or -EBADMSG. */
int wire_next(struct wire_bytes *left, struct wire_field *out);
/* The last one of that field; zeroed if there is none. 0 or -EBADMSG. */
int wire_find(struct wire_bytes from, uint64_t field, struct wire_field *out);

/* Connections: on the first one the runtime asks us, on the other we ask it. */
enum { WIRE_TO_US = 1, WIRE_FROM_US, WIRE_CONNECTIONS };
enum { WIRE_REQUEST = 1, WIRE_RESPONSE };

/* Heads; their numbers are big-endian. */
struct wire_piece {
	uint32_t connection;
	uint32_t len;
};

struct wire_message {
	uint32_t len;
	uint32_t stream;
	uint8_t kind;
	uint8_t flags;
} __attribute__((packed));

/* Bytes in a message, at most; a piece may be longer by a message's head. */
#define WIRE_MAX (4 * 1024 * 1024)

/*
 * Takes the first message off @left. 1; 0: not all of it has come; or -EBADMSG. The
 * head is as it came.
 */
int wire_take(struct wire_bytes *left, struct wire_message *head, struct wire_bytes *body);

/* Pods and containers in NRI's messages: which containers get a role. */

/* A running container, its main process, and the role that its pod asks for. */
typedef void pods_fn(void *arg, struct wire_bytes id, uint64_t pid,
		     const struct gp_role_value *role);

/*
 * Calls fn for each container whose pod asks for a role and is of one of the namespaces,
 * which have commas between. The message has pods in the field @first, and containers
 * in the next one. 0, -EBADMSG or -ENOMEM.
 */
int pods_each(struct wire_bytes message, unsigned int first, const char *namespaces, pods_fn *fn,
	      void *arg);

#endif
