// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guard's socket, with a thread of its own: a server that begins its work
 * does not wait for our lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "guard.h"
#include "shared/socket.h"
#include "cli/message.h"
#include "lib/preempt/wire.h"
#include "shared/util.h"

/* Requests in one packet, at most. */
#define MAX_COUNT 65536

/* A process for which others opened requests, by place. */
struct process {
	int pidfd;
	pid_t pid;
	int entity; /* -1: no request was opened yet */
};

struct guard_server {
	struct guard *guard;
	pthread_t thread;
	struct ipc_server *ipc;
	int epoll;
	int quit;
	struct process process[GUARD_CLIENTS];
	struct ipc_place place[GUARD_CLIENTS];
};

/* Limits of connections, and of processes. */
static const struct ipc_limits limits = {
	.places = GUARD_CLIENTS,
	.for_root = GUARD_CLIENTS_ROOT,
	.per_user = GUARD_CLIENTS_USER,
};

/* Events of the thread beside those of processes, which are numbered by their place. */
enum { EVENT_QUIT = GUARD_CLIENTS, EVENT_SOCKET };

/* Remove the entity, and with it its requests. */
static void remove_entity(struct guard *guard, int entity)
{
	if (entity < 0)
		return;
	pthread_mutex_lock(&guard->lock);
	gpreempt_policy_remove(guard->policy, entity);
	guard->n_clients--;
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
}

/* Returns the nodes on which a client works, or all if they are not known. Under the lock. */
static uint64_t nodes_of_client(const struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_online; i++)
		if (guard->online[i].target.pid == pid && guard->online[i].nodes)
			return guard->online[i].nodes;
	return ~0ULL;
}

/* Begin requests. Under the lock. */
static int begin(struct guard *guard, int *entity, pid_t pid, uint64_t count)
{
	uint64_t nodes = nodes_of_client(guard, pid);
	int ret;

	if (*entity < 0) {
		ret = gpreempt_policy_add(guard->policy, GUARD_SERVERS, nodes);
		if (ret < 0)
			return ret;
		*entity = ret;
		guard->n_clients++;
	}
	gp_policy_nodes(guard->policy, *entity, nodes);
	do {
		ret = gpreempt_policy_request(guard->policy, *entity, 1, shr_now_ns());
	} while (ret >= 0 && --count);
	return ret;
}

/* Change the open requests of a process. Returns their number, or -errno. */
static int begin_or_end(struct guard *guard, int *entity, pid_t pid,
			const struct guard_request *request)
{
	bool begins = request->verb == GUARD_BEGIN;
	uint64_t now = shr_now_ns();
	int ret;

	if (begins ? request->count > MAX_COUNT : *entity < 0)
		return -EINVAL;
	pthread_mutex_lock(&guard->lock);
	if (begins)
		ret = begin(guard, entity, pid, request->count ? request->count : 1);
	else
		ret = gpreempt_policy_request(guard->policy, *entity, -1, shr_now_ns());
	guard->changed = true;
	/* At once: the poller may sleep for long before the first request. */
	if (begins)
		guard->turn.arrival_ns = now;
	guard_decide(guard, now);
	pthread_mutex_unlock(&guard->lock);
	return ret;
}

static void drop_process(struct guard_server *s, size_t place)
{
	int pidfd = s->process[place].pidfd;

	remove_entity(s->guard, s->process[place].entity);
	/* A worker that is just being forked may have a copy. */
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, pidfd, NULL);
	close(pidfd);
	s->place[place].used = false;
}

/* A pidfd of a process that the client may speak for, or -errno. */
static int open_process(const struct ipc_client *c, pid_t pid)
{
	int fd = shr_pidfd_open(pid);
	char path[32];
	struct stat st;

	if (fd < 0)
		return -EACCES;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	/*
	 * A user may speak for its own processes, and root for all. The check of life comes last:
	 * so the number is that of the process all the time.
	 */
	if (!stat(path, &st) && (c->uid == 0 || st.st_uid == c->uid) && !shr_readable(fd, 0))
		return fd;
	close(fd);
	return -EACCES;
}

static int find_process(struct guard_server *s, pid_t pid)
{
	int i;

	for (i = 0; i < GUARD_CLIENTS; i++) {
		if (!s->place[i].used || s->process[i].pid != pid)
			continue;
		if (!shr_readable(s->process[i].pidfd, 0))
			return i;
		drop_process(s, i);
	}
	return -EINVAL;
}

