// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/lines.h"

/* What some editors put before a text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MARK_LEN	3

static int give(struct gp_lines *lines, struct gp_line line)
{
	if (!lines->within) {
		lines->number++;
		lines->count++;
		if (lines->number == 1 && line.len >= MARK_LEN &&
		    !memcmp(line.at, BYTE_ORDER_MARK, MARK_LEN)) {
			line.at += MARK_LEN;
			line.len -= MARK_LEN;
		}
	}
	return lines->take(lines->data, line);
}

static int carry(struct gp_lines *lines, const char *data, size_t len)
{
	if (!lines->carry) {
		lines->carry = malloc(GP_LINE_MAX);
		if (!lines->carry)
			return -ENOMEM;
	}
	if (len > GP_LINE_MAX - lines->carried) {
		len = GP_LINE_MAX - lines->carried;
		lines->too_long = true;
	}
	memcpy(lines->carry + lines->carried, data, len);
	lines->carried += len;
	return 0;
}

static int give_carried(struct gp_lines *lines, bool cut)
{
	struct gp_line line = {
		lines->carry,
		lines->carried,
		cut || lines->too_long,
		lines->too_long,
	};

	lines->carried = 0;
	lines->too_long = false;
	return give(lines, line);
}

static int give_whole(struct gp_lines *lines, const char *data, size_t len)
{
	bool too_long = len > GP_LINE_MAX;

	return give(lines,
		    (struct gp_line){ data, too_long ? GP_LINE_MAX : len, too_long, too_long });
}

/* A line, or what is up to a carriage return in it; @end is behind it. */
static int take_piece(struct gp_lines *lines, const char *data, const char *end)
{
	int ret = 0;

	if (lines->carried) {
		ret = carry(lines, data, end - data);
		if (!ret)
			ret = give_carried(lines, false);
	} else if (end > data || !lines->within || *end == '\r') {
		ret = give_whole(lines, data, end - data);
	}
	lines->within = *end == '\r';
	return ret;
}

int gp_lines_feed(struct gp_lines *lines, const char *data, size_t len)
{
	const char *stop = data + len;
	int ret = 0;

	while (data < stop && !ret) {
		const char *line_end = memchr(data, '\n', stop - data);
		const char *end, *last = line_end ? line_end : stop;

		while (!ret && (end = memchr(data, '\r', last - data))) {
			ret = take_piece(lines, data, end);
			data = end + 1;
		}
		if (ret)
			break;
		if (!line_end)
			return data < stop ? carry(lines, data, stop - data) : 0;
		ret = take_piece(lines, data, line_end);
		data = line_end + 1;
	}
	return ret;
}

int gp_lines_end(struct gp_lines *lines)
{
	int ret = lines->carried ? give_carried(lines, true) : 0;

	lines->number = 0;
	lines->within = false;
	return ret;
}

void gp_lines_free(struct gp_lines *lines)
{
	free(lines->carry);
}

bool gp_line_number(const char **at, const char *end, unsigned int base, uint64_t max,
		    uint64_t *out)
{
	const char *start = *at;
	uint64_t value = 0;
	unsigned int digit;

	for (; *at < end; (*at)++) {
		if (**at >= '0' && **at <= '9')
			digit = **at - '0';
		else if (base == 16 && isxdigit((unsigned char)**at))
			digit = (**at | 0x20) - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value) || value > max)
			return false;
	}
	*out = value;
	return *at > start;
}
