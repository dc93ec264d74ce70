// SPDX-License-Identifier: GPL-2.0-only
/* Page of the report: make-page's page of the files beside this one, with the data in it. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "shared/util.h"
#include "archive.h"
#include "load.h"
#include "report.h"
#include "snapshot.h"

/* clang-format off */
__asm__(".pushsection .rodata\n"
	"page_text:\n"
	".incbin \"" REPORT_PAGE "\"\n"
	"page_end:\n"
	".byte 0\n"
	".popsection\n");
/* clang-format on */

extern const char page_text[], page_end[];

#define MARK "@DATA@"

/* Print text for a script element, which "</script" would end, and "<!--" would change. */
static void put_data(FILE *out, const char *json)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
}

/* Make the page with these data, for free(). */
static char *report_page(struct json_object *all, size_t *size)
{
	const char *mark = strstr(page_text, MARK);
	const char *rest = mark + strlen(MARK);
	char *page = NULL;
	FILE *out = shr_must(open_memstream(&page, size));

	fwrite(page_text, 1, mark - page_text, out);
	put_data(out, json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	fwrite(rest, 1, page_end - rest, out);
	if (fclose(out))
		abort();
	return page;
}

/*
 * State of a host, now or in a snapshot: the output of gpus, list, status and doctor with --json.
 * Each runs in a process of its own, which a target that does not answer can keep for ever.
 */

/* Returns the command's JSON; NULL: the command failed and has printed why. */
static struct json_object *run_command(const char *command, const char *snapshot)
{
	char path[PATH_MAX], *argv[] = {
		(char *)ctl_find_program("gpreempt-ctl", "gpreempt-ctl", path),
		(char *)command,
		"--json",
		snapshot ? "--from" : NULL,
		(char *)snapshot,
		NULL,
	};
	struct json_object *o;
	size_t len;
	int status;
	char *text;

	text = lab_run(argv, -1, TEXT_FILE_MAX, &len, &status);
	if (status == -ETIMEDOUT)
		ctl_note("%s has not answered in time", command);
	o = text ? json_tokener_parse(text) : NULL;
	free(text);
	return o;
}

static void add_rows(struct report *r, struct json_object *state, const char *snapshot,
		     const char *command, const char *key)
{
	struct json_object *o = run_command(command, snapshot), *rows;

	rows = report_get(o, key);
	if (!json_object_is_type(rows, json_type_array)) {
		r->status = GPREEMPT_CLASS_PARTIAL;
		rows = NULL;
	}
	/* null: unknown. */
	out_add(state, key, json_object_get(rows));
	json_object_put(o);
}

static struct json_object *json_time(time_t at)
{
	char when[64];
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
	return out_json_text(when);
}

/* Add this host as it is now: of its own state, and of who made the page. */
static void describe_now(struct json_object *o)
{
	struct utsname host;

	uname(&host);
	out_add(o, "time", json_time(time(NULL)));
	out_add(o, "host", out_json_text(host.nodename));
	out_add(o, "kernel", out_json_text(host.release));
	out_add(o, "gpreempt", out_json_text(gpreempt_version()));
}

/* Read the snapshot's lines of a key and a value, behind the heading. */
static void describe_snapshot(struct report *r, struct json_object *state, const char *dir)
{
	static const char *const keys[] = { "time", "host", "kernel", "gpreempt" };
	size_t len, i;
	char *all = text_read_in(dir, SNAPSHOT_INFO, &len);
	char *rest = all, *line, *value;

	while ((line = strsep(&rest, "\n"))) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (!strcmp(line, keys[i]))
				out_add(state, keys[i], out_json_text(value));
		r->simulated |= !strcmp(line, "simulated") && *value == '1';
	}
	free(all);
}

