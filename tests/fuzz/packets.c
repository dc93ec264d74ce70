// SPDX-License-Identifier: GPL-2.0-only
/* Packets from a peer of the socket layer: any bytes, or the structure of a good one. */
#include <stdlib.h>
#include <string.h>

#include "lib/preempt/wire.h"

#include "fuzz.h"

static union {
	struct hold_request hold_request;
	struct hold_reply hold_reply;
	struct guard_request guard_request;
	struct guard_reply guard_reply;
} u;

/* Returns how many of the four take the packet, and checks their promises then. */
static unsigned int take(const char *buf, size_t len)
{
	unsigned int taken = 0;
	size_t i;

	if (!gp_hold_get_request(buf, len, &u.hold_request)) {
		for (i = 0; i < u.hold_request.count; i++)
			if (u.hold_request.ids[i] >= HOLD_MAX_IDS)
				abort();
		if (i > HOLD_MAX_IDS || u.hold_request.n_gpus > HOLD_MAX_GPUS)
			abort();
		taken++;
	}
	if (!gp_hold_get_reply(buf, len, &u.hold_reply)) {
		if (strlen(u.hold_reply.text) >= sizeof(u.hold_reply.text) ||
		    strlen(u.hold_reply.next) >= sizeof(u.hold_reply.next))
			abort();
		taken++;
	}
	if (!gp_guard_get_request(buf, len, &u.guard_request)) {
		if (u.guard_request.pid < 0)
			abort();
		taken++;
	}
	if (!gp_guard_get_reply(buf, len, &u.guard_reply))
		taken++;
	return taken;
}

bool fuzz_one(const struct fuzz_input *in)
{
	static char buf[IPC_MAX_PACKET];
	unsigned int taken = take((const char *)in->data, in->len);

	memset(&u, 0, sizeof(u));
	memcpy(&u, in->data, in->len < sizeof(u) ? in->len : sizeof(u));
	taken += take(buf, gp_hold_put_request(&u.hold_request, buf));
	taken += take(buf, gp_hold_put_reply(&u.hold_reply, buf));
	taken += take(buf, gp_guard_put_request(&u.guard_request, buf));
	taken += take(buf, gp_guard_put_reply(&u.guard_reply, buf));
	return taken;
}
