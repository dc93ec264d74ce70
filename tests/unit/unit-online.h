/* SPDX-License-Identifier: GPL-2.0-only */
/* The guard's socket, over a policy without any process. */
#ifndef UNIT_ONLINE_H
#define UNIT_ONLINE_H

#include "guard/guard.h"
#include "unit.h"

#define ALLOWED 4711 /* the user of --allow-uid */

extern struct guard online_guard;
extern struct guard_server *server;

void online_setup(void);
void online_teardown(void);
/* The guard again, with --allow-uid for that many users. */
void restart(size_t n_uids);

/* An end of time for a call that must not take long. */
uint64_t soon(void);

/* Requests that are open at the policy, of all clients. */
unsigned int open_now(void);
/* Wait until there are so many. */
void expect_open(unsigned int n);

#endif