/* system.c: this host now, or the snapshot in a directory. 0, or the exit status. */
static int report_system(struct report *r, const char *snapshot)
{
	struct json_object *state;
	struct gpreempt *g;
	int ret = ctl_open(snapshot, &g);

	if (ret)
		return ret;
	gpreempt_free(g);
	state = json_object_new_object();
	out_add(state, "source", out_json_text(snapshot ? snapshot : "now"));
	if (snapshot)
		describe_snapshot(r, state, snapshot);
	else
		describe_now(state);
	r->simulated |= !snapshot && ctl_simulated();
	add_rows(r, state, snapshot, "gpus", "gpus");
	add_rows(r, state, snapshot, "list", "processes");
	/* A snapshot does not have the holders' answers. */
	if (!snapshot)
		add_rows(r, state, NULL, "status", "holders");
	add_rows(r, state, snapshot, "doctor", "checks");
	json_object_array_add(r->states, state);
	report_add_source(r, snapshot ? snapshot : "now", snapshot ? "snapshot" : "now");
	return 0;
}

/* Latencies that several files of one run have: they are shown once. */

/* Is that figure of both known, and not the same? Each is known to 1 ns, a sum to 1 ns a sample. */
static bool differ(struct json_object *a, struct json_object *b, const char *key, int *both)
{
	double x = report_number(a, key), y = report_number(b, key);

	if (isnan(x) || isnan(y))
		return false;
	++*both;
	return fabs(x - y) > 0.0015 * (strcmp(key, "sum_us") ? 1 : report_number(a, "n"));
}

/* Are they of the same samples, in two forms? */
static bool is_same(struct json_object *a, struct json_object *b)
{
	static const char *const keys[] = { "min_us", "p50_us", "p90_us",
					    "p99_us", "max_us", "sum_us" };
	int both = 0;
	size_t i;

	if (strcmp(report_text(a, "name"), report_text(b, "name")) ||
	    report_number(a, "n") != report_number(b, "n") ||
	    !strcmp(report_text(a, "source"), report_text(b, "source")))
		return false;
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (differ(a, b, keys[i], &both))
			return false;
	return both;
}

/* Returns how much it tells: samples more than a histogram, this more than figures. */
static int worth(struct json_object *latency)
{
	return 2 * !!report_get(latency, "buckets") + !!report_get(latency, "p50_us");
}

static void join(struct json_object *to, struct json_object *other)
{
	char *source = NULL;

	if (asprintf(&source, "%s, %s", report_text(to, "source"), report_text(other, "source")) <
	    0)
		abort();
	out_add(to, "source", out_json_text(source));
	if (report_get(other, "labels"))
		out_add(to, "labels", json_object_get(report_get(other, "labels")));
	free(source);
}

static void join_latencies(struct report *r)
{
	struct json_object *all = r->latencies, *a, *b;
	size_t i, j;

	for (i = 0; i < json_object_array_length(all); i++)
		for (j = i + 1; j < json_object_array_length(all);) {
			a = json_object_array_get_idx(all, i);
			b = json_object_array_get_idx(all, j);
			if (!is_same(a, b)) {
				j++;
				continue;
			}
			if (worth(b) > worth(a)) {
				join(b, a);
				json_object_array_put_idx(all, i, json_object_get(b));
			} else {
				join(a, b);
			}
			json_object_array_del_idx(all, j, 1);
		}
}

/* report: one page of the output of other commands, or of this host now. */

struct report_args {
	struct ctl_words files;
	const char *output;
	enum out_mode mode;
};

/* "-" is stdin. */
static int take_file(struct report *r, const char *path)
{
	bool named = strcmp(path, "-");
	struct stat st;
	size_t len;
	char *text;
	int ret;

	if (named && !stat(path, &st) && S_ISDIR(st.st_mode))
		return report_system(r, path);
	text = named ? ctl_read_file(path, &len) : text_read(path, &len);
	if (!text)
		return text_fail(path, -errno);
	ret = lab_archive_open(path, &text, &len);
	if (!ret)
		ret = report_take(r, path, text);
	if (!ret && named)
		out_add(json_object_array_get_idx(r->sources,
						  json_object_array_length(r->sources) - 1),
			"time", json_time(st.st_mtime));
	free(text);
	return ret;
}

