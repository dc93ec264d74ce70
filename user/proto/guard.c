// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <limits.h>

#include "ipc/client.h"
#include "proto/guard.h"

#define REQUEST 0x67706701
#define REPLY	0x67706702

/* A change of a structure takes other numbers above, also if its size stays. */
_Static_assert(sizeof(struct guard_request) == 24 && sizeof(struct guard_reply) == 8,
	       "a packet of another size is of another version");

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
	int ret = gp_ipc_get(REQUEST, buf, len, out, sizeof(*out));

	if (!ret && (out->verb >= GUARD_VERBS || out->pid < 0))
		ret = -EPROTO;
	return ret;
}

int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out)
{
	int ret = gp_ipc_get(REPLY, buf, len, out, sizeof(*out));

	return !ret && (out->code > 0 || out->value > INT_MAX) ? -EPROTO : ret;
}

int gp_guard_ask(int fd, const struct guard_request *request, struct guard_reply *reply,
		 uint64_t deadline_ns)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n;

	n = gp_ipc_ask(fd, buf, gp_guard_put_request(request, buf), sizeof(buf), deadline_ns);
	/* The end of a request that is not open changes nothing. */
	if (n == -ECONNRESET && gp_ipc_is_first_version(GUARD_SOCKET, "gpreempt-guard 1 end pid=0",
							"gpreempt-guard 1 reply ", deadline_ns))
		return -EPROTO;
	return n < 0 ? (int)n : gp_guard_get_reply(buf, n, reply);
}
