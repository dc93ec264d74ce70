// SPDX-License-Identifier: LGPL-2.1-or-later
/* ROCm's log: lines, records, and the tables of queues and processes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/util.h"
#include "amdlog.h"
#include "load.h"

/* Entries that are kept, at most: a log of any length takes no more memory than this. */
#define QUEUES_MAX    16384
#define PROCESSES_MAX 4096
#define PROBLEMS_MAX  1024
/* Each queue has one, and QUEUES_MAX are for more. */
#define BUCKETS (4 * QUEUES_MAX)
/* Lines within which the parts of a dump stand. */
#define DUMP_WITHIN 32
#define KERNEL_MAX  4096

struct bucket {
	int64_t pid;
	uint64_t address;
	size_t queue; /* index + 1; 0: the bucket is free */
};

/*
 * Parts of dumps whose others are to come. When several processes die at once their lines stand
 * between each other's, and no part says whose it is: all of those are left out.
 */
struct pending {
	size_t count;
	bool mixed;
	uint64_t line;
};

struct gp_amdlog {
	struct gp_lines lines;
	int64_t pid;		     /* only lines of this process, or GPREEMPT_UNKNOWN */
	gp_amdlog_packet_fn *packet; /* or NULL */
	void *packet_data;
	struct bucket *buckets;
	size_t joined;	/* buckets of queues that have another one */
	size_t process; /* process of the last line */
	uint64_t line;	/* the last one counted, of all files */
	bool of_dump;	/* the text before the first record of the line is of a dump */
	bool other;	/* the line has no record so far, and is counted as other text */
	struct pending kernels, analyses, dumps, faults;
	char *kernel;  /* name of the last one of kernels */
	char *error;   /* reason that ROCr printed for the fault to come */
	size_t dumped; /* index of the queue of the last dump */
	struct gp_amdlog_data data;
	char plain[GP_LINE_MAX]; /* the line at hand, without colours */
};

static void problem(struct gp_amdlog *log, const char *what)
{
	struct gp_amdlog_problem *problem;

	if (log->data.n_problems++ >= PROBLEMS_MAX)
		return;
	problem = shr_must(shr_array_add(&log->data.problems, &log->data.kept, sizeof(*problem)));
	problem->line = log->lines.number;
	problem->what = what;
}

/* Note a part of a dump. */
static void pend(struct pending *p, uint64_t line)
{
	if (line - p->line > DUMP_WITHIN)
		*p = (struct pending){ 0 };
	p->mixed |= p->count++ > 0;
	p->line = line;
}

/* Take a part for the one at hand. 1: there is one; 0: none; -1: whose it is, is not known. */
static int take_pending(struct pending *p, uint64_t line)
{
	bool mixed = p->mixed;

	if (!p->count || line - p->line > DUMP_WITHIN)
		return 0;
	if (!--p->count)
		p->mixed = false;
	return mixed ? -1 : 1;
}

static void set(int64_t *to, int64_t value)
{
	if (value != GPREEMPT_UNKNOWN)
		*to = value;
}

static void keep_text(char **to, struct gp_span text)
{
	size_t len = text.end - text.at;

	if (!len)
		return;
	free(*to);
	*to = shr_must(strndup(text.at, len < KERNEL_MAX ? len : KERNEL_MAX));
}

/* Returns the bucket of that key, or the free one for it. */
static struct bucket *bucket(struct gp_amdlog *log, int64_t pid, uint64_t address)
{
	uint64_t key = address ^ (uint64_t)pid << 48 ^ (uint64_t)pid >> 16;
	struct bucket *b;
	size_t at;

	key *= 0x9e3779b97f4a7c15;
	key ^= key >> 29;
	key *= 0xbf58476d1ce4e5b9;
	for (at = (key >> 32) % BUCKETS;; at = (at + 1) % BUCKETS) {
		b = log->buckets + at;
		if (!b->queue || (b->pid == pid && b->address == address))
			return b;
	}
}

/*
 * Find the queue of a line without PID, which is the only one with that address; or that which
 * such lines were about so far. Returns its index + 1, or 0.
 */
