// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "hold/places.h"
#include "cli/cli.h"
#include "hold/holder.h"
#include "cli/table.h"
#include "shared/util.h"
#include "shared/text.h"

/*
 * A holder answers at once, unless it is in the driver, which may wait 9 s for
 * hardware that hangs.
 */
#define ANSWER_NS (10 * NSEC_PER_SEC)

struct row {
	int64_t pid;
	int64_t holder;
	int64_t guardian;
	int64_t queues;
	char since[32];
	char lease[32];
	const char *role;
	const char *how;
	char release_with[HOLD_MAX_COMMAND];
	int64_t held_ns;
	int64_t lease_ns;
	int64_t released_ns; /* queues ran so long while it was held */
	int64_t recent_ns;
	int64_t window_ns;
	int64_t churn;
	int64_t unseen;		  /* queues gone before they could be suspended */
	int64_t debuggers;	  /* can others attach? */
	int fd;			  /* where the holder's answer comes; -1: none */
	bool unknown;		  /* the lock does not name its owner */
	bool foreign;		  /* paused by another program */
	enum pause_finding pause; /* state of its entry in the journal */
};

struct rows {
	struct gpreempt *g;
	struct row *row;
	size_t count;
	int status; /* exit status */
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, holder, "HOLDER", OUT_DEC),
	OUT_FIELD(struct row, guardian, "GUARDIAN", OUT_DEC),
	OUT_FIELD(struct row, queues, "QUEUES", OUT_DEC),
	OUT_FIELD(struct row, since, "SINCE", OUT_TEXT, .array = true),
	OUT_FIELD(struct row, lease, "LEASE", OUT_TEXT, .array = true),
	OUT_FIELD(struct row, role, "ROLE", OUT_TEXT),
	OUT_FIELD(struct row, release_with, "RELEASE-WITH", OUT_TEXT, .array = true),
	OUT_FIELD(struct row, how, NULL, OUT_TEXT),
	OUT_NAMED("held_us", struct row, held_ns, NULL, OUT_US),
	OUT_NAMED("lease_left_us", struct row, lease_ns, NULL, OUT_US),
	OUT_NAMED("released_us", struct row, released_ns, NULL, OUT_US),
	OUT_NAMED("released_recently_us", struct row, recent_ns, NULL, OUT_US),
	OUT_NAMED("churn", struct row, churn, NULL, OUT_FLAG),
	OUT_NAMED("unseen_queues", struct row, unseen, NULL, OUT_DEC),
	OUT_NAMED("other_debuggers", struct row, debuggers, NULL, OUT_FLAG),
};

static const struct out_table table = OUT_TABLE("holders", fields, struct row);

static void set_how(struct row *row, bool paused)
{
	row->how = paused ? "pause" : "debug";
	row->debuggers = paused;
}

static void set_times(struct row *row, uint64_t held_ns)
{
	row->held_ns = held_ns;
	shr_format_duration(held_ns, row->since, sizeof(row->since));
	snprintf(row->lease, sizeof(row->lease), "none");
}

static void fill_row(struct row *row, const struct hold_reply *reply)
{
	row->queues = reply->queues;
	set_how(row, reply->paused);
	set_times(row, reply->held_ns);
	row->released_ns = reply->released_ns;
	row->recent_ns = reply->recent_ns;
	row->window_ns = reply->window_ns;
	row->churn = !!reply->churn;
	row->unseen = reply->unseen;
	if (reply->command)
		row->role = "foreground";
	if (!reply->lease_ns)
		return;
	row->lease_ns = reply->lease_ns;
	shr_format_duration(reply->lease_ns, row->lease, sizeof(row->lease));
}

/* Returns a row with all that is unknown. */
static struct row empty_row(pid_t target)
{
	return (struct row){
		.pid = target,
		.holder = GPREEMPT_UNKNOWN,
		.guardian = GPREEMPT_UNKNOWN,
		.queues = GPREEMPT_UNKNOWN,
		.held_ns = GPREEMPT_UNKNOWN,
		.lease_ns = GPREEMPT_UNKNOWN,
		.released_ns = GPREEMPT_UNKNOWN,
		.recent_ns = GPREEMPT_UNKNOWN,
		.churn = GPREEMPT_UNKNOWN,
		.unseen = GPREEMPT_UNKNOWN,
		.fd = -1,
	};
}

