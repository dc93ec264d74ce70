/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to guard and its replies (ipc/client.h). */
#ifndef PROTO_GUARD_H
#define PROTO_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef GUARD_SOCKET
#define GUARD_SOCKET "/run/gpreempt-guard.sock"
#endif

enum guard_verb {
	GUARD_BEGIN,   /* value: requests that are open now */
	GUARD_END,     /* the same */
	GUARD_RELEASE, /* release @pid for @ns; UINT64_MAX: for good */
	GUARD_VERBS,
};

struct guard_request {
	enum guard_verb verb;
	int pid;	/* 0: the caller; its requests end with the connection */
	uint64_t count; /* begin: so many at once; 0: 1 */
	uint64_t ns;
};

struct guard_reply {
	int code; /* 0 or a negative errno value */
	uint32_t value;
};

/* Length of the packet. buf has IPC_MAX_PACKET bytes. */
size_t gp_guard_put_request(const struct guard_request *request, char *buf);
size_t gp_guard_put_reply(const struct guard_reply *reply, char *buf);
/* 0 or -EPROTO. */
int gp_guard_get_request(const char *buf, size_t len, struct guard_request *out);
int gp_guard_get_reply(const char *buf, size_t len, struct guard_reply *out);

/* Ask on a connection (ipc/client.h). 0; -EPROTO: guard is of another version; or -errno. */
int gp_guard_ask(int fd, const struct guard_request *request, struct guard_reply *reply,
		 uint64_t deadline_ns);

#endif