static size_t find_joined(const struct gp_amdlog *log, int64_t pid, const struct gp_message *m)
{
	const struct gp_amdlog_queue *q = log->data.queues, *end = q + log->data.n_queues;
	size_t found = 0;

	for (; q < end; q++) {
		bool by_swq = m->by_swq || q->hwq == GPREEMPT_UNKNOWN;

		if ((by_swq ? q->swq : q->hwq) != (int64_t)m->hwq ||
		    (pid != GPREEMPT_UNKNOWN && q->pid != GPREEMPT_UNKNOWN))
			continue;
		if (found)
			return 0;
		found = q - log->data.queues + 1;
	}
	return found;
}

/* Returns a new queue of a record; NULL: there are too many. An address of 0 is unknown. */
static struct gp_amdlog_queue *add_queue(struct gp_amdlog *log, const struct gp_record *record,
					 const struct gp_message *m)
{
	struct gp_amdlog_data *d = &log->data;
	int64_t address = m->hwq ? (int64_t)m->hwq : GPREEMPT_UNKNOWN;
	struct gp_amdlog_queue *queue;

	if (d->n_queues == QUEUES_MAX) {
		problem(log, "about a queue more than are kept");
		return NULL;
	}
	queue = shr_must(shr_array_add(&d->queues, &d->n_queues, sizeof(*queue)));
	*queue = (struct gp_amdlog_queue){
		.pid = record->pid,
		.hwq = m->by_swq ? GPREEMPT_UNKNOWN : address,
		.swq = m->by_swq ? address : GPREEMPT_UNKNOWN,
		.id = GPREEMPT_UNKNOWN,
		.size = GPREEMPT_UNKNOWN,
		.first_rptr = GPREEMPT_UNKNOWN,
		.first_wptr = GPREEMPT_UNKNOWN,
		.last_rptr = GPREEMPT_UNKNOWN,
		.last_wptr = GPREEMPT_UNKNOWN,
		.backlog = GPREEMPT_UNKNOWN,
		.waiting = GPREEMPT_UNKNOWN,
		.aborted_us = GPREEMPT_UNKNOWN,
		.error_code = GPREEMPT_UNKNOWN,
		.first_us = record->us,
		.last_us = record->us,
		.line = log->lines.number,
	};
	return queue;
}

/* Returns the queue of a record; NULL: there are too many. */
static struct gp_amdlog_queue *get_queue(struct gp_amdlog *log, const struct gp_record *record,
					 const struct gp_message *m)
{
	struct bucket *b = bucket(log, record->pid, m->hwq);
	size_t at = b->queue ?: find_joined(log, record->pid, m);
	struct gp_amdlog_queue *queue;

	if (at) {
		queue = log->data.queues + at - 1;
		set(&queue->pid, record->pid);
		if (b->queue || log->joined++ >= QUEUES_MAX)
			return queue;
	} else {
		queue = add_queue(log, record, m);
		if (!queue)
			return NULL;
		at = log->data.n_queues;
	}
	*b = (struct bucket){ record->pid, m->hwq, at };
	return queue;
}

/* Count a record. Returns its process; NULL: there are too many. */
static struct gp_amdlog_process *
count_process(struct gp_amdlog *log, const struct gp_record *record, const struct gp_message *m)
{
	struct gp_amdlog_data *d = &log->data;
	struct gp_amdlog_process *process;
	size_t i = log->process; /* mostly the process of the last line */

	if (i >= d->n_processes || d->processes[i].pid != record->pid)
		for (i = 0; i < d->n_processes; i++)
			if (d->processes[i].pid == record->pid)
				break;
	if (i == PROCESSES_MAX) {
		problem(log, "of a process more than are kept");
		return NULL;
	}
	if (i == d->n_processes) {
		process = shr_must(shr_array_add(&d->processes, &d->n_processes, sizeof(*process)));
		process->pid = record->pid;
		process->first_us = record->us;
		process->last_us = record->us;
	}
	log->process = i;
	process = d->processes + i;
	process->lines++;
	process->kernels += m->kind == GP_AMDLOG_KERNEL;
	process->dispatches += m->kind == GP_AMDLOG_DISPATCH;
	process->life += m->kind >= GP_AMDLOG_CREATED && m->kind <= GP_AMDLOG_DELETED;
	process->deleted += m->kind == GP_AMDLOG_DELETED;
	if (record->level > process->level)
		process->level = record->level;
	if (m->kind == GP_AMDLOG_DISPATCH || m->kind == GP_AMDLOG_BARRIER)
		process->packet_level = record->level ?: GP_AMDLOG_PACKETS;
	/* Threads write as they come, and excerpts are put together. */
	if (record->us < process->first_us)
		process->first_us = record->us;
	if (process->last_us - record->us > process->back_us)
		process->back_us = process->last_us - record->us;
	if (record->us > process->last_us)
		process->last_us = record->us;
	process->run_us = process->last_us - process->first_us;
	return process;
}

