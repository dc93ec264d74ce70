// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "socket.h"
#include "util.h"

size_t gp_ipc_put(uint32_t kind, const void *from, size_t size, char *buf)
{
	struct ipc_head head = { .kind = kind, .size = sizeof(head) + size };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), from, size);
	return head.size;
}

size_t gp_ipc_refuse(int code, char *buf)
{
	return gp_ipc_put(IPC_REFUSAL, &code, sizeof(code), buf);
}

int gp_ipc_get(uint32_t kind, const char *buf, size_t len, void *to, size_t size)
{
	struct ipc_head head;

	if (len != sizeof(head) + size)
		return -EPROTO;
	memcpy(&head, buf, sizeof(head));
	if (head.kind != kind || head.size != len)
		return -EPROTO;
	memcpy(to, buf + sizeof(head), size);
	return 0;
}

/* Returns the time up to the deadline, or 0. */
static uint64_t time_left(uint64_t deadline_ns)
{
	uint64_t now = shr_now_ns();

	return deadline_ns > now ? deadline_ns - now : 0;
}

/*
 * Connect. The limit of a connect() is that of sending; poll() does not know when a server's
 * queue has a place.
 */
static int connect_until(int fd, const struct sockaddr_un *address, uint64_t deadline_ns)
{
	for (;;) {
		/* Add a microsecond: 0 would be no limit. */
		uint64_t left_us = time_left(deadline_ns) / NSEC_PER_USEC + 1;
		struct timeval limit = {
			.tv_sec = left_us / 1000000,
			.tv_usec = left_us % 1000000,
		};

		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
			return 0;
		if (errno == EAGAIN || (errno == EINTR && !time_left(deadline_ns)))
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int gp_ipc_connect(const char *path, uint64_t deadline_ns)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = connect_until(fd, &address, deadline_ns);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Signals do not make it longer. */
static int wait_until(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd one = { .fd = fd, .events = events };

	for (;;) {
		struct timespec limit = shr_timespec(time_left(deadline_ns));
		int ret = ppoll(&one, 1, &limit, NULL);

		if (ret > 0)
			return 0;
		if (!ret)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static bool is_closed(int error)
{
	return error == EPIPE || error == ECONNRESET;
}

int gp_ipc_send(int fd, const char *buf, size_t len, uint64_t deadline_ns)
{
	for (;;) {
		int ret;

		if (send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (is_closed(errno))
			return -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		ret = wait_until(fd, POLLOUT, deadline_ns);
		if (ret)
			return ret;
	}
}

/*
 * A server that closes before it has read our packet makes an error of that,
 * which comes before its last packet to us.
 */
static ssize_t recv_until(int fd, char *buf, size_t size, uint64_t deadline_ns)
{
	bool closed = false;

	for (;;) {
		ssize_t n = recv(fd, buf, size, MSG_DONTWAIT | MSG_TRUNC);
		int ret;

		if (n > 0)
			return n;
		if (n < 0 && is_closed(errno) && !closed) {
			closed = true;
			continue;
		}
		if (!n || closed)
			return -ECONNRESET;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		ret = wait_until(fd, POLLIN, deadline_ns);
		if (ret)
			return ret;
	}
}

ssize_t gp_ipc_recv(int fd, char *buf, size_t size, uint64_t deadline_ns)
{
	ssize_t n = recv_until(fd, buf, size, deadline_ns);
	int code;

	if (n < 0)
		return n;
	if ((size_t)n > size)
		return -EPROTO;
	if (!gp_ipc_get(IPC_REFUSAL, buf, n, &code, sizeof(code)) && code < 0)
		return code;
	return n;
}

ssize_t gp_ipc_ask(int fd, char *buf, size_t len, size_t size, uint64_t deadline_ns)
{
	int ret = gp_ipc_send(fd, buf, len, deadline_ns);

	/* The server may have sent the reason before it closed the connection. */
	if (ret && ret != -ECONNRESET)
		return ret;
	return gp_ipc_recv(fd, buf, size, deadline_ns);
}

#define ANY_USER ((uid_t)-1)

static size_t count_of(const struct ipc_place *places, size_t n, uid_t uid)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += places[i].used && places[i].uid == uid;
	return count;
}

static int longest_idle(const struct ipc_place *places, size_t n, uid_t uid)
{
	int found = -EUSERS;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!places[i].used || places[i].busy || (uid != ANY_USER && places[i].uid != uid))
			continue;
		if (found < 0 || places[i].last_ns < places[found].last_ns)
			found = i;
	}
	return found;
}

/* The user with the most places that could lose one; @uid if there is none. */
static uid_t heaviest_user(const struct ipc_place *places, size_t n, uid_t uid)
{
	size_t most = count_of(places, n, uid), i;
	uid_t heaviest = uid;

	for (i = 0; i < n; i++) {
		size_t count;

		if (!places[i].used || places[i].busy || !places[i].uid)
			continue;
		count = count_of(places, n, places[i].uid);
		if (count > most) {
			most = count;
			heaviest = places[i].uid;
		}
	}
	return heaviest;
}

int gp_ipc_place_find(const struct ipc_place *places, const struct ipc_limits *limits, uid_t uid)
{
	size_t n = limits->places, used = 0, root, i;

	for (i = 0; i < n; i++)
		used += places[i].used;
	root = count_of(places, n, 0);
	if (uid) {
		if (count_of(places, n, uid) >= limits->per_user)
			return longest_idle(places, n, uid);
		if (used - root >= n - limits->for_root)
			return longest_idle(places, n, heaviest_user(places, n, uid));
	}
	for (i = 0; i < n; i++)
		if (!places[i].used)
			return i;
	return longest_idle(places, n, ANY_USER);
}

#define SUFFIX	  ".lock"
#define PATH_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(SUFFIX))
#define BACKLOG	  128

#define MAY_CONNECT (ACL_READ | ACL_WRITE)

/* Connections and packets of one dispatch: others wait for the caller, too. */
#define ROUND 16

struct connection {
	struct ipc_client client;
	int fd;
};

struct ipc_server {
	struct ipc_server_options options;
	int fd;	  /* listens */
	int lock; /* -1: the caller has one */
	char lock_path[PATH_SIZE];
	uint64_t inode; /* the socket's; 0: there is none */
	bool private;	/* the kernel refuses other users */
	int epoll;
	/* Connections and places, each by its number. */
	struct connection *connections;
	struct ipc_place *places;
	char buf[IPC_MAX_PACKET];
};

/* Remove the socket of a dead server. We have the lock, so no living server uses it. */
static int remove_leftover(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

/* Access control lists without libacl: little-endian words (linux/posix_acl_xattr.h). */
static struct posix_acl_xattr_entry entry(unsigned int tag, unsigned int perm, uid_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag),
		.e_perm = htole16(perm),
		.e_id = htole32(id),
	};
}

/*
 * Let only these users, besides the owner, connect: the kernel refuses others, and
 * the server does not see that. -EOPNOTSUPP when the file system has no lists.
 */
static int allow_users(const char *path, const uid_t *uids, size_t n)
{
	__cleanup_free struct posix_acl_xattr_header *header = NULL;
	struct posix_acl_xattr_entry *list;
	size_t size = sizeof(*header) + (n + 4) * sizeof(*list), i;

	header = calloc(1, size);
	if (!header)
		return -ENOMEM;
	header->a_version = htole32(POSIX_ACL_XATTR_VERSION);
	list = (void *)(header + 1);
	*list++ = entry(ACL_USER_OBJ, MAY_CONNECT, ACL_UNDEFINED_ID);
	for (i = 0; i < n; i++)
		*list++ = entry(ACL_USER, MAY_CONNECT, uids[i]);
	*list++ = entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID);
	*list++ = entry(ACL_MASK, MAY_CONNECT, ACL_UNDEFINED_ID);
	*list++ = entry(ACL_OTHER, 0, ACL_UNDEFINED_ID);
	return setxattr(path, "system.posix_acl_access", header, size, 0) < 0 ? -errno : 0;
}

