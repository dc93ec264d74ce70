// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guard's socket, over a policy without any process; the library's side of it; and other
 * users at the socket, which only root can become.
 */
#include <gpreempt/online.h>
#include <grp.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "ctl/top.h"
#include "guard/guard.h"
#include "lib/preempt/policy.h"
#include "lib/preempt/wire.h"
#include "shared/socket.h"
#include "unit-ctl.h"
#include "unit-host.h"

#define ALLOWED 4711 /* the user of --allow-uid */

static uid_t uids[] = { ALLOWED };

static struct guard online_guard;
static struct guard_options args;
static struct guard_server *server;

static void online_setup(void)
{
	struct gpreempt_policy_options options = {
		.size = sizeof(options),
		.period_ns = NSEC_PER_SEC,
		.window_ns = NSEC_PER_SEC,
	};
	struct gpreempt_policy_tenant servers = {
		.size = sizeof(servers),
		.role = GPREEMPT_ROLE_ONLINE,
	};

	online_guard.options = &args;
	pthread_mutex_init(&online_guard.lock, NULL);
	ck_assert_int_eq(gpreempt_policy_new(&options, 0, &online_guard.policy), 0);
	ck_assert_int_eq(gpreempt_policy_set(online_guard.policy, GUARD_SERVERS, &servers), 0);
	ck_assert_int_eq(guard_serve_start(&online_guard, &server), 0);
}

static void online_teardown(void)
{
	guard_serve_stop(server);
	ck_assert_int_eq(access(GUARD_SOCKET, F_OK), -1);
	gpreempt_policy_free(online_guard.policy);
}

/* Requests that are open at the policy, of all clients. */
static unsigned int open_now(void)
{
	unsigned int n = 0, i;

	pthread_mutex_lock(&online_guard.lock);
	for (i = 0; i < online_guard.policy->top; i++)
		n += online_guard.policy->entity[i].requests;
	pthread_mutex_unlock(&online_guard.lock);
	return n;
}

/* Wait until there are so many. */
static void expect_open(unsigned int n)
{
	/* The guard learns a little later that a client has gone. */
	UNIT_WAIT(open_now() == n);
}

/* The guard again, with --allow-uid for that many users. */
static void restart(size_t n_uids)
{
	guard_serve_stop(server);
	args.uids = (struct shr_ids){ uids, n_uids };
	ck_assert_int_eq(guard_serve_start(&online_guard, &server), 0);
}

/* Open a connection that has more time than the default: the host may be busy. 0: for us. */
static struct gpreempt_online *open_online(pid_t pid)
{
	struct gpreempt_online_options options = {
		.size = sizeof(options),
		.timeout_ns = UNIT_LIMIT_NS,
		.pid = pid,
	};
	struct gpreempt_online *online = NULL;

	ck_assert_int_eq(gpreempt_online_open(&options, &online), 0);
	return online;
}

TEST(nested)
{
	struct gpreempt_online *a = open_online(0), *b = open_online(0);

	ck_assert_int_eq(gpreempt_online_end(a), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(a), 1);
	ck_assert_int_eq(gpreempt_online_begin(a), 2);
	ck_assert_int_eq(gpreempt_online_begin(b), 1);
	ck_assert_uint_eq(open_now(), 3);
	ck_assert_uint_eq(online_guard.n_clients, 2);
	ck_assert_int_eq(gpreempt_online_end(a), 1);
	ck_assert_int_eq(gpreempt_online_end(a), 0);
	ck_assert_int_eq(gpreempt_online_end(a), -EINVAL);
	ck_assert_uint_eq(open_now(), 1);
	gpreempt_online_close(b);
	expect_open(0);
	gpreempt_online_close(a);
	gpreempt_online_close(NULL);
}

/* A client that dies with requests open is counted out. */
TEST(death)
{
	struct gpreempt_online *online;
	pid_t child = fork();

	if (!child) {
		online = open_online(0);
		if (gpreempt_online_begin(online) != 1 || gpreempt_online_begin(online) != 2)
			_exit(1);
		pause();
	}
	expect_open(2);
	unit_end(child);
	expect_open(0);
}

