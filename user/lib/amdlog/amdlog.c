// SPDX-License-Identifier: LGPL-2.1-or-later
/* ROCm's log: lines, records, and the tables of queues and processes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/amdlog/amdlog.h"
#include "lib/amdlog/record.h"
#include "lib/text/lines.h"
#include "shared/array.h"

/* So many are kept: a log of any length takes no more memory than this. */
#define QUEUES_MAX    16384
#define PROCESSES_MAX 4096
#define PROBLEMS_MAX  1024
#define BUCKETS	      (2 * QUEUES_MAX)
#define TOO_LONG      "too long a line"

struct gp_amdlog {
	struct gp_lines lines;
	int64_t pid;		     /* only lines of this process, or GPREEMPT_UNKNOWN */
	gp_amdlog_packet_fn *packet; /* or NULL */
	void *packet_data;
	uint16_t *buckets; /* of queues: index + 1 */
	size_t process;	   /* the one of the last line */
	uint64_t line;	   /* the last one counted, of all files */
	bool other;	   /* it has no record so far */
	struct gp_amdlog_data data;
	char plain[GP_LINE_MAX]; /* the line at hand, without colours */
};

static int problem(struct gp_amdlog *log, const char *what)
{
	struct gp_amdlog_problem *problem;

	if (log->data.n_problems++ >= PROBLEMS_MAX)
		return 0;
	problem = shr_array_add(&log->data.problems, &log->data.kept, sizeof(*problem));
	if (!problem)
		return -ENOMEM;
	problem->line = log->lines.number;
	problem->what = what;
	return 0;
}

static size_t bucket(int64_t pid, uint64_t hwq)
{
	uint64_t key = hwq ^ (uint64_t)pid << 48 ^ (uint64_t)pid >> 16;

	key *= 0x9e3779b97f4a7c15;
	key ^= key >> 29;
	key *= 0xbf58476d1ce4e5b9;
	return (key >> 32) % BUCKETS;
}

/* The queue of a record; *out is NULL when there are too many. */
static int get_queue(struct gp_amdlog *log, const struct gp_record *record,
		     const struct gp_message *m, struct gp_amdlog_queue **out)
{
	size_t at = bucket(record->pid, m->hwq);
	int64_t address = m->hwq;
	struct gp_amdlog_data *d = &log->data;
	struct gp_amdlog_queue *queue;

	*out = NULL;
	for (; log->buckets[at]; at = (at + 1) % BUCKETS) {
		queue = d->queues + log->buckets[at] - 1;
		if ((queue->hwq == GPREEMPT_UNKNOWN ? queue->swq : queue->hwq) == address &&
		    queue->pid == record->pid) {
			*out = queue;
			return 0;
		}
	}
	if (d->n_queues == QUEUES_MAX)
		return problem(log, "about a queue more than are kept");
	queue = shr_array_add(&d->queues, &d->n_queues, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	log->buckets[at] = d->n_queues;
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
		.first_us = record->us,
		.last_us = record->us,
		.line = log->lines.number,
	};
	*out = queue;
	return 0;
}

static int count_process(struct gp_amdlog *log, const struct gp_record *record,
			 const struct gp_message *m)
{
	struct gp_amdlog_data *d = &log->data;
	struct gp_amdlog_process *process;
	size_t i = log->process; /* most often it is that of the last line */

	if (i >= d->n_processes || d->processes[i].pid != record->pid)
		for (i = 0; i < d->n_processes; i++)
			if (d->processes[i].pid == record->pid)
				break;
	if (i == PROCESSES_MAX)
		return problem(log, "of a process more than are kept");
	if (i == d->n_processes) {
		process = shr_array_add(&d->processes, &d->n_processes, sizeof(*process));
		if (!process)
			return -ENOMEM;
		process->pid = record->pid;
		process->first_us = record->us;
		process->last_us = record->us;
	}
	log->process = i;
	process = d->processes + i;
	process->lines++;
	process->kernels += m->kind == GP_AMDLOG_KERNEL;
	process->dispatches += m->kind == GP_AMDLOG_DISPATCH;
	/* Threads write as they come, and excerpts are put together. */
	if (record->us < process->first_us)
		process->first_us = record->us;
	if (process->last_us - record->us > process->back_us)
		process->back_us = process->last_us - record->us;
	if (record->us > process->last_us)
		process->last_us = record->us;
	process->run_us = process->last_us - process->first_us;
	return 0;
}

static void set(int64_t *to, int64_t value)
{
	if (value != GPREEMPT_UNKNOWN)
		*to = value;
}

/* By their times: the log's order may be another. */
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

