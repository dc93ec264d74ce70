// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Heads of the records in ROCm's log. Seen:
 *
 *	:3:rocdevice.cpp            :480 : 6306213494 us:  Text
 *	... us: [pid:459769 tid: 0x7f8edc1c4400] Text		(6, 7)
 *	... us: 2539 : [tid:0x7ffff7e53740] Text		(5)
 *	... us: [7fb360ad23c0] Text				(4)
 *	... 7270505900d us: [pid:21983 tid: 0x7f31...] Text	(6.3.2)
 *	:amd_blit_kernel.cpp       :1301: 0012 us: [pid:7 tid:0x7f] [***rocr***] Text
 *
 * The last one is of ROCr, below HIP.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/util.h"
#include "amdlog.h"
#include "load.h"

/* ROCr logs packets, as HIP does from level 4 on. */
#define ROCR_LEVEL	 4
#define ROCR_MARK_WITHIN 128

/* "rocvirtual.cpp           :1083:", then a time. */
static const char *skip_source(const char *at, const char *end)
{
	const char *name = at;

	while (at < end && (isalnum((unsigned char)*at) || memchr("_-./", *at, 4)))
		at++;
	if (at - name < 3 || !memchr(name, '.', at - name))
		return NULL;
	while (at < end && *at == ' ')
		at++;
	if (at == end || *at++ != ':')
		return NULL;
	name = at;
	while (at < end && isdigit((unsigned char)*at))
		at++;
	if (at == name)
		return NULL;
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == ':' ? at + 1 : NULL;
}

/* Skip ROCr's mark, which alone tells such a line from a compiler's if there is no level. */
static const char *skip_rocr(const char *at, const char *end)
{
	const char *behind = skip_source(at + 1, end);
	size_t left;

	if (!behind)
		return NULL;
	left = end - behind < ROCR_MARK_WITHIN ? end - behind : ROCR_MARK_WITHIN;
	return memmem(behind, left, GP_ROCR_MARK, strlen(GP_ROCR_MARK)) ? behind : NULL;
}

/* Find the next record of a line, or NULL; its level, and the place behind the source's name. */
static const char *gp_record_find(const char *at, const char *end, unsigned int *level,
				  const char **behind)
{
	for (; end - at > 8; at++) {
		at = memchr(at, ':', end - at);
		if (!at || end - at <= 8)
			return NULL;
		if (at[1] >= '0' && at[1] <= '9' && at[2] == ':') {
			*behind = skip_source(at + 3, end);
			*level = at[1] - '0';
		} else {
			*behind = skip_rocr(at, end);
			*level = ROCR_LEVEL;
		}
		if (*behind)
			return at;
	}
	return NULL;
}

static bool take_decimal(const char **at, const char *end, int64_t *out)
{
	uint64_t value;

	if (!gp_line_number(at, end, 10, INT64_MAX, &value))
		return false;
	*out = value;
	return true;
}

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

static bool is_cut(const char *at, const char *end)
{
	size_t len = end - at < 4 ? end - at : 4;

	return !memcmp(at, "pid:", len) || !memcmp(at, "tid:", len);
}

/* The PID in "[pid:459769 tid: 0x7f8edc1c4400]"; also "[tid:0x...]" and "[7f...]" */
static const char *take_brackets(const char *at, const char *end, struct gp_record *record)
{
	const char *close = memchr(at, ']', end - at);
	const char *pid, *number;

	/* The line was wrapped: its rest stands in the next line. */
	if ((!close || close - at > 64) && is_cut(at + 1, end))
		return NULL;
	if (!close || close - at > 64)
		return at;
	pid = memmem(at, close - at, "pid:", 4);
	if (pid) {
		number = skip_spaces(pid + 4, close);
		if (!take_decimal(&number, close, &record->pid))
			record->pid = GPREEMPT_UNKNOWN;
	} else if (!memmem(at, close - at, "tid:", 4) && !isxdigit((unsigned char)at[1])) {
		return at; /* the brackets are part of the text */
	}
	return close + 1;
}

