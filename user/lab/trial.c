// SPDX-License-Identifier: GPL-2.0-only
/* trial: verdicts and figures of gpreempt-ctl trial, of one host or beside those of another one. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "shared/text.h"
#include "shared/util.h"
#include "archive.h"
#include "load.h"
#include "report.h"

/* Findings of one trial. Times are in ns; each number may be GPREEMPT_UNKNOWN, each text NULL. */
struct finding {
	const char *word; /* result of a stage, or verdict on a claim */
	const char *why;
	int64_t n; /* samples, or tries of a claim */
	int64_t held;
	int64_t p50, p99, max;
};

/* A stage, a claim or a figure of a GPU. The texts are those of the trial's object. */
struct row {
	int64_t place; /* number of the GPU in the trial */
	int64_t gpu;   /* its index on the host */
	const char *stage, *setup, *part, *name;
	int64_t state_bytes; /* bytes of the waves in registers and LDS */
	int64_t limit;	     /* time that the memory needs for these */
	struct finding a, b; /* b: of the other trial */
	int64_t percent;     /* tenths: b's median, of a's */
};

struct rows {
	struct row *items;
	size_t count;
};

struct trial {
	const char *name; /* for the user */
	struct json_object *o;
	char *text; /* text of the result; NULL: of none that was opened */
	size_t len;
	int64_t gpus;
	struct rows stages, claims, figures;
};

/* Eight GPUs with all stages have some 1,500. Others are not compared: that takes their square. */
#define MOST_ROWS 4096

static const char *text_of(struct json_object *o, const char *key)
{
	const char *text = report_text(o, key);

	return *text ? text : NULL;
}

/* A count, or a time in us as ns: others have written it, and it may be of any size. */
static int64_t number_of(struct json_object *o, const char *key, double unit)
{
	double value = report_number(o, key);

	return value >= 0 && value < REPORT_MOST ? value * unit : GPREEMPT_UNKNOWN;
}

#define COUNT 1
#define US    NSEC_PER_USEC

static const struct finding none = {
	.n = GPREEMPT_UNKNOWN,
	.held = GPREEMPT_UNKNOWN,
	.p50 = GPREEMPT_UNKNOWN,
	.p99 = GPREEMPT_UNKNOWN,
	.max = GPREEMPT_UNKNOWN,
};

/* An array that is there, or an empty one. */
static size_t length_of(struct json_object *o)
{
	return json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
}

static void add(struct rows *rows, const struct row *row)
{
	*(struct row *)shr_must(shr_array_add(&rows->items, &rows->count, sizeof(*row))) = *row;
}

/* A figure is an object with samples, or a time alone. */
static void add_figure(struct trial *t, const struct row *base, const char *part,
		       struct json_object *from, const char *name)
{
	struct json_object *value = report_get(from, name);
	struct row row = *base;

	row.part = part;
	row.name = name;
	if (json_object_is_type(value, json_type_object)) {
		row.a.n = number_of(value, "n", COUNT);
		row.a.p50 = number_of(value, "p50", US);
		row.a.p99 = number_of(value, "p99", US);
		row.a.max = number_of(value, "max", US);
	} else if (shr_ends_with(name, strlen(name), "_us")) {
		row.a.n = 1;
		row.a.p50 = number_of(from, name, US);
	}
	if (row.a.n > 0 && row.a.p50 >= 0)
		add(&t->figures, &row);
}

/* Figures of a setup: its own, and those of its parts. */
static void take_run(struct trial *t, const struct row *base, struct json_object *run)
{
	struct row row = *base;

	if (!json_object_is_type(run, json_type_object))
		return;
	row.setup = text_of(run, "name");
	row.state_bytes = number_of(run, "state_bytes", COUNT);
	row.limit = number_of(run, "limit_us", US);
	json_object_object_foreach(run, name, part)
	{
		if (strcmp(name, "limit_us"))
			add_figure(t, &row, NULL, run, name);
		if (!json_object_is_type(part, json_type_object))
			continue;
		json_object_object_foreach(part, within, figure)
		{
			(void)figure;
			add_figure(t, &row, name, part, within);
		}
	}
}

