// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of ROCm's log, their messages, and the dumps of queues at a fault. Heads seen:
 *
 *	:3:rocdevice.cpp            :480 : 6306213494 us:  Text
 *	... us: [pid:459769 tid: 0x7f8edc1c4400] Text		(6, 7)
 *	... us: 2539 : [tid:0x7ffff7e53740] Text		(5)
 *	... us: [7fb360ad23c0] Text, or ]!<tab>Text		(4)
 *	:5:                         :0   : 0012 us: Text	(AMD_LOG_MASK without 65536)
 *	5:rocvirtual.cpp           :1210: 0012 us: Text		(its begin was lost in copying)
 *	... 7270505900d us: [pid:21983 tid: 0x7f31...] Text	(6.3.2)
 *	:amd_blit_kernel.cpp       :1301: 0012 us: [pid:7 tid:0x7f] [***rocr***] Text
 *
 * The last one is of ROCr, below HIP.
 */
#include <ctype.h>
#include <string.h>

#include "shared/util.h"
#include "amdlog.h"
#include "load.h"

/* ROCr logs packets, as HIP does from level 4 on. */
#define ROCR_LEVEL	 4
#define ROCR_MARK_WITHIN 128

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* "rocvirtual.cpp           :1083:", then a time. Without a name the line is 0. */
static const char *skip_source(const char *at, const char *end)
{
	const char *name = at;
	bool named;

	while (at < end && (isalnum((unsigned char)*at) || memchr("_-./", *at, 4)))
		at++;
	named = at > name;
	if (named && (at - name < 3 || !memchr(name, '.', at - name)))
		return NULL;
	at = skip_spaces(at, end);
	if (at == end || *at++ != ':')
		return NULL;
	name = at;
	while (at < end && isdigit((unsigned char)*at))
		at++;
	if (at == name || (!named && (at - name > 1 || *name != '0')))
		return NULL;
	at = skip_spaces(at, end);
	if (at == end || *at++ != ':')
		return NULL;
	if (!named &&
	    (skip_spaces(at, end) == end || !isdigit((unsigned char)*skip_spaces(at, end))))
		return NULL;
	return at;
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

/* Skip "7270505900d us:"; NULL: it is not there, or not whole. */
static const char *skip_time(const char *at, const char *end, int64_t *us)
{
	uint64_t value;

	at = skip_spaces(at, end);
	if (!gp_line_number(&at, end, 10, INT64_MAX, &value))
		return NULL;
	*us = value;
	at = skip_spaces(at + (at < end && *at == 'd'), end);
	return end - at < 3 || memcmp(at, "us:", 3) ? NULL : at + 3;
}

/*
 * Did the record at this colon lose the one before its level, or the level, in copying? It begins
 * a word then, and a time has to follow: other text has a file's name and a line as well.
 */
static bool is_beheaded(const char *begin, const char *at, const char *end)
{
	const char *from = at - (at > begin && isdigit((unsigned char)at[-1]));
	const char *behind = skip_source(at + 1, end);
	int64_t us;

	return behind && skip_time(behind, end, &us) &&
	       (from == begin || from[-1] == ' ' || from[-1] == '\t') &&
	       (from < at || !memcmp(at + 1, "roc", 3));
}

/* Find the next record of a line, or NULL; its level, and the place behind the source's name. */
static const char *gp_record_find(const char *at, const char *end, unsigned int *level,
				  const char **behind)
{
	const char *begin = at;

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
		if (!*behind && is_beheaded(begin, at, end)) {
			*behind = skip_source(at + 1, end);
			*level = at > begin && isdigit((unsigned char)at[-1]) ? at[-1] - '0' : 0;
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
	return close + 1 + (close + 1 < end && close[1] == '!');
}

/* Time and process. False if they are not there, or not whole. */
static bool gp_record_head(struct gp_span text, struct gp_record *record)
{
	const char *at = skip_time(text.at, text.end, &record->us), *after;
	int64_t pid;

	record->pid = GPREEMPT_UNKNOWN;
	if (!at)
		return false;
	at = skip_spaces(at, text.end);
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

bool gp_records_split(struct gp_span line,
		      void (*take)(void *data, struct gp_span text, const struct gp_record *record),
		      void *data)
{
	unsigned int level = 0, next_level;
	const char *behind, *next, *at = gp_record_find(line.at, line.end, &level, &behind);
	struct gp_span text = { line.at, at ? at : line.end, line.cut || at };
	struct gp_record record;
	bool any = false;

	take(data, text, NULL);
	for (text.at = behind; at; at = next, text.at = behind) {
		next = gp_record_find(text.at, line.end, &next_level, &behind);
		text.end = next ? next : line.end;
		text.cut = line.cut || next;
		any = true;
		record.level = level;
		level = next_level;
		if (!gp_record_head(text, &record))
			record.message.at = NULL;
		take(data, text, &record);
	}
	return any;
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
	{ "Callback: Queue", GP_AMDLOG_ABORTED, "Callback: Queue", false },
	/* The form up to ROCm 5. */
	{ "Device::callbackQueue", GP_AMDLOG_FAULT, NULL, false },
	{ "Memory Fault Error", GP_AMDLOG_FAULT, NULL, false },
	{ "HW Exception Error", GP_AMDLOG_FAULT, NULL, false },
	{ "ShaderName :", GP_AMDLOG_KERNEL, NULL, false },
	{ "HIP Version:", GP_AMDLOG_VERSION, NULL, false },
};

/* hsa_amd_queue_priority_t */
static const char *const priorities[] = { "low", "normal", "high" };
/* amd::CommandQueue::Priority; medium is normal for HSA. */
static const char *const hip_priorities[] = { "low", "normal", "normal", "high" };

/* Packets: "SWq=0x, HWq=0x, id=2, priority=1, Dispatch Header = ..." or from "HWq=" on. */
static void parse_packet(struct gp_span text, struct gp_message *message)
{
	long len = text.end - text.at;
	struct gp_span head = { text.at, text.at + (len > 64 ? 64 : len), false };
	int64_t priority;

	if (!find(head, "HWq="))
		return;
	if (find(text, "Dispatch Header"))
		message->kind = GP_AMDLOG_DISPATCH;
	else if (find(text, "Header ="))
		message->kind = GP_AMDLOG_BARRIER;
	else
		return;
	if (!number(text, "HWq=", &message->hwq) || !message->hwq)
		message->kind = GP_AMDLOG_BROKEN;
	message->id = small(text, " id=");
	priority = small(text, " priority=");
	if (priority >= 0 && priority < (int64_t)ARRAY_SIZE(hip_priorities))
		message->priority = hip_priorities[priority];
	message->rptr = small(text, " rptr=");
	message->wptr = small(text, " wptr=");
	/* ROCm 5 does not print the indices; here they are printed, and cut. */
	message->cut = (message->rptr == GPREEMPT_UNKNOWN && find(text, " rptr=")) ||
		       (message->wptr == GPREEMPT_UNKNOWN && find(text, " wptr="));
}

/* Take the fault's name of HSA or its own words, its code and its kernel. */
static void fill_fault(struct gp_span text, struct gp_message *message)
{
	const char *at = find(text, "with error"), *end;

	if (at) {
		while (at < text.end && (*at == ' ' || *at == ':'))
			at++;
		for (end = at; end < text.end && (isalnum((unsigned char)*end) || *end == '_');)
			end++;
		message->error = (struct gp_span){ at, end, false };
	} else if (message->kind == GP_AMDLOG_FAULT) {
		message->error = (struct gp_span){ text.at, message->rest.at, false };
	}
	message->code = small(text, " code:");
	at = find(text, " kernel: ");
	end = at ? memrchr(at, ']', text.end - at) : NULL;
	if (end)
		message->kernel = (struct gp_span){ at, end, false };
}

static void fill(struct gp_span text, const char *hwq, struct gp_message *message)
{
	int64_t priority;

	if (hwq && (!number(text, hwq, &message->hwq) || !message->hwq)) {
		message->kind = GP_AMDLOG_BROKEN;
		return;
	}
	if (message->kind == GP_AMDLOG_ABORTED || message->kind == GP_AMDLOG_FAULT)
		fill_fault(text, message);
	if (message->kind == GP_AMDLOG_CREATED) {
		message->size = small(text, "with size ");
		priority = small(text, "with priority ");
		if (priority >= 0 && priority < (int64_t)ARRAY_SIZE(priorities))
			message->priority = priorities[priority];
	}
}

static void parse_record(struct gp_span text, struct gp_message *message)
{
	size_t i;

	if (text.end - text.at >= (ssize_t)strlen(GP_ROCR_MARK) &&
	    !memcmp(text.at, GP_ROCR_MARK, strlen(GP_ROCR_MARK)))
		text.at += strlen(GP_ROCR_MARK);
	text.at = skip_spaces(text.at, text.end);
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
	if (i == ARRAY_SIZE(messages))
		parse_packet(text, message);
}

/* Lines of a dump, by a word of each. A queue's address stands behind @queue. */
static const struct {
	const char *word;
	enum gp_amdlog_kind kind;
	const char *queue;
} dumps[] = {
	{ "Kernel Name: ", GP_AMDLOG_DUMP_KERNEL, NULL },
	{ "Queue error - HSA_STATUS_", GP_AMDLOG_DUMP_ERROR, NULL },
	{ ") hang analysis:", GP_AMDLOG_DUMP_BEGIN, NULL },
	/* "VGPU=0x SWq=0x, HWq=0x, id=1", or a packet's line behind "hang analysis" */
	{ "HWq=", GP_AMDLOG_DUMP, "HWq=" },
	/* "VGPU(0x) Queue(0x) rptr=7, wptr=9. A barrier packet in the queue!", "... is idle" */
	{ ") Queue(", GP_AMDLOG_DUMP, ") Queue(" },
	{ "rptr=", GP_AMDLOG_DUMP_INDICES, NULL },
};

static void parse_dump(struct gp_span text, struct gp_message *message)
{
	const char *at = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dumps) && !at; i++)
		at = find(text, dumps[i].word);
	if (!at)
		return;
	i--;
	message->kind = dumps[i].kind;
	message->rest = (struct gp_span){ at, text.end, false };
	if (message->kind == GP_AMDLOG_DUMP_ERROR)
		message->rest.at -= strlen("HSA_STATUS_");
	message->rptr = small(text, "rptr=");
	message->wptr = small(text, "wptr=");
	message->cut = message->rptr != GPREEMPT_UNKNOWN && message->wptr == GPREEMPT_UNKNOWN;
	if (!dumps[i].queue)
		return;
	message->by_swq = *dumps[i].queue != 'H';
	message->begins = find(text, "VGPU");
	message->idle = find(text, ") is idle");
	message->id = small(text, " id=");
	if (!number(text, dumps[i].queue, &message->hwq) || !message->hwq)
		message->kind = GP_AMDLOG_NOTHING;
}

void gp_message_parse(struct gp_span text, bool record, struct gp_message *message)
{
	uint64_t swq;

	*message = (struct gp_message){
		.id = GPREEMPT_UNKNOWN,
		.size = GPREEMPT_UNKNOWN,
		.rptr = GPREEMPT_UNKNOWN,
		.wptr = GPREEMPT_UNKNOWN,
		.code = GPREEMPT_UNKNOWN,
	};
	if (record)
		parse_record(text, message);
	else
		parse_dump(text, message);
	if (message->kind != GP_AMDLOG_NOTHING && number(text, "SWq=", &swq))
		message->swq = swq;
}