/* Time and process. False if they are not there, or not whole. */
static bool gp_record_head(struct gp_span text, struct gp_record *record)
{
	const char *at = skip_spaces(text.at, text.end), *after;
	int64_t pid;

	record->pid = GPREEMPT_UNKNOWN;
	if (!take_decimal(&at, text.end, &record->us))
		return false;
	if (at < text.end && *at == 'd')
		at++;
	at = skip_spaces(at, text.end);
	if (text.end - at < 3 || memcmp(at, "us:", 3))
		return false;
	at = skip_spaces(at + 3, text.end);
	after = at;
	if (take_decimal(&after, text.end, &pid)) {
		after = skip_spaces(after, text.end);
		if (after < text.end && *after == ':') {
			record->pid = pid;
			at = skip_spaces(after + 1, text.end);
		}
	}
	if (at < text.end && *at == '[')
		at = take_brackets(at, text.end, record);
	if (!at)
		return false;
	record->message = text;
	record->message.at = skip_spaces(at, text.end);
	return true;
}

/* Messages about queues in a record of ROCm's log. */

/* Case does not count: ROCm 5 begins some of them with a small letter. */
static const char *find(struct gp_span text, const char *word)
{
	size_t len = strlen(word);
	const char *at;

	for (at = text.at; at < text.end && (size_t)(text.end - at) >= len; at++)
		if ((*at | 0x20) == (*word | 0x20) && !strncasecmp(at, word, len))
			return at + len;
	return NULL;
}

/*
 * The number behind a word, decimal or with 0x. One that the record ends
 * within may lack digits: it counts only if the record is whole.
 */
static bool number(struct gp_span text, const char *word, uint64_t *out)
{
	const char *at = find(text, word);
	unsigned int base = 10;

	if (!at)
		return false;
	while (at < text.end && *at == ' ')
		at++;
	if (text.end - at > 2 && at[0] == '0' && at[1] == 'x') {
		base = 16;
		at += 2;
	}
	return gp_line_number(&at, text.end, base, UINT64_MAX, out) &&
	       !(at == text.end && text.cut);
}

static int64_t small(struct gp_span text, const char *word)
{
	uint64_t value;

	return number(text, word, &value) && value <= INT64_MAX ? (int64_t)value : GPREEMPT_UNKNOWN;
}

