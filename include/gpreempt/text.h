/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsers of the amdgpu driver's text about queues and of ROCm's log. They read
 * no file and no system: the caller feeds text, in pieces of any size.
 *
 * A text is never refused. Lines that cannot be read are problems, with their
 * line numbers. Arrays belong to the handle and are valid until it
 * is fed again or freed. One thread at a time for each handle.
 *
 * A number that the text does not have is GPREEMPT_UNKNOWN.
 */
#ifndef GPREEMPT_TEXT_H
#define GPREEMPT_TEXT_H

#include <gpreempt/gpreempt.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The driver's mqds, hqds and rls, of Linux 6.5 and newer. */

enum gpreempt_text_type {
	GPREEMPT_TEXT_COMPUTE,
	GPREEMPT_TEXT_SDMA,
	GPREEMPT_TEXT_DIQ,   /* the debugger's own, up to Linux 7.1 */
	GPREEMPT_TEXT_HIQ,   /* the driver's own; slots only */
	GPREEMPT_TEXT_OTHER, /* a type that the driver does not know either */
};

/** gpreempt_text_type_name() - Return: the type as a word */
const char *gpreempt_text_type_name(enum gpreempt_text_type type);

/**
 * struct gpreempt_text_regs - a dump of registers, decoded
 * @known: the rest is decoded. 0: the layout is not known, only words are kept
 * @mqd: GPU address of the MQD; CP only
 * @active: CP_HQD_ACTIVE bit 0, or RB_ENABLE. The driver does not update that
 *	of an MQD: it means nothing
 * @vmid: of the address space; CP only
 * @priority: 0 to 15 as the process set it; CP only
 * @ring: user address
 * @ring_size: bytes
 * @rptr: dwords (CP), bytes (SDMA). In an MQD: when it was last saved
 * @wptr: as @rptr
 * @doorbell: index in dwords; not known for SDMA MQDs, whose layouts differ
 * @cwsr: user address of the context save area; CP only
 * @cwsr_size: bytes
 * @engine: of an SDMA MQD, as the driver keeps it there
 * @rlc: likewise
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_regs {
	int64_t known;
	int64_t mqd;
	int64_t active;
	int64_t vmid;
	int64_t priority;
	int64_t ring;
	int64_t ring_size;
	int64_t rptr;
	int64_t wptr;
	int64_t doorbell;
	int64_t cwsr;
	int64_t cwsr_size;
	int64_t engine;
	int64_t rlc;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_text_mqd - one MQD; a compute queue has one for each XCC
 * @queue: index of its queue
 * @xcc: 0 for the first under its queue. Of an SDMA queue and a DIQ there is
 *	only this one: the driver prints as many MQDs as the compute queue before
 *	them had, and the further ones are those of other queues
 * @line: of its first words
 * @words: index of the first of its raw words
 * @n_words: how many
 * @slots: active slots that hold it, once joined
 * @regs: what it says
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_mqd {
	size_t queue;
	unsigned int xcc;
	uint64_t line;
	size_t words;
	size_t n_words;
	unsigned int slots;
	struct gpreempt_text_regs regs;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_text_queue - one block of mqds
 * @type: from the block's head
 * @file: number of the file, from 0
 * @line: of the block's head
 * @pid: as the host counts
 * @context: 0, or which of the process's contexts (Linux 7.2 and newer)
 * @pasid: unknown in Linux 6.16 and newer, which print the pid in its place
 * @gpu_id: KFD's id of the node
 * @qid: queue id; only the older text has it, or the caller knows it
 * @is_active: only the older text has it
 * @priority: of the older text, else of the first MQD
 * @older: the text is older than Linux 6.5, with "Queue ID:" lines
 * @mqds: index of the first
 * @n_mqds: how many
 * @slots_expected: slots that it holds when it is mapped: one for each XCC
 *	(compute), one (SDMA), 0 for other types
 * @slots_active: that hold it; unknown without hqds of its GPU, when registers
 *	there could not be read, or when nothing is joined
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_queue {
	enum gpreempt_text_type type;
	unsigned int file;
	uint64_t line;
	int64_t pid;
	int64_t context;
	int64_t pasid;
	int64_t gpu_id;
	int64_t qid;
	int64_t is_active;
	int64_t priority;
	bool older;
	size_t mqds;
	size_t n_mqds;
	int64_t slots_expected;
	int64_t slots_active;
	uint64_t reserved[4];
};

/**
 * struct gpreempt_text_slot - one block of hqds
 * @type: compute (CP), SDMA or HIQ
 * @file: number of the file
 * @line: of the block's head
 * @node: number of the node in KFD's topology
 * @gpu_id: KFD's id of the node
 * @xcc: as printed, a number of the device; not for SDMA
 * @nth_xcc: 0 for the node's first
 * @pipe: or the engine of an SDMA slot
 * @queue: or its RLC
 * @words: index of the first of its raw words
 * @n_words: how many
 * @owner: index of the queue that it holds, or -1
 * @regs: what it says
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_slot {
	enum gpreempt_text_type type;
	unsigned int file;
	uint64_t line;
	int64_t node;
	int64_t gpu_id;
	int64_t xcc;
	int64_t nth_xcc;
	int64_t pipe;
	int64_t queue;
	size_t words;
	size_t n_words;
	ssize_t owner;
	struct gpreempt_text_regs regs;
	uint64_t reserved[4];
};

/** enum gpreempt_text_packet_op - packets of a run list that are decoded */
enum gpreempt_text_packet_op {
	GPREEMPT_TEXT_RUN_LIST = 0xa5, /* the list goes on elsewhere */
	GPREEMPT_TEXT_MAP_PROCESS = 0xa1,
	GPREEMPT_TEXT_MAP_QUEUES = 0xa2,
};