static int put_packet(struct gp_amdlog *log, const struct gp_record *record,
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
	/* The indices only grow, and are printed as 32 bits. */
	if (m->rptr != GPREEMPT_UNKNOWN && m->wptr != GPREEMPT_UNKNOWN && m->wptr >= m->rptr &&
	    m->wptr - m->rptr > queue->backlog)
		queue->backlog = m->wptr - m->rptr;
	if (packet.dispatch)
		queue->dispatches++;
	else
		queue->barriers++;
	if (log->packet)
		log->packet(log->packet_data, &packet);
	return m->cut ? problem(log, "a packet whose indices are cut off") : 0;
}

static int count_message(struct gp_amdlog *log, const struct gp_record *record,
			 const struct gp_message *m)
{
	struct gp_amdlog_queue *queue;
	int ret = get_queue(log, record, m, &queue);

	if (!queue)
		return ret;
	if (record->us < queue->first_us)
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
		return put_packet(log, record, m, queue);
	return 0;
}

static void take_version(struct gp_amdlog *log, struct gp_span rest)
{
	size_t len = 0;

	while (rest.at < rest.end && *rest.at == ' ')
		rest.at++;
	while (rest.at < rest.end && *rest.at != ',' && *rest.at != ' ' &&
	       isprint((unsigned char)*rest.at) && len < sizeof(log->data.version) - 1)
		log->data.version[len++] = *rest.at++;
	log->data.version[len] = 0;
}

static int take_record(struct gp_amdlog *log, struct gp_record *record)
{
	struct gp_message message;
	int ret;

	log->data.records++;
	if (log->pid != GPREEMPT_UNKNOWN && record->pid != log->pid)
		return 0;
	if (record->level > log->data.level)
		log->data.level = record->level;
	gp_message_parse(record->message, &message);
	ret = count_process(log, record, &message);
	if (ret)
		return ret;
	switch (message.kind) {
	case GP_AMDLOG_NOTHING:
	case GP_AMDLOG_KERNEL:
		return 0;
	case GP_AMDLOG_VERSION:
		take_version(log, message.rest);
		return 0;
	case GP_AMDLOG_BROKEN:
		return problem(log, "about a queue, but its address is cut off");
	default:
		return count_message(log, record, &message);
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

/* A line is another one when none of its pieces has a record. */
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

/* A line can hold several records, when threads wrote at once. */
static int take_line(void *data, struct gp_line line)
{
	struct gp_amdlog *log = data;
	const char *end = log->plain + make_plain(line.at, line.len, log->plain);
	const char *at = log->plain, *next, *behind;
	unsigned int level = 0, next_level;
	struct gp_record record;
	int ret = 0;

	at = gp_record_find(at, end, &level, &behind);
	count_other(log, at);
	if (!at)
		return line.too_long ? problem(log, TOO_LONG) : 0;
	for (; at && !ret; at = next) {
		struct gp_span text = { behind, NULL, line.cut };

		next = gp_record_find(behind, end, &next_level, &behind);
		text.end = next ? next : end;
		text.cut |= !!next;
		record.level = level;
		level = next_level;
		ret = gp_record_head(text, &record) ?
			      take_record(log, &record) :
			      problem(log, "the head of this record is cut off");
	}
	/* What was behind the cut may have been records. */
	if (!ret && line.too_long)
		ret = problem(log, TOO_LONG);
	return ret;
}

int gp_amdlog_new(int64_t pid, gp_amdlog_packet_fn *packet, void *data, struct gp_amdlog **out)
{
	struct gp_amdlog *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	log->buckets = calloc(BUCKETS, sizeof(*log->buckets));
	if (!log->buckets) {
		free(log);
		return -ENOMEM;
	}
	log->pid = pid;
	log->packet = packet;
	log->packet_data = data;
	log->lines.take = take_line;
	log->lines.data = log;
	*out = log;
	return 0;
}

void gp_amdlog_free(struct gp_amdlog *log)
{
	if (!log)
		return;
	free(log->data.queues);
	free(log->data.processes);
	free(log->data.problems);
	free(log->buckets);
	gp_lines_free(&log->lines);
	free(log);
}

int gp_amdlog_feed(struct gp_amdlog *log, const char *data, size_t len)
{
	return gp_lines_feed(&log->lines, data, len);
}

int gp_amdlog_end(struct gp_amdlog *log)
{
	int ret = gp_lines_end(&log->lines);
	struct gp_amdlog_data *d = &log->data;
	size_t i;

	d->lines = log->lines.count;
	if (d->level >= GP_AMDLOG_PACKETS)
		return ret;
	/* That there are none is not known. */
	for (i = 0; i < d->n_queues; i++) {
		d->queues[i].dispatches = GPREEMPT_UNKNOWN;
		d->queues[i].barriers = GPREEMPT_UNKNOWN;
	}
	for (i = 0; i < d->n_processes; i++)
		d->processes[i].dispatches = GPREEMPT_UNKNOWN;
	return ret;
}

const struct gp_amdlog_data *gp_amdlog_get(const struct gp_amdlog *log)
{
	return &log->data;
}
