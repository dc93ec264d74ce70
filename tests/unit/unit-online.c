// SPDX-License-Identifier: GPL-2.0-only
#include "guard/guard.h"
#include "lib/preempt/policy.h"
#include "lib/preempt/wire.h"
#include "unit.h"
#include "unit-online.h"

static uid_t uids[] = { ALLOWED };

struct guard online_guard;
static struct guard_options args;
struct guard_server *server;

void online_setup(void)
{
	struct gpreempt_policy_options options = {
		.size = sizeof(options),
		.max_hold_ns = NSEC_PER_SEC,
	};

	memset(&online_guard, 0, sizeof(online_guard));
	memset(&args, 0, sizeof(args));
	online_guard.options = &args;
	pthread_mutex_init(&online_guard.lock, NULL);
	ck_assert_int_eq(gpreempt_policy_new(&options, 0, &online_guard.policy), 0);
	ck_assert_int_eq(guard_serve_start(&online_guard, &server), 0);
}

void online_teardown(void)
{
	guard_serve_stop(server);
	ck_assert_int_eq(access(GUARD_SOCKET, F_OK), -1);
	gpreempt_policy_free(online_guard.policy);
}

uint64_t soon(void)
{
	return shr_now_ns() + UNIT_LIMIT_NS;
}

unsigned int open_now(void)
{
	unsigned int n = 0, i;

	pthread_mutex_lock(&online_guard.lock);
	for (i = 0; i < online_guard.policy->top; i++)
		n += online_guard.policy->entity[i].requests;
	pthread_mutex_unlock(&online_guard.lock);
	return n;
}

void expect_open(unsigned int n)
{
	/* The guard learns a little later that a client has gone. */
	UNIT_WAIT(open_now() == n);
}

void restart(size_t n_uids)
{
	guard_serve_stop(server);
	args.uids = (struct shr_ids){ uids, n_uids };
	ck_assert_int_eq(guard_serve_start(&online_guard, &server), 0);
}