/**
 * struct gpreempt_text_packet - one packet of rls
 * @file: number of the file
 * @line: that it begins on
 * @node: number of the node in KFD's topology
 * @gpu_id: KFD's id of the node
 * @op: out of enum gpreempt_text_packet_op, or another
 * @words: index of the first of its raw words
 * @n_words: how many
 * @pasid: of the process; of a queue that of the process before it
 * @doorbell: of a queue, index in dwords
 * @mqd: of a queue, GPU address
 * @queue: index of the queue whose MQD it is, or -1
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_packet {
	unsigned int file;
	uint64_t line;
	int64_t node;
	int64_t gpu_id;
	unsigned int op;
	size_t words;
	size_t n_words;
	int64_t pasid;
	int64_t doorbell;
	int64_t mqd;
	ssize_t queue;
	uint64_t reserved[2];
};

/** enum gpreempt_text_note - what a node's block has instead of slots */
enum gpreempt_text_note {
	GPREEMPT_TEXT_NODE,    /* nothing of the kind */
	GPREEMPT_TEXT_STOPPED, /* hqds: the device is stopped */
	GPREEMPT_TEXT_NO_LIST, /* rls: no active run list (always under MES) */
};

/**
 * struct gpreempt_text_node - a "Node" line
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_node {
	unsigned int file;
	uint64_t line;
	int64_t node;
	int64_t gpu_id;
	enum gpreempt_text_note note;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_text_process - a "Process" line of mqds
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_process {
	unsigned int file;
	uint64_t line;
	int64_t pid;
	int64_t pasid;
	int64_t context;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_text_problem - something that could not be read, or is
 *	contradictory
 * @file: number of the file
 * @line: from 1; 0: the whole file
 * @what: static text, a clause
 * @reserved: 0; a later release may use it
 */
