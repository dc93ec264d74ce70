/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and command lines are others' bytes: make them harmless. */
#ifndef SHARED_CLEAN_H
#define SHARED_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 character at s, 0 if it is none, and its code point. */
size_t shr_take_utf8(const char *s, uint32_t *code);

/*
 * A copy that can't do anything to a terminal, break a line or turn the text behind it around:
 * what is no UTF-8, and what controls, becomes \ and three octal digits for each byte. With
 * controls those of ASCII stay, for JSON, which has its own way to write them. Returns what
 * snprintf() would; a buffer that is too small gets whole characters only.
 */
size_t shr_clean(char *buf, size_t size, const char *text, bool controls);

/* The same for free(). NULL: no memory. */
char *shr_clean_copy(const char *text, bool controls);

/* Is it ASCII that can be printed? Most texts are, and shr_clean() keeps them. */
bool shr_is_plain(const char *text);

#endif
