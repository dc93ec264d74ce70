// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "ipc/client.h"
#include "ipc/codec.h"
#include "proto/guard.h"

#define REQUEST 0x67706701
#define REPLY	0x67706702

size_t gp_guard_put_request(const struct guard_request *request, char *buf)
{
	return gp_ipc_put(REQUEST, request, sizeof(*request), buf);
}

size_t gp_guard_put_reply(const struct guard_reply *reply, char *buf)
{
	return gp_ipc_put(REPLY, reply, sizeof(*reply), buf);
}

int gp_guard_get_request(const char *buf, size_t len, struct guard_request *out)
{
	int ret =
		gp_ipc_get(REQUEST, buf, len, sizeof(*out), out, sizeof(*out));

	if (!ret && (out->verb >= GUARD_VERBS || out->pid < 0))
		ret = -EPROTO;
	return ret;
}

int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out)
{
	int ret = gp_ipc_get(REPLY, buf, len, sizeof(*out), out, sizeof(*out));

	return !ret && out->code > 0 ? -EPROTO : ret;
}

int gp_guard_ask(int fd, const struct guard_request *request,
		 struct guard_reply *reply, uint64_t deadline_ns)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n;

	n = gp_ipc_ask(fd, buf, gp_guard_put_request(request, buf), sizeof(buf),
		       deadline_ns);
	return n < 0 ? (int)n : gp_guard_get_reply(buf, n, reply);
}
