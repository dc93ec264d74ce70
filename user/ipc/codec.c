// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ipc/codec.h"

size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf)
{
	struct ipc_head head = { .kind = kind, .size = sizeof(head) + size };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), from, size);
	return head.size;
}

size_t gp_ipc_refuse(char *buf, size_t len)
{
	static const char text[] = "gpreempt-";
	int code = -EPROTO;

	/* A client of the first version knows text only. */
	if (len >= strlen(text) && !memcmp(buf, text, strlen(text)))
		return sprintf(buf, "gpreempt-ipc 1 refused code=%d",
			       -EPROTONOSUPPORT);
	return gp_ipc_put(IPC_REFUSAL, &code, sizeof(code), buf);
}

int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to,
	       size_t size)
{
	struct ipc_head head;

	if (len != sizeof(head) + size)
		return -EPROTO;
	memcpy(&head, buf, sizeof(head));
	if (head.kind != kind || head.size != len)
		return -EPROTO;
	memcpy(to, buf + sizeof(head), size);
	return 0;
}
