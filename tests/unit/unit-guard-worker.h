/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The worker of an offline process: guard_work() in a thread of its own, on the
 * made-up driver. The test is guard: it gives orders and reads results.
 */
#ifndef UNIT_GUARD_WORKER_H
#define UNIT_GUARD_WORKER_H

#include "guard/guard.h"
#include "unit.h"

#define GPU_A 0xf7bc /* node 0, as the made-up queues have it */
#define GPU_B 0x1234 /* node 1 */

extern struct guard_common common;
extern struct guard_channel channel;
extern struct guard_job job;

/* After unit_setup_for(): it is that process's, and has no lock. */
void guard_worker_setup(pid_t target);
/* Stops it, too. */
void guard_worker_teardown(void);

void start_worker(void);
void stop_worker(void);
/* And it has suspended both nodes. */
void start_held(void);
/* Wait for the worker, which ends by itself. */
void wait_for_worker(void);
void wake_worker(void);
void order_nodes(uint64_t nodes);
struct guard_result next_result(void);
/* The order was carried out, whatever was in its way. */
void expect_done(uint64_t nodes, bool suspend);

#endif
