/* SPDX-License-Identifier: GPL-2.0-only */
/* A guard in a made-up system: processes that come and go, workers of ours. */
#ifndef FAKE_GUARD_H
#define FAKE_GUARD_H

#include "guard/guard.h"
#include "unit.h"

extern struct guard guard;
extern struct guard_options args;

/* The system's files: any call that reads one fails with it; 0: none does. */
extern int fail_files;

void guard_setup(void);
void guard_teardown(void);

/* A GPU process of that name, in that cgroup; or what it is from now on. */
void world_add(pid_t pid, const char *comm, const char *cgroup);
/* A queue of it, in its own memory, that guard can watch; on GPU 0 or 1. */
void world_queues(pid_t pid, const char *text);
void world_remove(pid_t pid);

/* The first line of a text for world_queues(). */
#define QUEUES "# qid gpu_id type rptr_addr wptr_addr ring ring_size\n"
/* One more word of --online, of --offline. */
void name_online(const char *word);
void name_offline(const char *word);
/* Set up the tenants of all words that a test has named, in a policy that it has made. */
void guard_set_tenants(void);
/* Returns the entity of an offline process. */
struct gpreempt_policy_entity *entity_of(size_t i);
/* 100 is "serve" with a queue to watch, 200 is "train" with one on each GPU. */
void add_serve_and_train(void);
/* Both are there, and 200 is a target. */
void take_train(void);

/* Behaviour of the worker; set before guard takes it. */
enum fake_worker {
	WORKER_OBEYS,  /* gives a result for each order */
	WORKER_FAILS,  /* cannot open a session */
	WORKER_STOPS,  /* once it was ready */
	WORKER_SILENT, /* runs, and never says that it is well */
	WORKER_CANNOT, /* each suspend fails */
	WORKER_HANGS,  /* the same, for a hang of the GPU */
};
extern enum fake_worker fake_worker;

/* Look until guard has printed it. Fails after some seconds. */
void look_until(const char *what);
void look_until_times(const char *what, size_t times);
/* Make guard look so many times. */
void look(unsigned int times);
/* How often the text stands in guard's output so far. */
size_t printed(const char *what);
void forget_printed(void);
/* Output so far, for one test at a time. */
const char *output(void);

#endif
