// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "lib/backend/recording.h"

/* The head's first version number has to be ours. */
static int check_head(const char *line)
{
	static const char head[] = GP_RECORDING_NAME " - version: 1.";

	return strncmp(line, head, strlen(head)) ? -EPROTO : 0;
}

/* There is room up to the next power of two. */
static int add_record(struct gp_record **records, size_t count, char *line)
{
	struct gp_record *bigger;

	if (!(count & (count - 1))) {
		size_t room = count ? 2 * count : 1;

		bigger = realloc(*records, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		*records = bigger;
	}
	return gp_record_parse(line, &(*records)[count]);
}

int gp_recording_read(FILE *f, struct gp_record **records, size_t *count,
		      unsigned int *number)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int ret = -EPROTO;

	for (*number = 1; (n = getline(&line, &size, f)) > 0; ++*number) {
		ret = line[n - 1] == '\n' ? 0 : -EINVAL;
		line[n - 1] = '\0';
		if (!ret && strlen(line) != (size_t)n - 1)
			ret = -EINVAL;
		if (ret)
			break;
		if (*number == 1)
			ret = check_head(line);
		else if (*number == 2)
			ret = strcmp(line, "# " GP_RECORDING_COLUMNS) ?
				      -EPROTO :
				      0;
		else
			ret = add_record(records, *count, line);
		if (ret)
			break;
		*count += *number > 2;
	}
	/* A head alone is no recording. */
	if (!ret && *number < 3)
		ret = -EPROTO;
	free(line);
	return ret;
}