/* Add a process. Returns its place, or -errno. The descriptor belongs to the place. */
static int add_process(struct guard_server *s, const struct ipc_client *c, pid_t pid, int pidfd)
{
	int place = gp_ipc_place_find(s->place, &limits, c->uid);
	int ret = place;

	if (place >= 0 && s->place[place].used)
		drop_process(s, place);
	if (place >= 0)
		ret = shr_epoll_add(s->epoll, pidfd, place);
	if (ret < 0) {
		close(pidfd);
		return ret;
	}
	s->process[place] = (struct process){ .pidfd = pidfd, .pid = pid, .entity = -1 };
	s->place[place] = (struct ipc_place){ .used = true, .uid = c->uid };
	return place;
}

static int answer_for(struct guard_server *s, const struct ipc_client *c,
		      const struct guard_request *request)
{
	int place, ret, pidfd = open_process(c, request->pid);

	if (pidfd < 0)
		return pidfd;
	place = find_process(s, request->pid);
	if (place < 0 && request->verb == GUARD_BEGIN)
		place = add_process(s, c, request->pid, pidfd);
	else
		close(pidfd);
	if (place < 0)
		return place;
	ret = begin_or_end(s->guard, &s->process[place].entity, request->pid, request);
	if (ret >= 0)
		s->place[place].busy = ret > 0;
	s->place[place].last_ns = shr_now_ns();
	return ret;
}

static int answer_self(struct guard_server *s, struct ipc_client *c,
		       const struct guard_request *request)
{
	int ret = begin_or_end(s->guard, &c->number, c->pid, request);

	if (ret >= 0)
		c->busy = ret > 0;
	return ret;
}

/* Leave the release to the main thread: it may wait for the hardware. */
static int release(struct guard *guard, const struct ipc_client *c,
		   const struct guard_request *request)
{
	struct guard_offline *offline;

	if (c->uid != 0)
		return -EACCES;
	pthread_mutex_lock(&guard->lock);
	offline = guard_find_offline(guard, request->pid);
	if (offline) {
		offline->unwanted = true;
		offline->away_ns = request->ns;
	}
	pthread_mutex_unlock(&guard->lock);
	return offline ? 0 : -ESRCH;
}

/* Print a line of the configuration. 1: there are more; 0: it is the last one; or -errno. */
static int get_line(struct guard *guard, size_t number, char *out)
{
	char *text = NULL, *line;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	int ret = -EINVAL;

	if (!f)
		return -ENOMEM;
	pthread_mutex_lock(&guard->lock);
	guard_config_print(&guard->config, f);
	pthread_mutex_unlock(&guard->lock);
	if (fclose(f))
		return -ENOMEM;
	line = text;
	for (i = 0; line && i < number; i++)
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	if (line && *line) {
		size = strcspn(line, "\n") + 1;
		snprintf(out, GUARD_LINE, "%.*s", (int)size, line);
		ret = line[size] != '\0';
	}
	free(text);
	return ret;
}

/* Returns the process of that number if it is the tenant's, or 0; -1: it is behind the last one. */
static pid_t member(const struct guard *guard, bool online, size_t i, unsigned int tenant)
{
	unsigned int entity;

	if (i >= (online ? guard->n_online : guard->n_offline))
		return -1;
	entity = online ? guard->online[i].entity : guard->offline[i].entity;
	if (guard->policy->entity[entity].tenant != tenant)
		return 0;
	return online ? guard->online[i].target.pid : guard->offline[i].target.pid;
}

/* A role has GUARD_TARGETS processes at most: there is room for all. Under the lock. */
static void print_tenant(const struct guard *guard, const struct guard_tenant *t, char *out)
{
	const struct gp_policy_tenant *counted = &guard->policy->tenant[t->number];
	bool online = t->wish.role == GPREEMPT_ROLE_ONLINE;
	size_t used, i;
	pid_t pid;

	used = sprintf(out, "%s %llu %llu 0", online ? "online" : "offline",
		       (unsigned long long)(gp_policy_time(guard->policy, t->number) / 1000),
		       (unsigned long long)(online ? counted->requests : counted->suspends));
	for (i = 0; (pid = member(guard, online, i, t->number)) >= 0; i++)
		if (pid)
			used += sprintf(out + used, ",%d", pid);
	snprintf(out + used, GUARD_LINE - used, " %s", t->word);
}

/* Print a tenant; online ones come first. Returns as get_line(). */
static int get_tenant(struct guard *guard, size_t number, char *out)
{
	const struct guard_config *c = &guard->config;
	size_t at = number, online = 1;
	int ret = -EINVAL;

	pthread_mutex_lock(&guard->lock);
	if (at >= c->n[online])
		at -= c->n[online--];
	if (at < c->n[online]) {
		print_tenant(guard, &c->tenant[online][at], out);
		ret = number + 1 < c->n[1] + c->n[0];
	}
	pthread_mutex_unlock(&guard->lock);
	return ret;
}

