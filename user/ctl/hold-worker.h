/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_HOLD_WORKER_H
#define CTL_HOLD_WORKER_H

#include "ctl/deadman.h"
#include "ctl/hold.h"

#define HOLD_CLIENTS 8

struct hold_worker {
	const struct hold_birth *birth;
	struct gpreempt *g;
	struct gpreempt_session *session;	/* NULL: closed */
	struct deadman deadman;
	uint64_t start;		/* of the target, in clock ticks */
	uint64_t command;	/* PID of the one to end with; 0: none */
	uint64_t since_ns;
	uint64_t lease_end_ns;	/* 0: no lease */
	int listen;
	uint64_t inode;		/* of the socket behind listen */
	uint64_t said_ns;	/* when it said last that it is well */
	int told;		/* until the user knows of us; -1: he does */
	int signals;
	int clients[HOLD_CLIENTS];	/* -1: free */
	unsigned int next_client;
	uint64_t lost_ns;	/* when the session was lost last */
	unsigned int losses;	/* in short order */
	bool over;
};

/* Tell the guardian and the kernel that all is well for so long. */
void hold_well(struct hold_worker *w, uint64_t silence_ns);

/* hold-answer.c: do what a request asks for. */
void hold_answer(struct hold_worker *w, const struct hold_request *request,
		 struct hold_reply *reply);

/* hold-serve.c: the socket and those who come to it. */
int hold_listen(pid_t target);
void hold_accept(struct hold_worker *w);
void hold_serve(struct hold_worker *w, int *client);

#endif
