// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-ctl's readers of monitor --csv and of a snapshot's sysfs. */
#include <stdlib.h>
#include <string.h>

#include "lab/load.h"

#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	struct ids_problems bad = { 0 };
	struct ctl_text out = { 0 };
	char *text = malloc(in->len + 1); /* its end is guarded */
	size_t i, lines = 1;
	bool added;

	memcpy(text, in->data, in->len);
	text[in->len] = '\0';
	for (i = 0; i < in->len; i++)
		lines += text[i] == '\n';
	if (!ids_is_csv(text, in->len))
		ids_read_sysfs(&out, text);
	else if (!ids_read_csv(&out, text, &bad) && (bad.count > lines || bad.first > lines))
		abort();
	added = out.n_ids;
	free(out.ids);
	free(text);
	return added;
}