static void take_stage(struct trial *t, const struct row *base, struct json_object *stage)
{
	struct json_object *runs = report_get(stage, "runs");
	struct row row = *base;
	size_t i;

	row.name = text_of(stage, "name");
	row.a.word = text_of(stage, "result");
	row.a.why = text_of(stage, "why");
	add(&t->stages, &row);
	row = *base;
	row.stage = text_of(stage, "name");
	for (i = 0; i < length_of(runs); i++)
		take_run(t, &row, json_object_array_get_idx(runs, i));
}

static void take_claim(struct trial *t, const struct row *base, struct json_object *claim)
{
	struct row row = *base;

	row.name = text_of(claim, "claim");
	row.a.word = text_of(claim, "verdict");
	row.a.n = number_of(claim, "tried", COUNT);
	row.a.held = number_of(claim, "held", COUNT);
	add(&t->claims, &row);
}

static bool is_trial(struct json_object *o)
{
	return json_object_is_type(report_get(o, "gpus"), json_type_array) &&
	       text_of(o, "version") && text_of(o, "kernel");
}

/* -E2BIG: it has more than a trial can have. For free_trial() in either case. */
static int take_trial(const char *name, struct json_object *o, struct trial *t)
{
	struct json_object *gpus = report_get(o, "gpus"), *gpu, *list;
	struct row base = {
		.state_bytes = GPREEMPT_UNKNOWN,
		.limit = GPREEMPT_UNKNOWN,
		.percent = GPREEMPT_UNKNOWN,
		.a = none,
		.b = none,
	};
	size_t i;

	*t = (struct trial){ .name = name, .o = json_object_get(o), .gpus = length_of(gpus) };
	for (; base.place < t->gpus; base.place++) {
		gpu = json_object_array_get_idx(gpus, base.place);
		base.gpu = number_of(gpu, "gpu", COUNT);
		list = report_get(gpu, "stages");
		for (i = 0; i < length_of(list); i++)
			take_stage(t, &base, json_object_array_get_idx(list, i));
		list = report_get(gpu, "claims");
		for (i = 0; i < length_of(list); i++)
			take_claim(t, &base, json_object_array_get_idx(list, i));
		if (t->stages.count + t->claims.count + t->figures.count > MOST_ROWS)
			return -E2BIG;
	}
	return 0;
}

static void free_trial(struct trial *t)
{
	free(t->stages.items);
	free(t->claims.items);
	free(t->figures.items);
	json_object_put(t->o);
	free(t->text);
}

/* Two trials. */

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct row *find(const struct rows *rows, const struct row *like, int64_t place)
{
	size_t i;

	for (i = 0; i < rows->count; i++) {
		struct row *row = &rows->items[i];

		if (row->place == place && is_same(row->name, like->name) &&
		    is_same(row->stage, like->stage) && is_same(row->setup, like->setup) &&
		    is_same(row->part, like->part))
			return row;
	}
	return NULL;
}

static void compare_rows(struct rows *a, const struct rows *b, int64_t last, bool all)
{
	const size_t n = a->count;
	size_t i;

	for (i = 0; i < n; i++) {
		struct row *row = &a->items[i], *other;
		double percent;

		other = find(b, row, row->place < last ? row->place : last);
		if (!other)
			continue;
		row->b = other->a;
		percent = row->a.p50 > 0 && row->b.p50 >= 0 ? 1e3 * row->b.p50 / row->a.p50 : -1;
		if (percent >= 0 && percent < REPORT_MOST)
			row->percent = percent + 0.5;
	}
	for (i = 0; all && i < b->count; i++) {
		struct row row = b->items[i];

		row.b = row.a;
		row.a = none;
		if (!find(a, &row, row.place))
			add(a, &row);
	}
}

