// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a record of ROCm's log says about queues. */
#include <string.h>

#include "lib/amdlog/record.h"
#include "lib/text/lines.h"
#include "shared/macro.h"

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

/* What tells a message, and what stands before the queue's address in it. */
static const struct {
	const char *begin;
	enum gp_amdlog_kind kind;
	const char *hwq;
	bool by_swq;
} messages[] = {
	{ "Created SWq=", GP_AMDLOG_CREATED, "HWq=", false },
	/* Up to ROCm 5: the address of the software queue, as below it. */
	{ "Created hardware queue", GP_AMDLOG_CREATED, "Created hardware queue", true },
	{ "acquireQueue refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	{ "Selected queue refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	/* Since late 2025: "(mode=1): 0x... refCount: 2, depth: ..." */
	{ "Selected queue (mode=", GP_AMDLOG_ACQUIRED, "):", false },
	{ "Reusing preferred queue:", GP_AMDLOG_ACQUIRED, "Reusing preferred queue:", false },
	/* Up to ROCm 5: the count behind it is the one before. */
	{ "Selected queue with least refCount:", GP_AMDLOG_ACQUIRED, "refCount:", false },
	{ "releaseQueue refCount:", GP_AMDLOG_RELEASED, "refCount:", false },
	{ "Deleting hardware queue", GP_AMDLOG_DELETED, "Deleting hardware queue", false },
	/* Of cooperative launches, and of a stream with a CU mask. */
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
	/* ROCm 5 does not print them; these are there, and not whole. */
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

void gp_message_parse(struct gp_span text, struct gp_message *message)
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