/* Set the access before listen(): until then each connect() fails. */
static int set_access(struct ipc_server *s)
{
	const char *path = s->options.path;
	struct stat st;
	int ret = 0;

	if (lstat(path, &st) < 0)
		return -errno;
	s->inode = st.st_ino;
	if (chmod(path, 0600) < 0)
		return -errno;
	s->private = true;
	if (s->options.n_uids)
		ret = allow_users(path, s->options.uids, s->options.n_uids);
	if (ret != -EOPNOTSUPP)
		return ret;
	/* All users can connect; the server closes the connections that it does not want. */
	s->private = false;
	return chmod(path, 0666) < 0 ? -errno : 0;
}

static int bind_socket(struct ipc_server *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret;

	strcpy(address.sun_path, s->options.path);
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	ret = set_access(s);
	return !ret && listen(s->fd, BACKLOG) < 0 ? -errno : ret;
}

static int start_listening(struct ipc_server *s)
{
	int ret;

	if (strlen(s->options.path) >= PATH_SIZE - sizeof(SUFFIX))
		return -ENAMETOOLONG;
	if (!s->options.locked) {
		snprintf(s->lock_path, PATH_SIZE, "%s" SUFFIX, s->options.path);
		s->lock = shr_lock_file(s->lock_path);
		if (s->lock < 0)
			return s->lock == -EWOULDBLOCK ? -EADDRINUSE : s->lock;
	}
	ret = remove_leftover(s->options.path);
	return ret ? ret : bind_socket(s);
}

