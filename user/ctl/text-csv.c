// SPDX-License-Identifier: GPL-2.0-only
/* What gpreempt-ctl monitor --csv wrote: queue ids, and no slots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/text-load.h"

#define BEGIN "t_s,"

bool ctl_is_csv(const char *path)
{
	char line[sizeof(BEGIN)] = "";
	FILE *file = fopen(path, "r");
	bool is = file && fgets(line, sizeof(line), file) &&
		  !strcmp(line, BEGIN);

	if (file)
		fclose(file);
	return is;
}

/* The next cell of a line, without its quotes; NULL at the end. */
static char *next_cell(char **line)
{
	char *cell = *line, *end;

	if (!cell)
		return NULL;
	if (*cell == '"') {
		end = strchr(++cell, '"');
		if (!end)
			return *line = NULL;
		*end++ = '\0';
	} else {
		end = cell + strcspn(cell, ",\n");
	}
	*line = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return cell;
}

static int find_column(char *line, const char *name)
{
	char *cell;
	int i;

	for (i = 0; (cell = next_cell(&line)); i++)
		if (!strcmp(cell, name))
			return i;
	return -1;
}

static void read_row(struct ctl_text *out, char *line, int pid_at, int ids_at)
{
	const char *pid = NULL;
	char *cell, *ids = NULL, *id;
	int i;

	for (i = 0; (cell = next_cell(&line)); i++) {
		if (i == pid_at)
			pid = cell;
		if (i == ids_at)
			ids = cell;
	}
	for (id = pid && ids ? strtok(ids, ",") : NULL; id;
	     id = strtok(NULL, ","))
		if (*id >= '0' && *id <= '9')
			ctl_add_id(out, atoll(pid), GPREEMPT_UNKNOWN,
				   atoll(id));
}

int ctl_read_csv(struct ctl_text *out, const char *path)
{
	char line[16384], copy[256];
	FILE *file = fopen(path, "r");
	int pid_at = -1, ids_at = -1;

	if (!file)
		return -errno;
	if (fgets(line, sizeof(line), file)) {
		snprintf(copy, sizeof(copy), "%.255s", line);
		pid_at = find_column(copy, "pid");
		snprintf(copy, sizeof(copy), "%.255s", line);
		ids_at = find_column(copy, "ids");
	}
	while (pid_at >= 0 && ids_at >= 0 && fgets(line, sizeof(line), file))
		read_row(out, line, pid_at, ids_at);
	fclose(file);
	out->all_ids = true;
	return pid_at < 0 || ids_at < 0 ? -EINVAL : 0;
}
