// SPDX-License-Identifier: GPL-2.0-only
#include <sys/socket.h>

#include "unit-host.h"
#include "unit-worker.h"

struct hold_request request;
struct hold_birth birth;
struct hold_reply reply;
int beat[2], report[2];

static const char *at_call;
static int at_nth;
static void (*happens)(struct gp_loop *l);

static void before(struct gp_loop *l, const char *call)
{
	if (at_call && !strcmp(call, at_call) && --at_nth == 0)
		happens(l);
}

void at(const char *call, int nth, void (*what)(struct gp_loop *l))
{
	at_call = call;
	at_nth = nth;
	happens = what;
}

void worker_setup(void)
{
	hold_dir_setup();
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	loop.before = before;
	at_call = NULL;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beat), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report), 0);
	request = (struct hold_request){ .verb = HOLD_SUSPEND };
	birth = (struct hold_birth){
		.target = PID,
		.lock = -1,
		.beat = beat[1],
		.report = report[1],
		.guardian = getpid(),
		.request = &request,
	};
	memset(&reply, 0, sizeof(reply));
}

void worker_teardown(void)
{
	close(beat[0]);
	close(beat[1]);
	close(report[0]);
	close(report[1]);
	unit_teardown();
}
