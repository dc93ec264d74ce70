// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guard's socket, with a thread of its own: a server that says that its
 * work begins does not wait for our lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "ctl/guard.h"
#include "ctl/guard-serve.h"
#include "shared/clock.h"
#include "shared/guard-proto.h"

/* A connection, or a process that requests were opened for. */
struct client {
	int fd;			/* socket or pidfd; -1: free */
	bool process;
	pid_t pid;
	uid_t uid;
	int party;		/* -1: it never opened a request */
};

struct guard_server {
	struct guard *guard;
	pthread_t thread;
	int listen;
	int quit;
	struct client client[GUARD_CLIENTS];
};

static bool allowed(const struct guard *guard, uid_t uid)
{
	const struct ctl_sched_args *args = &guard->args->sched;
	size_t i;

	for (i = 0; i < args->n_uids; i++)
		if (args->uids[i] == uid)
			return true;
	return uid == geteuid();
}

static struct client *add_client(struct guard_server *s, int fd, pid_t pid,
				 uid_t uid, bool process)
{
	size_t i;

	for (i = 0; i < GUARD_CLIENTS; i++)
		if (s->client[i].fd < 0) {
			s->client[i] = (struct client){
				.fd = fd, .process = process, .pid = pid,
				.uid = uid, .party = -1,
			};
			return &s->client[i];
		}
	return NULL;
}

/* However it ends: its requests end with it. */
static void drop_client(struct guard_server *s, struct client *c)
{
	struct guard *guard = s->guard;

	if (c->party >= 0) {
		pthread_mutex_lock(&guard->lock);
		gpreempt_policy_remove(&guard->policy, c->party);
		guard->n_clients--;
		guard->changed = true;
		pthread_mutex_unlock(&guard->lock);
	}
	close(c->fd);
	c->fd = -1;
}

static void accept_client(struct guard_server *s)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd;

	fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    !allowed(s->guard, peer.uid) ||
	    !add_client(s, fd, peer.pid, peer.uid, false))
		close(fd);
}

/* Where it works, if we know that; else everywhere. Under the lock. */
static uint64_t nodes_of_client(const struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_online; i++)
		if (guard->online[i].target.pid == pid &&
		    guard->online[i].nodes)
			return guard->online[i].nodes;
	return ~0ULL;
}

static int begin(struct guard_server *s, struct client *c)
{
	struct guard *guard = s->guard;
	uint64_t nodes;
	int ret = 0;

	pthread_mutex_lock(&guard->lock);
	nodes = nodes_of_client(guard, c->pid);
	if (c->party < 0) {
		ret = gpreempt_policy_add(&guard->policy, GPREEMPT_ROLE_ONLINE,
					  nodes, 0, shr_now_ns());
		guard->n_clients += ret >= 0;
		c->party = ret >= 0 ? ret : -1;
	}
	if (ret >= 0) {
		gpreempt_policy_nodes(&guard->policy, c->party, nodes);
		ret = gpreempt_policy_begin(&guard->policy, c->party);
		guard->changed = true;
	}
	pthread_mutex_unlock(&guard->lock);
	return ret;
}

static int end(struct guard_server *s, const struct client *c)
{
	struct guard *guard = s->guard;
	int ret = -EINVAL;

	if (c->party < 0)
		return ret;
	pthread_mutex_lock(&guard->lock);
	ret = gpreempt_policy_end(&guard->policy, c->party, shr_now_ns());
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	return ret;
}

/* Not everybody may speak for a process. */
static bool may_speak_for(const struct client *c, pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && (c->uid == 0 || st.st_uid == c->uid);
}

/* The client that stands for a process; made when a request begins. */
static struct client *find_process(struct guard_server *s,
				   const struct client *asker,
				   const struct shr_guard_request *request)
{
	struct client *c;
	size_t i;
	int fd;

	for (i = 0; i < GUARD_CLIENTS; i++)
		if (s->client[i].fd >= 0 && s->client[i].process &&
		    s->client[i].pid == request->pid)
			return &s->client[i];
	if (request->verb != SHR_GUARD_BEGIN)
		return NULL;
	fd = syscall(SYS_pidfd_open, request->pid, 0);
	if (fd < 0)
		return NULL;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	c = add_client(s, fd, request->pid, asker->uid, true);
	if (!c)
		close(fd);
	return c;
}

