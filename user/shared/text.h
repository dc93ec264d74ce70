/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers, times and lists as text. What parses returns 0 or -errno. */
#ifndef SHARED_TEXT_H
#define SHARED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number and nothing else; -EINVAL, -ERANGE above @max. */
int shr_parse_u64(const char *text, uint64_t max, uint64_t *out);

/*
 * A time with its unit: 450us, 1.5s. Units: ns us ms s m h. -EINVAL for no number, -ENODATA for no
 * unit, -ENXIO for an unknown one, -ERANGE for more than a year.
 */
int shr_parse_duration(const char *text, uint64_t *ns);

/* Sentence for the user about an error of shr_parse_duration(). */
const char *shr_duration_error(int err);

/* Numbers with commas between, each at most @max, none twice (-EEXIST). *out is for free(). */
int shr_parse_list(const char *text, uint32_t max, uint32_t **out, size_t *count);

/* Print the shortest text that is wrong by at most a tenth: "1.5s", "450us". */
int shr_format_duration(uint64_t ns, char *buf, size_t size);

#define SHR_DECIMAL_SIZE 24 /* for any int64_t, with its sign and its end */

/*
 * Appends @value at @at and ends the text there. Returns its new end. Where there
 * are many numbers: printf() takes ten times as long.
 */
char *shr_put_decimal(char *at, int64_t value);

/* Names and command lines are others' bytes: make them harmless. */

/* Length of the UTF-8 character at s, 0 if it is none, and its code point. */
size_t shr_take_utf8(const char *s, uint32_t *code);

/*
 * Make a copy that can't do anything to a terminal, break a line or turn the text behind it
 * around: bytes that are no UTF-8, and controls, become \ and three octal digits each. With
 * @controls, those of ASCII stay, for JSON, which escapes them itself. Returns as snprintf(); a
 * buffer that is too small gets whole characters only.
 */
size_t shr_clean(char *buf, size_t size, const char *text, bool controls);

/* Make such a copy for free(). NULL: no memory. */
char *shr_clean_copy(const char *text, bool controls);

/* Does the text of that length end so, with more before? */
bool shr_ends_with(const char *text, size_t len, const char *ending);

/* Is it ASCII that can be printed? Most texts are, and shr_clean() keeps them. */
bool shr_is_plain(const char *text);

#endif
