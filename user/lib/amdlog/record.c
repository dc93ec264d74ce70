// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a record of ROCm's log begins with. Seen:
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
#include <string.h>

#include "lib/amdlog/record.h"
#include "lib/text/lines.h"

/* It logs packets, as HIP does from level 4 on. */
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

/* Without a level, only its mark tells such a line from a compiler's. */
static const char *skip_rocr(const char *at, const char *end)
{
	const char *behind = skip_source(at + 1, end);
	size_t left;

	if (!behind)
		return NULL;
	left = end - behind < ROCR_MARK_WITHIN ? end - behind : ROCR_MARK_WITHIN;
	return memmem(behind, left, GP_ROCR_MARK, strlen(GP_ROCR_MARK)) ? behind : NULL;
}

const char *gp_record_find(const char *at, const char *end, unsigned int *level,
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

	/* Of a line that was wrapped, which had more. */
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
		return at; /* what is in there is of the text */
	}
	return close + 1;
}

bool gp_record_head(struct gp_span text, struct gp_record *record)
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
