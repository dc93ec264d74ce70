// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of a server to the guard. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <gpreempt/online.h>

#include "ipc/client.h"
#include "proto/guard.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* A guard that releases a process may wait for the hardware first. */
#define PATIENCE_NS (30 * NSEC_PER_SEC)

struct gpreempt_online {
	int fd;
};

int gpreempt_online_open(struct gpreempt_online **out)
{
	struct gpreempt_online *online = calloc(1, sizeof(*online));

	if (!online)
		return -ENOMEM;
	online->fd = gp_ipc_connect(GUARD_SOCKET,
				    shr_now_ns() + PATIENCE_NS);
	if (online->fd < 0) {
		int ret = online->fd;

		free(online);
		return ret;
	}
	*out = online;
	return 0;
}

static int ask(struct gpreempt_online *online, enum guard_verb verb)
{
	struct guard_request request = { .verb = verb };
	struct guard_reply reply;
	int ret = gp_guard_ask(online->fd, &request, &reply,
			       shr_now_ns() + PATIENCE_NS);

	if (ret)
		return ret;
	return reply.code ? reply.code : (int)reply.value;
}

int gpreempt_online_begin(struct gpreempt_online *online)
{
	return ask(online, GUARD_BEGIN);
}

int gpreempt_online_end(struct gpreempt_online *online)
{
	return ask(online, GUARD_END);
}

void gpreempt_online_close(struct gpreempt_online *online)
{
	if (!online)
		return;
	close(online->fd);
	free(online);
}
