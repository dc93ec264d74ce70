// SPDX-License-Identifier: GPL-2.0-only
/* Several snapshots in a directory, in the order of their names. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/diff.h"
#include "shared/macro.h"

/* The members are the keys of JSON. */
struct series_row {
	char *snapshot;
	int64_t processes;
	int64_t queues;
	int64_t slots_expected;
	int64_t slots_active;
	int64_t slots_without_owner;
	char *ids;
	char *came;
	char *went;
};

#define FIELD(member, title, what) \
	OUT_FIELD(struct series_row, member, title, what)

static const struct out_field fields[] = {
	FIELD(snapshot, "SNAPSHOT", OUT_TEXT),
	FIELD(processes, "PROCESSES", OUT_DEC),
	FIELD(queues, "QUEUES", OUT_DEC),
	FIELD(slots_expected, "SLOTS", OUT_DEC),
	FIELD(slots_active, "ACTIVE", OUT_DEC),
	FIELD(slots_without_owner, NULL, OUT_DEC),
	FIELD(ids, "PID:QUEUE", OUT_LIST),
	FIELD(came, "CAME", OUT_LIST),
	FIELD(went, "WENT", OUT_LIST),
};

static const struct out_table table = {
	"snapshots", fields, ARRAY_SIZE(fields), sizeof(struct series_row),
};

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static char *below(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

/* Names of the snapshots in it, sorted, for free() each. */
static size_t find_snapshots(const char *dir, char ***out)
{
	struct dirent **entries;
	int i, n = scandir(dir, &entries, is_visible, alphasort);
	size_t count = 0;

	*out = calloc(n > 0 ? n : 1, sizeof(**out));
	if (!*out)
		abort();
	for (i = 0; i < n; i++) {
		char *path = below(dir, entries[i]->d_name);

		if (ctl_is_snapshot(path))
			(*out)[count++] = strdup(entries[i]->d_name);
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return count;
}

bool decode_is_series(const char *dir)
{
	size_t count, i;
	char **names;

	if (!strcmp(dir, "-") || ctl_is_snapshot(dir))
		return false;
	count = find_snapshots(dir, &names);
	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return count;
}

static void append(char **list, int64_t pid, int64_t qid)
{
	char *more;

	if (asprintf(&more, "%s%s%" PRId64 ":%" PRId64, *list ? *list : "",
		     *list ? "," : "", pid, qid) < 0)
		abort();
	free(*list);
	*list = more;
}

static void add_changes(const struct ctl_text *before,
			const struct ctl_text *text, int64_t pid,
			struct series_row *row)
{
	struct diff diff;
	size_t i;

	diff_make(before, 0, text, 0, &diff);
	for (i = 0; i < diff.n_queues; i++) {
		const struct diff_queue *q = diff.queues + i;

		if (pid && q->key != pid)
			continue;
		if (q->side == DIFF_A)
			append(&row->went, q->key, q->queue_id);
		else if (q->side == DIFF_B)
			append(&row->came, q->key, q->queue_id);
	}
	diff_free(&diff);
}

static void fill(const struct ctl_text *text, int64_t pid,
		 struct series_row *row)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t i, count;

	if (gpreempt_text_check(text->text, pid ? pid : GPREEMPT_UNKNOWN, &sum,
				&by_xcc, &count))
		abort();
	free(by_xcc);
	for (i = 0; i < text->data->n_processes; i++)
		row->processes += !pid || text->data->processes[i].pid == pid;
	for (i = 0; i < text->data->n_queues; i++)
		row->queues += !pid || text->data->queues[i].pid == pid;
	row->slots_expected = sum.slots_expected;
	row->slots_active = sum.slots_active;
	row->slots_without_owner = sum.slots_without_owner;
	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			append(&row->ids, text->ids[i].pid, text->ids[i].qid);
}

int decode_series(const struct ctl_args *args, const char *dir)
{
	struct ctl_text text = { 0 }, before = { 0 };
	struct series_row *rows;
	uint64_t problems = 0;
	size_t i, count;
	int ret = 0;
	char **names;

	count = find_snapshots(dir, &names);
	rows = calloc(count, sizeof(*rows));
	if (!rows)
		abort();
	for (i = 0; i < count && !ret; i++) {
		char *path = below(dir, names[i]);

		ret = ctl_text_files((const char *const *)&path, 1, &text);
		free(path);
		if (ret)
			break;
		rows[i].snapshot = names[i];
		fill(&text, args->only_pid, rows + i);
		if (i)
			add_changes(&before, &text, args->only_pid, rows + i);
		problems += text.data->n_problems;
		if (before.text)
			ctl_text_free(&before);
		before = text;
	}
	if (!ret)
		out_rows(out_mode(args), &table, rows, count);
	if (problems)
		ctl_note("%" PRIu64 " lines could not be read: "
			 "gpreempt-ctl decode lists those of one snapshot",
			 problems);
	if (before.text)
		ctl_text_free(&before);
	for (i = 0; i < count; i++) {
		free(rows[i].ids);
		free(rows[i].came);
		free(rows[i].went);
		free(names[i]);
	}
	free(rows);
	free(names);
	return ret ? ret : problems ? GPREEMPT_CLASS_PARTIAL : 0;
}
