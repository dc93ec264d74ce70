/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser of the driver's mqds, hqds and rls, of Linux 6.5 and newer. It reads
 * no file and no system: the caller feeds text, in pieces of any size. One thread
 * at a time for each handle.
 *
 * A text is never refused. Lines that cannot be read are problems, with their
 * line numbers. Arrays belong to the handle and are valid until it is fed again
 * or freed. A number that the text does not have is GPREEMPT_UNKNOWN.
 */
#ifndef LAB_TEXT_H
#define LAB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpreempt/core.h>

#include "shared/util.h"

enum gp_text_type {
	GP_TEXT_COMPUTE,
	GP_TEXT_SDMA,
	GP_TEXT_DIQ,   /* the debugger's own, up to Linux 7.1 */
	GP_TEXT_HIQ,   /* the driver's own; slots only */
	GP_TEXT_OTHER, /* a type that the driver does not know either */
};

/* The type as a word. */
const char *gp_text_type_name(enum gp_text_type type);

/* A dump of registers, decoded. */
struct gp_text_regs {
	int64_t known; /* 0: the layout is not known */
	int64_t mqd;   /* GPU address of the MQD; CP only */
	/*
	 * CP_HQD_ACTIVE bit 0, or RB_ENABLE. The driver does not update the bit in an MQD, where
	 * it means nothing.
	 */
	int64_t active;
	int64_t vmid;	   /* VMID of the address space; CP only */
	int64_t priority;  /* 0 to 15 as the process set it; CP only */
	int64_t ring;	   /* user address */
	int64_t ring_size; /* bytes */
	int64_t aql;	   /* packets of 64 bytes; CP only */
	/* Dwords (CP), bytes (SDMA). In an MQD: when it was last saved. */
	int64_t rptr, wptr;
	int64_t doorbell;  /* in dwords; unknown for most SDMA MQDs */
	int64_t cwsr;	   /* user address of the context save area; CP only */
	int64_t cwsr_size; /* bytes */
	/* Engine and RLC in an SDMA MQD, as the driver keeps them there. */
	int64_t engine, rlc;
};

/* An MQD; a compute queue has one for each XCC. */
struct gp_text_mqd {
	size_t queue; /* index of its queue */
	/*
	 * Number among the MQDs of its queue. An SDMA queue and a DIQ have only number 0: the
	 * driver prints as many MQDs as the compute queue before them had, and the further ones
	 * are those of other queues.
	 */
	unsigned int xcc;
	unsigned int slots; /* active slots that hold it, once joined */
	struct gp_text_regs regs;
};

/* Fill in the registers of a block without any: known is 0, and the others are unknown. */
void gp_text_no_regs(struct gp_text_regs *regs);

/* A block of mqds. */
struct gp_text_queue {
	enum gp_text_type type;
	unsigned int file; /* its number, from 0 */
	uint64_t line;	   /* line of the block's head */
	int64_t pid;	   /* PID on the host */
	int64_t context;   /* 0, or which of the process's (Linux 7.2 and newer) */
	/* Unknown in Linux 6.16 and newer, which print the pid in its place. */
	int64_t pasid;
	int64_t gpu_id;	   /* KFD's id of the node */
	int64_t qid;	   /* only the older text has it, or the caller knows it */
	int64_t is_active; /* only the older text has it */
	int64_t priority;  /* priority in the older text, else in the first MQD */
	int64_t older;	   /* text of Linux before 6.5, with "Queue ID:" lines */
	size_t mqds;	   /* index of the first */
	size_t n_mqds;
	/*
	 * Slots that it holds when it is mapped: one for each XCC (compute), one
	 * (SDMA), 0 for other types.
	 */
	int64_t slots_expected;
	/*
	 * Slots that hold it; unknown without hqds of its GPU, when registers there could not be
	 * read, or when nothing is joined.
	 */
	int64_t slots_active;
};

