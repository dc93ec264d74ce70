// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "ipc/codec.h"

size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf)
{
	struct ipc_head head = { .kind = kind, .size = sizeof(head) + size };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), from, size);
	return head.size;
}

int gp_ipc_get(uint32_t kind, const char *buf, size_t len, size_t least,
	       void *to, size_t size)
{
	struct ipc_head head;

	if (len < sizeof(head) + least)
		return -EPROTO;
	memcpy(&head, buf, sizeof(head));
	if (head.kind != kind || head.size != len)
		return -EPROTO;
	len -= sizeof(head);
	memset(to, 0, size);
	memcpy(to, buf + sizeof(head), len < size ? len : size);
	return 0;
}