static int take_all(struct report *r, const struct ctl_words *files)
{
	size_t i;
	int ret = 0;

	if (!files->n)
		return report_system(r, NULL);
	for (i = 0; i < files->n && !ret; i++)
		ret = take_file(r, files->word[i]);
	return ret;
}

static struct json_object *make_object(const struct report *r)
{
	struct json_object *o = json_object_new_object();

	describe_now(o);
	out_add(o, "simulated", out_json_flag(r->simulated));
	out_add(o, "sources", r->sources);
	out_add(o, "states", r->states);
	out_add(o, "timelines", r->timelines);
	out_add(o, "shares", r->shares);
	out_add(o, "trials", r->trials);
	out_add(o, "latencies", r->latencies);
	out_add(o, "series", r->series);
	out_add(o, "metrics", r->metrics);
	return o;
}

static int write_page(const char *path, struct json_object *o)
{
	size_t size;
	char *page = report_page(o, &size);
	/* Private, as a snapshot: elsewhere only root may read its content. */
	int ret = shr_file_replace(path, 0600, page, size);

	free(page);
	return ret ? ctl_fail_file("page", path, "cannot be written", ret) : 0;
}

static int run_report(void *data)
{
	const struct report_args *args = data;
	struct report r = { 0 };
	struct json_object **list[] = {
		&r.sources, &r.states,	  &r.timelines, &r.shares,
		&r.trials,  &r.latencies, &r.series,	&r.metrics,
	};
	struct json_object *o;
	size_t i;
	int ret;

	if (args->mode != OUT_JSON && !args->output)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab report -o page.html",
				     "name the page: -o FILE is needed");
	for (i = 0; i < ARRAY_SIZE(list); i++)
		*list[i] = json_object_new_array();
	ret = take_all(&r, &args->files);
	join_latencies(&r);
	o = make_object(&r);
	if (!ret && args->output)
		ret = write_page(args->output, o);
	if (!ret && args->mode == OUT_JSON)
		out_json_print(json_object_get(o));
	json_object_put(o);
	return ret ? ret : r.status;
}

static const struct ctl_option options[] = {
	{ "output", CTL_FILE, offsetof(struct report_args, output), "FILE",
	  "write the page there (-o FILE)" },
	CTL_JSON_OPTION(struct report_args),
	{ 0 },
};

const struct ctl_command ctl_report = {
	.name = "report",
	.run = run_report,
	.args_size = sizeof(struct report_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct report_args, files),
	.usage = "[FILE]",
	.examples = "  gpreempt-lab report -o host.html   # of this host\n"
		    "  gpreempt-lab report before -o before.html\n",
	.options = options,
	.summary = "Make one page (HTML) of this host, or of files.",
	.details =
		"Without a FILE it shows this host now: what gpus, list, status and doctor\n"
		"print. A FILE is a snapshot's directory, \"-\" for stdin, or what one of these\n"
		"has printed or written:\n"
		"  gpus --json, list --json, status --json, doctor --json\n"
		"  monitor --csv, monitor --json\n"
		"  preempt --samples, preempt --json\n"
		"  guard --json (with --verbose: the work of online, too), guard --samples,\n"
		"  guard --metrics\n"
		"  trial --output, also in an archive\n"
		"The kind of a file is found from its contents. The page has tables, timelines\n"
		"and histograms in one file, which loads nothing from the network. It shows\n"
		"names, command lines and users of processes. A latency that several files of\n"
		"one run have is shown once.\n"
		"Exit status 6: something of this host or of a snapshot could not be read, and\n"
		"is unknown on the page. 2: a FILE is something else, and nothing is written.\n",
};