/* Note indices by their times: the log's order may be another. */
static void put_indices(const struct gp_record *record, const struct gp_message *m,
			struct gp_amdlog_queue *queue)
{
	if (m->rptr == GPREEMPT_UNKNOWN || m->wptr == GPREEMPT_UNKNOWN)
		return;
	if (queue->first_wptr == GPREEMPT_UNKNOWN || record->us < queue->first_packet_us) {
		queue->first_rptr = m->rptr;
		queue->first_wptr = m->wptr;
		queue->first_packet_us = record->us;
	}
	if (queue->last_wptr == GPREEMPT_UNKNOWN || record->us >= queue->last_packet_us) {
		queue->last_rptr = m->rptr;
		queue->last_wptr = m->wptr;
		queue->last_packet_us = record->us;
	}
}

/*
 * Put the packets that wait into *@most, if there are more. The indices only grow, and are printed
 * as 32 bits; rptr is read after the packet was written, so it may be above: then none waits.
 */
static void put_waiting(const struct gp_message *m, int64_t *most)
{
	int64_t waiting = m->wptr - m->rptr;

	if (m->rptr == GPREEMPT_UNKNOWN || m->wptr == GPREEMPT_UNKNOWN)
		return;
	if (waiting < -INT64_C(0x80000000))
		waiting += INT64_C(0x100000000);
	if (waiting < 0)
		waiting = 0;
	if (waiting > *most)
		*most = waiting;
}

static void put_packet(struct gp_amdlog *log, const struct gp_record *record,
		       const struct gp_message *m, struct gp_amdlog_queue *queue)
{
	struct gp_amdlog_packet packet = {
		.line = log->lines.number,
		.us = record->us,
		.pid = record->pid,
		.hwq = m->hwq,
		.dispatch = m->kind == GP_AMDLOG_DISPATCH,
		.rptr = m->rptr,
		.wptr = m->wptr,
	};

	put_indices(record, m, queue);
	put_waiting(m, &queue->backlog);
	if (packet.dispatch)
		queue->dispatches++;
	else
		queue->barriers++;
	if (log->packet)
		log->packet(log->packet_data, &packet);
	if (m->cut)
		problem(log, "a packet whose indices are cut off");
}

/* Put the pointers at a fault, which have no time: they are the last ones. */
static void put_dump(struct gp_amdlog *log, const struct gp_message *m,
		     struct gp_amdlog_queue *queue)
{
	const struct gp_record last = { .us = queue->last_us };

	log->dumped = queue - log->data.queues;
	keep_text(&queue->kernel, m->kernel);
	if (m->rptr == GPREEMPT_UNKNOWN || m->wptr == GPREEMPT_UNKNOWN)
		return;
	put_indices(&last, m, queue);
	queue->waiting = GPREEMPT_UNKNOWN;
	put_waiting(m, &queue->waiting);
	put_waiting(m, &queue->backlog);
}

static void put_fault(struct gp_amdlog *log, const struct gp_record *record,
		      const struct gp_message *m, struct gp_amdlog_queue *queue)
{
	char *error = log->error;

	log->error = NULL;
	if (!queue->kernel)
		keep_text(&queue->kernel, m->kernel);
	if (!queue->error) {
		queue->aborted_us = record->us;
		queue->error_code = m->code;
		if (m->kind == GP_AMDLOG_FAULT && error)
			keep_text(&queue->error,
				  (struct gp_span){ error, error + strlen(error), false });
		else
			keep_text(&queue->error, m->error);
	}
	free(error);
}

