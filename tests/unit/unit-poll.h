/* SPDX-License-Identifier: GPL-2.0-only */
/* guard's poller, with processes of ours whose memory it reads. */
#ifndef UNIT_POLL_H
#define UNIT_POLL_H

#include "fake/guard.h"

#define PAGE 4096

/* All processes have it at the same address. */
struct memory {
	uint64_t read; /* the indices of the online process */
	uint64_t written;
	atomic_int answer; /* have the page answer */
	atomic_int ready;
};

extern struct memory *memory;
extern char *page; /* a test may replace it in a child */
/* The online process; another one, which is killed after the test, or 0. */
extern pid_t good, stuck;

/* guard has an online process, and 200, which is offline. */
void poll_setup(void);
void poll_teardown(void);

/* A child that ends with this process, and what one does that has no work. */
pid_t start_child(void (*work)(void));
void do_nothing(void);
/* Add a process that is online, and has its indices at these addresses. */
void add_online(pid_t pid, const char *comm, uintptr_t read_addr, uintptr_t write_addr);

/* Start the poller, when 200 is a target. */
void start_guard(void);
/* Until there were so many, since the start. */
void look_until_suspends(uint64_t n);
void look_until_resumes(uint64_t n);

#endif
