/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to a holder and its replies (ipc/codec.h):
 *
 *	gpreempt-hold 1 suspend start=4711 lease_ns=0 ... ids=0,2
 *	gpreempt-hold 1 reply status=0 worker=815 ... text=
 */
#ifndef PROTO_HOLD_H
#define PROTO_HOLD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/codec.h"

#define HOLD_MAX_IDS 1024
#define HOLD_MAX_GPUS 64
#define HOLD_MAX_PACKET IPC_MAX_PACKET
#define HOLD_MAX_TEXT 1536

enum hold_verb {
	HOLD_SUSPEND,
	HOLD_RESUME,
	HOLD_STATUS,
};
#define HOLD_VERBS (HOLD_STATUS + 1)

struct hold_request {
	enum hold_verb verb;
	uint64_t start;		/* start time of the target, clock ticks */
	uint64_t lease_ns;	/* 0: until resume */
	uint64_t grace;		/* units of the driver; 0: its default */
	uint64_t command;	/* PID of the command to end with; 0: none */
	/* Which queues; new ones too, unless there are ids. */
	uint64_t by_priority;
	uint64_t priority_min;
	uint64_t priority_max;
	uint64_t count;		/* of ids; 0: all */
	uint64_t n_gpus;	/* 0: all */
	uint32_t ids[HOLD_MAX_IDS];
	uint32_t gpus[HOLD_MAX_GPUS];
};

struct hold_reply {
	uint64_t status;	/* exit status of the command */
	uint64_t worker;	/* PIDs */
	uint64_t guardian;
	uint64_t command;	/* that the holder ends with; 0: none */
	uint64_t queues;	/* suspended now, or resumed */
	uint64_t left;		/* after a resume: suspended still */
	uint64_t ioctl_ns;
	uint64_t slots_ns;	/* and the resolution of that */
	uint64_t resolution_ns;	/* 0: slots were not measured */
	uint64_t verdict;	/* enum gpreempt_verdict */
	uint64_t held_ns;	/* since when */
	uint64_t lease_ns;	/* what is left of it; 0: none */
	uint64_t cgroup;	/* the holder has one of its own */
	/* What went wrong, and on the next line what to do. */
	char text[HOLD_MAX_TEXT];
};

/* Length of the packet. buf has HOLD_MAX_PACKET bytes. */
size_t gp_hold_put_request(const struct hold_request *request, char *buf);
size_t gp_hold_put_reply(const struct hold_reply *reply, char *buf);
/* 0 or -EPROTO. */
int gp_hold_get_request(const char *buf, size_t len,
			struct hold_request *request);
int gp_hold_get_reply(const char *buf, size_t len, struct hold_reply *reply);

#endif
