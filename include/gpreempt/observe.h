/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgpreempt: what gpreempt.ko shows, without touching any process.
 *
 * A field of the structures here has the name of the column that it comes from; view.h
 * describes each column. An unknown number is GPREEMPT_UNKNOWN, an unknown text is "". Words of
 * a list are numbers: enum gp_view_hardware, enum gp_view_scheduler and so on in view.h.
 *
 * Any thread may use it. Reading needs root, and does not wait for a busy
 * process: see age_ms of the result.
 */
#ifndef GPREEMPT_OBSERVE_H
#define GPREEMPT_OBSERVE_H

#include <gpreempt/core.h>
#include <gpreempt/view.h>

GPREEMPT_BEGIN_DECLS

/** enum gpreempt_source - where a list comes from */
enum gpreempt_source {
	GPREEMPT_SOURCE_MODULE, /* gpreempt.ko: everything */
	GPREEMPT_SOURCE_SYSFS,	/* the driver: ids and types only */
};

/** enum gpreempt_queue_type - the first four as enum gp_view_queue_type */
enum gpreempt_queue_type {
	GPREEMPT_QUEUE_COMPUTE_AQL,
	GPREEMPT_QUEUE_COMPUTE_PM4,
	GPREEMPT_QUEUE_SDMA,
	GPREEMPT_QUEUE_SDMA_XGMI,
	GPREEMPT_QUEUE_COMPUTE, /* AQL or PM4: unknown from sysfs */
};

/** enum gpreempt_word - kinds of words, each with its list in view.h */
enum gpreempt_word {
	GPREEMPT_WORD_TYPE,	 /* enum gpreempt_queue_type */
	GPREEMPT_WORD_HARDWARE,	 /* GP_VIEW_HARDWARE */
	GPREEMPT_WORD_SCHEDULER, /* GP_VIEW_SCHEDULERS */
	GPREEMPT_WORD_UNIT,	 /* GP_VIEW_UNITS */
};

/** gpreempt_word() - Return: the word for a value of this kind, "-" if unknown */
const char *gpreempt_word(enum gpreempt_word kind, int64_t value);

/**
 * gpreempt_state_text() - the words of a queue's state, joined by ","
 * @state: of struct gpreempt_queue
 * @buf: gets the text, "-" for GPREEMPT_UNKNOWN
 * @size: of @buf
 *
 * Return: length of the whole text, as snprintf().
 */
int gpreempt_state_text(int64_t state, char *buf, size_t size);

/** gpreempt_exception_text() - the same of @exception; "none" for 0 */
int gpreempt_exception_text(int64_t exception, char *buf, size_t size);

/**
 * struct gpreempt_queue - a queue: a line of pid/<n>/queues
 * @qid: queue id, unique within the process
 * @gpu_id: KFD's number of the node that it is on
 * @type: enum gpreempt_queue_type
 * @priority: 0 to 15
 * @suspended: 1: held by the debug interface
 * @evicted: 1: the driver has taken it off for a while
 * @active: hardware slots that hold it now. It does not mean that the queue
 *	executes something.
 * @slots: hardware slots that it has when it is mapped
 * @age_ms: age of all this but @active and @waves, in ms
 * @hardware: enum gp_view_hardware: why @active is unknown
 * @state: bits 1 << GP_VIEW_STATE_..., those that hold
 * @wants: share of the hardware that the process asks for
 * @doorbell: in dwords, in the device's BAR
 * @engine: slot of an SDMA queue
 * @rlc: slot of an SDMA queue
 * @rptr: register of its slot, in @unit
 * @wptr: register of its slot, in @unit
 * @unit: enum gp_view_unit
 * @ring: user address
 * @ring_size: bytes
 * @rptr_addr: user address
 * @wptr_addr: user address
 * @mqd: GPU address
 * @cwsr: user address of the context save area
 * @cwsr_size: bytes
 * @exception: GP_VIEW_EXCEPTION_BIT() of those that wait to be asked for
 * @context: of a process that has several
 * @waves: in flight: more than 0 means that it executes
 * @reserved: 0; a later release may use it
 */