/* A block of hqds. */
struct gp_text_slot {
	enum gp_text_type type; /* compute (CP), SDMA or HIQ */
	unsigned int file;
	uint64_t line;	 /* line of the block's head */
	int64_t gpu_id;	 /* KFD's id of the node */
	int64_t xcc;	 /* number that was printed, the device's own; not for SDMA */
	int64_t nth_xcc; /* 0 for the node's first */
	int64_t pipe;	 /* or the engine of an SDMA slot */
	int64_t queue;	 /* or its RLC */
	ssize_t owner;	 /* index of the queue that it holds, or -1 */
	struct gp_text_regs regs;
};

/* Decoded packets of a run list. */
enum gp_text_packet_op {
	GP_TEXT_RUN_LIST = 0xa5, /* the list goes on elsewhere */
	GP_TEXT_MAP_PROCESS = 0xa1,
	GP_TEXT_MAP_QUEUES = 0xa2,
};

/* A packet of rls. */
struct gp_text_packet {
	unsigned int file;
	uint64_t line;	  /* line on which it begins */
	int64_t gpu_id;	  /* KFD's id of the node */
	unsigned int op;  /* out of enum gp_text_packet_op, or another */
	int64_t pasid;	  /* PASID of the process; for a queue, of the process before it */
	int64_t doorbell; /* doorbell of a queue, in dwords */
	int64_t mqd;	  /* MQD of a queue, GPU address */
	ssize_t queue;	  /* index of the queue that has this MQD, or -1 */
};

/* Texts that a node's block has instead of slots. */
enum gp_text_note {
	GP_TEXT_NODE,	 /* nothing of the kind */
	GP_TEXT_STOPPED, /* hqds: the device is stopped */
	GP_TEXT_NO_LIST, /* rls: no active run list (always under MES) */
};

/* A "Node" line. */
struct gp_text_node {
	int64_t gpu_id;
	enum gp_text_note note;
};

/* A "Process" line of mqds. */
struct gp_text_process {
	unsigned int file;
	int64_t pid;
	int64_t pasid;
	int64_t context;
};

/* A problem: something that could not be read, or is contradictory. */
struct gp_text_problem {
	unsigned int file;
	uint64_t line;	  /* from 1; 0: the whole file */
	const char *what; /* static text, a clause */
};

/* Data of the text so far. */
struct gp_text_data {
	struct gp_text_process *processes;
	size_t n_processes;
	struct gp_text_queue *queues;
	size_t n_queues;
	struct gp_text_mqd *mqds;
	size_t n_mqds;
	struct gp_text_node *nodes;
	size_t n_nodes;
	struct gp_text_slot *slots;
	size_t n_slots;
	struct gp_text_packet *packets;
	size_t n_packets;
	struct gp_text_problem *problems; /* the first ones */
	size_t kept;			  /* how many these are */
	uint64_t n_problems;		  /* all of them */
	uint64_t known_lines;		  /* lines that are the driver's */
	/* There is an mqds. An idle driver's is an empty file. */
	bool mqds_seen;
	bool hqds_seen;
	/* The text has a queue or a slot twice. Then nothing is joined. */
	bool several_moments;
};

struct gp_text;

struct gp_text *gp_text_new(void);
void gp_text_free(struct gp_text *text);

/* Read the next piece of a file. */
void gp_text_feed(struct gp_text *text, const char *data, size_t len);

/*
 * The file ends here. What comes next is another one: its lines count from 1, its
 * number is one higher.
 */
void gp_text_end(struct gp_text *text);

/* Is this whole text a line that names the owner of a dump? */
bool gp_text_is_head(const char *at, size_t len);

/*
 * Find the slots of each queue: once, after the last file, which must have ended. A CP slot
 * belongs to the queue that has, on that node, an MQD of the address in the slot's
 * CP_MQD_BASE_ADDR with the same ring (CP_HQD_PQ_BASE). KFD gives the next process the same MQD
 * addresses, so that the address alone would join text of two moments. Text that has a queue or
 * a slot twice is not joined at all.
 */
void gp_text_join(struct gp_text *text);

/* Returns the data read so far; it grows. The caller may fill in the ids of queues. */
const struct gp_text_data *gp_text_get(const struct gp_text *text);

