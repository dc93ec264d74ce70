// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "util.h"

#define MAX_DURATION_NS (366 * 24 * 3600 * NSEC_PER_SEC)

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "h", 3600 * NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC }, { "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC },      { "us", NSEC_PER_USEC },	  { "ns", 1 },
};

/* Digits at *text, which moves behind them. */
static int take_digits(const char **text, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++) {
		unsigned int digit = **text - '0';

		if (digit > max || value > (max - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*out = value;
	return 0;
}

int shr_parse_u64(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t value;
	int ret;

	ret = take_digits(&text, max, &value);
	if (ret)
		return ret;
	if (*text)
		return -EINVAL;
	*out = value;
	return 0;
}

static const struct unit *find_unit(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* The digits behind a point, as a part of unit_ns; finer than 1 ns is cut. */
static int take_fraction(const char **text, uint64_t *millionths)
{
	uint64_t scale = 100000, value = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++) {
		value += (**text - '0') * scale;
		scale /= 10;
	}
	*millionths = value;
	return 0;
}

int shr_parse_duration(const char *text, uint64_t *ns)
{
	uint64_t whole, millionths = 0;
	const struct unit *unit;
	int ret;

	ret = take_digits(&text, MAX_DURATION_NS, &whole);
	if (ret)
		return ret;
	if (*text == '.') {
		text++;
		ret = take_fraction(&text, &millionths);
		if (ret)
			return ret;
	}
	unit = find_unit(*text ? text : "s");
	if (!unit)
		return -ENXIO;
	if (whole > MAX_DURATION_NS / unit->ns)
		return -ERANGE;
	*ns = whole * unit->ns + unit->ns * millionths / 1000000;
	return 0;
}

const char *shr_duration_error(int err)
{
	switch (err) {
	case -ENXIO:
		return "it has an unknown unit; units are ns, us, ms, s, m, h";
	case -ERANGE:
		return "it is more than a year";
	default:
		return "a time is a number of seconds, or has a unit, as in 500us, 100ms, 5s";
	}
}

int shr_parse_list(const char *text, uint32_t max, uint32_t **out, size_t *count)
{
	__cleanup_free uint32_t *list = NULL;
	size_t n = 0;

	/* A number takes a digit, and each but the last a comma. */
	list = calloc(strlen(text) / 2 + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (;; text++) {
		uint64_t value;
		int ret = take_digits(&text, UINT32_MAX, &value);

		if (ret)
			return ret;
		if (value > max)
			return -ERANGE;
		if (shr_has(list, n, value))
			return -EEXIST;
		list[n++] = value;
		if (*text != ',')
			break;
	}
	if (*text)
		return -EINVAL;
	*out = list;
	*count = n;
	list = NULL;
	return 0;
}

int shr_format_duration(uint64_t ns, char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units) - 1; i++)
		if (ns >= units[i].ns)
			break;
	if (ns % units[i].ns == 0 || ns / units[i].ns >= 100)
		return snprintf(buf, size, "%llu%s", (unsigned long long)(ns / units[i].ns),
				units[i].name);
	return snprintf(buf, size, "%llu.%llu%s", (unsigned long long)(ns / units[i].ns),
			(unsigned long long)(ns % units[i].ns * 10 / units[i].ns), units[i].name);
}

char *shr_put_decimal(char *at, int64_t value)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[SHR_DECIMAL_SIZE];
	size_t n = sizeof(digits);

	do {
		digits[--n] = '0' + rest % 10;
		rest /= 10;
	} while (rest);
	if (value < 0)
		digits[--n] = '-';
	memcpy(at, digits + n, sizeof(digits) - n);
	at += sizeof(digits) - n;
	*at = '\0';
	return at;
}

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

/* Characters that move the cursor, end a line, or change the order of the text behind them. */
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
		/* The text goes on only if all before it fitted. */
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

bool shr_ends_with(const char *text, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	return len > n && !memcmp(text + len - n, ending, n);
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