/*
 * Put the findings of b beside those of a, of GPU after GPU; of more GPUs than b has, the last
 * one's. With all, what b alone has is added.
 */
static void compare(struct trial *a, const struct trial *b, bool all)
{
	compare_rows(&a->stages, &b->stages, b->gpus - 1, all);
	compare_rows(&a->claims, &b->claims, b->gpus - 1, all);
	compare_rows(&a->figures, &b->figures, b->gpus - 1, all);
}

/* Output. */

static const struct out_field stage_fields[] = {
	OUT_FIELD(struct row, gpu, "GPU", OUT_DEC),
	OUT_NAMED("stage", struct row, name, "STAGE", OUT_TEXT),
	OUT_NAMED("result", struct row, a.word, "RESULT", OUT_TEXT),
	OUT_NAMED("b_result", struct row, b.word, "B-RESULT", OUT_TEXT, .spare = true),
	OUT_NAMED("why", struct row, a.why, "WHY", OUT_TEXT, .wrap = true),
};

static const struct out_field claim_fields[] = {
	OUT_FIELD(struct row, gpu, "GPU", OUT_DEC),
	OUT_NAMED("verdict", struct row, a.word, "VERDICT", OUT_TEXT),
	OUT_NAMED("tried", struct row, a.n, "TRIED", OUT_DEC),
	OUT_NAMED("held", struct row, a.held, "HELD", OUT_DEC),
	OUT_NAMED("b_verdict", struct row, b.word, "B-VERDICT", OUT_TEXT, .spare = true),
	OUT_NAMED("b_tried", struct row, b.n, "B-TRIED", OUT_DEC, .spare = true),
	OUT_NAMED("b_held", struct row, b.held, "B-HELD", OUT_DEC, .spare = true),
	OUT_NAMED("claim", struct row, name, "CLAIM", OUT_TEXT, .wrap = true),
};

static const struct out_field figure_fields[] = {
	OUT_FIELD(struct row, gpu, "GPU", OUT_DEC),
	OUT_FIELD(struct row, stage, "STAGE", OUT_TEXT),
	OUT_FIELD(struct row, part, "PART", OUT_TEXT, .rank = 5),
	OUT_NAMED("figure", struct row, name, "FIGURE", OUT_TEXT),
	OUT_NAMED("n", struct row, a.n, "N", OUT_DEC),
	OUT_NAMED("p50_us", struct row, a.p50, "P50-US", OUT_US),
	OUT_NAMED("p99_us", struct row, a.p99, "P99-US", OUT_US, .rank = 3),
	OUT_NAMED("max_us", struct row, a.max, "MAX-US", OUT_US, .rank = 4),
	OUT_FIELD(struct row, state_bytes, "STATE", OUT_SIZE, .spare = true, .rank = 2),
	OUT_NAMED("limit_us", struct row, limit, "LIMIT-US", OUT_US, .spare = true, .rank = 1),
	OUT_NAMED("b_n", struct row, b.n, "B-N", OUT_DEC, .spare = true),
	OUT_NAMED("b_p50_us", struct row, b.p50, "B-P50-US", OUT_US, .spare = true),
	OUT_NAMED("b_p99_us", struct row, b.p99, "B-P99-US", OUT_US, .spare = true, .rank = 3),
	OUT_NAMED("b_max_us", struct row, b.max, "B-MAX-US", OUT_US, .spare = true, .rank = 4),
	OUT_NAMED("b_percent", struct row, percent, "B-%", OUT_TENTHS, .spare = true),
	OUT_FIELD(struct row, setup, "SETUP", OUT_TEXT, .wrap = true),
};

static const struct out_table tables[] = {
	OUT_TABLE("stages", stage_fields, struct row),
	OUT_TABLE("claims", claim_fields, struct row),
	OUT_TABLE("figures", figure_fields, struct row),
};

