// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text-lines.h"

static int give(struct gp_lines *lines, const char *at, size_t len, bool cut)
{
	struct gp_line line = { at, len, cut };

	/* A file that went through Windows. */
	if (len && at[len - 1] == '\r')
		line.len--;
	lines->number++;
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
	size_t len = lines->carried;

	cut |= lines->too_long;
	lines->carried = 0;
	lines->too_long = false;
	return give(lines, lines->carry, len, cut);
}

static int give_whole(struct gp_lines *lines, const char *data, size_t len)
{
	if (len > GP_LINE_MAX)
		return give(lines, data, GP_LINE_MAX, true);
	return give(lines, data, len, false);
}

int gp_lines_feed(struct gp_lines *lines, const char *data, size_t len)
{
	const char *end;
	int ret = 0;

	while (len && !ret) {
		end = memchr(data, '\n', len);
		if (!end)
			return carry(lines, data, len);
		if (lines->carried) {
			ret = carry(lines, data, end - data);
			if (!ret)
				ret = give_carried(lines, false);
		} else {
			ret = give_whole(lines, data, end - data);
		}
		len -= end + 1 - data;
		data = end + 1;
	}
	return ret;
}

int gp_lines_end(struct gp_lines *lines)
{
	int ret = lines->carried ? give_carried(lines, true) : 0;

	lines->number = 0;
	return ret;
}

void gp_lines_free(struct gp_lines *lines)
{
	free(lines->carry);
}