struct gpreempt_queue {
	int64_t qid;
	int64_t gpu_id;
	int64_t type;
	int64_t priority;
	int64_t suspended;
	int64_t evicted;
	int64_t active;
	int64_t slots;
	int64_t age_ms;
	int64_t hardware;
	int64_t state;
	int64_t wants;
	int64_t doorbell;
	int64_t engine;
	int64_t rlc;
	int64_t rptr;
	int64_t wptr;
	int64_t unit;
	int64_t ring;
	int64_t ring_size;
	int64_t rptr_addr;
	int64_t wptr_addr;
	int64_t mqd;
	int64_t cwsr;
	int64_t cwsr_size;
	int64_t exception;
	int64_t context;
	int64_t waves;
	uint64_t reserved[7];
};

/**
 * struct gpreempt_view - the queues of a process
 * @source: where they come from
 * @count: number of @queues
 * @queues: by queue id
 */
struct gpreempt_view {
	size_t count;
	struct gpreempt_queue *queues;
	enum gpreempt_source source;
};

/**
 * gpreempt_view_read() - read the queues of a process
 * @g: library
 * @pid: process, as the host counts
 * @out: gets the view, for gpreempt_list_free()
 * @err: or NULL; gets the reason
 *
 * With gpreempt.ko loaded everything is known; without it the driver's sysfs files
 * (kfd_procfs_add_queue() in amdkfd/kfd_process.c) have ids, GPUs and types. Any thread.
 */
int gpreempt_view_read(struct gpreempt *g, pid_t pid, struct gpreempt_view **out,
		       struct gpreempt_error *err);

/**
 * gpreempt_self_queues() - read the queues of this process
 *
 * For a program that wants to log or hand on which queues are its own. Its number is the host's
 * only on the host: KFD's processes are compared by start time, and where their numbers mean
 * nothing here, as in most containers, the answer is -ENODATA, with GPREEMPT_NOT_GPU or
 * GPREEMPT_PID_NAMESPACE. Needs no root for ids, GPUs and types. Any thread.
 */
int gpreempt_self_queues(struct gpreempt *g, struct gpreempt_view **out,
			 struct gpreempt_error *err);

/**
 * struct gpreempt_process - a GPU process: a line of processes
 * @reserved: 0; a later release may use it
 */
struct gpreempt_process {
	int64_t pid;
	int64_t ns_pid;
	char comm[68]; /* printed form: \ and three digits for some bytes */
	int64_t gpus;
	int64_t queues;
	int64_t aql;
	int64_t pm4;
	int64_t sdma;
	int64_t xgmi;
	int64_t active;
	int64_t slots;
	int64_t suspended;
	int64_t evicted;
	int64_t debugged;
	int64_t age_ms;
	int64_t paused;
	uint64_t reserved[7];
};

/** struct gpreempt_process_list - all GPU processes, by PID */
struct gpreempt_process_list {
	size_t count;
	struct gpreempt_process *processes;
	enum gpreempt_source source;
};

/**
 * gpreempt_processes_read() - read which GPU processes there are
 * @g: library
 * @out: gets the list, for gpreempt_list_free()
 * @err: or NULL; gets the reason
 *
 * Without gpreempt.ko the driver's sysfs files have pid, comm, gpus (all that the process may
 * use), queues and the sdma and xgmi among them; /proc has ns_pid. Any thread.
 */
int gpreempt_processes_read(struct gpreempt *g, struct gpreempt_process_list **out,
			    struct gpreempt_error *err);

/**
 * struct gpreempt_node - a GPU or a partition of one: a line of nodes
 * @reserved: 0; a later release may use it
 */
struct gpreempt_node {
	int64_t gpu_id;
	int64_t node;
	char device[64];
	int64_t gfx;
	int64_t xccs;
	int64_t xcc_mask;
	int64_t scheduler; /* enum gp_view_scheduler */
	int64_t hardware;  /* enum gp_view_hardware */
	int64_t slots_used;
	int64_t slots;
	int64_t hiq;
	int64_t processes;
	int64_t queues;
	int64_t mapped;
	int64_t oversubscribed;
	uint64_t reserved[8];
};

