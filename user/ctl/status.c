// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hold/client.h"
#include "hold/pause-owner.h"
#include "hold/places.h"
#include "cli/cli.h"
#include "cli/program.h"
#include "hold/holder.h"
#include "cli/table.h"
#include "shared/util.h"
#include "shared/text.h"

/*
 * A holder answers at once, unless it is in the driver, which may wait 9 s for hardware that hangs.
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
	int64_t unseen;		   /* queues gone before they could be suspended */
	int64_t debuggers;	   /* can others attach? */
	int64_t uid;		   /* user for whom it is held, */
	char user[64];		   /* and its name; "": not known */
	char from[HOLD_FROM_SIZE]; /* where that user asked; "": not known */
	char *command;		   /* command line of the target; NULL: not known */
	int fd;			   /* where the holder's answer comes; -1: none */
	bool unknown;		   /* the lock does not name its owner */
	bool foreign;		   /* paused by another program */
	enum pause_finding pause;  /* state of its entry in the journal */
};

struct rows {
	struct gpreempt *g;
	struct row *row;
	size_t count;
	int status; /* exit status */
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, holder, "HOLDER", OUT_DEC, .rank = 4),
	OUT_FIELD(struct row, guardian, "GUARDIAN", OUT_DEC, .rank = 8),
	OUT_FIELD(struct row, queues, "QUEUES", OUT_DEC, .rank = 7),
	OUT_FIELD(struct row, since, "SINCE", OUT_TEXT, .array = true, .rank = 1),
	OUT_FIELD(struct row, lease, "LEASE", OUT_TEXT, .array = true, .rank = 3),
	OUT_FIELD(struct row, role, "ROLE", OUT_TEXT, .rank = 2),
	OUT_FIELD(struct row, release_with, "RELEASE-WITH", OUT_TEXT, .array = true),
	OUT_FIELD(struct row, how, NULL, OUT_TEXT),
	OUT_NAMED("held_us", struct row, held_ns, NULL, OUT_US),
	OUT_NAMED("lease_left_us", struct row, lease_ns, NULL, OUT_US),
	OUT_NAMED("released_us", struct row, released_ns, NULL, OUT_US),
	OUT_NAMED("released_recently_us", struct row, recent_ns, NULL, OUT_US),
	OUT_NAMED("churn", struct row, churn, NULL, OUT_FLAG),
	OUT_NAMED("unseen_queues", struct row, unseen, NULL, OUT_DEC),
	OUT_NAMED("other_debuggers", struct row, debuggers, NULL, OUT_FLAG),
	OUT_FIELD(struct row, uid, NULL, OUT_DEC),
	OUT_FIELD(struct row, user, "USER", OUT_TEXT, .array = true, .spare = true, .rank = 5),
	OUT_FIELD(struct row, from, "FROM", OUT_TEXT, .array = true, .spare = true, .rank = 6),
	OUT_FIELD(struct row, command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("holders", fields, struct row);

static void set_how(struct row *row, const char *how)
{
	row->how = how;
	row->debuggers = how ? !strcmp(how, "pause") : GPREEMPT_UNKNOWN;
}

static void set_times(struct row *row, int64_t held_ns, int64_t lease_ns)
{
	row->held_ns = held_ns;
	row->lease_ns = lease_ns;
	if (held_ns != GPREEMPT_UNKNOWN)
		shr_format_duration(held_ns, row->since, sizeof(row->since));
	if (lease_ns > 0)
		shr_format_duration(lease_ns, row->lease, sizeof(row->lease));
}

static void fill_row(struct row *row, const struct hold_reply *reply)
{
	row->queues = reply->queues;
	set_how(row, reply->paused ? "pause" : "debug");
	strcpy(row->lease, "until resume");
	set_times(row, reply->held_ns,
		  reply->lease_ns ? (int64_t)reply->lease_ns : GPREEMPT_UNKNOWN);
	row->released_ns = reply->released_ns;
	row->recent_ns = reply->recent_ns;
	row->window_ns = reply->window_ns;
	row->churn = !!reply->churn;
	row->unseen = reply->unseen;
	if (reply->command)
		row->role = "foreground";
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
		.debuggers = GPREEMPT_UNKNOWN,
		.uid = GPREEMPT_UNKNOWN,
		.fd = -1,
	};
}

