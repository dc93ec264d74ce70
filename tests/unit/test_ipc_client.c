// SPDX-License-Identifier: GPL-2.0-only
/* A client's waits: for a reply that is too long, and while signals come. */
#include <sys/socket.h>
#include <sys/time.h>

#include "shared/socket.h"
#include "unit.h"

static uint64_t soon(void)
{
	return shr_now_ns() + UNIT_LIMIT_NS;
}

/* A reply that is longer than the buffer is no reply. */
TEST(long_reply)
{
	char buf[8] = "12345678";
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	ck_assert_int_eq(gp_ipc_send(pair[0], buf, 8, soon()), 0);
	ck_assert_int_eq(gp_ipc_recv(pair[1], buf, 7, soon()), -EPROTO);
	close(pair[0]);
	close(pair[1]);
}

/* Returns the client's result for that packet. */
static ssize_t receive(uint32_t kind, int code)
{
	char buf[IPC_MAX_PACKET];
	int pair[2];
	ssize_t n;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	n = gp_ipc_put(kind, &code, sizeof(code), buf);
	ck_assert_int_eq(gp_ipc_send(pair[0], buf, n, soon()), 0);
	n = gp_ipc_recv(pair[1], buf, sizeof(buf), soon());
	close(pair[0]);
	close(pair[1]);
	return n;
}

/* A refusal is a negative code in a packet of that kind only. */
TEST(refusals)
{
	ck_assert_int_eq(receive(IPC_REFUSAL, -EUSERS), -EUSERS);
	ck_assert_int_eq(receive(IPC_REFUSAL, 5), 12);
	ck_assert_int_eq(receive(IPC_REFUSAL + 1, -EUSERS), 12);
}

static void ignore(int signal)
{
	(void)signal;
}

/* Signals that come all the time do not prolong a wait. */
TEST(signals_do_not_prolong)
{
	struct itimerval often = {
		.it_value.tv_usec = 2000, .it_interval.tv_usec = 2000,
	}, never = { 0 };
	struct sigaction act = { .sa_handler = ignore };
	char buf[8];
	int pair[2];
	ssize_t n;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	n = gp_ipc_recv(pair[0], buf, sizeof(buf), shr_now_ns() + 100 * NSEC_PER_MSEC);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_int_eq(n, -ETIMEDOUT);
	close(pair[0]);
	close(pair[1]);
}