static int ask(enum guard_verb verb, pid_t pid)
{
	struct guard_request request = { .verb = verb, .pid = pid };
	struct guard_reply reply;
	int fd = gp_ipc_connect(GUARD_SOCKET, unit_soon());

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(gp_guard_ask(fd, &request, &reply, unit_soon()), 0);
	close(fd);
	return reply.code ? reply.code : (int)reply.value;
}

/* Requests for another process outlive the process that asked, and end with that other process. */
TEST(for_another)
{
	pid_t child = unit_make_sleeper();

	ck_assert_int_eq(ask(GUARD_END, child), -EINVAL);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), 1);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), 2);
	ck_assert_int_eq(ask(GUARD_END, child), 1);
	expect_open(1);
	unit_end(child);
	expect_open(0);
	ck_assert_int_eq(ask(GUARD_BEGIN, child), -EACCES);
	ck_assert_int_eq(ask(GUARD_RELEASE, getpid()), -ESRCH);
}

/* A client works on the GPUs where the guard knows it, or on all. */
TEST(nodes)
{
	struct gpreempt_online *online = open_online(0);

	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	ck_assert_uint_eq(online_guard.policy->entity[0].nodes, ~0ULL);
	pthread_mutex_lock(&online_guard.lock);
	online_guard.online[0].target.pid = getpid();
	online_guard.online[0].nodes = 6;
	online_guard.n_online = 1;
	pthread_mutex_unlock(&online_guard.lock);
	ck_assert_int_eq(gpreempt_online_begin(online), 2);
	ck_assert_uint_eq(online_guard.policy->entity[0].nodes, 6);
	gpreempt_online_close(online);
}

TEST(release)
{
	int idle = unit_count_descriptors();

	online_guard.offline[0].target.pid = 4711;
	online_guard.n_offline = 1;
	ck_assert_int_eq(ask(GUARD_RELEASE, 4711), 0);
	ck_assert_int_eq(ask(GUARD_RELEASE, 4712), -ESRCH);
	pthread_mutex_lock(&online_guard.lock);
	ck_assert(online_guard.offline[0].unwanted);
	online_guard.offline[0].unwanted = false;
	online_guard.offline[0].target.pid = PID;
	pthread_mutex_unlock(&online_guard.lock);
	/* The guard learns a little later that a client has gone. */
	UNIT_WAIT(unit_count_descriptors() == idle);
	unit_setup();
	idle = unit_count_descriptors();
	CTL(0, "guard release %d --for 10m", PID);
	ck_assert_str_eq(ctl_out, unit_text("released %d\n", PID));
	ck_assert(online_guard.offline[0].unwanted);
	ck_assert_uint_eq(online_guard.offline[0].away_ns, 600 * NSEC_PER_SEC);
	online_guard.n_offline = 0;
	CTL(GPREEMPT_CLASS_NO_TARGET, "guard release %d", PID);
	ERR_LINE("process %d is not guarded\nnext: gpreempt-ctl status", PID);
	UNIT_WAIT(unit_count_descriptors() == idle);
	unit_teardown();
}

/* A restarted guard gets the open requests at the next call. */
TEST(guard_restarts)
{
	struct gpreempt_online *online = open_online(0);

	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	ck_assert_int_eq(gpreempt_online_begin(online), 2);
	guard_serve_stop(server);
	server = NULL;
	expect_open(0);
	/* None runs: it is not open, and no end of it is wanted. */
	ck_assert_int_eq(gpreempt_online_begin(online), -ENOENT);
	restart(0);
	ck_assert_int_eq(gpreempt_online_begin(online), 3);
	ck_assert_uint_eq(open_now(), 3);
	restart(0);
	ck_assert_int_eq(gpreempt_online_end(online), 2);
	ck_assert_uint_eq(open_now(), 2);
	ck_assert_int_eq(gpreempt_online_end(online), 1);
	restart(0);
	/* The last one: nothing is opened, no request is sent. */
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	gpreempt_online_close(online);
	expect_open(0);
}

