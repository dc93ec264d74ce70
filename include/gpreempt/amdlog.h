/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What ROCm's runtime logs with AMD_LOG_LEVEL 3 to 5 (ROCm 5 to 7): hardware
 * queues and what was put into them. Nothing here reads a file; the caller
 * feeds text, in pieces of any size, and memory does not grow with it. One
 * thread at a time for each handle.
 *
 * Level 3 has the queues, level 4 the packets too. What the program printed
 * between the lines of the log is counted and left alone.
 */
#ifndef GPREEMPT_AMDLOG_H
#define GPREEMPT_AMDLOG_H

#include <gpreempt/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * struct gpreempt_amdlog_queue - a hardware queue of the runtime
 * @pid: as the process itself sees it: another number inside of a container.
 *	Unknown when the log was made without it
 * @hwq: address that the runtime calls it by (HWq); 0: not in the log. ROCm 5
 *	logs the life of a queue by its software queue and its packets by HWq,
 *	and not which belong together: they are two entries then
 * @swq: of the last software queue on it; 0: not in the log
 * @id: the runtime's own number of it, unknown before ROCm 6
 * @priority: 0 low, 1 normal, 2 high
 * @size: packets
 * @created: times that it was created; again after it was deleted
 * @acquired: times that a stream took it
 * @released: times that a stream released it
 * @deleted: times that it was deleted
 * @dispatches: kernels put into it
 * @barriers: barrier packets put into it
 * @first_rptr: at its first packet
 * @first_wptr: likewise
 * @last_rptr: at its last packet
 * @last_wptr: likewise
 * @backlog: most packets that waited when one was put into it
 * @first_us: time of the log's first line about it
 * @last_us: of the last one
 * @first_packet_us: time of @first_rptr and @first_wptr
 * @last_packet_us: time of @last_rptr and @last_wptr
 * @line: first line about it
 * @reserved: 0; a later release may use it
 *
 * First and last are by the times that the log has, whatever its order.
 */
struct gpreempt_amdlog_queue {
	int64_t pid;
	uint64_t hwq;
	uint64_t swq;
	int64_t id;
	int64_t priority;
	int64_t size;
	uint64_t created;
	uint64_t acquired;
	uint64_t released;
	uint64_t deleted;
	uint64_t dispatches;
	uint64_t barriers;
	int64_t first_rptr;
	int64_t first_wptr;
	int64_t last_rptr;
	int64_t last_wptr;
	int64_t backlog;
	int64_t first_us;
	int64_t last_us;
	int64_t first_packet_us;
	int64_t last_packet_us;
	uint64_t line;
	uint64_t reserved[4];
};

/**
 * struct gpreempt_amdlog_process - a process that wrote into the log
 * @pid: as it sees itself, or unknown
 * @lines: of the log
 * @kernels: kernels that it launched, by name (level 3)
 * @dispatches: and by packet (level 4)
 * @first_us: time of its first line
 * @last_us: and of its last
 * @back_us: most that a line of it is earlier than one before; more than threads
 *	writing at once explain: the log is not in order
 * @reserved: 0; a later release may use it
 */
struct gpreempt_amdlog_process {
	int64_t pid;
	uint64_t lines;
	uint64_t kernels;
	uint64_t dispatches;
	int64_t first_us;
	int64_t last_us;
	int64_t back_us;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_amdlog_problem - a line that could not be read
 * @reserved: 0; a later release may use it
 */
struct gpreempt_amdlog_problem {
	uint64_t line;
	const char *what;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_amdlog_data - all that was read so far
 * @lines: of the file
 * @records: of the log
 * @other_lines: without one: the program's own output
 * @level: highest level seen
 * @version: of HIP, as it names itself, or ""
 * @problems: the first ones; @n_problems counts all
 */
struct gpreempt_amdlog_data {
	const struct gpreempt_amdlog_queue *queues;
	size_t n_queues;
	const struct gpreempt_amdlog_process *processes;
	size_t n_processes;
	const struct gpreempt_amdlog_problem *problems;
	size_t kept;
	uint64_t n_problems;
	uint64_t lines;
	uint64_t records;
	uint64_t other_lines;
	unsigned int level;
	char version[64];
};

/**
 * struct gpreempt_amdlog_packet - a packet that is put into a queue
 * @line: of the log
 * @us: time of it
 * @pid: as in struct gpreempt_amdlog_queue
 * @tid: the thread, as the log names it (pthread_t), 0: not said
 * @swq: likewise
 * @hwq: likewise
 * @id: likewise
 * @dispatch: a kernel; else a barrier
 * @rptr: unknown before ROCm 6
 * @wptr: likewise
 * @reserved: 0; a later release may use it
 */
struct gpreempt_amdlog_packet {
	uint64_t line;
	int64_t us;
	int64_t pid;
	uint64_t tid;
	uint64_t swq;
	uint64_t hwq;
	int64_t id;
	bool dispatch;
	int64_t rptr;
	int64_t wptr;
	uint64_t reserved[2];
};

/**
 * struct gpreempt_amdlog_options - what to look for
 * @size: sizeof(struct gpreempt_amdlog_options)
 * @pid: only lines of this process, or GPREEMPT_UNKNOWN
 * @packet: gets each packet, or NULL
 * @data: given to it
 */
struct gpreempt_amdlog_options {
	size_t size;
	int64_t pid;
	void (*packet)(void *data, const struct gpreempt_amdlog_packet *packet);
	void *data;
};

struct gpreempt_amdlog;

/**
 * gpreempt_amdlog_new() - make an empty log
 * @options: or NULL: all processes
 * @out: gets the log, for gpreempt_amdlog_free()
 *
 * Return: 0, -ENOMEM, -EINVAL or -E2BIG for @options that are shorter than any
 * that this library knew, or that ask for what it does not know.
 */
int gpreempt_amdlog_new(const struct gpreempt_amdlog_options *options,
			struct gpreempt_amdlog **out);

/** gpreempt_amdlog_free() - free a log; NULL is allowed */
void gpreempt_amdlog_free(struct gpreempt_amdlog *log);

/** gpreempt_amdlog_feed() - take in the next piece. Return: 0 or -ENOMEM */
int gpreempt_amdlog_feed(struct gpreempt_amdlog *log, const char *data,
			 size_t len);

/** gpreempt_amdlog_end() - the log ends here. Return: 0 or -ENOMEM */
int gpreempt_amdlog_end(struct gpreempt_amdlog *log);

/** gpreempt_amdlog_get() - Return: what was read, until it is fed again */
const struct gpreempt_amdlog_data *
gpreempt_amdlog_get(struct gpreempt_amdlog *log);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
