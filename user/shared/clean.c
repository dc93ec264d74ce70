// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/clean.h"
#include "shared/macro.h"

size_t shr_take_utf8(const char *text, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t len, i;

	if (*s < 0x80) {
		*code = *s;
		return 1;
	}
	len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 0;
	if (!len || *s > 0xf4)
		return 0;
	*code = *s & (0xff >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[len] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return len;
}

/* What moves the cursor, ends a line, or changes the order of what follows. */
static const struct {
	uint32_t first;
	uint32_t last;
} controls[] = {
	{ 0, 0x1f },	    { 0x7f, 0x9f },	{ 0x61c, 0x61c },   { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x206f }, { 0xfff9, 0xfffb },
};

static bool is_control(uint32_t code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(controls); i++)
		if (code >= controls[i].first && code <= controls[i].last)
			return true;
	return false;
}

size_t shr_clean(char *buf, size_t size, const char *text, bool keep)
{
	size_t used = 0, written = 0;

	while (*text) {
		char some[4 * 4 + 1];
		size_t i, n, put = 0;
		uint32_t code;

		n = shr_take_utf8(text, &code);
		if (n && ((keep && code < 0x20) || !is_control(code))) {
			memcpy(some, text, n);
			put = n;
		} else {
			n = n ? n : 1;
			for (i = 0; i < n; i++)
				put += sprintf(some + put, "\\%03o", (unsigned char)text[i]);
		}
		/* Once it is full, nothing shorter follows. */
		if (used == written && written + put < size) {
			memcpy(buf + written, some, put);
			written += put;
		}
		used += put;
		text += n;
	}
	if (size)
		buf[written] = '\0';
	return used;
}

bool shr_is_plain(const char *text)
{
	while (*text >= ' ' && *text < 0x7f)
		text++;
	return !*text;
}

char *shr_clean_copy(const char *text, bool keep)
{
	size_t size;
	char *copy;

	if (shr_is_plain(text))
		return strdup(text);
	size = 4 * strlen(text) + 1;
	copy = malloc(size);
	if (copy)
		shr_clean(copy, size, text, keep);
	return copy;
}
