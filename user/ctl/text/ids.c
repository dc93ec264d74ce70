// SPDX-License-Identifier: GPL-2.0-only
/* The queue ids of a text, and text that has them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/text/ids.h"
#include "shared/array.h"
#include "shared/macro.h"
#include "shared/parse.h"

void ctl_add_id(struct ctl_text *out, int64_t pid, int64_t gpu_id, int64_t qid)
{
	struct ctl_id *id = shr_must(shr_array_add(&out->ids, &out->n_ids, sizeof(*id)));

	*id = (struct ctl_id){ pid, gpu_id, qid };
}

static int compare_ids(const void *a, const void *b)
{
	const struct ctl_id *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->qid > y->qid) - (x->qid < y->qid);
}

void ctl_finish_ids(struct ctl_text *out)
{
	size_t i, kept = 0;

	for (i = 0; i < out->data->n_queues; i++)
		if (out->data->queues[i].older && out->data->queues[i].qid != GPREEMPT_UNKNOWN)
			ctl_add_id(out, out->data->queues[i].pid, out->data->queues[i].gpu_id,
				   out->data->queues[i].qid);
	if (!out->n_ids)
		return;
	qsort(out->ids, out->n_ids, sizeof(*out->ids), compare_ids);
	for (i = 1; i < out->n_ids; i++)
		if (compare_ids(out->ids + kept, out->ids + i))
			out->ids[++kept] = out->ids[i];
	out->n_ids = kept + 1;
}

bool ctl_ids_known(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			return true;
	return text->all_ids;
}

void text_append(char **list, const char *format, ...)
{
	char *word, *more;
	va_list args;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0 ||
	    asprintf(&more, "%s%s%s", *list ? *list : "", *list ? "," : "", word) < 0)
		abort();
	va_end(args);
	free(word);
	free(*list);
	*list = more;
}

bool ids_is_csv(const char *begin, size_t len)
{
	return len >= IDS_CSV_BEGIN && !memcmp(begin, "t_s,", IDS_CSV_BEGIN);
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
		end = cell + strcspn(cell, ",");
	}
	*line = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return cell;
}

struct columns {
	int pid, ids, count;
};

static struct columns find_columns(char *line)
{
	struct columns at = { -1, -1, 0 };
	char *cell;

	for (; (cell = next_cell(&line)); at.count++) {
		if (!strcmp(cell, "pid"))
			at.pid = at.count;
		if (!strcmp(cell, "ids"))
			at.ids = at.count;
	}
	return at;
}

/* "0,1,5", or "-" for none. */
static int read_ids(struct ctl_text *out, int64_t pid, char *ids)
{
	uint64_t id;
	char *word;

	if (!strcmp(ids, "-"))
		return 0;
	while ((word = next_cell(&ids))) {
		if (shr_parse_u64(word, UINT32_MAX, &id))
			return -EINVAL;
		ctl_add_id(out, pid, GPREEMPT_UNKNOWN, id);
	}
	return 0;
}

static int read_row(struct ctl_text *out, char *line, const struct columns *at)
{
	char *cell, *ids = NULL;
	const char *pid = NULL;
	uint64_t number;
	int i;

	for (i = 0; (cell = next_cell(&line)); i++) {
		if (i == at->pid)
			pid = cell;
		if (i == at->ids)
			ids = cell;
	}
	if (i != at->count || shr_parse_u64(pid, INT32_MAX, &number))
		return -EINVAL;
	return read_ids(out, number, ids);
}

/* A line without its end; NULL: the text has ended. */
static char *next_line(char **text, bool *whole)
{
	char *line = *text, *end;

	if (!*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*whole = *end;
	*text = end + *whole;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	return line;
}

int ids_read_csv(struct ctl_text *out, char *text, struct ids_problems *bad)
{
	struct columns at;
	uint64_t number = 1;
	bool whole;
	char *line = next_line(&text, &whole);

	*bad = (struct ids_problems){ 0 };
	out->all_ids = true;
	at = find_columns(line);
	if (at.pid < 0 || at.ids < 0)
		return -EINVAL;
	while ((line = next_line(&text, &whole))) {
		number++;
		/* An id that the file ends within is another id. */
		if ((!whole || read_row(out, line, &at)) && !bad->count++)
			bad->first = number;
	}
	return 0;
}

void ids_read_sysfs(struct ctl_text *out, char *text)
{
	long long pid, qid, gpu_id;
	bool whole;
	char *line;

	while ((line = next_line(&text, &whole)))
		if (sscanf(line, "%lld %lld %llx", &pid, &qid, &gpu_id) == 3)
			ctl_add_id(out, pid, gpu_id, qid);
}
