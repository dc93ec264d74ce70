// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of a server to guard. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <gpreempt/online.h>

#include "ipc/client.h"
#include "lib/core/options.h"
#include "proto/guard.h"
#include "shared/clock.h"

struct gpreempt_online {
	int fd; /* -1: to be opened again */
	uint64_t timeout_ns;
	pid_t pid;     /* 0: the caller */
	uint64_t open; /* requests of the caller */
};

static void disconnect(struct gpreempt_online *online)
{
	if (online->fd >= 0)
		close(online->fd);
	online->fd = -1;
}

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
	/* A late reply would be taken for that of the next request. */
	if (ret)
		disconnect(online);
	if (!ret)
		ret = reply.code ? reply.code : (int)reply.value;
	return ret;
}

/* As ask_once(), and once more when it was the connection that had ended. */
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
		*request = (struct guard_request){
			.verb = GUARD_BEGIN,
			.count = all,
		};
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
	disconnect(online);
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
