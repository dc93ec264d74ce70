/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is said over the guard's socket: one packet each way, text.
 *
 *	gpreempt-guard 1 VERB PID NS
 *	gpreempt-guard 1 CODE VALUE
 *
 * PID 0 is the caller; its requests end with the connection. CODE is 0 or a
 * negative errno value, VALUE what the verb gives.
 */
#ifndef SHARED_GUARD_PROTO_H
#define SHARED_GUARD_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef SHR_GUARD_SOCKET
#define SHR_GUARD_SOCKET "/run/gpreempt-guard.sock"
#endif
#define SHR_GUARD_PACKET 128

enum shr_guard_verb {
	SHR_GUARD_BEGIN,	/* VALUE: requests that are open now */
	SHR_GUARD_END,		/* the same */
	SHR_GUARD_RELEASE,	/* let go of PID for NS; UINT64_MAX: for good */
	SHR_GUARD_VERBS,
};

struct shr_guard_request {
	enum shr_guard_verb verb;
	pid_t pid;
	uint64_t ns;
};

struct shr_guard_reply {
	int code;
	uint64_t value;
};

/* Length of the packet. buf has SHR_GUARD_PACKET bytes. */
size_t shr_guard_put_request(const struct shr_guard_request *request,
			     char *buf);
size_t shr_guard_put_reply(const struct shr_guard_reply *reply, char *buf);
/* 0 or -EPROTO. */
int shr_guard_get_request(const char *buf, size_t len,
			  struct shr_guard_request *out);
int shr_guard_get_reply(const char *buf, size_t len,
			struct shr_guard_reply *out);

/* A connection to the guard's socket there, or -errno. */
int shr_guard_connect(const char *path);
/* Ask, and wait for the answer. 0 or -errno. */
int shr_guard_ask(int fd, const struct shr_guard_request *request,
		  struct shr_guard_reply *reply);

#endif