static int add_row(struct rows *rows, const struct row *row)
{
	struct row *added = shr_array_add(&rows->row, &rows->count, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *row;
	return 0;
}

/* Send the request. take_answers() collects all replies later. */
static int add_target(void *arg, pid_t target)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	struct row row = empty_row(target);
	struct rows *rows = arg;
	struct hold_owner owner;

	/* The holder may end while we look, or be about to begin. */
	if (hold_read_owner(target, &owner) || owner.role == HOLD_ROLE_NONE)
		return 0;
	set_how(&row, false);
	if (owner.pid)
		row.holder = owner.pid;
	if (owner.guardian)
		row.guardian = owner.guardian;
	row.unknown = owner.role == HOLD_ROLE_UNKNOWN;
	row.role = hold_role_name(owner.role);
	hold_release_command(&owner, target, row.release_with);
	if (owner.role == HOLD_ROLE_HOLDER)
		row.fd = gp_hold_ask_begin(target, &request, shr_now_ns() + HOLD_ANSWER_NS);
	return add_row(rows, &row);
}

static struct row *find_row(const struct rows *rows, pid_t pid)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->row[i].pid == pid)
			return &rows->row[i];
	return NULL;
}

/* Add a process that we have paused. */
static int add_pause(void *arg, pid_t target)
{
	struct row row = empty_row(target), *known;
	struct rows *rows = arg;
	struct gpreempt_view *view;
	struct pause_report r;

	pause_look(rows->g, target, &r);
	if (r.finding == PAUSE_NONE || r.finding == PAUSE_STALE)
		return 0;
	/* The lock has the role of the command that pauses the process. */
	known = find_row(rows, target);
	set_how(known ? known : &row, true);
	if (known)
		return 0;
	row.pause = r.finding;
	row.role = "pause";
	if (r.finding != PAUSE_DAMAGED && r.finding != PAUSE_UNREAD)
		set_times(&row, shr_boottime_ns() - r.entry.since_ns);
	if (!gpreempt_view_read(rows->g, target, &view, NULL)) {
		row.queues = view->count;
		gpreempt_view_free(view);
	}
	if (r.finding == PAUSE_WAITS)
		snprintf(row.release_with, sizeof(row.release_with), "gpreempt-ctl repair");
	else if (r.finding != PAUSE_DAMAGED)
		snprintf(row.release_with, sizeof(row.release_with), "gpreempt-ctl resume %d",
			 target);
	return add_row(rows, &row);
}

static bool is_in_journal(const struct rows *rows, pid_t pid)
{
	struct pause_report r;

	pause_look(rows->g, pid, &r);
	return r.finding != PAUSE_NONE && r.finding != PAUSE_STALE;
}

/*
 * Our pauses have an entry from before they begin until after they end. One that has no row had
 * none when the journal was listed; with none after it is seen, either, it is none of ours.
 */
static bool is_foreign(const struct rows *rows, pid_t pid)
{
	return !find_row(rows, pid) && pause_is_seen(rows->g, pid) && !is_in_journal(rows, pid);
}

/* Add the processes that a command would hold but has no place for: they run. */
static int add_left(void *arg, const struct places_left *left)
{
	struct rows *rows = arg;
	int ret = 0;
	size_t i;

	for (i = 0; i < left->n && !ret; i++) {
		struct row row = empty_row(left->pid[i]);

		if (find_row(rows, row.pid))
			continue;
		row.role = "no-place";
		row.holder = left->command;
		row.debuggers = true;
		ret = add_row(rows, &row);
	}
	return ret;
}

static int note_left(void *arg, const struct places_left *left)
{
	char text[256];

	(void)arg;
	places_left_text(left, text, sizeof(text));
	ctl_note("%s", text);
	return 0;
}

/* Processes that other programs have paused. Only gpreempt.ko sees them. */
static int add_foreign(struct rows *rows)
{
	struct gpreempt_process_list *list;
	int ret = 0;
	size_t i;

	if (gpreempt_processes_read(rows->g, &list, NULL))
		return 0;
	for (i = 0; i < list->count && !ret; i++) {
		struct row row = empty_row(list->processes[i].pid);

		if (list->processes[i].paused != 1 || !is_foreign(rows, row.pid))
			continue;
		row.role = "other";
		set_how(&row, true);
		row.foreign = true;
		row.queues = list->processes[i].queues;
		ret = add_row(rows, &row);
	}
	gpreempt_processes_free(list);
	return ret;
}

