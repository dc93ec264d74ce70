// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/client.h"
#include "proto/hold.h"

#define HEAD "gpreempt-hold 1"

static const char *const request_verbs[HOLD_VERBS] = {
	[HOLD_SUSPEND] = "suspend",
	[HOLD_RESUME] = "resume",
	[HOLD_STATUS] = "status",
	[HOLD_EXTEND] = "extend",
};

#define REQUEST(member)                                         \
	{                                                       \
		.name = #member, .kind = IPC_U64,               \
		.offset = offsetof(struct hold_request, member) \
	}
static const struct ipc_field request_fields[] = {
	REQUEST(start),
	REQUEST(lease_ns),
	REQUEST(grace),
	REQUEST(command),
	REQUEST(worker),
	REQUEST(how),
	REQUEST(by_priority),
	REQUEST(priority_min),
	REQUEST(priority_max),
	{ .name = "ids",
	  .kind = IPC_LIST,
	  .offset = offsetof(struct hold_request, ids),
	  .room = HOLD_MAX_IDS,
	  .count = offsetof(struct hold_request, count),
	  .max = HOLD_MAX_IDS - 1 },
	{ .name = "gpus",
	  .kind = IPC_LIST,
	  .offset = offsetof(struct hold_request, gpus),
	  .room = HOLD_MAX_GPUS,
	  .count = offsetof(struct hold_request, n_gpus),
	  .max = UINT32_MAX },
	{ 0 },
};

static const struct ipc_format request_format = {
	.head = HEAD,
	.verbs = request_verbs,
	.n_verbs = HOLD_VERBS,
	.fields = request_fields,
};

static const char *const reply_verbs[] = { "reply" };

#define REPLY(member)                                         \
	{                                                     \
		.name = #member, .kind = IPC_U64,             \
		.offset = offsetof(struct hold_reply, member) \
	}
static const struct ipc_field reply_fields[] = {
	REPLY(status),
	REPLY(worker),
	REPLY(guardian),
	REPLY(command),
	REPLY(queues),
	REPLY(destroying),
	REPLY(left),
	REPLY(ioctl_ns),
	REPLY(slots_ns),
	REPLY(resolution_ns),
	REPLY(verdict),
	REPLY(held_ns),
	REPLY(released_ns),
	REPLY(recent_ns),
	REPLY(window_ns),
	REPLY(churn),
	REPLY(unseen),
	REPLY(lease_ns),
	REPLY(cgroup),
	REPLY(paused),
	REPLY(reason),
	REPLY(other),
	REPLY(major),
	REPLY(minor),
	{ .name = "code",
	  .kind = IPC_INT,
	  .offset = offsetof(struct hold_reply, code) },
	{ .name = "text",
	  .kind = IPC_TEXT,
	  .offset = offsetof(struct hold_reply, text),
	  .room = HOLD_MAX_TEXT },
	{ 0 },
};

static const struct ipc_format reply_format = {
	.head = HEAD,
	.verbs = reply_verbs,
	.n_verbs = 1,
	.fields = reply_fields,
};

size_t gp_hold_put_request(const struct hold_request *request, char *buf)
{
	return gp_ipc_put(&request_format, request->verb, request, buf,
			  HOLD_MAX_PACKET);
}

size_t gp_hold_put_reply(const struct hold_reply *reply, char *buf)
{
	return gp_ipc_put(&reply_format, 0, reply, buf, HOLD_MAX_PACKET);
}

int gp_hold_get_request(const char *buf, size_t len,
			struct hold_request *request)
{
	unsigned int verb;
	int ret;

	memset(request, 0, sizeof(*request));
	ret = gp_ipc_get(&request_format, buf, len, &verb, request);
	if (!ret)
		request->verb = verb;
	return ret;
}

int gp_hold_get_reply(const char *buf, size_t len, struct hold_reply *reply)
{
	unsigned int verb;

	memset(reply, 0, sizeof(*reply));
	return gp_ipc_get(&reply_format, buf, len, &verb, reply);
}

int gp_hold_ask_begin(pid_t target, const struct hold_request *request,
		      uint64_t deadline_ns)
{
	char buf[HOLD_MAX_PACKET], path[sizeof(HOLD_DIR) + 32];
	int fd;

	snprintf(path, sizeof(path), HOLD_DIR "/%d.sock", target);
	fd = gp_ipc_connect(path, deadline_ns);
	/* If it has ended, the answer tells. */
	if (fd >= 0)
		gp_ipc_send(fd, buf, gp_hold_put_request(request, buf),
			    deadline_ns);
	return fd == -ECONNREFUSED ? -ENOENT : fd;
}

int gp_hold_ask_end(int fd, struct hold_reply *reply, uint64_t deadline_ns)
{
	char buf[HOLD_MAX_PACKET];
	ssize_t n;

	n = gp_ipc_recv(fd, buf, sizeof(buf), deadline_ns);
	close(fd);
	return n < 0 ? (int)n : gp_hold_get_reply(buf, n, reply);
}

int gp_hold_ask(pid_t target, const struct hold_request *request,
		struct hold_reply *reply, uint64_t deadline_ns)
{
	int fd = gp_hold_ask_begin(target, request, deadline_ns);

	return fd < 0 ? fd : gp_hold_ask_end(fd, reply, deadline_ns);
}