struct gpreempt_text_problem {
	unsigned int file;
	uint64_t line;
	const char *what;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_text_data - all that was read so far
 * @problems: the first ones; @n_problems counts all, @kept those that are here
 * @lines: of all files
 * @known_lines: those that are the driver's
 * @mqds_seen: there is an mqds. That of an idle driver is empty: an empty file
 *	counts as one
 * @hqds_seen: there is an hqds
 * @several_moments: a queue or a slot is in it twice. Then nothing is joined
 */
struct gpreempt_text_data {
	const struct gpreempt_text_process *processes;
	size_t n_processes;
	const struct gpreempt_text_queue *queues;
	size_t n_queues;
	const struct gpreempt_text_mqd *mqds;
	size_t n_mqds;
	const struct gpreempt_text_node *nodes;
	size_t n_nodes;
	const struct gpreempt_text_slot *slots;
	size_t n_slots;
	const struct gpreempt_text_packet *packets;
	size_t n_packets;
	const uint32_t *words;
	size_t n_words;
	const struct gpreempt_text_problem *problems;
	size_t kept;
	uint64_t n_problems;
	uint64_t lines;
	uint64_t known_lines;
	bool mqds_seen;
	bool hqds_seen;
	bool several_moments;
};

struct gpreempt_text;

/** gpreempt_text_new() - an empty text */
int gpreempt_text_new(struct gpreempt_text **out);

/** gpreempt_text_free() - free a text; NULL is allowed */
void gpreempt_text_free(struct gpreempt_text *text);

/**
 * gpreempt_text_feed() - take in the next piece of a file
 * Return: 0 or -ENOMEM, after which the text can only be freed
 */
int gpreempt_text_feed(struct gpreempt_text *text, const char *data,
		       size_t len);

/**
 * gpreempt_text_end() - the file ends here
 *
 * What comes next is another file: its lines count from 1, its number is one
 * higher. Return: 0 or -ENOMEM.
 */
int gpreempt_text_end(struct gpreempt_text *text);

/**
 * gpreempt_text_join() - find the slots of each queue
 *
 * Once, after the last file, which must have ended. A CP slot belongs to the
 * queue that has, on that node, an MQD of the address in the slot's
 * CP_MQD_BASE_ADDR with the same ring (CP_HQD_PQ_BASE). KFD gives the next
 * process the same MQD addresses, so that the address alone would join text of
 * two moments. Text that has a queue or a slot twice is not joined at all.
 * Return: 0 or -ENOMEM.
 */
int gpreempt_text_join(struct gpreempt_text *text);

/** gpreempt_text_get() - Return: what was read */
const struct gpreempt_text_data *gpreempt_text_get(struct gpreempt_text *text);

/** gpreempt_text_set_qid() - set a queue's id, which the text does not have */
void gpreempt_text_set_qid(struct gpreempt_text *text, size_t queue,
			   int64_t qid);

/**
 * struct gpreempt_text_check - does the join hold?
 *
 * Of a text of several moments all counts are unknown.
 *
 * @gpu_id: whose, or GPREEMPT_UNKNOWN in the sum
 * @xcc: which, counted within the node, or GPREEMPT_UNKNOWN in the sum
 * @queues: compute queues; unknown without mqds
 * @slots_expected: one for each MQD of them; unknown without mqds, or when one
 *	of them has no MQD
 * @slots_active: CP slots that are active; HIQs are not among them. Unknown when
 *	hqds does not have them, when registers of one could not be read, and of
 *	one process without mqds
 * @slots_without_owner: those that hold no queue of this text; unknown, too,
 *	without mqds
 *
 * It does not change any more.
 */
struct gpreempt_text_check {
	int64_t gpu_id;
	int64_t xcc;
	int64_t queues;
	int64_t slots_expected;
	int64_t slots_active;
	int64_t slots_without_owner;
};

/**
 * gpreempt_text_check() - count what the join found
 * @text: joined
 * @pid: of this process only (then slots without an owner are not its), or
 *	GPREEMPT_UNKNOWN
 * @sum: of all
 * @by_xcc: a line for each XCC that has MQDs or slots, for free()
 * @count: how many
 */
int gpreempt_text_check(struct gpreempt_text *text, int64_t pid,
			struct gpreempt_text_check *sum,
			struct gpreempt_text_check **by_xcc, size_t *count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
