// SPDX-License-Identifier: GPL-2.0-only
/* Asking a holder. */
#include <errno.h>

#include "holder/holder.h"
#include "shared/clock.h"

/* Longer than the driver waits for a GPU that hangs. */
#define ANSWER_TIMEOUT_NS (30 * NSEC_PER_SEC)

int hold_ask_begin(pid_t target, const struct hold_request *request)
{
	return gp_hold_ask_begin(target, request,
				 shr_now_ns() + ANSWER_TIMEOUT_NS);
}

int hold_ask_end_by(int fd, uint64_t deadline_ns, struct hold_reply *reply)
{
	return gp_hold_ask_end(fd, reply, deadline_ns);
}

int hold_ask_end(int fd, struct hold_reply *reply)
{
	return hold_ask_end_by(fd, shr_now_ns() + ANSWER_TIMEOUT_NS, reply);
}

int hold_ask(pid_t target, const struct hold_request *request,
	     struct hold_reply *reply)
{
	int fd = hold_ask_begin(target, request);

	return fd < 0 ? fd : hold_ask_end(fd, reply);
}