/* Returns the queue; NULL: there are too many. */
static struct gp_amdlog_queue *count_message(struct gp_amdlog *log, const struct gp_record *record,
					     const struct gp_message *m)
{
	struct gp_amdlog_queue *queue = get_queue(log, record, m);

	if (!queue)
		return NULL;
	if (queue->first_us == GPREEMPT_UNKNOWN ||
	    (record->us != GPREEMPT_UNKNOWN && record->us < queue->first_us))
		queue->first_us = record->us;
	if (record->us > queue->last_us)
		queue->last_us = record->us;
	if (m->swq)
		queue->swq = m->swq;
	set(&queue->id, m->id);
	if (m->priority)
		queue->priority = m->priority;
	set(&queue->size, m->size);
	queue->created += m->kind == GP_AMDLOG_CREATED;
	queue->acquired += m->kind == GP_AMDLOG_ACQUIRED;
	queue->released += m->kind == GP_AMDLOG_RELEASED;
	queue->deleted += m->kind == GP_AMDLOG_DELETED;
	if (m->kind == GP_AMDLOG_DISPATCH || m->kind == GP_AMDLOG_BARRIER)
		put_packet(log, record, m, queue);
	else if (m->kind == GP_AMDLOG_DUMP)
		put_dump(log, m, queue);
	else if (m->kind == GP_AMDLOG_ABORTED)
		put_fault(log, record, m, queue);
	return queue;
}

/* Count a fault that names no queue: it is in the one that was dumped last, if that is sure. */
static void count_fault(struct gp_amdlog *log, const struct gp_record *record,
			const struct gp_message *m, uint64_t line)
{
	struct gp_amdlog_queue *queue;

	if (take_pending(&log->faults, line) == 1 && !log->data.queues[log->dumped].error)
		queue = log->data.queues + log->dumped;
	else
		queue = add_queue(log, record, m);
	if (queue)
		put_fault(log, record, m, queue);
}

static void take_version(struct gp_amdlog *log, struct gp_span rest,
			 struct gp_amdlog_process *process)
{
	unsigned int major, minor;
	size_t len = 0;

	while (rest.at < rest.end && *rest.at == ' ')
		rest.at++;
	while (rest.at < rest.end && *rest.at != ',' && *rest.at != ' ' &&
	       isprint((unsigned char)*rest.at) && len < sizeof(log->data.version) - 1)
		log->data.version[len++] = *rest.at++;
	log->data.version[len] = 0;
	if (process && sscanf(log->data.version, "%3u.%2u", &major, &minor) == 2)
		process->hip = major * 100 + minor;
}

static void take_record(struct gp_amdlog *log, const struct gp_record *record)
{
	struct gp_amdlog_process *process;
	struct gp_message message;

	log->data.records++;
	if (log->pid != GPREEMPT_UNKNOWN && record->pid != log->pid)
		return;
	gp_message_parse(record->message, true, &message);
	process = count_process(log, record, &message);
	switch (message.kind) {
	case GP_AMDLOG_NOTHING:
	case GP_AMDLOG_KERNEL:
		break;
	case GP_AMDLOG_VERSION:
		take_version(log, message.rest, process);
		break;
	case GP_AMDLOG_FAULT:
		count_fault(log, record, &message, log->lines.count);
		break;
	case GP_AMDLOG_BROKEN:
		problem(log, "about a queue, but its address is cut off");
		break;
	default:
		count_message(log, record, &message);
	}
}

static const struct gp_record no_record = { .us = GPREEMPT_UNKNOWN, .pid = GPREEMPT_UNKNOWN };

/* Take the line of a dump that names a queue. False: it is no dump. */
static bool open_dump(struct gp_amdlog *log, struct gp_message *m)
{
	uint64_t line = log->lines.count;
	struct gp_amdlog_queue *queue;

	if (!m->begins && !take_pending(&log->analyses, line))
		return false;
	if (!m->by_swq && take_pending(&log->kernels, line) == 1)
		m->kernel =
			(struct gp_span){ log->kernel, log->kernel + strlen(log->kernel), false };
	queue = count_message(log, &no_record, m);
	if (queue && m->idle) {
		queue->waiting = 0;
	} else if (queue) {
		pend(&log->faults, line);
		if (m->wptr == GPREEMPT_UNKNOWN && !m->by_swq)
			pend(&log->dumps, line);
	}
	return true;
}

/* Take the indices of the dump that is open. False: none is. */
static bool close_dump(struct gp_amdlog *log, const struct gp_message *m)
{
	int open = take_pending(&log->dumps, log->lines.count);

	if (open < 0)
		problem(log, "indices of a dump, but of which queue's is not known");
	else if (open && m->cut)
		problem(log, "a dump whose indices are cut off");
	else if (open)
		put_dump(log, m, log->data.queues + log->dumped);
	return open;
}

