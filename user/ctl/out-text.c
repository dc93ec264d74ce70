// SPDX-License-Identifier: GPL-2.0-only
/* Names and command lines are others' bytes: make them harmless. */
#include <stdlib.h>
#include <string.h>

#include "ctl/out.h"

/* Length of the UTF-8 character at s, 0 if it is none, and its code point. */
static size_t take_utf8(const unsigned char *s, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
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
	if (*code < smallest[len] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return len;
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       code == 0x2028 || code == 0x2029 ||
	       /* They change the order of what follows. */
	       (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

char *out_clean(const char *text, bool controls)
{
	const unsigned char *s = (const unsigned char *)text;
	char *copy = malloc(4 * strlen(text) + 1), *at = copy;

	if (!copy)
		return NULL;
	while (*s) {
		uint32_t code;
		size_t len = take_utf8(s, &code);

		if (len && (controls || !is_control(code))) {
			memcpy(at, s, len);
			at += len;
			s += len;
			continue;
		}
		for (len = len ? len : 1; len; len--)
			at += sprintf(at, "\\%03o", *s++);
	}
	*at = '\0';
	return copy;
}
