// SPDX-License-Identifier: LGPL-2.1-or-later
/* A hold through a holder: requests to it, and the connection that ends it. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <gpreempt/hold.h>

#include "shared/socket.h"
#include "lib/core/internal.h"
#include "pause.h"
#include "wire.h"
#include "shared/util.h"

#define END_MS 2000 /* until a holder that has answered has ended */

struct gpreempt_hold {
	pid_t pid;
	uint64_t start;	 /* start time of the process, in clock ticks */
	uint64_t worker; /* our holder, and no later one */
	uint64_t timeout_ns;
	int fd; /* the holder ends when it is closed; or -1 */
	bool partial;
};

/* Convert a lease to the holder's form, in which 0 is for ever. */
static uint64_t lease_of(uint64_t lease_ns)
{
	if (lease_ns == GPREEMPT_HOLD_NO_LEASE)
		return 0;
	return lease_ns ? lease_ns : GPREEMPT_HOLD_LEASE_NS;
}

static void fill_status(const struct gpreempt_hold *hold, const struct hold_reply *reply,
			struct gpreempt_hold_status *out)
{
	*out = (struct gpreempt_hold_status){
		.holder = reply->worker,
		.guardian = reply->guardian,
		.queues = reply->queues,
		.ioctl_ns = reply->ioctl_ns,
		.held_ns = reply->held_ns,
		.lease_ns = reply->lease_ns ? reply->lease_ns : GPREEMPT_HOLD_NO_LEASE,
		.verdict = (enum gpreempt_verdict)reply->verdict,
		.verified_by = (enum gpreempt_verified_by)reply->verified_by,
		.partial = hold->partial,
		.paused = reply->paused,
	};
}

/* The holder's error, of which a packet has only the numbers. */
static int fail_reply(const struct gpreempt_hold *hold, const struct hold_reply *reply,
		      struct gpreempt_error *err)
{
	bool known = reply->reason && reply->reason < GPREEMPT_REASON_COUNT;
	int code = reply->code < 0 ? reply->code : -EIO;

	gp_error(err, code, known ? (enum gpreempt_reason)reply->reason : GPREEMPT_SYSTEM,
		 hold->pid, "suspending in the holder");
	if (err) {
		err->other = reply->other;
		err->major = reply->major;
		err->minor = reply->minor;
		strcpy(err->name, "-");
	}
	return code;
}