/* Root alone sees or changes the configuration. */
static int configure(struct guard *guard, const struct ipc_client *c, struct guard_request *request,
		     char *text)
{
	struct guard_config_error err;
	int ret;

	if (c->uid != 0)
		return -EACCES;
	if (request->verb == GUARD_GET && !strcmp(request->line, GUARD_TENANTS))
		return get_tenant(guard, request->count, text);
	if (request->verb == GUARD_GET)
		return get_line(guard, request->count, text);
	pthread_mutex_lock(&guard->lock);
	ret = guard_config_set(guard->policy, &guard->config, request->line, &err);
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	if (ret)
		snprintf(text, GUARD_LINE, "%s", err.text);
	return ret;
}

static size_t answer(void *data, struct ipc_client *c, char *buf, size_t len)
{
	struct guard_server *s = data;
	struct guard_request request;
	struct guard_reply reply = { 0 };
	int ret;

	if (gp_guard_get_request(buf, len, &request))
		return IPC_UNKNOWN;
	if (request.verb == GUARD_RELEASE)
		ret = release(s->guard, c, &request);
	else if (request.verb == GUARD_GET || request.verb == GUARD_SET)
		ret = configure(s->guard, c, &request, reply.text);
	else if (request.pid)
		ret = answer_for(s, c, &request);
	else
		ret = answer_self(s, c, &request);
	reply.code = ret < 0 ? ret : 0;
	reply.value = ret > 0 ? ret : 0;
	return gp_guard_put_reply(&reply, buf);
}

static void gone(void *data, struct ipc_client *c)
{
	struct guard_server *s = data;

	remove_entity(s->guard, c->number);
}

/* Handle an event. False: the end. */
static bool handle(struct guard_server *s, uint64_t number)
{
	if (number == EVENT_QUIT)
		return false;
	if (number == EVENT_SOCKET)
		gp_ipc_server_dispatch(s->ipc);
	/* A pidfd is readable when its process has ended. */
	else if (s->place[number].used && shr_readable(s->process[number].pidfd, 0))
		drop_process(s, number);
	return true;
}

static void *server_thread(void *arg)
{
	struct guard_server *s = arg;
	struct epoll_event events[16];
	int i, n;

	/* A request waits for the answer, and the main thread is often at work. */
	shr_ask_short_slices();
	for (;;) {
		n = epoll_wait(s->epoll, events, ARRAY_SIZE(events), -1);
		for (i = 0; i < n; i++)
			if (!handle(s, events[i].data.u64))
				return NULL;
	}
}

/* Open the descriptors, but for the socket that others can see. */
static int open_server(struct guard_server *s)
{
	s->quit = eventfd(0, EFD_CLOEXEC);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->quit < 0 || s->epoll < 0)
		return -errno;
	return shr_epoll_add(s->epoll, s->quit, EVENT_QUIT);
}

static void free_server(struct guard_server *s)
{
	size_t i;

	gp_ipc_server_stop(s->ipc);
	for (i = 0; i < GUARD_CLIENTS; i++)
		if (s->place[i].used)
			drop_process(s, i);
	shr_cleanup_fd(&s->quit);
	shr_cleanup_fd(&s->epoll);
	free(s);
}

int guard_serve_start(struct guard *guard, struct guard_server **out)
{
	struct guard_server *s = calloc(1, sizeof(*s));
	struct ipc_server_options options = {
		.path = GUARD_SOCKET,
		.uids = guard->options->uids.id,
		.n_uids = guard->options->uids.n,
		.limits = limits,
		.answer = answer,
		.gone = gone,
		.data = s,
	};
	int ret;

	if (!s)
		return -ENOMEM;
	s->guard = guard;
	ret = open_server(s);
	if (!ret)
		ret = gp_ipc_server_start(&options, &s->ipc);
	if (!ret)
		ret = shr_epoll_add(s->epoll, gp_ipc_server_fd(s->ipc), EVENT_SOCKET);
	if (!ret)
		ret = shr_thread_start(&s->thread, 0, true, server_thread, s);
	if (ret) {
		free_server(s);
		return ret;
	}
	if (!gp_ipc_server_private(s->ipc))
		ctl_note("%s: no access control lists there; all users can "
			 "connect, and those who are not allowed cost time",
			 GUARD_SOCKET);
	*out = s;
	return 0;
}

void guard_serve_stop(struct guard_server *s)
{
	if (!s)
		return;
	eventfd_write(s->quit, 1);
	pthread_join(s->thread, NULL);
	free_server(s);
}
