// SPDX-License-Identifier: GPL-2.0-only
/* The library's parser of pid/<n>/queues. */
#include <stdlib.h>
#include <string.h>

#include <gpreempt/gpreempt.h>

#include "lib/see/words.h"
#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	struct gpreempt_view *view = NULL;
	char *text = malloc(in->len ? in->len : 1); /* its end is guarded */
	int ret;

	memcpy(text, in->data, in->len);
	ret = gp_view_parse(text, in->len, &view);
	if (!ret)
		gpreempt_list_free(view);
	free(text);
	return !ret;
}
