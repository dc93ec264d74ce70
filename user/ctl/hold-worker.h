/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_HOLD_WORKER_H
#define CTL_HOLD_WORKER_H

#include "agent/session-owner.h"
#include "ctl/hold.h"

#define HOLD_CLIENTS 8

struct hold_worker {
	const struct hold_birth *birth;
	struct heartbeat heartbeat;
	struct session_owner owner;
	uint64_t start;		/* of the target, in clock ticks */
	uint64_t command;	/* PID of the one to end with; 0: none */
	uint64_t since_ns;
	uint64_t lease_end_ns;	/* 0: no lease */
	int listen;
	uint64_t inode;		/* of the socket behind listen */
	uint64_t beat_ns;	/* when it beat last */
	int told;		/* until the user knows of us; -1: he does */
	int signals;
	int clients[HOLD_CLIENTS];	/* -1: free */
	unsigned int next_client;
	bool over;
};

/* hold-answer.c: do what a request asks for. */
void hold_answer(struct hold_worker *w, const struct hold_request *request,
		 struct hold_reply *reply);

/* hold-serve.c: the socket and those who come to it. */
int hold_listen(pid_t target);
void hold_accept(struct hold_worker *w);
void hold_serve(struct hold_worker *w, int *client);

#endif
