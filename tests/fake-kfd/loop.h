/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A system that a test makes up: one process with GPU queues under a driver
 * that follows the real one's rules, and errors where the test wants them.
 * Not part of the library that is installed.
 */
#ifndef FAKE_KFD_LOOP_H
#define FAKE_KFD_LOOP_H

#include <linux/kfd_ioctl.h>
#include <stdbool.h>

#include "lib/core/internal.h"

#define GP_LOOP_MAX    1100
#define GP_LOOP_FILES  512
#define GP_LOOP_ERRORS 8
#define GP_LOOP_STOPS  16

struct gp_loop_queue {
	uint32_t qid;
	uint32_t gpu_id;
	uint32_t type; /* KFD_IOC_QUEUE_TYPE_ */
	bool is_new;
	bool suspended;
	bool destroying; /* its process waits for its resume */
	bool broken;	 /* the hardware does not release it */
};

struct gp_loop {
	pid_t pid;
	bool root;
	const char *cgroups; /* a directory in place of cgroup v2; NULL: none */
	bool kfd;	     /* there is a /dev/kfd */
	unsigned int minor;  /* minor number of version 1.x */
	bool opened;	     /* the process has opened it */
	bool debugged;	     /* a session is open, ours or another's */
	uint32_t runtime;    /* DEBUG_RUNTIME_STATE_ */
	uint64_t exceptions; /* pending exceptions of the process */
	uint32_t grace;	     /* grace period of the last suspend */
	int answered;	     /* number of answers to EC_PROCESS_RUNTIME */
	struct gp_loop_queue queues[GP_LOOP_MAX];
	size_t count;
	int dbg_fd;	     /* the driver's copy; -1: none */
	uint64_t subscribed; /* KFD_EC_MASK() */
	/* A session ended with events subscribed: a real driver can crash then. */
	bool exposed;

	/* CRIU's pause. The process's descriptors are files "/proc/<pid>/fd/". */
	bool pause_counts; /* count a second pause, as 6.1 does */
	bool paused;	   /* kfd_process.queues_paused */
	int evicted;	   /* qpd.evicted: queues run when it is 0 */
	int foreign;	   /* descriptor that its parent opened; 0: none */
	int taken;	   /* descriptor whose copy we have; 0: none */
	pid_t tracer;	   /* the thread that has seized it; 0: none */
	int end_fd;	   /* readable once the process has ended; copies are given */

	/* Answers of wait(), in order. */
	int stops[GP_LOOP_STOPS];
	size_t n_stops;
	int stop_fd;
	unsigned long seized; /* PTRACE_O_ options with which it is traced */
	int last_signal;      /* passed on with CONT or DETACH */
	bool gone;	      /* wait() finds no such child */
	uint64_t cpu_ns;      /* CPU time of the process; 0: unknown */

	/* The nth (1: first) call of that name fails, or all (0). */
	struct {
		const char *call;
		int nth;
		int code;
	} errors[GP_LOOP_ERRORS];

	/*
	 * A path that ends with "/" is a directory: a name a line. gp_loop_unclean is
	 * EUCLEAN, the module's answer when the driver's data contradict themselves.
	 */
	struct {
		const char *path;
		const char *text;
		_Atomic unsigned int reads; /* reads that have begun */
	} files[GP_LOOP_FILES];

	/*
	 * Makes the text of a process's queues file in the module. A thread that watches slots
	 * calls it, too, so it may look at nothing that changes elsewhere.
	 */
	const char *(*view)(struct gp_loop *loop);

	/* Called before each call: a test changes something there. */
	void (*before)(struct gp_loop *loop, const char *call);
	/* Called before a directory is listed: the processes may have changed. */
	void (*before_list)(struct gp_loop *loop);

	char trace[8192]; /* the calls so far, each with a space after */
};

extern const struct gp_backend_ops gp_backend_loop;
extern const char gp_loop_unclean[];

/* A root's system with such a process, its runtime on and no queues. */
void gp_loop_init(struct gp_loop *loop, pid_t pid);
void gp_loop_end(struct gp_loop *loop);
/* The process makes a queue; a session gets the event. */
struct gp_loop_queue *gp_loop_add_queue(struct gp_loop *loop, uint32_t qid);
void gp_loop_remove_queue(struct gp_loop *loop, uint32_t qid);
/* The process enables or disables its runtime. */
void gp_loop_set_runtime(struct gp_loop *loop, uint32_t state);
/* The process stops or ends, with this status for its tracer. */
void gp_loop_stop(struct gp_loop *loop, int status);
/* End the process, for readers of a descriptor of it. */
void gp_loop_end_process(struct gp_loop *loop);
/* End the session as another process does. */
void gp_loop_disable(struct gp_loop *loop);
void gp_loop_set_file(struct gp_loop *loop, const char *path, const char *text);
unsigned int gp_loop_reads(const struct gp_loop *loop, const char *path);
void gp_loop_fail(struct gp_loop *loop, const char *call, int nth, int code);
struct gp_loop_queue *gp_loop_queue(struct gp_loop *loop, uint32_t qid);

/* Functions that the two files share. Note a call; 0, or the error that it has to give. */
int gp_loop_enter(struct gp_loop *loop, const char *call);
int gp_loop_ioctl(void *be, int fd, unsigned long request, void *arg);

#endif
