// SPDX-License-Identifier: GPL-2.0-only
/* Asking a holder. */
#include <errno.h>

#include "holder/holder.h"
#include "shared/clock.h"

/* Longer than the driver waits for a GPU that hangs. */
#define ANSWER_TIMEOUT_NS (30 * NSEC_PER_SEC)

/* How long a holder may take to end after it has released its target. */
#define END_NS	 (3 * NSEC_PER_SEC)
#define PAUSE_NS (2 * NSEC_PER_MSEC)

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

bool hold_wait_for_end(pid_t target)
{
	uint64_t deadline = shr_now_ns() + END_NS;
	struct hold_owner owner;

	while (hold_read_owner(target, &owner) != -ENOENT) {
		if (shr_now_ns() > deadline)
			return false;
		shr_sleep_ns(PAUSE_NS);
	}
	return true;
}
