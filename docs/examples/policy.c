// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * guard's rules on paper: an online process has work for 30 ms of each 100 ms, an
 * offline one is due a fifth of the GPU, and a user has it left alone for a while.
 * No GPU is needed; the clock is made up.
 *
 *	cc policy.c $(pkg-config --cflags --libs gpreempt)
 *	./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include <gpreempt/policy.h>

#define MS	      1000000ull
#define END	      (1000 * MS)
#define RELEASE_AT    (500 * MS)
#define RELEASE_UNTIL (700 * MS)

static struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];

/* Print the actions that are due now. Returns when to ask again. */
static uint64_t step(struct gpreempt_policy *p, uint64_t now)
{
	uint64_t wake;
	unsigned int i, n = gpreempt_policy_step(p, now, actions, &wake);

	for (i = 0; i < n; i++)
		printf("%4llu ms: %s %u (%s)\n", (unsigned long long)(now / MS),
		       actions[i].suspend ? "suspend" : "resume", actions[i].entity,
		       gpreempt_policy_reason_name(actions[i].reason));
	return wake;
}

static void run(struct gpreempt_policy *p, unsigned int online, unsigned int offline)
{
	uint64_t now, wake = 0;

	for (now = 0; now < END; now += MS) {
		if (now % (100 * MS) == 0)
			gpreempt_policy_busy(p, online, true, now);
		else if (now % (100 * MS) == 30 * MS)
			gpreempt_policy_busy(p, online, false, now);
		else if (now == RELEASE_AT + MS)
			gpreempt_policy_release(p, offline, RELEASE_UNTIL);
		else if (now < wake)
			continue;
		wake = step(p, now);
	}
}

int main(void)
{
	struct gpreempt_policy_options options = {
		.size = sizeof(options),
		.linger_ns = 5 * MS,
		.period_ns = 100 * MS,
		.window_ns = 100 * MS,
	};
	struct gpreempt_policy_tenant serve = {
		.size = sizeof(serve),
		.role = GPREEMPT_ROLE_ONLINE,
	};
	struct gpreempt_policy_tenant train = {
		.size = sizeof(train),
		.role = GPREEMPT_ROLE_OFFLINE,
		.min = 20,
	};
	struct gpreempt_policy *p;
	int online, offline;

	if (gpreempt_policy_new(&options, 0, &p) || gpreempt_policy_set(p, 0, &serve) ||
	    gpreempt_policy_set(p, 1, &train))
		return EXIT_FAILURE;
	online = gpreempt_policy_add(p, 0, 1);
	offline = gpreempt_policy_add(p, 1, 1);
	if (online >= 0 && offline >= 0)
		run(p, online, offline);
	gpreempt_policy_free(p);
	return online < 0 || offline < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