/* Take the answers within one limit for all: a holder that hangs must not delay others. */
static void take_answers(struct rows *rows)
{
	uint64_t deadline = shr_now_ns() + ANSWER_NS;
	struct hold_reply reply;
	size_t i;
	int ret;

	for (i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		if (row->fd < 0)
			continue;
		ret = gp_hold_ask_end(row->fd, &reply, deadline);
		if (!ret)
			fill_row(row, &reply);
		else if (ret == -EPROTO)
			rows->status = ctl_fail_reason(GPREEMPT_OTHER_VERSION, ret, row->pid);
	}
}

static void note_pause(const struct row *row)
{
	if (row->pause == PAUSE_WAITS)
		ctl_note("process %d was left paused by a gpreempt-ctl that "
			 "has ended; gpreempt-ctl repair undoes it",
			 (int)row->pid);
	else if (row->pause == PAUSE_DAMAGED)
		ctl_note(TEXT_PAUSE_DAMAGED "; " NEXT_PAUSE_DAMAGED, (int)row->pid);
	else if (row->foreign)
		ctl_note_reason(GPREEMPT_PAUSED, row->pid);
}

static void print_rows(enum out_mode mode, struct rows *rows)
{
	size_t i, sessions = 0;

	if (!rows->count && mode != OUT_JSON) {
		puts("nothing is held");
		return;
	}
	out_rows(mode, &table, rows->row, rows->count);
	for (i = 0; i < rows->count; i++)
		if (rows->row[i].unknown)
			ctl_note("process %d: unknown holder (lock is held); "
				 "find it: fuser -v " HOLD_DIR "/%d.lock",
				 (int)rows->row[i].pid, (int)rows->row[i].pid);
	for (i = 0; i < rows->count; i++)
		note_pause(&rows->row[i]);
	for (i = 0; mode != OUT_JSON && i < rows->count; i++)
		if (rows->row[i].churn > 0)
			hold_note_churn(rows->row[i].pid, rows->row[i].recent_ns,
					rows->row[i].window_ns);
	for (i = 0; i < rows->count; i++)
		sessions += !rows->row[i].debuggers;
	if (mode != OUT_JSON && sessions)
		ctl_note("gdb, strace, rocgdb, rocprofv3 --attach, CRIU and "
			 "ROCm's core dump cannot attach to these until they "
			 "are released");
}

struct status_args {
	enum out_mode mode;
};

static int run_status(void *data)
{
	const struct status_args *args = data;
	struct rows rows = { 0 };
	int ret = ctl_need_root(0);

	if (!ret)
		ret = ctl_open(NULL, &rows.g);
	if (ret)
		return ret;
	ret = hold_list(add_target, &rows);
	if (!ret)
		ret = pause_journal_list(add_pause, &rows);
	if (!ret)
		ret = add_foreign(&rows);
	if (!ret)
		ret = places_left_list(rows.g, add_left, &rows);
	take_answers(&rows);
	if (!ret) {
		if (rows.count)
			qsort(rows.row, rows.count, sizeof(*rows.row), shr_compare_first);
		print_rows(args->mode, &rows);
		places_left_list(rows.g, note_left, NULL);
	}
	free(rows.row);
	gpreempt_free(rows.g);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : rows.status;
}

static const struct ctl_option options[] = {
	CTL_JSON_OPTION(struct status_args),
	{ 0 },
};

const struct ctl_command ctl_status = {
	.name = "status",
	.run = run_status,
	.args_size = sizeof(struct status_args),
	.summary = "Show which processes are held, and by whom.",
	.details =
		"SINCE is how long it has been held, LEASE what is left of that. ROLE is\n"
		"suspend, foreground (a suspend --foreground) or the command that holds it\n"
		"while it runs: preempt, follow or guard, which have no guardian; pause: paused\n"
		"by one of these, which has ended, until repair; other: paused by another\n"
		"program, such as CRIU, which only gpreempt.ko sees; no-place: it runs, and\n"
		"HOLDER, follow or guard, would hold it if it had a place; unknown: the lock is\n"
		"held, and its file does not name its owner. RELEASE-WITH is the\n"
		"command that releases it. \"-\" elsewhere means that the holder did not\n"
		"answer, or is of a kind that does not report it. Exit status 7: a holder is\n"
		"of another version of gpreempt.\n"
		"\n"
		"While a process is held, no other debugger can attach to it: not gdb,\n"
		"strace, rocgdb, rocprofv3 --attach, CRIU, nor ROCm's own core dump.\n",
	.options = options,
};