/** struct gpreempt_nodes - all KFD nodes that are GPUs, in KFD's order */
struct gpreempt_nodes {
	size_t count;
	struct gpreempt_node *nodes;
	enum gpreempt_source source;
};

/**
 * gpreempt_nodes_read() - read which GPUs there are
 * @g: library
 * @out: gets the list, for gpreempt_list_free()
 * @err: or NULL; gets the reason
 *
 * Without gpreempt.ko KFD's topology in sysfs (amdkfd/kfd_topology.c) has
 * gpu_id, node, device, gfx and xccs. Any thread.
 */
int gpreempt_nodes_read(struct gpreempt *g, struct gpreempt_nodes **out,
			struct gpreempt_error *err);

/**
 * struct gpreempt_hqd - a hardware slot in use: a line of pid/<n>/hqds; or a queue
 * whose slots were not read, then @active is GPREEMPT_UNKNOWN
 * @reserved: 0; a later release may use it
 */
struct gpreempt_hqd {
	int64_t gpu_id;
	int64_t type;
	int64_t xcc;
	int64_t pipe;
	int64_t queue;
	int64_t engine;
	int64_t rlc;
	int64_t qid;
	int64_t active;
	int64_t vmid;
	int64_t rptr;
	int64_t wptr;
	int64_t unit;
	int64_t doorbell;
	int64_t age_ms;
	int64_t waves;
	int64_t hardware;
	uint64_t reserved[6];
};

/** struct gpreempt_hqds - the hardware slots that a process holds */
struct gpreempt_hqds {
	size_t count;
	struct gpreempt_hqd *hqds;
};

/**
 * gpreempt_hqds_read() - read the hardware slots that a process holds
 * @g: library
 * @pid: process
 * @out: gets the list, for gpreempt_list_free()
 * @err: or NULL; gets the reason, GPREEMPT_NO_MODULE without gpreempt.ko
 *
 * Any thread.
 */
int gpreempt_hqds_read(struct gpreempt *g, pid_t pid, struct gpreempt_hqds **out,
		       struct gpreempt_error *err);

/**
 * struct gpreempt_usage - how much of a GPU a process uses: a line of usage
 * @reserved: 0; a later release may use it
 */
struct gpreempt_usage {
	int64_t gpu_id;
	int64_t context;
	int64_t hardware; /* enum gp_view_hardware */
	int64_t waves;
	int64_t waves_max;
	int64_t evicted_ms;
	int64_t evicted;
	int64_t age_ms;
	int64_t pid;
	int64_t queues;
	int64_t suspended;
	int64_t busy;
	uint64_t reserved[4];
};

/** struct gpreempt_usages - each GPU on which a process has an address space */
struct gpreempt_usages {
	size_t count;
	struct gpreempt_usage *usages;
};

/**
 * gpreempt_usage_read() - read how much of its GPUs a process uses
 * @g: library
 * @pid: process; 0: all, in one look that costs little: of the nodes on which they
 *	have queues
 * @out: gets the list, for gpreempt_list_free()
 * @err: or NULL; gets the reason, GPREEMPT_NO_MODULE without gpreempt.ko and
 *	GPREEMPT_OLD_MODULE with one that has no such file
 *
 * Any thread.
 */
int gpreempt_usage_read(struct gpreempt *g, pid_t pid, struct gpreempt_usages **out,
			struct gpreempt_error *err);

/**
 * struct gpreempt_fact - a line of version or stats
 * @key: its name
 * @value: as the module prints it
 * @number: @value as a number, or GPREEMPT_UNKNOWN
 * @reserved: 0; a later release may use it
 */
struct gpreempt_fact {
	char key[32];
	char value[96];
	int64_t number;
	uint64_t reserved[2];
};

/** struct gpreempt_facts - of the module, in its order */
struct gpreempt_facts {
	size_t count;
	struct gpreempt_fact *facts;
};

/** gpreempt_module_stats() - what gpreempt.ko has cost; as version */
int gpreempt_module_stats(struct gpreempt *g, struct gpreempt_facts **out,
			  struct gpreempt_error *err);

GPREEMPT_END_DECLS

#endif
