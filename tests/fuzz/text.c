// SPDX-License-Identifier: GPL-2.0-only
/* The library's parser of mqds, hqds and rls, fed in two pieces. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lab/text.h"

/* Check that indices into an array stay within it. */
static void check(const struct gp_text_data *d)
{
	size_t i;

	for (i = 0; i < d->n_mqds; i++)
		if (d->mqds[i].queue >= d->n_queues)
			abort();
	for (i = 0; i < d->n_slots; i++)
		if (d->slots[i].owner >= (ssize_t)d->n_queues)
			abort();
	for (i = 0; i < d->n_packets; i++)
		if (d->packets[i].queue >= (ssize_t)d->n_queues)
			abort();
	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].mqds + d->queues[i].n_mqds > d->n_mqds)
			abort();
	for (i = 0; i < d->kept; i++)
		if (!d->problems[i].what)
			abort();
}

bool fuzz_one(const struct fuzz_input *in)
{
	/* Their ends are guarded. */
	size_t first = in->len / 3, rest = in->len - first;
	char *a = malloc(first ? first : 1), *b = malloc(rest ? rest : 1);
	struct gp_text_check sum, *by_xcc;
	const struct gp_text_data *d;
	struct gp_text *text = gp_text_new();
	size_t count;
	bool taken;

	memcpy(a, in->data, first);
	memcpy(b, in->data + first, rest);
	gp_text_feed(text, a, first);
	gp_text_feed(text, b, rest);
	gp_text_end(text);
	gp_text_join(text);
	gp_text_check(text, GPREEMPT_UNKNOWN, &sum, &by_xcc, &count);
	d = gp_text_get(text);
	check(d);
	taken = d->n_queues || d->n_slots || d->n_nodes;
	free(by_xcc);
	gp_text_free(text);
	free(a);
	free(b);
	return taken;
}