/* Take text without a record. True: it is of a dump. */
static bool take_dump(struct gp_amdlog *log, struct gp_span text)
{
	uint64_t line = log->lines.count;
	struct gp_message m;

	gp_message_parse(text, false, &m);
	switch (m.kind) {
	case GP_AMDLOG_DUMP_KERNEL:
		keep_text(&log->kernel, m.rest);
		if (m.rest.at < m.rest.end)
			pend(&log->kernels, line);
		return true;
	case GP_AMDLOG_DUMP_ERROR:
		keep_text(&log->error, m.rest);
		return true;
	case GP_AMDLOG_DUMP_BEGIN:
		pend(&log->analyses, line);
		return true;
	case GP_AMDLOG_DUMP:
		return open_dump(log, &m);
	case GP_AMDLOG_DUMP_INDICES:
		return close_dump(log, &m);
	default:
		return log->dumps.count && line - log->dumps.line < DUMP_WITHIN;
	}
}

/* Escape sequences that colour it, and bytes that are no text. */
static size_t make_plain(const char *at, size_t len, char *out)
{
	const char *end = at + len;
	size_t n = 0;

	while (at < end) {
		if (*at != '\x1b') {
			out[n++] = *at++;
			continue;
		}
		at++;
		if (at == end || *at != '[')
			continue;
		for (at++; at < end && (*at < '@' || *at > '~'); at++)
			;
		at += at < end;
	}
	return n;
}

/* Count a line of other text: one without a record in any of its pieces. */
static void count_other(struct gp_amdlog *log, bool record)
{
	if (log->line != log->lines.count) {
		log->line = log->lines.count;
		log->other = !record;
		log->data.other_lines += !record;
	} else if (record && log->other) {
		log->other = false;
		log->data.other_lines--;
	}
}

static void take_piece(void *data, struct gp_span text, const struct gp_record *record)
{
	struct gp_amdlog *log = data;

	if (!record)
		log->of_dump = take_dump(log, text);
	else if (record->message.at)
		take_record(log, record);
	else
		problem(log, "the head of this record is cut off");
}

static void take_line(void *data, struct gp_line line)
{
	struct gp_amdlog *log = data;
	size_t len = make_plain(line.at, line.len, log->plain);
	struct gp_span text = { log->plain, log->plain + len, line.cut };
	bool record = gp_records_split(text, take_piece, log);

	count_other(log, record || log->of_dump);
	/* There may have been records behind the cut. */
	if (line.too_long)
		problem(log, "too long a line");
}

struct gp_amdlog *gp_amdlog_new(int64_t pid, gp_amdlog_packet_fn *packet, void *data)
{
	struct gp_amdlog *log = shr_must(calloc(1, sizeof(*log)));

	log->buckets = shr_must(calloc(BUCKETS, sizeof(*log->buckets)));
	log->pid = pid;
	log->packet = packet;
	log->packet_data = data;
	log->lines.take = take_line;
	log->lines.data = log;
	return log;
}

void gp_amdlog_free(struct gp_amdlog *log)
{
	size_t i;

	if (!log)
		return;
	for (i = 0; i < log->data.n_queues; i++) {
		free(log->data.queues[i].error);
		free(log->data.queues[i].kernel);
	}
	free(log->kernel);
	free(log->error);
	free(log->data.queues);
	free(log->data.processes);
	free(log->data.problems);
	free(log->buckets);
	gp_lines_free(&log->lines);
	free(log);
}

void gp_amdlog_feed(struct gp_amdlog *log, const char *data, size_t len)
{
	gp_lines_feed(&log->lines, data, len);
}

/* Is what this process logs at @old up to ROCm 7.2, and at 5 since, in the log? */
static bool logs(const struct gp_amdlog_process *p, unsigned int old)
{
	bool is_old = p->packet_level == 4 || (p->hip && p->hip <= 702);

	return p->level >= (is_old ? old : 5);
}

/* A number that no line has is unknown where such lines are not logged: 0 would be a lie. */
static void forget_process(struct gp_amdlog_process *p)
{
	bool kernels = p->kernels || (!p->dispatches && p->level >= 3);

	/* A kernel without a packet: the mask left the packets out. */
	if (!p->packet_level && (p->kernels || !logs(p, 4)))
		p->dispatches = GPREEMPT_UNKNOWN;
	if (!kernels)
		p->kernels = GPREEMPT_UNKNOWN;
}