static const struct rows *rows_of(const struct trial *t, size_t table)
{
	const struct rows *const all[] = { &t->stages, &t->claims, &t->figures };

	return all[table];
}

static bool is_simulated(const struct trial *t)
{
	return t && json_object_get_boolean(report_get(t->o, "simulated"));
}

static struct json_object *describe(const struct trial *t)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "source", out_json_text(t->name));
	out_add(o, "version", out_json_text(text_of(t->o, "version")));
	out_add(o, "kernel", out_json_text(text_of(t->o, "kernel")));
	out_add(o, "gfx",
		out_json_text(text_of(json_object_array_get_idx(report_get(t->o, "gpus"), 0),
				      "gfx")));
	out_add(o, "simulated", out_json_flag(is_simulated(t)));
	return o;
}

static struct json_object *json_of(const struct trial *a, const struct trial *b)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	size_t i;

	json_object_array_add(list, describe(a));
	if (b)
		json_object_array_add(list, describe(b));
	out_add(o, "trials", list);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		out_add(o, tables[i].name,
			out_json_rows(&tables[i], rows_of(a, i)->items, rows_of(a, i)->count));
	out_add(o, "simulated", out_json_flag(is_simulated(a) || is_simulated(b)));
	return o;
}

/* A trial above the simulated GPU, for those of real ones: tests/report/take made it. */
/* clang-format off */
__asm__(".pushsection .rodata\n"
	"trial_reference:\n"
	".incbin \"user/lab/trial-reference.json\"\n"
	".byte 0\n"
	".popsection\n");
/* clang-format on */

extern const char trial_reference[];

int report_trial(struct json_object *list, const char *name, struct json_object *o)
{
	struct json_object *reference;
	struct trial a, b;
	int ret;

	if (!is_trial(o))
		return -EINVAL;
	reference = json_tokener_parse(trial_reference);
	take_trial("simulated GPU", reference, &b);
	ret = take_trial(name, o, &a);
	if (!ret && !is_simulated(&a))
		compare(&a, &b, false);
	if (!ret)
		json_object_array_add(list, json_of(&a, is_simulated(&a) ? NULL : &b));
	free_trial(&a);
	free_trial(&b);
	json_object_put(reference);
	return ret;
}

static void print_heading(const struct trial *t, const char *side)
{
	struct json_object *o = describe(t);

	ctl_say("%s%s: gpreempt %s, Linux %s, %s%s", side, t->name, report_text(o, "version"),
		report_text(o, "kernel"), *report_text(o, "gfx") ? report_text(o, "gfx") : "GPU -",
		is_simulated(t) ? "; times are of the driver's path on a simulated GPU" : "");
	json_object_put(o);
}

static void print_trials(const struct trial *a, const struct trial *b)
{
	size_t i;

	print_heading(a, b ? "A: " : "");
	if (b)
		print_heading(b, "B: ");
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		out_rows(out_mode(), &tables[i], rows_of(a, i)->items, rows_of(a, i)->count);
}

/* The command. */

struct trial_args {
	struct ctl_words files;
	const char *archive, *snapshot;
	uint64_t full;
	enum out_mode mode;
};

/* Read the text of a result; *len is 0 before. 0, or the exit status after a message. */
static int read_result(const char *path, char **text, size_t *len)
{
	*text = strcmp(path, "-") ? ctl_read_file(path, len) : text_read(path, len);
	return *text ? lab_archive_open(path, text, len) : text_fail(path, -errno);
}

/* 0, or the exit status after a message. The trial is for free_trial() in either case. */
static int open_trial(const char *path, struct trial *t)
{
	struct json_object *o;
	char *text;
	size_t len;
	int ret = read_result(path, &text, &len);

	if (ret) {
		free(text);
		return ret;
	}
	o = len <= TEXT_WHOLE_MAX ? json_tokener_parse(text) : NULL;
	ret = is_trial(o) ? take_trial(path, o, t) : -EINVAL;
	json_object_put(o);
	t->text = text;
	t->len = len;
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl trial --output FILE writes one",
			     ret == -E2BIG ? "%s: this has more figures than a trial has" :
					     "%s: this is no result of gpreempt-ctl trial",
			     path);
}

