// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt-holder PID: becomes the holder of a process, for a program that uses
 * gpreempt_hold(). Descriptor 3 has the first request, and gets the reply; the
 * hold ends when its other end is closed, unless a packet came before.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "owner.h"
#include "pause-owner.h"
#include "holder.h"
#include "shared/socket.h"
#include "shared/util.h"
#include "shared/text.h"

#define REQUEST_NS (5 * NSEC_PER_SEC)

static const char step[] = "starting the holder";

/* Take the lock. Returns it; or -errno, and the reply has the reason. */
static int take_lock(pid_t target, struct hold_reply *reply)
{
	struct hold_owner owner = { .pid = getpid() };
	int lock = hold_dir_prepare();

	if (!lock)
		lock = pause_take(target, &owner);
	if (lock == -EALREADY || lock == -EWOULDBLOCK)
		hold_reply_fail(reply, target, GPREEMPT_HELD, -EBUSY, step);
	else if (lock < 0)
		hold_reply_fail(reply, target, GPREEMPT_SYSTEM, lock, step);
	if (lock == -EWOULDBLOCK && !hold_read_owner(target, &owner))
		reply->other = hold_command_of(&owner);
	return lock;
}

static bool check(pid_t target, enum gpreempt_how how, struct hold_reply *reply)
{
	struct gpreempt_error err = { .reason = GPREEMPT_SYSTEM, .step = step };
	struct gpreempt *g;

	err.code = gpreempt_new(NULL, &g);
	if (!err.code) {
		err.code = owner_check(g, target, how, &err);
		gpreempt_free(g);
	}
	if (err.code)
		hold_reply_error(reply, &err);
	return !err.code;
}

/* Begin the hold. Returns in the parent: 0, or the reply has the reason. */
static int begin(pid_t target, const struct hold_request *request, struct hold_reply *reply)
{
	int lock, ret;

	if (geteuid()) {
		hold_reply_fail(reply, target, GPREEMPT_NOT_ROOT, -EPERM, step);
		return -1;
	}
	lock = take_lock(target, reply);
	if (lock < 0)
		return -1;
	if (!check(target, request->how, reply)) {
		hold_drop(target, lock);
		return -1;
	}
	ret = hold_spawn_on(lock, HOLD_START_FD, target, request);
	if (ret)
		hold_reply_fail(reply, target, GPREEMPT_SYSTEM, ret, step);
	return ret;
}

int main(int argc, char **argv)
{
	static struct hold_request request;
	struct hold_reply reply = { 0 };
	char buf[IPC_MAX_PACKET];
	uint64_t target;
	ssize_t n;

	shr_title_init(argc, argv);
	if (argc != 2 || shr_parse_u64(argv[1], INT32_MAX, &target)) {
		fputs("gpreempt-holder: it is started by libgpreempt; see "
		      "gpreempt_hold() in libgpreempt(3)\n",
		      stderr);
		return GPREEMPT_CLASS_USAGE;
	}
	n = gp_ipc_recv(HOLD_START_FD, buf, sizeof(buf), shr_now_ns() + REQUEST_NS);
	if (n < 0)
		return GPREEMPT_CLASS_FAILED;
	if (gp_hold_get_request(buf, n, &request) || request.verb != HOLD_SUSPEND) {
		send(HOLD_START_FD, buf, gp_ipc_refuse(-EPROTO, buf), MSG_NOSIGNAL);
		return GPREEMPT_CLASS_FAILED;
	}
	if (!begin(target, &request, &reply))
		return GPREEMPT_CLASS_DONE;
	gp_hold_send(HOLD_START_FD, &reply);
	return GPREEMPT_CLASS_FAILED;
}
