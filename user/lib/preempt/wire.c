// SPDX-License-Identifier: LGPL-2.1-or-later
/* The messages of holder and guard, and a server's requests to guard. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gpreempt/hold.h>
#include <gpreempt/online.h>

#include "lib/core/internal.h"
#include "shared/socket.h"
#include "shared/util.h"
#include "wire.h"

#define PATH_SIZE (sizeof(HOLD_DIR) + 32)

#define HOLD_REQUEST 0x67706801
#define HOLD_REPLY   0x67706804

/* A change of a structure takes other numbers above, also if its size stays. */
_Static_assert(sizeof(struct hold_request) == 4416 && sizeof(struct hold_reply) == 2248,
	       "a packet of another size is of another version");

int gp_hold_put_filter(struct hold_request *request, const struct gpreempt_filter *which)
{
	size_t i;

	if (!which)
		return 0;
	for (i = 0; i < ARRAY_SIZE(which->reserved); i++)
		if (which->reserved[i])
			return -E2BIG;
	if (which->n_ids > HOLD_MAX_IDS || which->n_gpu_ids > HOLD_MAX_GPUS)
		return -E2BIG;
	if ((which->ids && !which->n_ids) || (which->gpu_ids && !which->n_gpu_ids))
		return -EINVAL;
	request->count = which->n_ids;
	if (which->n_ids)
		memcpy(request->ids, which->ids, which->n_ids * sizeof(*which->ids));
	request->n_gpus = which->n_gpu_ids;
	if (which->n_gpu_ids)
		memcpy(request->gpus, which->gpu_ids, which->n_gpu_ids * sizeof(*which->gpu_ids));
	request->by_priority = which->by_priority;
	request->priority_min = which->priority_min;
	request->priority_max = which->priority_max;
	return 0;
}

struct gpreempt_filter gp_hold_filter(const struct hold_request *request)
{
	return (struct gpreempt_filter){
		.ids = request->count ? request->ids : NULL,
		.n_ids = request->count,
		.by_priority = request->by_priority,
		.priority_min = request->priority_min,
		.priority_max = request->priority_max,
		.gpu_ids = request->n_gpus ? request->gpus : NULL,
		.n_gpu_ids = request->n_gpus,
	};
}

size_t gp_hold_put_request(const struct hold_request *request, char *buf)
{
	return gp_ipc_put(HOLD_REQUEST, request, sizeof(*request), buf);
}

size_t gp_hold_put_reply(const struct hold_reply *reply, char *buf)
{
	return gp_ipc_put(HOLD_REPLY, reply, sizeof(*reply), buf);
}

/* Check a list, in which each value stands once. */
static bool is_list(const uint32_t *list, size_t count, size_t room, uint32_t max)
{
	size_t i;

	if (count > room)
		return false;
	for (i = 0; i < count; i++)
		if (list[i] > max || shr_has(list, i, list[i]))
			return false;
	return true;
}

int gp_hold_get_request(const char *buf, size_t len, struct hold_request *request)
{
	int ret = gp_ipc_get(HOLD_REQUEST, buf, len, request, sizeof(*request));

	if (!ret && (request->verb >= HOLD_VERBS || request->how >= GPREEMPT_HOWS ||
		     request->command > INT_MAX || request->by_priority > 1 ||
		     !is_list(request->ids, request->count, HOLD_MAX_IDS, HOLD_MAX_IDS - 1) ||
		     !is_list(request->gpus, request->n_gpus, HOLD_MAX_GPUS, UINT32_MAX)))
		ret = -EPROTO;
	return ret;
}

int gp_hold_get_reply(const char *buf, size_t len, struct hold_reply *reply)
{
	int ret = gp_ipc_get(HOLD_REPLY, buf, len, reply, sizeof(*reply));

	if (!ret &&
	    (reply->status > GPREEMPT_CLASS_BUSY || reply->verdict > GPREEMPT_CONTRADICTED ||
	     reply->verified_by > GPREEMPT_BY_WAVES || reply->code > 0 ||
	     !memchr(reply->text, '\0', sizeof(reply->text)) ||
	     !memchr(reply->next, '\0', sizeof(reply->next))))
		ret = -EPROTO;
	return ret;
}

void gp_hold_send(int fd, const struct hold_reply *reply)
{
	char buf[IPC_MAX_PACKET];

	send(fd, buf, gp_hold_put_reply(reply, buf), MSG_NOSIGNAL);
}

int gp_hold_recv(int fd, struct hold_reply *reply, uint64_t deadline_ns)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n = gp_ipc_recv(fd, buf, sizeof(buf), deadline_ns);

	return n < 0 ? (int)n : gp_hold_get_reply(buf, n, reply);
}

int gp_hold_ask_begin(pid_t target, const struct hold_request *request, uint64_t deadline_ns)
{
	char buf[IPC_MAX_PACKET], path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), GP_HOLD_SOCKET, target);
	fd = gp_ipc_connect(path, deadline_ns);
	/* The answer shows whether the holder has ended. */
	if (fd >= 0)
		gp_ipc_send(fd, buf, gp_hold_put_request(request, buf), deadline_ns);
	return fd == -ECONNREFUSED ? -ENOENT : fd;
}

int gp_hold_ask_end(int fd, struct hold_reply *reply, uint64_t deadline_ns)
{
	int ret = gp_hold_recv(fd, reply, deadline_ns);

	close(fd);
	return ret;
}

