// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "agent/owner-text.h"
#include "ctl/command/ctl.h"
#include "holder/holder.h"
#include "output/table.h"
#include "shared/clock.h"
#include "shared/parse.h"

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
	char since_text[32];
	char lease_text[32];
	const char *since;
	const char *lease;
	const char *role;
	char command[HOLD_MAX_COMMAND];
	const char *release_with;
	int64_t held_ns;
	int64_t lease_ns;
	int64_t released_ns; /* queues ran so long while it was held */
	int64_t recent_ns;
	int64_t window_ns;
	int64_t churn;
	int64_t unseen;	   /* queues gone before they could be suspended */
	int64_t debuggers; /* can others attach? */
	int fd;		   /* where the holder's answer comes; -1: none */
	bool unknown;	   /* the lock does not name its owner */
};

struct rows {
	struct row *row;
	size_t count;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, holder, "HOLDER", OUT_DEC),
	OUT_FIELD(struct row, guardian, "GUARDIAN", OUT_DEC),
	OUT_FIELD(struct row, queues, "QUEUES", OUT_DEC),
	OUT_FIELD(struct row, since, "SINCE", OUT_TEXT),
	OUT_FIELD(struct row, lease, "LEASE", OUT_TEXT),
	OUT_FIELD(struct row, role, "ROLE", OUT_TEXT),
	OUT_FIELD(struct row, release_with, "RELEASE-WITH", OUT_TEXT),
	{ .name = "held_us",
	  .kind = OUT_US,
	  .offset = offsetof(struct row, held_ns) },
	{ .name = "lease_left_us",
	  .kind = OUT_US,
	  .offset = offsetof(struct row, lease_ns) },
	{ .name = "released_us",
	  .kind = OUT_US,
	  .offset = offsetof(struct row, released_ns) },
	{ .name = "released_recently_us",
	  .kind = OUT_US,
	  .offset = offsetof(struct row, recent_ns) },
	{ .name = "churn",
	  .kind = OUT_FLAG,
	  .offset = offsetof(struct row, churn) },
	{ .name = "unseen_queues",
	  .kind = OUT_DEC,
	  .offset = offsetof(struct row, unseen) },
	{ .name = "other_debuggers",
	  .kind = OUT_FLAG,
	  .offset = offsetof(struct row, debuggers) },
};

static const struct out_table table = {
	.name = "holders",
	.fields = fields,
	.n_fields = ARRAY_SIZE(fields),
	.row_size = sizeof(struct row),
};

static void fill_row(struct row *row, const struct hold_reply *reply)
{
	row->queues = reply->queues;
	row->held_ns = reply->held_ns;
	row->released_ns = reply->released_ns;
	row->recent_ns = reply->recent_ns;
	row->window_ns = reply->window_ns;
	row->churn = !!reply->churn;
	row->unseen = reply->unseen;
	shr_format_duration(reply->held_ns, row->since_text,
			    sizeof(row->since_text));
	snprintf(row->lease_text, sizeof(row->lease_text), "none");
	if (reply->command)
		row->role = "foreground";
	if (!reply->lease_ns)
		return;
	row->lease_ns = reply->lease_ns;
	shr_format_duration(reply->lease_ns, row->lease_text,
			    sizeof(row->lease_text));
}

/* The holder is asked; the answer is waited for when all have been. */
static int add_target(void *arg, pid_t target)
{
	struct hold_request request = { .verb = HOLD_STATUS };
	struct row row = {
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
	struct rows *rows = arg;
	struct hold_owner owner;
	struct row *more;

	/* It may end while we look, or be only just beginning. */
	if (hold_read_owner(target, &owner) || owner.role == HOLD_ROLE_NONE)
		return 0;
	if (owner.pid)
		row.holder = owner.pid;
	if (owner.guardian)
		row.guardian = owner.guardian;
	row.unknown = owner.role == HOLD_ROLE_UNKNOWN;
	row.role = hold_role_name(owner.role);
	hold_release_command(&owner, target, row.command);
	more = realloc(rows->row, (rows->count + 1) * sizeof(row));
	if (!more)
		return -ENOMEM;
	if (owner.role == HOLD_ROLE_HOLDER)
		row.fd = hold_ask_begin(target, &request);
	rows->row = more;
	rows->row[rows->count++] = row;
	return 0;
}

/* One limit for all: a holder that hangs must not delay each of the others. */
static void take_answers(struct rows *rows)
{
	uint64_t deadline = shr_now_ns() + ANSWER_NS;
	struct hold_reply reply;
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->row[i].fd >= 0 &&
		    !hold_ask_end_by(rows->row[i].fd, deadline, &reply))
			fill_row(&rows->row[i], &reply);
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void print_rows(enum out_mode mode, struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		row->since = row->since_text[0] ? row->since_text : NULL;
		row->lease = row->lease_text[0] ? row->lease_text : NULL;
		row->release_with = row->command[0] ? row->command : NULL;
	}
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
	for (i = 0; mode != OUT_JSON && i < rows->count; i++)
		if (rows->row[i].churn > 0)
			hold_note_churn(rows->row[i].pid,
					rows->row[i].recent_ns,
					rows->row[i].window_ns);
	if (mode != OUT_JSON)
		ctl_note("gdb, strace, rocgdb, CRIU and ROCm's core dump "
			 "cannot attach to these until they are released");
}

struct status_args {
	enum out_mode mode;
};

static int run_status(void *data)
{
	const struct status_args *args = data;
	struct rows rows = { 0 };
	int ret;

	ret = ctl_need_root(0);
	if (ret)
		return ret;
	ret = hold_list(add_target, &rows);
	take_answers(&rows);
	if (!ret) {
		if (rows.count)
			qsort(rows.row, rows.count, sizeof(*rows.row), compare);
		print_rows(args->mode, &rows);
	}
	free(rows.row);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : 0;
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
		"while it runs: preempt, follow or guard, which have no guardian; unknown: the\n"
		"lock is held, and its file does not name its owner. RELEASE-WITH is the\n"
		"command that releases it. \"-\" elsewhere means that the holder did not\n"
		"answer, or is of a kind that does not report it.\n"
		"\n"
		"While a process is held, no other debugger can attach to it: not gdb,\n"
		"strace, rocgdb, CRIU, nor ROCm's own core dump.\n",
	.options = options,
};
