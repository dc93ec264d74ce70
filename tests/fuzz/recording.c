// SPDX-License-Identifier: GPL-2.0-only
/* The library's reader of recordings. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/backend/recording.h"

#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	struct gp_record *records = NULL;
	size_t i, count = 0;
	unsigned int line = 0;
	FILE *file;
	int ret;

	if (!in->len)
		return false;
	file = fmemopen((void *)in->data, in->len, "r");
	if (!file)
		abort();
	ret = gp_recording_read(file, &records, &count, &line);
	/* The line of an error is one that there is. */
	if (ret && ret != -ENOMEM && (!line || line > in->len + 1))
		abort();
	for (i = 0; i < count; i++) {
		if (records[i].data && records[i].data[records[i].len])
			abort();
		gp_record_free(&records[i]);
	}
	free(records);
	fclose(file);
	return !ret;
}