int gp_hold_ask(pid_t target, const struct hold_request *request, struct hold_reply *reply,
		uint64_t deadline_ns)
{
	int fd = gp_hold_ask_begin(target, request, deadline_ns);

	return fd < 0 ? fd : gp_hold_ask_end(fd, reply, deadline_ns);
}

#define GUARD_REQUEST 0x67706703
#define GUARD_REPLY   0x67706704

/* A change of a structure takes other numbers above, also if its size stays. */
_Static_assert(sizeof(struct guard_request) == 1048 && sizeof(struct guard_reply) == 1032,
	       "a packet of another size is of another version");

size_t gp_guard_put_request(const struct guard_request *request, char *buf)
{
	return gp_ipc_put(GUARD_REQUEST, request, sizeof(*request), buf);
}

size_t gp_guard_put_reply(const struct guard_reply *reply, char *buf)
{
	return gp_ipc_put(GUARD_REPLY, reply, sizeof(*reply), buf);
}

int gp_guard_get_request(const char *buf, size_t len, struct guard_request *out)
{
	int ret = gp_ipc_get(GUARD_REQUEST, buf, len, out, sizeof(*out));

	if (!ret && (out->verb >= GUARD_VERBS || out->pid < 0 ||
		     !memchr(out->line, '\0', sizeof(out->line))))
		ret = -EPROTO;
	return ret;
}

int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out)
{
	int ret = gp_ipc_get(GUARD_REPLY, buf, len, out, sizeof(*out));

	if (!ret &&
	    (out->code > 0 || out->value > INT_MAX || !memchr(out->text, '\0', sizeof(out->text))))
		ret = -EPROTO;
	return ret;
}

int gp_guard_ask(int fd, const struct guard_request *request, struct guard_reply *reply,
		 uint64_t deadline_ns)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n;

	n = gp_ipc_ask(fd, buf, gp_guard_put_request(request, buf), sizeof(buf), deadline_ns);
	return n < 0 ? (int)n : gp_guard_get_reply(buf, n, reply);
}

/* Requests of a server to guard. */

struct gpreempt_online {
	int fd; /* -1: to be opened again */
	uint64_t timeout_ns;
	pid_t pid;     /* 0: the caller */
	uint64_t open; /* requests of the caller */
};

/* A value or -errno. After any failure of the connection it is closed. */
static int ask_once(struct gpreempt_online *online, const struct guard_request *request,
		    uint64_t deadline_ns)
{
	struct guard_reply reply;
	int ret;

	if (online->fd < 0)
		online->fd = gp_ipc_connect(GUARD_SOCKET, deadline_ns);
	if (online->fd < 0)
		return online->fd;
	ret = gp_guard_ask(online->fd, request, &reply, deadline_ns);
	/* Close the connection: a late reply would be taken for that of the next request. */
	if (ret)
		shr_close(&online->fd);
	else
		ret = reply.code ? reply.code : (int)reply.value;
	return ret;
}

/* Do the same as ask_once(), and once more if the connection had ended. */
static int ask(struct gpreempt_online *online, struct guard_request *request, uint64_t all)
{
	uint64_t deadline = shr_now_ns() + online->timeout_ns;
	bool fresh = online->fd < 0;
	int ret = -ECONNRESET;

	request->pid = online->pid;
	if (!fresh)
		ret = ask_once(online, request, deadline);
	if (ret != -ECONNRESET)
		return ret;
	/* A new connection has no requests: all are opened at once. */
	if (!online->pid) {
		if (!all)
			return 0;
		*request = (struct guard_request){ .verb = GUARD_BEGIN, .count = all };
	}
	return ask_once(online, request, deadline);
}

int gpreempt_online_begin(struct gpreempt_online *online)
{
	struct guard_request request = { .verb = GUARD_BEGIN };
	int ret = ask(online, &request, online->open + 1);

	if (ret > 0)
		online->open++;
	return ret;
}

int gpreempt_online_end(struct gpreempt_online *online)
{
	struct guard_request request = { .verb = GUARD_END };

	if (!online->pid && !online->open)
		return -EINVAL;
	if (!online->pid)
		online->open--;
	return ask(online, &request, online->open);
}

void gpreempt_online_close(struct gpreempt_online *online)
{
	if (!online)
		return;
	shr_cleanup_fd(&online->fd);
	free(online);
}

static int take_options(struct gpreempt_online *online,
			const struct gpreempt_online_options *options)
{
	struct gpreempt_online_options o = { 0 };
	int ret = 0;

	if (options)
		ret = gp_options_take(options, sizeof(o), &o, sizeof(o));
	if (!ret && o.pid < 0)
		ret = -EINVAL;
	online->pid = o.pid;
	online->timeout_ns = o.timeout_ns ? o.timeout_ns : GPREEMPT_ONLINE_TIMEOUT_NS;
	return ret;
}

int gpreempt_online_open(const struct gpreempt_online_options *options,
			 struct gpreempt_online **out)
{
	struct gpreempt_online *online = calloc(1, sizeof(*online));
	int ret;

	if (!online)
		return -ENOMEM;
	ret = take_options(online, options);
	if (!ret)
		ret = online->fd = gp_ipc_connect(GUARD_SOCKET, shr_now_ns() + online->timeout_ns);
	if (ret < 0) {
		free(online);
		return ret;
	}
	*out = online;
	return 0;
}