/* The main thread does it: it may wait for the hardware. */
static int release(struct guard_server *s, const struct client *c,
		   const struct shr_guard_request *request)
{
	struct guard *guard = s->guard;
	int ret = -ESRCH;

	if (c->uid != 0)
		return -EACCES;
	pthread_mutex_lock(&guard->lock);
	if (guard_find(guard, request->pid) &&
	    guard->n_releases < ARRAY_SIZE(guard->releases)) {
		guard->releases[guard->n_releases++] = (struct guard_release){
			.pid = request->pid, .ns = request->ns,
		};
		ret = 0;
	}
	pthread_mutex_unlock(&guard->lock);
	return ret;
}

static int answer(struct guard_server *s, struct client *c,
		  const struct shr_guard_request *request)
{
	if (request->verb == SHR_GUARD_RELEASE)
		return release(s, c, request);
	if (request->pid) {
		if (!may_speak_for(c, request->pid))
			return -EACCES;
		c = find_process(s, c, request);
		if (!c)
			return -EINVAL;
	}
	return request->verb == SHR_GUARD_BEGIN ? begin(s, c) : end(s, c);
}

static void serve(struct guard_server *s, struct client *c)
{
	struct shr_guard_request request;
	struct shr_guard_reply reply = { 0 };
	char buf[SHR_GUARD_PACKET];
	ssize_t n;
	int ret;

	/* A pidfd is readable when its process has ended. */
	if (c->process) {
		drop_client(s, c);
		return;
	}
	n = recv(c->fd, buf, sizeof(buf), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || shr_guard_get_request(buf, n, &request)) {
		drop_client(s, c);
		return;
	}
	ret = answer(s, c, &request);
	reply.code = ret < 0 ? ret : 0;
	reply.value = ret > 0 ? ret : 0;
	send(c->fd, buf, shr_guard_put_reply(&reply, buf),
	     MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *server_thread(void *arg)
{
	struct guard_server *s = arg;
	struct pollfd fds[2 + GUARD_CLIENTS];
	size_t i;

	fds[0] = (struct pollfd){ .fd = s->quit, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = s->listen, .events = POLLIN };
	for (;;) {
		for (i = 0; i < GUARD_CLIENTS; i++)
			fds[2 + i] = (struct pollfd){
				.fd = s->client[i].fd, .events = POLLIN,
			};
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		for (i = 0; i < GUARD_CLIENTS; i++)
			if (fds[2 + i].revents &&
			    s->client[i].fd == fds[2 + i].fd)
				serve(s, &s->client[i]);
		if (fds[1].revents)
			accept_client(s);
	}
}

static int listen_at(const char *path, bool everybody)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	fd = shr_guard_connect(path);
	if (fd >= 0) {
		close(fd);
		return -EADDRINUSE;
	}
	/* Whatever is there is of a guard that is gone. */
	unlink(path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    chmod(path, everybody ? 0666 : 0600) == 0 &&
	    listen(fd, GUARD_CLIENTS) == 0)
		return fd;
	close(fd);
	return -EIO;
}

int guard_serve_start(struct guard *guard, const char *path,
		      struct guard_server **out)
{
	struct guard_server *s = calloc(1, sizeof(*s));
	sigset_t all, old;
	size_t i;
	int ret;

	if (!s)
		return -ENOMEM;
	s->guard = guard;
	for (i = 0; i < GUARD_CLIENTS; i++)
		s->client[i].fd = -1;
	s->listen = listen_at(path, guard->args->sched.n_uids);
	ret = s->listen < 0 ? s->listen : 0;
	s->quit = eventfd(0, EFD_CLOEXEC);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!ret)
		ret = -pthread_create(&s->thread, NULL, server_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret) {
		*out = s;
		return 0;
	}
	if (s->listen >= 0)
		close(s->listen);
	close(s->quit);
	free(s);
	return ret;
}

void guard_serve_stop(struct guard_server *s, const char *path)
{
	uint64_t one = 1;
	ssize_t n;
	size_t i;

	if (!s)
		return;
	n = write(s->quit, &one, sizeof(one));
	(void)n;
	pthread_join(s->thread, NULL);
	unlink(path);
	for (i = 0; i < GUARD_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			drop_client(s, &s->client[i]);
	close(s->listen);
	close(s->quit);
	free(s);
}
