// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "lib/core/internal.h"
#include "lib/core/words.h"

#define WORD(name, word) word,

static const char *const types[] = { GP_VIEW_QUEUE_TYPES(WORD) };
static const char *const hardware[] = { GP_VIEW_HARDWARE(WORD) };
static const char *const schedulers[] = { GP_VIEW_SCHEDULERS(WORD) };
static const char *const units[] = { GP_VIEW_UNITS(WORD) };
static const char *const states[] = { GP_VIEW_QUEUE_STATES(WORD) };

static const struct list {
	const char *column;
	const char *const *words;
	size_t count;
} lists[] = {
	{ "type", types, ARRAY_SIZE(types) },
	{ "hardware", hardware, ARRAY_SIZE(hardware) },
	{ "scheduler", schedulers, ARRAY_SIZE(schedulers) },
	{ "unit", units, ARRAY_SIZE(units) },
	{ "state", states, ARRAY_SIZE(states) },
};

static const struct list *find_list(const char *column)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (*lists[i].column == *column &&
		    !strcmp(lists[i].column, column))
			return &lists[i];
	return NULL;
}

static int64_t find_word(const struct list *list, const char *at, size_t len)
{
	size_t i;

	for (i = 0; list && i < list->count; i++)
		if (len && *list->words[i] == *at &&
		    strlen(list->words[i]) == len &&
		    !memcmp(list->words[i], at, len))
			return i;
	return GPREEMPT_UNKNOWN;
}

int64_t gp_word_number(const char *column, const char *at, size_t len)
{
	return find_word(find_list(column), at, len);
}

int64_t gp_word_set(const char *column, const char *at, size_t len)
{
	const struct list *list = find_list(column);
	const char *end = at + len;
	int64_t set = 0;

	while (at < end) {
		const char *comma = memchr(at, ',', end - at);
		size_t part = (comma ? comma : end) - at;
		int64_t bit = find_word(list, at, part);

		if (bit >= 0)
			set |= 1LL << bit;
		at += part + 1;
	}
	return set;
}

static const char *word_of(const char *column, int64_t number)
{
	const struct list *list = find_list(column);

	if (number < 0 || number >= (int64_t)list->count)
		return GP_VIEW_UNKNOWN;
	return list->words[number];
}

const char *gpreempt_queue_type_name(int64_t type)
{
	/* Not a word of the view: sysfs knows no better. */
	return type == GPREEMPT_QUEUE_COMPUTE ? "compute" :
						word_of("type", type);
}

const char *gpreempt_hardware_name(int64_t value)
{
	return word_of("hardware", value);
}

const char *gpreempt_scheduler_name(int64_t scheduler)
{
	return word_of("scheduler", scheduler);
}

const char *gpreempt_unit_name(int64_t unit)
{
	return word_of("unit", unit);
}

int gpreempt_state_text(int64_t state, char *buf, size_t size)
{
	size_t i, used = 0;

	if (state <= 0)
		return snprintf(buf, size, GP_VIEW_UNKNOWN);
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		size_t room = used < size ? size - used : 0;

		if (!(state & (1LL << i)))
			continue;
		used += snprintf(room ? buf + used : NULL, room, "%s%s",
				 used ? "," : "", states[i]);
	}
	return used;
}