/*
 * A program with threads must not run its own code between fork() and exec(), so a holder
 * is started by posix_spawn(); and a program that root trusts must not take from its
 * environment what to run: GP_HOLDER is fixed when the library is built.
 */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t target, int fd, pid_t *child)
{
	static char name[] = "gpreempt-holder";
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char number[16];
	char *const argv[] = { name, number, NULL };
	char *const environment[] = { path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ret;

	snprintf(number, sizeof(number), "%d", target);
	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	ret = posix_spawn_file_actions_adddup2(&actions, fd, HOLD_START_FD);
	if (!ret)
		ret = set_attributes(&attributes);
	if (!ret)
		ret = posix_spawn(child, GP_HOLDER, &actions, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

/*
 * Start a holder. A connection to it, or -errno; *child is to be waited for when it has
 * answered: it has forked by then, or failed.
 */
static int start_holder(pid_t target, pid_t *child)
{
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ret = spawn(target, pair[1], child);
	close(pair[1]);
	if (!ret)
		return pair[0];
	close(pair[0]);
	return ret;
}

/* The reply to the first request. What was started is waited for. */
static int ask_new(struct gpreempt_hold *hold, const struct hold_request *request,
		   struct hold_reply *reply)
{
	uint64_t deadline = shr_now_ns() + hold->timeout_ns;
	char buf[IPC_MAX_PACKET];
	pid_t child;
	ssize_t n;

	hold->fd = start_holder(hold->pid, &child);
	if (hold->fd < 0)
		return hold->fd;
	n = gp_ipc_ask(hold->fd, buf, gp_hold_put_request(request, buf), sizeof(buf), deadline);
	/* A holder that hangs ends when we close the socket. We do not wait for its end. */
	if (n == -ETIMEDOUT)
		shr_close(&hold->fd);
	/* A program that ignores SIGCHLD, or waits for all, has done this. */
	while (waitpid(child, NULL, n == -ETIMEDOUT ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	return n < 0 ? (int)n : gp_hold_get_reply(buf, n, reply);
}

static int start(struct gpreempt_hold *hold, const struct hold_request *request,
		 struct gpreempt_hold_status *status, struct gpreempt_error *err)
{
	struct hold_reply reply = { 0 };
	int ret = ask_new(hold, request, &reply);

	/* The holder waits in the driver, and ends when the driver returns. */
	if (ret == -ETIMEDOUT)
		return gp_error(err, ret, GPREEMPT_STUCK, hold->pid, HOLD_STUCK);
	if (ret)
		return gp_error(err, ret, ret == -EPROTO ? GPREEMPT_OTHER_VERSION : GPREEMPT_SYSTEM,
				hold->pid, "starting the holder");
	if (reply.status != GPREEMPT_CLASS_DONE && reply.status != GPREEMPT_CLASS_PARTIAL)
		return fail_reply(hold, &reply, err);
	hold->worker = reply.worker;
	hold->partial = reply.status == GPREEMPT_CLASS_PARTIAL;
	if (status)
		fill_status(hold, &reply, status);
	return 0;
}

/*
 * Is the process fit? One that is traced may have a holder, which the new one
 * finds out: it has the lock. With GPREEMPT_HOW_AUTO the holder chooses.
 */
static int check(struct gpreempt *g, pid_t pid, uint64_t how, struct gpreempt_error *err)
{
	struct gpreempt_error why = { 0 };
	int ret = how == GPREEMPT_HOW_PAUSE ? gp_pause_check(g, pid, &why) :
					      gpreempt_check(g, pid, &why);

	if (!ret || why.reason == GPREEMPT_TRACED || why.reason == GPREEMPT_DEBUGGED)
		return 0;
	if (how == GPREEMPT_HOW_AUTO && !gp_pause_check(g, pid, NULL))
		return 0;
	if (err)
		*err = why;
	return ret;
}

static int prepare(struct gpreempt_hold *hold, const struct gpreempt_filter *which,
		   const struct gpreempt_hold_options *options, struct hold_request *request)
{
	struct gpreempt_hold_options o = { 0 };
	int ret = 0;

	if (options)
		ret = gp_options_take(options, sizeof(o), &o, sizeof(o));
	if (!ret && (o.how >= GPREEMPT_HOWS || o.grace > GPREEMPT_GRACE_MAX))
		ret = -EINVAL;
	if (!ret)
		ret = gp_hold_put_filter(request, which);
	hold->timeout_ns = o.timeout_ns ? o.timeout_ns : HOLD_ANSWER_NS;
	request->verb = HOLD_SUSPEND;
	request->lease_ns = lease_of(o.lease_ns);
	request->grace = o.grace;
	request->how = o.how;
	request->command = getpid();
	return ret;
}

int gpreempt_hold(struct gpreempt *g, pid_t pid, const struct gpreempt_filter *which,
		  const struct gpreempt_hold_options *options, struct gpreempt_hold_status *status,
		  struct gpreempt_hold **out, struct gpreempt_error *err)
{
	__cleanup_free struct hold_request *request = NULL;
	struct gpreempt_hold *hold = calloc(1, sizeof(*hold));
	int ret = -ENOMEM;

	request = calloc(1, sizeof(*request));
	if (!hold || !request)
		goto err_system;
	hold->pid = pid;
	hold->fd = -1;
	ret = prepare(hold, which, options, request);
	if (ret)
		goto err_system;
	ret = check(g, pid, request->how, err);
	if (ret)
		goto err_close;
	ret = gpreempt_start_time(g, pid, &hold->start);
	if (ret)
		goto err_system;
	request->start = hold->start;
	ret = start(hold, request, status, err);
	if (ret)
		goto err_close;
	*out = hold;
	return 0;

err_system:
	gp_error(err, ret, ret == -ESRCH ? GPREEMPT_ENDED : GPREEMPT_SYSTEM, pid,
		 "preparing the hold");
err_close:
	gpreempt_hold_close(hold);
	return ret;
}

/* Send one request to our holder. -ENOTCONN: it has ended. */
static int ask(struct gpreempt_hold *hold, enum hold_verb verb, uint64_t lease_ns,
	       struct hold_reply *reply)
{
	__cleanup_free struct hold_request *request = calloc(1, sizeof(*request));
	int ret;

	if (!request)
		return -ENOMEM;
	request->verb = verb;
	request->start = hold->start;
	request->worker = hold->worker;
	request->lease_ns = lease_ns;
	ret = gp_hold_ask(hold->pid, request, reply, shr_now_ns() + hold->timeout_ns);
	if (ret == -ENOENT || ret == -ECONNRESET)
		return -ENOTCONN;
	if (ret)
		return ret;
	if (reply->status == GPREEMPT_CLASS_NO_TARGET)
		return -ENOTCONN;
	if (reply->status)
		return reply->code < 0 ? reply->code : -EIO;
	return 0;
}

int gpreempt_hold_extend(struct gpreempt_hold *hold, uint64_t lease_ns)
{
	struct hold_reply reply;

	return ask(hold, HOLD_EXTEND, lease_of(lease_ns), &reply);
}

int gpreempt_hold_status(struct gpreempt_hold *hold, struct gpreempt_hold_status *out)
{
	struct hold_reply reply;
	int ret = ask(hold, HOLD_STATUS, 0, &reply);

	if (!ret)
		fill_status(hold, &reply, out);
	return ret;
}

int gpreempt_hold_fd(const struct gpreempt_hold *hold)
{
	return hold->fd;
}

int gpreempt_hold_release(struct gpreempt_hold *hold)
{
	struct hold_reply reply;
	int ret = ask(hold, HOLD_RESUME, 0, &reply);

	if (ret && ret != -ENOTCONN)
		return ret;
	/* The holder has answered and ends: a next hold has to find the process free. */
	if (!ret && hold->fd >= 0)
		shr_readable(hold->fd, END_MS);
	shr_close(&hold->fd);
	return 0;
}

int gpreempt_hold_detach(struct gpreempt_hold *hold)
{
	int ret;

	if (hold->fd < 0)
		return -ENOTCONN;
	/* A holder that gets a packet there does not wait for our end. */
	ret = gp_ipc_send(hold->fd, "", 1, shr_now_ns() + hold->timeout_ns);
	if (ret)
		return ret == -ECONNRESET ? -ENOTCONN : ret;
	shr_close(&hold->fd);
	return 0;
}

void gpreempt_hold_close(struct gpreempt_hold *hold)
{
	if (!hold)
		return;
	shr_cleanup_fd(&hold->fd);
	free(hold);
}
