// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "ipc/client.h"
#include "ipc/codec.h"
#include "proto/guard.h"

#define HEAD "gpreempt-guard 1"

static const char *const request_verbs[GUARD_VERBS] = {
	[GUARD_BEGIN] = "begin",
	[GUARD_END] = "end",
	[GUARD_RELEASE] = "release",
};

#define REQUEST(name, type)                                                \
	{                                                                  \
#name, type, offsetof(struct guard_request, name), 0, 0, 0 \
	}
static const struct ipc_field request_fields[] = {
	REQUEST(pid, IPC_INT),
	REQUEST(count, IPC_U64),
	REQUEST(ns, IPC_U64),
	{ 0 },
};

static const struct ipc_format request_format = {
	.head = HEAD,
	.verbs = request_verbs,
	.n_verbs = GUARD_VERBS,
	.fields = request_fields,
};

static const char *const reply_verbs[] = { "reply" };

#define REPLY(name, type)                                                \
	{                                                                \
#name, type, offsetof(struct guard_reply, name), 0, 0, 0 \
	}
static const struct ipc_field reply_fields[] = {
	REPLY(code, IPC_INT),
	REPLY(value, IPC_U64),
	{ 0 },
};

static const struct ipc_format reply_format = {
	.head = HEAD,
	.verbs = reply_verbs,
	.n_verbs = 1,
	.fields = reply_fields,
};

size_t gp_guard_put_request(const struct guard_request *request, char *buf)
{
	return gp_ipc_put(&request_format, request->verb, request, buf,
			  IPC_MAX_PACKET);
}

size_t gp_guard_put_reply(const struct guard_reply *reply, char *buf)
{
	return gp_ipc_put(&reply_format, 0, reply, buf, IPC_MAX_PACKET);
}

int gp_guard_get_request(const char *buf, size_t len, struct guard_request *out)
{
	struct guard_request request = { 0 };
	unsigned int verb;

	if (gp_ipc_get(&request_format, buf, len, &verb, &request) ||
	    request.pid < 0)
		return -EPROTO;
	request.verb = verb;
	*out = request;
	return 0;
}

int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out)
{
	struct guard_reply reply = { 0 };
	unsigned int verb;

	if (gp_ipc_get(&reply_format, buf, len, &verb, &reply) ||
	    reply.code > 0)
		return -EPROTO;
	*out = reply;
	return 0;
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