static void add_row(struct rows *rows, const struct row *row)
{
	struct row *added = shr_must(shr_array_add(&rows->row, &rows->count, sizeof(*added)));

	*added = *row;
}

static struct row *find_row(const struct rows *rows, pid_t pid)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->row[i].pid == pid)
			return &rows->row[i];
	return NULL;
}

/* Add the owner. Send a holder the request; take_answers() collects all replies later. */
static void add_owner(struct row *row, const struct hold_owner *owner)
{
	struct hold_request request = { .verb = HOLD_STATUS };

	if (owner->pid)
		row->holder = owner->pid;
	if (owner->guardian)
		row->guardian = owner->guardian;
	hold_release_command(owner, row->pid, row->release_with);
	if (owner->role == HOLD_ROLE_HOLDER)
		row->fd = gp_hold_ask_begin(row->pid, &request, shr_now_ns() + HOLD_ANSWER_NS);
}

/* Add a pause whose command has ended, or an entry that says nothing. */
static void add_left_pause(struct gpreempt *g, struct row *row)
{
	__cleanup_list struct gpreempt_view *view = NULL;

	if (!gpreempt_view_read(g, row->pid, &view, NULL))
		row->queues = view->count;
	if (row->pause == PAUSE_WAITS)
		strcpy(row->release_with, "gpreempt-ctl repair");
	else if (row->pause != PAUSE_DAMAGED)
		snprintf(row->release_with, sizeof(row->release_with), "gpreempt-ctl resume %d",
			 (int)row->pid);
}

static bool is_in_journal(const struct hold_state *s)
{
	return s->finding != PAUSE_NONE && s->finding != PAUSE_STALE;
}

/* Add a target with a lock or an entry. The holder may end while we look, or be about to begin. */
static int add_target(void *arg, const struct hold_state *s)
{
	struct row row = empty_row(s->pid);
	struct rows *rows = arg;
	const char *role = hold_role_of(s);

	if (!role && !is_in_journal(s))
		return 0;
	row.role = role ? role : "pause";
	row.uid = hold_uid(s);
	strcpy(row.from, s->owner.from);
	row.unknown = s->owned && s->owner.role == HOLD_ROLE_UNKNOWN;
	set_how(&row, hold_method(s));
	set_times(&row, hold_since(s), GPREEMPT_UNKNOWN);
	if (s->owned && s->owner.role != HOLD_ROLE_NONE) {
		add_owner(&row, &s->owner);
	} else {
		row.pause = s->finding;
		add_left_pause(rows->g, &row);
	}
	add_row(rows, &row);
	return 0;
}

/*
 * Our pauses have an entry from before they begin until after they end. One that has no row had
 * none when the journal was listed; with none after it is seen, either, it is none of ours.
 */
static bool is_foreign(const struct rows *rows, pid_t pid)
{
	struct hold_state s;

	if (find_row(rows, pid) || !pause_is_seen(rows->g, pid))
		return false;
	hold_look(rows->g, pid, &s);
	return !is_in_journal(&s);
}

