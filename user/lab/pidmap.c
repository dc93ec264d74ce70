// SPDX-License-Identifier: GPL-2.0-only
/* PIDs of a process: here, and in its own namespace. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/select.h>

#include "hold/targets.h"
#include "ctl/figures.h"
#include "load.h"
#include "cli/table.h"
#include "shared/util.h"

/* The members are the keys of JSON. */
struct pidmap_row {
	int64_t pid;
	int64_t ns_pid;
	char pids[512]; /* in each namespace, from the host's inwards */
	char container[32];
	const char *name;
	const char *comm;
	const char *command;
};

#define FIELD(member, title, what, ...) \
	OUT_FIELD(struct pidmap_row, member, title, what, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(pid, "PID", OUT_DEC),
	FIELD(ns_pid, "INSIDE", OUT_DEC),
	FIELD(pids, NULL, OUT_LIST, .array = true),
	FIELD(container, "CONTAINER", OUT_TEXT, .array = true),
	FIELD(name, "NAME", OUT_TEXT, .rank = 1),
	FIELD(comm, "COMM", OUT_TEXT, .rank = 2),
	FIELD(command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct pidmap_row);

/* "NSpid:\t4242\t17" as "4242,17". */
static void read_numbers(struct pidmap_row *row)
{
	char path[64], *all, *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", row->pid);
	all = ctl_read_file(path, &len);
	at = all ? strstr(all, "\nNSpid:\t") : NULL;
	if (at) {
		at += strlen("\nNSpid:\t");
		snprintf(row->pids, sizeof(row->pids), "%.*s", (int)strcspn(at, "\n"), at);
		for (at = row->pids; *at; at++)
			if (*at == '\t')
				*at = ',';
	}
	free(all);
}

static void fill(const struct ctl_process *p, struct pidmap_row *row)
{
	const struct gp_container *box = &p->place.in;

	*row = (struct pidmap_row){
		.pid = p->pid,
		.ns_pid = p->ns_pid == GPREEMPT_UNKNOWN && !p->ended ? p->pid : p->ns_pid,
		.name = box->name,
		.comm = p->comm,
		.command = p->command,
	};
	read_numbers(row);
	if (*box->id)
		snprintf(row->container, sizeof(row->container), "%s:%.*s", box->engine,
			 CTL_ID_SHOWN, box->id);
}

static bool is_number(const char *word, int64_t *out)
{
	char *end;

	*out = strtoll(word, &end, 10);
	return *word && !*end;
}

struct pidmap_args {
	struct ctl_words words;
	struct out_form form;
};

/*
 * Are the words about this process? No words: all GPU processes. A number is looked for on both
 * sides: it may be a container's.
 */
static bool wanted(const struct pidmap_args *args, const struct pidmap_row *row,
		   const struct gpreempt_targets *chosen)
{
	int64_t number;
	size_t i;

	if (!args->words.n)
		return true;
	for (i = 0; i < args->words.n; i++)
		if (is_number(args->words.word[i], &number) &&
		    (row->pid == number || row->ns_pid == number))
			return true;
	for (i = 0; chosen && i < chosen->count; i++)
		if (chosen->targets[i].pid == row->pid)
			return true;
	return false;
}

/* Select by the words that are no numbers. 0, or the exit status. */
static int choose(struct gpreempt *g, const struct pidmap_args *args, struct gpreempt_targets **out)
{
	const char **words = shr_must(calloc(args->words.n + 1, sizeof(*words)));
	struct find f = { .g = g };
	struct gpreempt_error err;
	int64_t number;
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < args->words.n; i++)
		if (!is_number(args->words.word[i], &number))
			words[n++] = args->words.word[i];
	if (n && find_targets(&f, words, n, out, &err))
		ret = ctl_fail(&err);
	find_free(&f);
	free(words);
	return ret;
}

static int print(const struct pidmap_args *args, const struct gp_figures *f,
		 const struct gpreempt_targets *chosen)
{
	struct pidmap_row *rows = shr_must(calloc(f->processes.count + 1, sizeof(*rows)));
	size_t i, n = 0;

	for (i = 0; i < f->processes.count; i++) {
		if (f->processes.items[i].holder)
			continue;
		fill(&f->processes.items[i], rows + n);
		n += wanted(args, rows + n, chosen);
	}
	if (n || !args->words.n)
		out_print(&args->form, &table, rows, n);
	free(rows);
	if (n || !args->words.n)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
			     "gpreempt-lab pidmap shows all GPU processes",
			     "no GPU process has that number, "
			     "here or inside of a container");
}

static int run_pidmap(void *data)
{
	const struct pidmap_args *args = data;
	struct gpreempt_targets *chosen = NULL;
	struct gpreempt_error err;
	struct gpreempt *g = NULL;
	struct ctl_sampler s;
	int ret = ctl_open(NULL, &g);

	if (!ret)
		ret = ctl_need_host(g);
	ctl_sampler_init(&s, g, 0);
	if (!ret)
		ret = choose(g, args, &chosen);
	if (!ret && ctl_sampler_who(&s, &err))
		ret = ctl_fail(&err);
	if (!ret)
		ret = print(args, &s.figures, chosen);
	ctl_sampler_clear(&s);
	gpreempt_list_free(chosen);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_TABLE_OPTIONS(struct pidmap_args),
	{ 0 },
};

const struct ctl_command ctl_pidmap = {
	.name = "pidmap",
	.run = run_pidmap,
	.args_size = sizeof(struct pidmap_args),
	.words = CTL_TARGETS,
	.words_at = offsetof(struct pidmap_args, words),
	.usage = "[TARGET]",
	.summary = "Show the PIDs of GPU processes on the host and inside.",
	.details = "A PID is looked up on both sides: as on the host, and as in the container,\n"
		   "which is what ROCm's log and programs print.\n",
	.examples = "  gpreempt-lab pidmap comm:train\n"
		    "  gpreempt-lab pidmap -o pid,ns_pid,container --sort container\n",
	.table = &table,
	.options = options,
};
