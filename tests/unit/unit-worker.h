/* SPDX-License-Identifier: GPL-2.0-only */
/* The worker of a holder, on the made-up driver, with ends of ours. */
#ifndef UNIT_WORKER_H
#define UNIT_WORKER_H

#include "hold/holder.h"
#include "unit.h"

extern struct hold_request request;
extern struct hold_birth birth;
extern struct hold_reply reply;
/* The first of each is that of the guardian and of the command. */
extern int beat[2], report[2];

/* hold_dir_setup(), and PID with queues 0 and 1, which the worker of birth is to hold. */
void worker_setup(void);
void worker_teardown(void);

/* Something happens just before the nth call of that name. */
void at(const char *call, int nth, void (*what)(struct gp_loop *l));

#endif
