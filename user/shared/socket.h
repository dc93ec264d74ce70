/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One packet for each request and each reply: a head, and after it a structure as it lies in
 * memory. Both ends are on one machine. The members have fixed sizes and there is no padding, so
 * that all programs see the same layout and a packet has no byte that its sender did not set.
 *
 * A structure that changes gets another kind: a program of another version, such as a holder that
 * an upgrade left running, refuses it.
 */
#ifndef SHARED_SOCKET_H
#define SHARED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IPC_MAX_PACKET 8192

struct ipc_head {
	uint32_t kind; /* "gp", a letter of the protocol, a number */
	uint32_t size; /* bytes in the packet */
};

/*
 * Kind of the packet that a server sends before it closes a connection that it refuses: an int,
 * a negative errno value.
 */
#define IPC_REFUSAL 0x67706901

/* Length of the packet. @buf has IPC_MAX_PACKET bytes. */
size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf);

/* A refusal in place of a reply; -EPROTO: the request is of another version or none. */
size_t gp_ipc_refuse(int code, char *buf);

/* Read a packet. 0; -EPROTO for another kind, or another size than that structure's. */
int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to, size_t size);

/* Connections to a server of ours. Return -errno. */

/*
 * A connection to the socket at @path. It waits until @deadline_ns of the monotonic clock when
 * the server has no place in its queue, as one that is stopped; then -ETIMEDOUT.
 */
int gp_ipc_connect(const char *path, uint64_t deadline_ns);

/* Send a packet. 0; -ECONNRESET: the server has closed the connection; -ETIMEDOUT. */
int gp_ipc_send(int fd, const char *buf, size_t len, uint64_t deadline_ns);

/*
 * The length of the packet; -ECONNRESET: the server has closed the connection; -ETIMEDOUT; or
 * why the server refused it: -EACCES, -EUSERS, and -EPROTO: it does not know the request.
 */
ssize_t gp_ipc_recv(int fd, char *buf, size_t size, uint64_t deadline_ns);

/* Send and receive, with the same buffer. */
ssize_t gp_ipc_ask(int fd, char *buf, size_t len, size_t size, uint64_t deadline_ns);

/*
 * A socket (SOCK_SEQPACKET) that answers requests, one packet each way.
 *
 * One thread, which polls gp_ipc_server_fd() and calls gp_ipc_server_dispatch().
 * Nothing here waits.
 */

/* One of a limited number of places. */
struct ipc_place {
	bool used;
	bool busy; /* never taken away: its client would miss it */
	uid_t uid;
	uint64_t last_ns; /* when it was last used */
};

struct ipc_limits {
	size_t places;
	size_t for_root; /* places that root alone can take */
	size_t per_user; /* at most, of a user that is not root */
};

/*
 * Return: the number of a place for @uid, or -EUSERS. One that is used has to
 * be freed first: the longest idle one of the same user when that user has as
 * many as it may have, else of the user with the most of them.
 */
int gp_ipc_place_find(const struct ipc_place *places, const struct ipc_limits *limits, uid_t uid);

/* The request is none, or of another version. */
#define IPC_UNKNOWN SIZE_MAX

/* A connection, and the kernel's facts about its other end. */
struct ipc_client {
	pid_t pid;
	uid_t uid;
	bool busy;  /* the owner's: never dropped to make a place */
	int number; /* the owner's; -1 at first */
};

struct ipc_server_options {
	const char *path;
	/* Besides root and the user of this process. */
	const uid_t *uids;
	size_t n_uids;
	struct ipc_limits limits;
	bool locked;	  /* the caller has a lock for this path */
	bool one_request; /* close after the reply */
	/*
	 * A request of @len bytes is in @buf, which has IPC_MAX_PACKET.
	 * Return: the length of the reply, which is put there; 0: close the
	 * connection; IPC_UNKNOWN: the same, and the client gets -EPROTO.
	 */
	size_t (*answer)(void *data, struct ipc_client *client, char *buf, size_t len);
	/* The connection is closed after this. Or NULL. */
	void (*gone)(void *data, struct ipc_client *client);
	void *data;
};

struct ipc_server;

/*
 * Start a server. -EADDRINUSE: another server is there; -EEXIST: the file there is no socket;
 * -ENAMETOOLONG; or another negative errno value. @options and all that it points to must
 * outlive the server. A lock on PATH.lock shows that the server lives: only with the lock, the
 * socket of a dead server is replaced.
 */
int gp_ipc_server_start(const struct ipc_server_options *options, struct ipc_server **out);
/* Closes all connections, and removes both files; NULL is allowed. */
void gp_ipc_server_stop(struct ipc_server *s);
/* Readable when there is something to do. */
int gp_ipc_server_fd(const struct ipc_server *s);
void gp_ipc_server_dispatch(struct ipc_server *s);
/* Inode of the socket: is the file still ours? */
uint64_t gp_ipc_server_inode(const struct ipc_server *s);
/* Does the kernel keep other users away, so that they cost nothing? */
bool gp_ipc_server_private(const struct ipc_server *s);

#endif
