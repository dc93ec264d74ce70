/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One packet of text for each request and each reply:
 *
 *	HEAD VERB key=value key=1,2,3 ... text=to the end of the packet
 *
 * A table of fields makes writer and reader of a structure. Keys that are not
 * in the table are skipped; a field whose key is missing is 0.
 */
#ifndef IPC_CODEC_H
#define IPC_CODEC_H

#include <stddef.h>
#include <stdint.h>

enum ipc_kind {
	IPC_U64,  /* uint64_t */
	IPC_INT,  /* int, may be negative */
	IPC_LIST, /* uint32_t[], none twice; left out when it is empty */
	IPC_TEXT, /* char[], the last field; must be in the packet */
};

struct ipc_field {
	const char *name; /* NULL ends a table */
	enum ipc_kind kind;
	size_t offset;
	size_t room;  /* list: values; text: bytes with the end */
	size_t count; /* list: offset of its uint64_t length */
	uint32_t max; /* list: the largest value */
};

struct ipc_format {
	const char *head; /* protocol and version: "gpreempt-x 1" */
	const char *const *verbs;
	size_t n_verbs;
	const struct ipc_field *fields;
};

#define IPC_MAX_PACKET 8192

/*
 * Return: the length of the packet, which is cut at @size: buffers are made
 * for the longest one.
 */
size_t gp_ipc_put(const struct ipc_format *format, unsigned int verb,
		  const void *from, char *buf, size_t size);

/* *verb and *to are only right when this returns 0; else -EPROTO. */
int gp_ipc_get(const struct ipc_format *format, const char *buf, size_t len,
	       unsigned int *verb, void *to);

#endif
