// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/listen.h"
#include "ipc/server.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* Connections and packets of one dispatch: others wait for the caller, too. */
#define ROUND 16

struct connection {
	struct ipc_client client;
	int fd;
};

struct ipc_server {
	struct ipc_server_options options;
	struct ipc_listener listener;
	int epoll;
	/* By place. */
	struct connection *connections;
	struct ipc_place *places;
	char buf[IPC_MAX_PACKET];
};

static bool is_allowed(const struct ipc_server *s, uid_t uid)
{
	size_t i;

	for (i = 0; i < s->options.n_uids; i++)
		if (s->options.uids[i] == uid)
			return true;
	return uid == 0 || uid == geteuid();
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

static int watch(const struct ipc_server *s, int fd, uint64_t number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = number };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
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
	ret = watch(s, fd, place);
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

/* False: there is no other newcomer. */
static bool accept_one(struct ipc_server *s)
{
	char buf[IPC_MAX_PACKET];
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd, ret;

	fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    !is_allowed(s, peer.uid))
		ret = -EACCES;
	else
		ret = take(s, fd, &peer);
	if (ret) {
		send(fd, buf, gp_ipc_put(IPC_REFUSAL, &ret, sizeof(ret), buf),
		     MSG_NOSIGNAL | MSG_DONTWAIT);
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
		len = gp_ipc_refuse(s->buf, n);
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
	return s->listener.inode;
}

bool gp_ipc_server_private(const struct ipc_server *s)
{
	return s->listener.private;
}

static void free_server(struct ipc_server *s)
{
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->connections);
	free(s->places);
	free(s);
}

static struct ipc_server *new_server(const struct ipc_server_options *options)
{
	size_t places = options->limits.places;
	struct ipc_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *options;
	s->connections = calloc(places, sizeof(*s->connections));
	s->places = calloc(places, sizeof(*s->places));
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!s->connections || !s->places || s->epoll < 0) {
		free_server(s);
		return NULL;
	}
	return s;
}

int gp_ipc_server_start(const struct ipc_server_options *options,
			struct ipc_server **out)
{
	struct ipc_server *s = new_server(options);
	int ret;

	if (!s)
		return -ENOMEM;
	ret = gp_ipc_listen(&s->listener, options);
	if (ret)
		goto err_free;
	ret = watch(s, s->listener.fd, options->limits.places);
	if (ret)
		goto err_listener;
	*out = s;
	return 0;

err_listener:
	gp_ipc_listen_end(&s->listener, options->path);
err_free:
	free_server(s);
	return ret;
}

void gp_ipc_server_stop(struct ipc_server *s)
{
	size_t i;

	if (!s)
		return;
	gp_ipc_listen_end(&s->listener, s->options.path);
	for (i = 0; i < s->options.limits.places; i++)
		if (s->places[i].used)
			drop(s, i);
	free_server(s);
}
