/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to a holder and its replies (shared/socket.h). */
#ifndef LIB_PREEMPT_WIRE_H
#define LIB_PREEMPT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/session.h>

#include "shared/socket.h"

/* Locks and sockets of all holders. */
#ifndef HOLD_DIR
#define HOLD_DIR "/run/gpreempt"
#endif
/* The socket of a holder, by the PID of its target. */
#define GP_HOLD_SOCKET HOLD_DIR "/%d.sock"

#define HOLD_MAX_IDS  1024
#define HOLD_MAX_GPUS 64
#define HOLD_MAX_TEXT 1536
#define HOLD_MAX_NEXT 512

enum hold_verb {
	HOLD_SUSPEND,
	HOLD_RESUME,
	HOLD_STATUS,
	HOLD_EXTEND, /* the lease, from now on */
};
#define HOLD_VERBS (HOLD_EXTEND + 1)

/* Patience with a holder: longer than the driver waits for a GPU that hangs. */
#define HOLD_ANSWER_NS (30 * NSEC_PER_SEC)
/* Reason why a holder does not answer for so long, as the step of GPREEMPT_STUCK. */
#define HOLD_STUCK "it holds a lock of the driver, or its GPU hangs"

/* Descriptor at which the program that becomes a holder finds the first request. */
#define HOLD_START_FD 3

struct hold_request {
	enum hold_verb verb;
	uint32_t how;	   /* enum gpreempt_how */
	uint64_t start;	   /* start time of the target, clock ticks */
	uint64_t lease_ns; /* 0: until resume */
	uint64_t command;  /* PID of the program to end with; 0: none */
	uint64_t worker;   /* the holder that is meant; 0: any */
	uint32_t grace;	   /* units of the driver; 0: its default */
	/* Filter of the queues; it covers new ones too, unless there are ids. */
	uint32_t by_priority; /* 0 or 1 */
	uint32_t priority_min;
	uint32_t priority_max;
	uint32_t count;	 /* number of ids; 0: all */
	uint32_t n_gpus; /* 0: all */
	uint32_t ids[HOLD_MAX_IDS];
	uint32_t gpus[HOLD_MAX_GPUS];
};

struct hold_reply {
	uint64_t status; /* exit status of the command */
	uint64_t worker; /* PIDs */
	uint64_t guardian;
	uint64_t command;    /* PID of the program whose end ends the holder; 0: none */
	uint64_t queues;     /* suspended now, or resumed */
	uint64_t destroying; /* not suspended: their process destroys them */
	uint64_t left;	     /* after a resume: suspended still */
	uint64_t ioctl_ns;
	uint64_t slots_ns;	/* and the resolution of that */
	uint64_t resolution_ns; /* 0: slots were not measured */
	uint64_t verdict;	/* enum gpreempt_verdict */
	uint64_t verified_by;	/* enum gpreempt_verified_by */
	uint64_t held_ns;	/* since when */
	/* Time that some queue ran while it was to be suspended: */
	uint64_t released_ns;
	uint64_t recent_ns; /* part of that within the last window_ns */
	uint64_t window_ns;
	uint64_t churn;	   /* the process makes and destroys queues all the time */
	uint64_t unseen;   /* queues gone before they could be suspended */
	uint64_t lease_ns; /* time left of the lease; 0: none */
	uint64_t cgroup;   /* the holder has one of its own */
	uint64_t paused;   /* by a pause, and not by a session */
	/* Error, or 0: the members of struct gpreempt_error. */
	int code;
	uint32_t reason;
	uint64_t other;
	uint64_t major;
	uint64_t minor;
	char text[HOLD_MAX_TEXT]; /* error; after a pause: why no session, or nothing */
	char next[HOLD_MAX_NEXT]; /* next step after the error, or nothing */
};

/*
 * Fill in which queues are meant; NULL: all. -E2BIG: more than a request has place for; -EINVAL:
 * a list without an entry.
 */
int gp_hold_put_filter(struct hold_request *request, const struct gpreempt_filter *which);
/* Returns the filter of a request; its lists are those of the request. */
struct gpreempt_filter gp_hold_filter(const struct hold_request *request);

/* Length of the packet. buf has IPC_MAX_PACKET bytes. */
size_t gp_hold_put_request(const struct hold_request *request, char *buf);
size_t gp_hold_put_reply(const struct hold_reply *reply, char *buf);
/* Read a request of a holder. 0 or -EPROTO. */
int gp_hold_get_request(const char *buf, size_t len, struct hold_request *request);
int gp_hold_get_reply(const char *buf, size_t len, struct hold_reply *reply);

/* Send or receive a reply. Sending does not fail: a client that has left gets none. */
void gp_hold_send(int fd, const struct hold_reply *reply);
int gp_hold_recv(int fd, struct hold_reply *reply, uint64_t deadline_ns);

/*
 * Ask the holder of a target. 0; -ENOENT: there is none; -ECONNRESET: it ended meanwhile;
 * -EPROTO: it is of another version, and nothing has changed; -ETIMEDOUT; or -errno.
 */
int gp_hold_ask(pid_t target, const struct hold_request *request, struct hold_reply *reply,
		uint64_t deadline_ns);
/* Ask in two parts: begin returns a descriptor for end, which closes it. */
int gp_hold_ask_begin(pid_t target, const struct hold_request *request, uint64_t deadline_ns);
int gp_hold_ask_end(int fd, struct hold_reply *reply, uint64_t deadline_ns);

/* Requests to guard and its replies (shared/socket.h). */

#ifndef GUARD_SOCKET
#define GUARD_SOCKET "/run/gpreempt-guard.sock"
#endif

#define GUARD_LINE 1024 /* bytes of a line of its configuration */

/*
 * With this line GUARD_GET gets tenant @count: "CLASS USECONDS N 0[,PID]... WORD". N is its
 * requests, or if it is offline its suspends.
 */
#define GUARD_TENANTS "tenants"

enum guard_verb {
	GUARD_BEGIN,   /* value: requests that are open now */
	GUARD_END,     /* value: requests that are still open */
	GUARD_RELEASE, /* release @pid for @ns; UINT64_MAX: for good */
	GUARD_GET,     /* text: line @count of its configuration; value: 0, it is the last one */
	GUARD_SET,     /* change its configuration by line; -EINVAL: text is the reason */
	GUARD_VERBS,
};

struct guard_request {
	enum guard_verb verb;
	int pid;	/* 0: the caller; its requests end with the connection */
	uint64_t count; /* requests that GUARD_BEGIN begins; 0 means 1 */
	uint64_t ns;
	char line[GUARD_LINE];
};

struct guard_reply {
	int code; /* 0 or a negative errno value */
	uint32_t value;
	char text[GUARD_LINE];
};

/* Length of the packet. buf has IPC_MAX_PACKET bytes. */
size_t gp_guard_put_request(const struct guard_request *request, char *buf);
size_t gp_guard_put_reply(const struct guard_reply *reply, char *buf);
/* Read a request of guard. 0 or -EPROTO. */
int gp_guard_get_request(const char *buf, size_t len, struct guard_request *out);
int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out);

/* Ask on a connection. 0; -EPROTO: guard is of another version; or -errno. */
int gp_guard_ask(int fd, const struct guard_request *request, struct guard_reply *reply,
		 uint64_t deadline_ns);

#endif