/* Does the join hold? Of a text of several moments all counts are unknown. */
struct gp_text_check {
	int64_t gpu_id; /* unknown in the sum */
	int64_t xcc;	/* counted within the node; unknown in the sum */
	int64_t queues; /* compute queues; unknown without mqds */
	/* Slots of them: one for each MQD; unknown without mqds, or when a queue has no MQD. */
	int64_t slots_expected;
	/*
	 * CP slots that are active; HIQs are not among them. Unknown when hqds does not have
	 * them, when registers of one could not be read, and of one process without mqds.
	 */
	int64_t slots_active;
	/* Slots that hold no queue of this text; unknown, too, without mqds. */
	int64_t slots_without_owner;
};

/*
 * Count the slots by the join, for process @pid (then slots without an owner are not its), or
 * for all with 0 and GPREEMPT_UNKNOWN. @by_xcc, if it is not NULL, gets a line for each XCC that
 * has MQDs or slots, for free().
 */
void gp_text_check(struct gp_text *text, int64_t pid, struct gp_text_check *sum,
		   struct gp_text_check **by_xcc, size_t *count);

/*
 * Lines out of pieces of a text. A carriage return ends one, too: a progress bar has many of
 * them in one line of an editor, whose number they share.
 */

/* Bytes of a line that are read; the rest is left out. */
#define GP_LINE_MAX 65536

struct gp_line {
	const char *at;
	size_t len;    /* without its end */
	bool cut;      /* longer than GP_LINE_MAX, or without an end */
	bool too_long; /* longer than GP_LINE_MAX */
};

struct gp_lines {
	/* Called for each line, whose number is @number. */
	void (*take)(void *data, struct gp_line line);
	void *data;
	uint64_t number;
	uint64_t count; /* lines of all files */
	char *carry;	/* start of a line that has no end so far */
	size_t carried;
	bool too_long;
	bool within; /* a carriage return came, and no end of line */
};

void gp_lines_feed(struct gp_lines *lines, const char *data, size_t len);
/* End the text: the rest is a line. The next line has number 1. */
void gp_lines_end(struct gp_lines *lines);
void gp_lines_free(struct gp_lines *lines);

/* The number at *@at, which moves behind it. False: there is none up to @max. */
bool gp_line_number(const char **at, const char *end, unsigned int base, uint64_t max,
		    uint64_t *out);

/* Declarations that the parts of this parser share. */

/* Number of problems that are kept; the others are counted. */
#define GP_TEXT_PROBLEMS 4096

/* Block to which the next words belong. */
enum gp_text_block {
	GP_BLOCK_NONE,
	GP_BLOCK_QUEUE, /* mqds */
	GP_BLOCK_NODE,	/* rls, until something else comes */
	GP_BLOCK_SLOT,	/* hqds */
};

struct gp_text {
	struct gp_lines lines;
	SHR_ARRAY(uint32_t, words);
	unsigned int file;
	enum gp_text_block block;
	bool have_process, have_node; /* the last process and node are those of the next lines */
	bool orphans_told;	      /* words without a head: once for each block */
	bool dumped;		      /* the slot at hand has registers */
	uint64_t first_line;	      /* first line of the dump at hand */
	uint64_t next_offset;	      /* offset that the next line of the dump must have */
	bool garbled;		      /* the line before could not be read */
	unsigned int xccs;	      /* XCCs of the node so far */
	int64_t last_xcc;	      /* number that was printed */
	int64_t first_engine;	      /* first engine of the node */
	bool content;		      /* this file has more than remarks in it */
	struct gp_text_data data;
};

/* Add a zeroed item to a list of the data; and the last item, or NULL. */
#define gp_text_add(text, name)                                            \
	shr_must(shr_array_add(&(text)->data.name, &(text)->data.n_##name, \
			       sizeof(*(text)->data.name)))
#define gp_text_last(text, name) \
	((text)->data.n_##name ? (text)->data.name + (text)->data.n_##name - 1 : NULL)

/* Note a problem of a file; @line 0: the whole file. */
void gp_text_problem_at(struct gp_text *text, unsigned int file, uint64_t line, const char *what);

#endif