static bool is_allowed(const struct ipc_server *s, uid_t uid)
{
	return uid == 0 || uid == geteuid() || shr_has(s->options.uids, s->options.n_uids, uid);
}

static void drop(struct ipc_server *s, size_t place)
{
	struct connection *c = &s->connections[place];

	if (s->options.gone)
		s->options.gone(s->options.data, &c->client);
	/* A child that is just being forked may have a copy. */
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	s->places[place].used = false;
}

/* Events have the number of their place, and the listener the next one. */
static int take(struct ipc_server *s, int fd, const struct ucred *peer)
{
	int place, ret;

	place = gp_ipc_place_find(s->places, &s->options.limits, peer->uid);
	if (place < 0)
		return place;
	if (s->places[place].used)
		drop(s, place);
	ret = shr_epoll_add(s->epoll, fd, place);
	if (ret)
		return ret;
	s->connections[place] = (struct connection){
		.client = { .pid = peer->pid, .uid = peer->uid, .number = -1 },
		.fd = fd,
	};
	s->places[place] = (struct ipc_place){
		.used = true,
		.uid = peer->uid,
		.last_ns = shr_now_ns(),
	};
	return 0;
}

/* Accept one connection. False: there is no other newcomer. */
static bool accept_one(struct ipc_server *s)
{
	char buf[IPC_MAX_PACKET];
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd, ret;

	fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || !is_allowed(s, peer.uid))
		ret = -EACCES;
	else
		ret = take(s, fd, &peer);
	if (ret) {
		send(fd, buf, gp_ipc_refuse(ret, buf), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
	return true;
}

static void serve(struct ipc_server *s, size_t place)
{
	struct connection *c = &s->connections[place];
	size_t len = 0;
	bool unknown;
	ssize_t n;

	n = recv(c->fd, s->buf, sizeof(s->buf), MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > (ssize_t)sizeof(s->buf))
		len = IPC_UNKNOWN;
	else if (n > 0)
		len = s->options.answer(s->options.data, &c->client, s->buf, n);
	unknown = len == IPC_UNKNOWN;
	if (unknown)
		len = gp_ipc_refuse(-EPROTO, s->buf);
	/* A client that does not read its replies loses them. */
	if (len)
		send(c->fd, s->buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	s->places[place].busy = c->client.busy;
	s->places[place].last_ns = shr_now_ns();
	if (!len || unknown || s->options.one_request)
		drop(s, place);
}

void gp_ipc_server_dispatch(struct ipc_server *s)
{
	struct epoll_event events[ROUND];
	size_t places = s->options.limits.places;
	bool newcomers = false;
	int i, n;

	n = epoll_wait(s->epoll, events, ROUND, 0);
	for (i = 0; i < n; i++) {
		if (events[i].data.u64 < places)
			serve(s, events[i].data.u64);
		else
			newcomers = true;
	}
	for (i = 0; newcomers && i < ROUND; i++)
		newcomers = accept_one(s);
}

int gp_ipc_server_fd(const struct ipc_server *s)
{
	return s->epoll;
}

uint64_t gp_ipc_server_inode(const struct ipc_server *s)
{
	return s->inode;
}

bool gp_ipc_server_private(const struct ipc_server *s)
{
	return s->private;
}

void gp_ipc_server_stop(struct ipc_server *s)
{
	struct stat st;
	size_t i;

	if (!s)
		return;
	if (s->inode && !lstat(s->options.path, &st) && st.st_ino == s->inode)
		unlink(s->options.path);
	/* Remove the file while we have the lock: a later server makes another one. */
	if (s->lock >= 0)
		unlink(s->lock_path);
	shr_cleanup_fd(&s->lock);
	shr_cleanup_fd(&s->fd);
	for (i = 0; s->places && i < s->options.limits.places; i++)
		if (s->places[i].used)
			drop(s, i);
	shr_cleanup_fd(&s->epoll);
	free(s->connections);
	free(s->places);
	free(s);
}

int gp_ipc_server_start(const struct ipc_server_options *options, struct ipc_server **out)
{
	size_t places = options->limits.places;
	struct ipc_server *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (!s)
		return ret;
	s->options = *options;
	s->fd = -1;
	s->lock = -1;
	s->epoll = -1;
	s->connections = calloc(places, sizeof(*s->connections));
	s->places = calloc(places, sizeof(*s->places));
	if (s->connections && s->places)
		ret = start_listening(s);
	if (!ret) {
		s->epoll = epoll_create1(EPOLL_CLOEXEC);
		ret = s->epoll < 0 ? -errno : shr_epoll_add(s->epoll, s->fd, places);
	}
	if (ret)
		gp_ipc_server_stop(s);
	else
		*out = s;
	return ret;
}