/* Make an archive of a result, which must be one. */
static int archive_trial(const struct trial_args *args)
{
	const struct lab_archive archive = {
		.path = args->archive,
		.snapshot = args->snapshot,
		.full = args->full,
	};
	struct trial t = { 0 };
	int ret = open_trial(args->files.word[0], &t);

	if (!ret)
		ret = lab_archive_make(&archive, t.text, t.len);
	if (!ret)
		ctl_say(args->full ? "%s: made, with names" : "%s: made, and no name was found",
			args->archive);
	free_trial(&t);
	return ret;
}

static int check_words(const struct trial_args *args)
{
	if (!args->archive && (args->full || args->snapshot))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "name the archive: --archive FILE",
				     "--full and --snapshot are for an archive");
	if (args->archive && (args->files.n > 1 || args->mode == OUT_JSON))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab trial --help",
				     "--archive is of one result, and without --json");
	return ctl_one_stdin(args->files.word, args->files.n);
}

static int show_trials(const struct trial_args *args)
{
	struct trial a = { 0 }, b = { 0 };
	bool two = args->files.n > 1;
	int ret = open_trial(args->files.word[0], &a);

	if (!ret && two)
		ret = open_trial(args->files.word[1], &b);
	if (!ret && two)
		compare(&a, &b, true);
	if (!ret && args->mode == OUT_JSON)
		out_json_print(json_of(&a, two ? &b : NULL));
	else if (!ret)
		print_trials(&a, two ? &b : NULL);
	free_trial(&a);
	free_trial(&b);
	return ret;
}

static int run_trial(void *data)
{
	const struct trial_args *args = data;
	int ret = check_words(args);

	if (ret)
		return ret;
	return args->archive ? archive_trial(args) : show_trials(args);
}

static const struct ctl_option options[] = {
	{ "archive", CTL_FILE, offsetof(struct trial_args, archive), "FILE",
	  "make an archive of A to send to others (trial.tar.zst)" },
	{ "snapshot", CTL_FILE, offsetof(struct trial_args, snapshot), "DIR",
	  "put the files without names of this snapshot into it, too" },
	{ "full", CTL_FLAG, offsetof(struct trial_args, full), NULL,
	  "put all files into it, and do not look for names" },
	CTL_JSON_OPTION(struct trial_args),
	{ 0 },
};

const struct ctl_command ctl_lab_trial = {
	.name = "trial",
	.run = run_trial,
	.args_size = sizeof(struct trial_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct trial_args, files),
	.min_words = 1,
	.max_words = 2,
	.usage = "A [B]",
	.examples = "  gpreempt-lab trial ours.json\n"
		    "  gpreempt-lab trial ours.json theirs.tar.zst\n"
		    "  gpreempt-lab trial ours.json --archive ours.tar.zst\n",
	.options = options,
	.summary = "Show a trial's result, compare two, or make an archive.",
	.details =
		"A and B are what gpreempt-ctl trial --output has written, also on other hosts,\n"
		"or archives of these. It prints the stages, the verdict on each claim, and each\n"
		"figure with its number of samples; of waves the state that they hold, and the\n"
		"least time that the GPU's memory needs for it. With B the same of B stands\n"
		"beside it, and B's median in percent of A's (B-%). The GPUs are compared in\n"
		"their order; if B has fewer, its last one is compared with the others, too.\n"
		"An archive has no name of this host, its addresses, users, containers, GPU\n"
		"processes and their command lines: when one is found in a file, nothing is\n"
		"written. Take the trial's own host: the names are looked up there. The archive\n"
		"has a list of what is inside. It needs tar and zstd.\n"
		"Exit status 2: a file is no result of a trial. 1: a name was found.\n",
};
