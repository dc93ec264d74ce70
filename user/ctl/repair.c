// SPDX-License-Identifier: GPL-2.0-only
/* repair: undo the pauses that have lost their owner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hold/client.h"
#include "hold/escape.h"
#include "hold/holder.h"
#include "hold/pause-owner.h"
#include "cli/cli.h"
#include "cli/message.h"
#include "cli/table.h"
#include "shared/util.h"

/* An entry of the journal, and the result of its repair. */
struct row {
	int64_t pid;
	int64_t status;
	const char *found;
	const char *done;
	int64_t by;
	char by_comm[PAUSE_MAX_COMM];
	int64_t since_ns;
	struct pause_report report;
	struct hold_reply why; /* reason of a failure */
};

struct rows {
	struct row *row;
	size_t count;
};

static const char *const findings[PAUSE_FINDINGS] = {
	[PAUSE_NONE] = "none",	 [PAUSE_ANSWERED] = "owned",  [PAUSE_WAITS] = "waits",
	[PAUSE_STALE] = "stale", [PAUSE_DAMAGED] = "damaged", [PAUSE_UNREAD] = "unread",
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, found, "FOUND", OUT_TEXT),
	OUT_FIELD(struct row, done, "DONE", OUT_TEXT),
	OUT_FIELD(struct row, by, "BY", OUT_DEC),
	OUT_FIELD(struct row, by_comm, "COMM", OUT_TEXT, .array = true),
	OUT_NAMED("since_us", struct row, since_ns, NULL, OUT_US),
	OUT_FIELD(struct row, status, NULL, OUT_DEC),
	OUT_NAMED("error", struct row, why.text, NULL, OUT_TEXT, .array = true),
};

static const struct out_table table = OUT_TABLE("pauses", fields, struct row);

struct repair_args {
	struct ctl_target_args targets;
	uint64_t dry_run;
	struct out_form form;
};

static int add_target(void *arg, pid_t target)
{
	struct rows *rows = arg;
	struct row *row = shr_must(shr_array_add(&rows->row, &rows->count, sizeof(*row)));

	row->pid = target;
	return 0;
}

static void fail_row(struct row *row)
{
	const struct pause_report *r = &row->report;

	if (r->found.finding == PAUSE_DAMAGED)
		hold_not_taken(&row->why, -EPROTO, row->pid);
	else if (r->err.code)
		hold_reply_error(&row->why, &r->err);
	else
		hold_refuse(&row->why, GPREEMPT_CLASS_FAILED,
			    "it must be a directory of root's that can be written to",
			    "the entry of process %d in " HOLD_DIR ": %s", (int)row->pid,
			    strerror(-r->code));
	row->status = row->why.status;
}

static void fill_row(struct row *row)
{
	const struct pause_report *r = &row->report;
	const struct hold_state *s = &r->found;
	bool known = s->finding == PAUSE_ANSWERED || s->finding == PAUSE_WAITS;

	row->found = findings[s->finding];
	row->done = !r->repaired ? "nothing" : s->finding == PAUSE_WAITS ? "unpaused" : "removed";
	row->by = known ? s->entry.by : GPREEMPT_UNKNOWN;
	if (known)
		strcpy(row->by_comm, s->entry.comm);
	row->since_ns = known ? hold_since(s) : GPREEMPT_UNKNOWN;
	if (s->finding == PAUSE_DAMAGED || r->code)
		fail_row(row);
}

static int repair_rows(struct gpreempt *g, const struct repair_args *args, struct rows *rows)
{
	int status = 0;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		pause_repair(g, row->pid, args->dry_run, &row->report);
		fill_row(row);
		status = i ? ctl_merge_status(status, row->status) : (int)row->status;
	}
	return status;
}

/* Drop the entries that another process has removed meanwhile. */
static void drop_gone(struct rows *rows)
{
	size_t i, n = 0;

	for (i = 0; i < rows->count; i++)
		if (rows->row[i].report.found.finding != PAUSE_NONE)
			rows->row[n++] = rows->row[i];
	rows->count = n;
}

static void print_rows(const struct repair_args *args, struct rows *rows)
{
	size_t i;

	drop_gone(rows);
	if (!rows->count && args->form.mode != OUT_JSON)
		puts("nothing is paused");
	else
		out_print(&args->form, &table, rows->row, rows->count);
	for (i = 0; i < rows->count; i++)
		if (rows->row[i].status)
			hold_fail(&rows->row[i].why);
}

/* Entries of processes that have ended are no targets, but are repaired too. */
static int find_rows(struct gpreempt *g, const struct repair_args *args, struct rows *rows)
{
	__cleanup_list struct gpreempt_targets *list = NULL;
	int ret = 0;
	size_t i;

	if (args->targets.words.n)
		ret = ctl_targets_sure(g, &args->targets, &list);
	if (ret)
		return ret;
	if (!list)
		ret = pause_journal_list(add_target, rows);
	for (i = 0; list && i < list->count; i++)
		add_target(rows, list->targets[i].pid);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : 0;
}

static int run_repair(void *data)
{
	const struct repair_args *args = data;
	struct rows rows = { 0 };
	__cleanup_handle struct gpreempt *g = NULL;
	int ret = ctl_open_host("undo the pauses of others", &g);

	if (!ret)
		ret = foreground_dir();
	if (!ret)
		ret = find_rows(g, args, &rows);
	if (!ret) {
		if (rows.count)
			qsort(rows.row, rows.count, sizeof(*rows.row), shr_compare_first);
		ret = repair_rows(g, args, &rows);
		print_rows(args, &rows);
	}
	free(rows.row);
	return ret;
}

static const struct ctl_option options[] = {
	{ "dry-run", CTL_FLAG, offsetof(struct repair_args, dry_run), NULL,
	  "only print what would be done" },
	CTL_TABLE_OPTIONS(struct repair_args),
	{ 0 },
};

const struct ctl_command ctl_repair = {
	.name = "repair",
	.run = run_repair,
	CTL_TARGET_ARGS(struct repair_args),
	.usage = "[TARGET]",
	.summary = "Undo the pauses that have lost their owner.",
	.details =
		"A pause stays when the process that asked for it is killed, so each is in a\n"
		"journal in /run/gpreempt. FOUND is waits: its owner is gone, and its queues\n"
		"run again now; owned: its holder, or a command at work, undoes it; stale: of a\n"
		"process that has ended or of an earlier boot, removed; damaged: not a file of\n"
		"ours, never acted upon. suspend and preempt do the same when they start.\n",
	.examples = "  gpreempt-ctl repair --dry-run\n",
	.table = &table,
	.options = options,
};
