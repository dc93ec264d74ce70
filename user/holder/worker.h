/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOLDER_WORKER_H
#define HOLDER_WORKER_H

#include "agent/owner.h"
#include "holder/holder.h"
#include "ipc/server.h"

#define HOLD_CLIENTS 8

struct hold_worker {
	const struct hold_birth *birth;
	struct heartbeat heartbeat;
	struct owner owner;
	uint64_t start; /* of the target, in clock ticks */
	uint64_t since_ns;
	uint64_t lease_end_ns; /* of CLOCK_BOOTTIME; 0: no lease */
	struct ipc_server *server;
	char socket[64];  /* path */
	uint64_t beat_ns; /* when it beat last */
	int confirm_fd;	  /* until the user knows of us; -1: he does */
	int signals;
	bool over;
};

/* Of its session; NULL: it is paused, or closed. */
static inline struct gpreempt_session *hold_session(const struct hold_worker *w)
{
	return w->owner.route.keeper.session;
}

/* answer.c: do what a request asks for. */
void hold_answer(struct hold_worker *w, const struct hold_request *request,
		 struct hold_reply *reply);

/* worker.c: start the server of w->birth->target. */
int hold_listen(struct hold_worker *w);

#endif
