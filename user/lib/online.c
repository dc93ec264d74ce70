// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of a server to the guard. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <gpreempt/online.h>

#include "shared/guard-proto.h"

struct gpreempt_online {
	int fd;
};

int gpreempt_online_open(struct gpreempt_online **out)
{
	struct gpreempt_online *online = calloc(1, sizeof(*online));

	if (!online)
		return -ENOMEM;
	online->fd = shr_guard_connect(SHR_GUARD_SOCKET);
	if (online->fd < 0) {
		int ret = online->fd;

		free(online);
		return ret;
	}
	*out = online;
	return 0;
}

static int ask(struct gpreempt_online *online, enum shr_guard_verb verb)
{
	struct shr_guard_request request = { .verb = verb };
	struct shr_guard_reply reply;
	int ret = shr_guard_ask(online->fd, &request, &reply);

	if (ret)
		return ret;
	return reply.code ? reply.code : (int)reply.value;
}

int gpreempt_online_begin(struct gpreempt_online *online)
{
	return ask(online, SHR_GUARD_BEGIN);
}

int gpreempt_online_end(struct gpreempt_online *online)
{
	return ask(online, SHR_GUARD_END);
}

void gpreempt_online_close(struct gpreempt_online *online)
{
	if (!online)
		return;
	close(online->fd);
	free(online);
}