static void forget_queue(const struct gp_amdlog_data *d, struct gp_amdlog_queue *q)
{
	const struct gp_amdlog_process *p = d->processes, *end = p + d->n_processes;

	while (p < end && p->pid != q->pid)
		p++;
	if (p == end || p->dispatches == GPREEMPT_UNKNOWN) {
		q->dispatches = GPREEMPT_UNKNOWN;
		q->barriers = GPREEMPT_UNKNOWN;
	}
	if (p == end || !(p->deleted || (p->life && logs(p, 3))))
		q->deleted = GPREEMPT_UNKNOWN;
	if (p < end && p->life)
		return;
	q->created = GPREEMPT_UNKNOWN;
	q->acquired = GPREEMPT_UNKNOWN;
	q->released = GPREEMPT_UNKNOWN;
}

/* Leave out queues of dumps that are of no process, or of others. */
static void choose_queues(struct gp_amdlog *log)
{
	struct gp_amdlog_data *d = &log->data;
	size_t i, kept = 0;

	for (i = 0; i < d->n_queues; i++) {
		struct gp_amdlog_queue q = d->queues[i];

		if (q.pid != log->pid && log->pid != GPREEMPT_UNKNOWN) {
			free(q.error);
			free(q.kernel);
		} else {
			d->queues[kept++] = q;
		}
	}
	d->n_queues = kept;
}

void gp_amdlog_end(struct gp_amdlog *log)
{
	static const struct gp_message fault = { .kind = GP_AMDLOG_FAULT,
						 .code = GPREEMPT_UNKNOWN };
	struct gp_amdlog_data *d = &log->data;
	size_t i;

	gp_lines_end(&log->lines);
	d->lines = log->lines.count;
	if (log->error)
		count_fault(log, &no_record, &fault, log->faults.line);
	choose_queues(log);
	for (i = 0; i < d->n_processes; i++) {
		if (d->processes[i].level > d->level)
			d->level = d->processes[i].level;
		forget_process(d->processes + i);
	}
	for (i = 0; i < d->n_queues; i++)
		forget_queue(d, d->queues + i);
}

const struct gp_amdlog_data *gp_amdlog_get(const struct gp_amdlog *log)
{
	return &log->data;
}

#define CHUNK (1 << 20)

static const struct text_guess empty = { "", 0, "it is empty", "./program 2> FILE" };

#define KERNEL_LOG "it is a log of the kernel", "gpreempt-lab klog FILE"
#define DRIVER	   "it is the driver's text", "gpreempt-lab decode FILE"
#define PROFILE	   "it is of a profiler", "AMD_LOG_LEVEL=5 ./program 2> FILE"

/* Other text, by words that are somewhere in its first lines. */
static const struct text_guess others[] = {
	{ "queue on device", 0, DRIVER },
	{ "CP Pipe", 0, DRIVER },
	{ "] amdgpu", 0, KERNEL_LOG },
	{ "] kfd", 0, KERNEL_LOG },
	{ "[drm", 0, KERNEL_LOG },
	{ " kernel: ", 0, KERNEL_LOG },
	{ "KernelName", 0, PROFILE },
	{ "Kernel_Name", 0, PROFILE },
	{ "\"Name\",\"Calls\"", 0, PROFILE },
	{ "Process_Id", 0, PROFILE },
	{ "\"traceEvents\"", 0, PROFILE },
};

static const struct text_guess *guess_other(const char *begin, size_t len)
{
	const struct text_guess *guess = text_guess(begin, len);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others) && !guess; i++)
		if (memmem(begin, len, others[i].begin, strlen(others[i].begin)))
			guess = others + i;
	return guess;
}

int amdlog_read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   const struct text_guess **guess, struct gp_amdlog **out)
{
	__cleanup_free char *chunk = shr_must(malloc(CHUNK));
	__cleanup_fd int opened = fd;
	struct gp_amdlog *log;
	bool first = true;
	ssize_t len;

	if (fd < 0)
		return fd;
	log = gp_amdlog_new(pid, packet, data);
	if (guess)
		*guess = &empty;
	while ((len = read(opened, chunk, CHUNK)) > 0) {
		if (first && guess)
			*guess = guess_other(chunk, len);
		first = false;
		gp_amdlog_feed(log, chunk, len);
	}
	if (len < 0) {
		len = -errno;
		gp_amdlog_free(log);
		return len;
	}
	gp_amdlog_end(log);
	*out = log;
	return 0;
}
