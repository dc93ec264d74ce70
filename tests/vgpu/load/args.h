/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_ARGS_H
#define LOAD_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_MAX_GPUS 64

/* Kinds of a queue that is made and destroyed all the time. */
enum load_churn_how {
	LOAD_CHURN_EMPTY,
	LOAD_CHURN_BUSY,  /* the queue has work */
	LOAD_CHURN_LIE,	  /* the process asks for its end, and shows another's */
	LOAD_CHURN_QUICK, /* the queue has work when it is made, and is destroyed at once */
};

/* Attacks at SIGHUP with a file that need not answer. */
enum load_attack {
	LOAD_ATTACK_EXEC,   /* executes it; without a file: sleep */
	LOAD_ATTACK_DRIVER, /* gives the driver a page of it */
	LOAD_ATTACK_NUMBER, /* puts it in the place of /dev/kfd's descriptor */
	LOAD_ATTACK_MOVE,   /* none: moves that descriptor all the time, for 10 s */
};

/* Steps of a request after its burst, one after the other, as an LLM decodes. Times are in ns. */
struct load_steps {
	unsigned int n;
	unsigned int packets; /* dispatches of a step */
	uint64_t packet_ns;
	uint64_t from_ns, to_ns; /* bounds of the time between the end of one and the next */
};

/* Values of the command line. Times are in ns. */
struct load_args {
	uint64_t gpu_mask;	 /* bit n: the n-th GPU of the topology */
	unsigned int queues;	 /* compute queues on each GPU */
	unsigned int sdma;	 /* SDMA queues on each GPU */
	unsigned int priority;	 /* priority of the compute queues, 0..15, KFD's own scale */
	uint64_t packet_ns;	 /* GPU time of a dispatch */
	uint64_t rate;		 /* packets a second and queue; 0: flat out */
	uint64_t count;		 /* packets a queue; 0: no limit */
	uint64_t gap_ns;	 /* mean time between requests; 0: see rate */
	uint64_t delay_ns;	 /* before the first request's gap */
	uint64_t seed;		 /* seed of the times of requests */
	unsigned int burst;	 /* packets in a request */
	struct load_steps steps; /* n 0: a request is a burst */
	bool online;		 /* report begin and end of requests to guard */
	const char *samples;	 /* a file for the times of each request, or NULL */
	bool kick;		 /* tell the simulated GPU of each doorbell */
	uint64_t duration_ns;	 /* stop submitting after this; 0: no limit */
	uint64_t report_ns;	 /* between progress lines; 0: none */
	uint64_t drain_ns;	 /* wait this long for the last packets */
	unsigned int ring;	 /* packets that a ring holds, a power of two */
	unsigned int depth;	 /* packets in flight a queue; 0: choose */
	unsigned int barrier;	 /* a barrier packet after this many; 0: none */
	unsigned int workgroups; /* workgroups of a dispatch; 0: one of a single item */
	uint64_t churn_ns;	 /* a queue is made and destroyed this often; 0: none */
	enum load_churn_how churn_how;
	enum load_attack attack;
	const char *attack_file; /* or NULL */
	unsigned int crowd;	 /* this many descriptors, and threads and signals */
	bool leave;		 /* exit without undoing anything */
	bool no_runtime;	 /* do not enable the runtime (a program without ROCr) */
	bool sdma_work;		 /* SDMA queues get work, else they stay idle */
	bool acquire_used;	 /* no address space on GPUs without our queues */
	bool per_queue;		 /* progress lines name each queue's count */
	bool help;
};

/* Returns 0, or -EINVAL with a sentence in @err. */
int load_args_parse(struct load_args *args, int argc, char **argv, char *err, size_t err_size);

/* "500us", "2ms", "1.5s", a plain number is seconds. Returns 0 or -EINVAL. */
int load_parse_duration(const char *text, uint64_t *ns);

extern const char load_usage[];

#endif