/* Words by which a message is known, and the words before the queue's address in it. */
static const struct {
	const char *begin;
	enum gp_amdlog_kind kind;
	const char *hwq;
	bool by_swq;
} messages[] = {
	{ "Created SWq=", GP_AMDLOG_CREATED, "HWq=", false },
	/* Form up to ROCm 5: the address of the software queue, as below it. */
	{ "Created hardware queue", GP_AMDLOG_CREATED, "Created hardware queue", true },
	{ "acquireQueue refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	{ "Selected queue refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	/* The form since late 2025: "(mode=1): 0x... refCount: 2, depth: ..." */
	{ "Selected queue (mode=", GP_AMDLOG_ACQUIRED, "):", false },
	{ "Reusing preferred queue:", GP_AMDLOG_ACQUIRED, "Reusing preferred queue:", false },
	/* Form up to ROCm 5: the count behind it is the one before the change. */
	{ "Selected queue with least refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	{ "releaseQueue refCount:", GP_AMDLOG_RELEASED, "refCount:", false },
	{ "Deleting hardware queue", GP_AMDLOG_DELETED, "Deleting hardware queue", false },
	/* Queues of cooperative launches, and of a stream with a CU mask. */
	{ "Deleting CG enabled hardware queue", GP_AMDLOG_DELETED,
	  "Deleting CG enabled hardware queue", false },
	{ "ShaderName :", GP_AMDLOG_KERNEL, NULL, false },
	{ "HIP Version:", GP_AMDLOG_VERSION, NULL, false },
};

/* Packets: "SWq=0x, HWq=0x, id=2, Dispatch Header = ..." or from "HWq=" on. */
static bool is_packet(struct gp_span text, struct gp_message *message)
{
	long len = text.end - text.at;
	struct gp_span head = { text.at, text.at + (len > 64 ? 64 : len), false };

	if (!find(head, "HWq="))
		return false;
	if (find(text, "Dispatch Header"))
		message->kind = GP_AMDLOG_DISPATCH;
	else if (find(text, "Header ="))
		message->kind = GP_AMDLOG_BARRIER;
	else
		return false;
	if (!number(text, "HWq=", &message->hwq) || !message->hwq)
		message->kind = GP_AMDLOG_BROKEN;
	message->id = small(text, " id=");
	message->rptr = small(text, " rptr=");
	message->wptr = small(text, " wptr=");
	/* ROCm 5 does not print the indices; here they are printed, and cut. */
	message->cut = (message->rptr == GPREEMPT_UNKNOWN && find(text, " rptr=")) ||
		       (message->wptr == GPREEMPT_UNKNOWN && find(text, " wptr="));
	return true;
}

/* hsa_amd_queue_priority_t */
static const char *const priorities[] = { "low", "normal", "high" };

static void fill(struct gp_span text, const char *hwq, struct gp_message *message)
{
	int64_t priority;

	if (hwq && (!number(text, hwq, &message->hwq) || !message->hwq)) {
		message->kind = GP_AMDLOG_BROKEN;
		return;
	}
	if (message->kind == GP_AMDLOG_CREATED) {
		message->size = small(text, "with size ");
		priority = small(text, "with priority ");
		if (priority >= 0 && priority < (int64_t)ARRAY_SIZE(priorities))
			message->priority = priorities[priority];
	}
}

static void gp_message_parse(struct gp_span text, struct gp_message *message)
{
	size_t i;

	if (text.end - text.at >= (ssize_t)strlen(GP_ROCR_MARK) &&
	    !memcmp(text.at, GP_ROCR_MARK, strlen(GP_ROCR_MARK)))
		text.at += strlen(GP_ROCR_MARK);
	while (text.at < text.end && *text.at == ' ')
		text.at++;
	*message = (struct gp_message){
		.id = GPREEMPT_UNKNOWN,
		.size = GPREEMPT_UNKNOWN,
		.rptr = GPREEMPT_UNKNOWN,
		.wptr = GPREEMPT_UNKNOWN,
	};
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		size_t len = strlen(messages[i].begin);

		if ((size_t)(text.end - text.at) < len ||
		    strncasecmp(text.at, messages[i].begin, len))
			continue;
		message->kind = messages[i].kind;
		message->by_swq = messages[i].by_swq;
		message->rest = (struct gp_span){ text.at + len, text.end, text.cut };
		fill(text, messages[i].hwq, message);
		break;
	}
	if (i < ARRAY_SIZE(messages) || is_packet(text, message)) {
		uint64_t swq;

		if (number(text, "SWq=", &swq))
			message->swq = swq;
	}
}

/* ROCm's log: lines, records, and the tables of queues and processes. */

/* Entries that are kept, at most: a log of any length takes no more memory than this. */
#define QUEUES_MAX    16384
#define PROCESSES_MAX 4096
#define PROBLEMS_MAX  1024
#define BUCKETS	      (2 * QUEUES_MAX)

struct gp_amdlog {
	struct gp_lines lines;
	int64_t pid;		     /* only lines of this process, or GPREEMPT_UNKNOWN */
	gp_amdlog_packet_fn *packet; /* or NULL */
	void *packet_data;
	uint16_t *buckets; /* index + 1 of a queue */
	size_t process;	   /* process of the last line */
	uint64_t line;	   /* the last one counted, of all files */
	bool other;	   /* the line has no record so far, and is counted as other text */
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

static size_t bucket(int64_t pid, uint64_t hwq)
{
	uint64_t key = hwq ^ (uint64_t)pid << 48 ^ (uint64_t)pid >> 16;

	key *= 0x9e3779b97f4a7c15;
	key ^= key >> 29;
	key *= 0xbf58476d1ce4e5b9;
	return (key >> 32) % BUCKETS;
}

/* Returns the queue of a record; NULL: there are too many. */
static struct gp_amdlog_queue *get_queue(struct gp_amdlog *log, const struct gp_record *record,
					 const struct gp_message *m)
{
	size_t at = bucket(record->pid, m->hwq);
	int64_t address = m->hwq;
	struct gp_amdlog_data *d = &log->data;
	struct gp_amdlog_queue *queue;

	for (; log->buckets[at]; at = (at + 1) % BUCKETS) {
		queue = d->queues + log->buckets[at] - 1;
		if ((queue->hwq == GPREEMPT_UNKNOWN ? queue->swq : queue->hwq) == address &&
		    queue->pid == record->pid)
			return queue;
	}
	if (d->n_queues == QUEUES_MAX) {
		problem(log, "about a queue more than are kept");
		return NULL;
	}
	queue = shr_must(shr_array_add(&d->queues, &d->n_queues, sizeof(*queue)));
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
	return queue;
}

static void count_process(struct gp_amdlog *log, const struct gp_record *record,
			  const struct gp_message *m)
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
		return;
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
	/* Threads write as they come, and excerpts are put together. */
	if (record->us < process->first_us)
		process->first_us = record->us;
	if (process->last_us - record->us > process->back_us)
		process->back_us = process->last_us - record->us;
	if (record->us > process->last_us)
		process->last_us = record->us;
	process->run_us = process->last_us - process->first_us;
}

static void set(int64_t *to, int64_t value)
{
	if (value != GPREEMPT_UNKNOWN)
		*to = value;
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
	if (m->cut)
		problem(log, "a packet whose indices are cut off");
}

static void count_message(struct gp_amdlog *log, const struct gp_record *record,
			  const struct gp_message *m)
{
	struct gp_amdlog_queue *queue = get_queue(log, record, m);

	if (!queue)
		return;
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
		put_packet(log, record, m, queue);
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

static void take_record(struct gp_amdlog *log, struct gp_record *record)
{
	struct gp_message message;

	log->data.records++;
	if (log->pid != GPREEMPT_UNKNOWN && record->pid != log->pid)
		return;
	if (record->level > log->data.level)
		log->data.level = record->level;
	gp_message_parse(record->message, &message);
	count_process(log, record, &message);
	switch (message.kind) {
	case GP_AMDLOG_NOTHING:
	case GP_AMDLOG_KERNEL:
		break;
	case GP_AMDLOG_VERSION:
		take_version(log, message.rest);
		break;
	case GP_AMDLOG_BROKEN:
		problem(log, "about a queue, but its address is cut off");
		break;
	default:
		count_message(log, record, &message);
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

/* A line can hold several records, when threads wrote at once. */
static void take_line(void *data, struct gp_line line)
{
	struct gp_amdlog *log = data;
	const char *end = log->plain + make_plain(line.at, line.len, log->plain);
	const char *at = log->plain, *next, *behind;
	unsigned int level = 0, next_level;
	struct gp_record record;

	at = gp_record_find(at, end, &level, &behind);
	count_other(log, at);
	for (; at; at = next) {
		struct gp_span text = { behind, NULL, line.cut };

		next = gp_record_find(behind, end, &next_level, &behind);
		text.end = next ? next : end;
		text.cut |= !!next;
		record.level = level;
		level = next_level;
		if (gp_record_head(text, &record))
			take_record(log, &record);
		else
			problem(log, "the head of this record is cut off");
	}
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
	if (!log)
		return;
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

void gp_amdlog_end(struct gp_amdlog *log)
{
	struct gp_amdlog_data *d = &log->data;
	size_t i;

	gp_lines_end(&log->lines);
	d->lines = log->lines.count;
	if (d->level >= GP_AMDLOG_PACKETS)
		return;
	/* The number is unknown: at this log level packets are not logged, and 0 would be a lie. */
	for (i = 0; i < d->n_queues; i++) {
		d->queues[i].dispatches = GPREEMPT_UNKNOWN;
		d->queues[i].barriers = GPREEMPT_UNKNOWN;
	}
	for (i = 0; i < d->n_processes; i++)
		d->processes[i].dispatches = GPREEMPT_UNKNOWN;
}

const struct gp_amdlog_data *gp_amdlog_get(const struct gp_amdlog *log)
{
	return &log->data;
}

#define CHUNK (1 << 20)

int amdlog_read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   const struct text_guess **guess, struct gp_amdlog **out)
{
	struct gp_amdlog *log = gp_amdlog_new(pid, packet, data);
	char *chunk = shr_must(malloc(CHUNK));
	bool first = true;
	ssize_t len;
	int ret;

	while ((len = read(fd, chunk, CHUNK)) > 0) {
		if (first && guess)
			*guess = text_guess(chunk, len);
		first = false;
		gp_amdlog_feed(log, chunk, len);
	}
	ret = len < 0 ? -errno : 0;
	free(chunk);
	gp_amdlog_end(log);
	if (ret)
		gp_amdlog_free(log);
	else
		*out = log;
	return ret;
}