/* A guard that does not run for a while: calls end in time, nothing is lost. */
TEST(guard_is_stopped)
{
	struct gpreempt_online *online = open_online(0);

	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	/* The guard's thread waits for this lock before it can answer. */
	pthread_mutex_lock(&online_guard.lock);
	unit_make_up_time();
	ck_assert_int_eq(gpreempt_online_begin(online), -ETIMEDOUT);
	unit_run_time();
	pthread_mutex_unlock(&online_guard.lock);
	/* The guard counts out the requests of the old connections. */
	expect_open(0);
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	gpreempt_online_close(online);
}

TEST(options)
{
	struct {
		struct gpreempt_online_options known;
		uint64_t newer;
	} o = { .known.size = sizeof(o) };
	struct gpreempt_online *online = (void *)&o;

	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), 0);
	gpreempt_online_close(online);
	o.newer = 1;
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -E2BIG);
	o.known.size = sizeof(o.known) - 1;
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -EINVAL);
	o.known = (struct gpreempt_online_options){
		.size = sizeof(o.known),
		.pid = -1,
	};
	ck_assert_int_eq(gpreempt_online_open(&o.known, &online), -EINVAL);
}

/* Requests for another process, such as the shell of a command. */
TEST(library_for_another)
{
	struct gpreempt_online *online = open_online(getppid());

	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	gpreempt_online_close(online);
	online = open_online(getppid());
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	gpreempt_online_close(online);
}

static int get(struct guard_request request)
{
	char buf[IPC_MAX_PACKET];
	size_t len = gp_guard_put_request(&request, buf);

	return gp_guard_get_request(buf, len, &request);
}

/* Nonsense ends the connection, and nothing else. */
TEST(nonsense)
{
	struct guard_request request = { .pid = INT32_MAX };
	struct guard_reply reply = { .code = 1 };
	char buf[2 * IPC_MAX_PACKET] = "";
	size_t len;
	int fd;

	ck_assert_int_eq(get(request), 0);
	request.pid = -1;
	ck_assert_int_eq(get(request), -EPROTO);
	request = (struct guard_request){ .verb = GUARD_VERBS };
	ck_assert_int_eq(get(request), -EPROTO);
	request.verb = (enum guard_verb)UINT32_MAX;
	ck_assert_int_eq(get(request), -EPROTO);
	request.verb = GUARD_BEGIN;
	len = gp_guard_put_request(&request, buf);
	ck_assert_int_eq(gp_guard_get_request(buf, len, &request), 0);
	ck_assert_int_eq(gp_guard_get_request(buf, len - 1, &request), -EPROTO);
	ck_assert_int_eq(gp_guard_get_reply(buf, len, &reply), -EPROTO);
	len = gp_guard_put_reply(&reply, buf);
	ck_assert_int_eq(gp_guard_get_request(buf, len, &request), -EPROTO);
	ck_assert_int_eq(gp_guard_get_reply(buf, len, &reply), -EPROTO);
	fd = gp_ipc_connect(GUARD_SOCKET, unit_soon());
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(send(fd, "hello", 5, MSG_NOSIGNAL), 5);
	ck_assert_int_eq(gp_ipc_recv(fd, buf, sizeof(buf), unit_soon()), -EPROTO);
	ck_assert_int_eq(recv(fd, buf, sizeof(buf), 0), 0);
	close(fd);
	expect_open(0);
	ck_assert_int_eq(ask(GUARD_BEGIN, 0), 1);
	expect_open(0);
}

static size_t answer_newer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	(void)data;
	(void)client;
	(void)buf;
	(void)len;
	return IPC_UNKNOWN;
}

