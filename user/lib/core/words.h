/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words that columns of the view are made of, and their numbers. */
#ifndef GP_CORE_WORDS_H
#define GP_CORE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* The number of a word in a column; GPREEMPT_UNKNOWN for a new one. */
int64_t gp_word_number(const char *column, const char *at, size_t len);
/* The words of a set, a bit each; new ones are left out. */
int64_t gp_word_set(const char *column, const char *at, size_t len);

#endif