/* Add the processes that a command would hold but has no place for: they run. */
static int add_left(void *arg, const struct places_left *left)
{
	struct rows *rows = arg;
	size_t i;

	for (i = 0; i < left->n; i++) {
		struct row row = empty_row(left->pid[i]);

		if (find_row(rows, row.pid))
			continue;
		row.role = "no-place";
		row.holder = left->command;
		row.debuggers = true;
		add_row(rows, &row);
	}
	return 0;
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
static void add_foreign(struct rows *rows)
{
	__cleanup_list struct gpreempt_process_list *list = NULL;
	size_t i;

	if (gpreempt_processes_read(rows->g, &list, NULL))
		return;
	for (i = 0; i < list->count; i++) {
		struct row row = empty_row(list->processes[i].pid);

		if (list->processes[i].paused != 1 || !is_foreign(rows, row.pid))
			continue;
		row.role = "other";
		set_how(&row, "pause");
		row.foreign = true;
		row.queues = list->processes[i].queues;
		add_row(rows, &row);
	}
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

/* Add the command lines of the targets, and the names of the users for whom they are held. */
static void describe(struct rows *rows)
{
	struct gpreempt_targets list = { .count = rows->count };
	struct ctl_described *all;
	size_t i;

	list.targets = shr_must(calloc(rows->count + 1, sizeof(*list.targets)));
	for (i = 0; i < rows->count; i++)
		list.targets[i].pid = rows->row[i].pid;
	all = ctl_describe_all(rows->g, &list, true);
	for (i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		if (!all[i].code)
			row->command = shr_must(strdup(*all[i].who.command ? all[i].who.command :
									     all[i].who.comm));
		if (row->uid != GPREEMPT_UNKNOWN)
			gp_user_text(rows->g, row->uid, row->user, sizeof(row->user));
	}
	ctl_described_free(all, &list);
	free(list.targets);
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

/* Print a note on those that no other debugger can attach to: a pause lets them. */
static void note_sessions(const struct rows *rows)
{
	char pids[256] = "these";
	size_t i, used = 0, n = 0;

	for (i = 0; i < rows->count; i++)
		n += !rows->row[i].debuggers;
	for (i = 0; n < rows->count && i < rows->count && used < sizeof(pids) - 16; i++)
		if (!rows->row[i].debuggers)
			used += snprintf(pids + used, sizeof(pids) - used, "%s%d", used ? ", " : "",
					 (int)rows->row[i].pid);
	if (n)
		ctl_note("gdb, strace, rocgdb, rocprofv3 --attach, CRIU and ROCm's core dump "
			 "cannot attach to %s%s until they are released",
			 pids, used >= sizeof(pids) - 16 ? " and others" : "");
}

static void print_rows(const struct out_form *form, struct rows *rows)
{
	enum out_mode mode = form->mode;
	size_t i;

	if (!rows->count && mode != OUT_JSON) {
		puts("nothing is held");
		return;
	}
	out_print(form, &table, rows->row, rows->count);
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
	if (mode != OUT_JSON)
		note_sessions(rows);
}

struct status_args {
	struct out_form form;
};

static int run_status(void *data)
{
	const struct status_args *args = data;
	struct rows rows = { 0 };
	int ret = ctl_need_root("see who holds a process");

	if (!ret)
		ret = ctl_open(NULL, &rows.g);
	if (ret)
		return ret;
	ret = hold_look_all(rows.g, add_target, &rows);
	if (!ret)
		add_foreign(&rows);
	if (!ret)
		ret = places_left_list(rows.g, add_left, &rows);
	take_answers(&rows);
	if (!ret) {
		if (rows.count)
			qsort(rows.row, rows.count, sizeof(*rows.row), shr_compare_first);
		describe(&rows);
		print_rows(&args->form, &rows);
		places_left_list(rows.g, note_left, NULL);
	}
	while (rows.count)
		free(rows.row[--rows.count].command);
	free(rows.row);
	gpreempt_free(rows.g);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : rows.status;
}

static const struct ctl_option options[] = {
	CTL_TABLE_OPTIONS(struct status_args),
	{ 0 },
};

const struct ctl_command ctl_status = {
	.name = "status",
	.run = run_status,
	.args_size = sizeof(struct status_args),
	.summary = "Show which processes are held, and by whom.",
	.details =
		"SINCE is how long it has been held, for USER if one who logged in asked for it,\n"
		"FROM the terminal or else the systemd unit of the command that took it, LEASE\n"
		"what is left of that. ROLE is\n"
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
		"While a debug session holds a process, no other debugger can attach to it:\n"
		"not gdb, strace, rocgdb, rocprofv3 --attach, CRIU, nor ROCm's own core dump.\n"
		"While it is paused, they can.\n",
	.examples = "  gpreempt-ctl status -o pid,role,since,release_with\n",
	.table = &table,
	.options = options,
};