/* A guard that an upgrade left running. */
TEST(guard_of_another_version)
{
	struct ipc_server_options options = {
		.path = GUARD_SOCKET,
		.limits = { .places = 4 },
		.answer = answer_newer,
	};
	struct gpreempt_online *online;
	struct ipc_server *other;
	pid_t child;

	guard_serve_stop(server);
	server = NULL;
	ck_assert_int_eq(gp_ipc_server_start(&options, &other), 0);
	child = fork();
	while (!child) {
		gp_ipc_server_dispatch(other);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	online = open_online(0);
	ck_assert_int_eq(gpreempt_online_begin(online), -EPROTO);
	ck_assert_int_eq(gpreempt_online_begin(online), -EPROTO);
	ck_assert_int_eq(gpreempt_online_end(online), -EINVAL);
	gpreempt_online_close(online);
	CTL(GPREEMPT_CLASS_BUSY, "guard begin");
	ERR_HAS("gpreempt-ctl: the guard is of another version of gpreempt\n"
		"next: use the gpreempt-ctl of that version, or start the guard "
		"again with this one\n");
	unit_end(child);
	gp_ipc_server_stop(other);
}

static size_t answer_config(void *data, struct ipc_client *client, char *buf, size_t len)
{
	struct guard_reply reply = { .text = "policy fair slots=1\n" };

	(void)data;
	(void)client;
	(void)len;
	return gp_guard_put_reply(&reply, buf);
}

/* top waits for no guard: there is none, it does not answer, or it answers something else. */
TEST(top_without_tenants)
{
	struct ipc_server_options options = {
		.path = GUARD_SOCKET,
		.limits = { .places = 4 },
		.answer = answer_config,
	};
	struct top_model m = { 0 };
	struct ipc_server *other;
	pid_t child;

	guard_serve_stop(server);
	server = NULL;
	ck_assert_int_eq(top_gather_tenants(&m), -ENOENT);
	ck_assert_int_eq(gp_ipc_server_start(&options, &other), 0);
	unit_set_limit(UNIT_TOP, NSEC_PER_MSEC);
	ck_assert_int_eq(top_gather_tenants(&m), -ETIMEDOUT);
	unit_reset_limits();
	child = fork();
	while (!child) {
		gp_ipc_server_dispatch(other);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	ck_assert_int_eq(top_gather_tenants(&m), -EPROTO);
	unit_end(child);
	gp_ipc_server_stop(other);
}

/* A tenant of that number with a process, which is its first one. */
static unsigned int add_tenant(const char *word, enum gpreempt_role role, pid_t pid)
{
	struct gpreempt_policy_tenant wish = { .size = sizeof(wish), .role = role };
	bool online = role == GPREEMPT_ROLE_ONLINE;
	unsigned int n = online_guard.config.n[online]++, number = 1 + 2 * n + online;
	int entity;

	online_guard.config.tenant[online][n] =
		(struct guard_tenant){ .word = (char *)word, .number = number, .wish = wish };
	ck_assert_int_eq(gpreempt_policy_set(online_guard.policy, number, &wish), 0);
	entity = pid ? gpreempt_policy_add(online_guard.policy, number, 1) : 0;
	ck_assert_int_ge(entity, 0);
	if (pid && online)
		online_guard.online[online_guard.n_online++] =
			(struct guard_online){ .target.pid = pid, .entity = entity };
	else if (pid)
		online_guard.offline[online_guard.n_offline++] =
			(struct guard_offline){ .target.pid = pid, .entity = entity };
	return entity;
}

/* The order to make way is given with the answer, however long the poller sleeps. */
TEST(begins_at_once)
{
	struct guard_worker worker = { .job.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	struct gpreempt_online *online;
	struct guard_order order;
	eventfd_t count;

	worker.channel = guard_channel_map(sizeof(*worker.channel));
	ck_assert_ptr_nonnull(worker.channel);
	add_tenant("comm:train", GPREEMPT_ROLE_OFFLINE, 30);
	online_guard.offline[0].worker = &worker;
	online_guard.turn.wake = GPREEMPT_POLICY_NEVER;
	online = open_online(0);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	ck_assert_int_eq(eventfd_read(worker.job.wake, &count), 0);
	ck_assert(guard_channel_get_order(worker.channel, &order));
	ck_assert_uint_eq(order.nodes, 1);
	ck_assert_int_eq(order.reason, GPREEMPT_POLICY_ARRIVAL);
	ck_assert_uint_gt(order.arrival_ns, 0);
	gpreempt_online_close(online);
	expect_open(0);
	close(worker.job.wake);
	munmap(worker.channel, sizeof(*worker.channel));
}

/* top gets the tenants of a running guard, and the processes that they have now. */
TEST_AS_ROOT(top_tenants)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	struct top_model m = { 0 };
	unsigned int serve;
	uint64_t wake;
	int i;

	add_tenant("role:offline", GPREEMPT_ROLE_OFFLINE, 30);
	add_tenant("comm:none", GPREEMPT_ROLE_OFFLINE, 0);
	add_tenant("cmd:a b", GPREEMPT_ROLE_OFFLINE, 10);
	serve = add_tenant("comm:serve", GPREEMPT_ROLE_ONLINE, 20);
	gpreempt_policy_request(online_guard.policy, serve, 1, 0);
	gpreempt_policy_request(online_guard.policy, serve, 1, 0);
	gpreempt_policy_step(online_guard.policy, 0, actions, &wake);
	gpreempt_policy_request(online_guard.policy, serve, -1, 0);
	gpreempt_policy_request(online_guard.policy, serve, -1, 0);
	gpreempt_policy_busy(online_guard.policy, serve, 1, NSEC_PER_SEC);
	gpreempt_policy_busy(online_guard.policy, serve, 0, 3500 * NSEC_PER_MSEC);
	gpreempt_policy_step(online_guard.policy, 4 * NSEC_PER_SEC, actions, &wake);
	for (i = 1; i < 5; i++)
		((struct top_process *)shr_must(shr_add(&m.processes)))->pid = 10 * i;
	strcpy(m.processes.items[3].tenant, "one that it had");
	ck_assert_int_eq(top_gather_tenants(&m), 0);
	HAS(m.processes.items[0].tenant, "s on GPUs, 1 suspend: cmd:a b");
	ck_assert_str_eq(m.processes.items[1].tenant,
			 "online, 2.5 s on GPUs, 2 requests: comm:serve");
	HAS(m.processes.items[2].tenant, "offline, ");
	HAS(m.processes.items[2].tenant, "s on GPUs, 1 suspend: role:offline");
	ck_assert_str_eq(m.processes.items[3].tenant, "");
	top_model_clear(&m);
}

#define STRANGER 65534

/* Ask as that user. Returns the reply's code or the socket's error, made positive. */
static int ask_as(uid_t uid, enum guard_verb verb, pid_t pid)
{
	pid_t child = fork();

	if (!child) {
		struct guard_request request = { .verb = verb, .pid = pid };
		struct guard_reply reply = { 0 };
		int fd, ret;

		if (setgroups(0, NULL) || setegid(uid) || seteuid(uid))
			_exit(255);
		fd = gp_ipc_connect(GUARD_SOCKET, unit_soon());
		if (fd < 0)
			_exit(-fd);
		ret = gp_guard_ask(fd, &request, &reply, unit_soon());
		_exit(ret ? 100 - ret : -reply.code);
	}
	return unit_status(child);
}

/* An allowed user may begin, for its own processes, and may not release. */
TEST_AS_ROOT(allowed_user)
{
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child) {
		/* Become a program that this user has started. */
		if (setresuid(ALLOWED, ALLOWED, ALLOWED) || prctl(PR_SET_DUMPABLE, 1) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &(char){ 0 }, 1), 1);
	close(ready[0]);
	close(ready[1]);
	restart(1);
	online_guard.offline[0].target.pid = 4711;
	online_guard.n_offline = 1;
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_RELEASE, 4711), EACCES);
	ck_assert(!online_guard.offline[0].unwanted);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, getpid()), EACCES);
	ck_assert_int_eq(ask_as(ALLOWED, GUARD_BEGIN, child), 0);
	expect_open(1);
	ck_assert_int_eq(ask_as(0, GUARD_RELEASE, 4711), 0);
	ck_assert(online_guard.offline[0].unwanted);
	unit_end(child);
}

TEST_FIXTURE(online_setup, online_teardown)
