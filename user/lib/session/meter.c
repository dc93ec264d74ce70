// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "lib/session/meter.h"

#define SLOTS (GP_METER_SLOTS + 1)

/* Slots up to that number are there; those that are new are empty. */
static void advance(struct gp_meter *m, uint64_t number)
{
	if (number > m->newest + SLOTS) {
		memset(m->slot, 0, sizeof(m->slot));
		m->newest = number;
	}
	while (m->newest < number)
		m->slot[++m->newest % SLOTS] = 0;
}

static void add(struct gp_meter *m, uint64_t from, uint64_t to)
{
	m->total += to - from;
	m->end = to;
	/* What is older than the window is in none of the slots. */
	if (to - from > GP_METER_WINDOW)
		from = to - GP_METER_WINDOW;
	while (from < to) {
		uint64_t number = from / GP_METER_SLOT_NS;
		uint64_t end = (number + 1) * GP_METER_SLOT_NS;

		if (end > to)
			end = to;
		advance(m, number);
		m->slot[number % SLOTS] += end - from;
		from = end;
	}
}

void gp_meter_set(struct gp_meter *m, bool so, uint64_t now)
{
	if (m->since && now > m->since)
		add(m, m->since, now);
	m->since = so ? now : 0;
}

void gp_meter_add(struct gp_meter *m, uint64_t from, uint64_t now)
{
	uint64_t to = m->since ? m->since : now;

	if (from < m->end)
		from = m->end;
	if (from < to)
		add(m, from, to);
}

uint64_t gp_meter_recent(struct gp_meter *m, uint64_t now)
{
	uint64_t sum = 0;
	size_t i;

	gp_meter_set(m, m->since, now);
	advance(m, now / GP_METER_SLOT_NS);
	for (i = 0; i < SLOTS; i++)
		sum += m->slot[i];
	return sum;
}

uint64_t gp_meter_total(struct gp_meter *m, uint64_t now)
{
	gp_meter_set(m, m->since, now);
	return m->total;
}
