// SPDX-License-Identifier: GPL-2.0-only
/* One page of all that other commands have printed, or of this host now. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/command/ctl.h"
#include "ctl/report/report.h"
#include "ctl/text/open.h"
#include "shared/atomic-file.h"

struct report_args {
	struct ctl_words files;
	const char *output;
	enum out_mode mode;
};

static int fail_file(const char *path, int code)
{
	return ctl_fail_text(code == -EACCES || code == -EPERM ? GPREEMPT_CLASS_PERMISSION :
								 GPREEMPT_CLASS_FAILED,
			     NULL, "%s: %s", path, text_open_error(code));
}

/* "-" is stdin. */
static int take_file(struct report *r, const char *path)
{
	struct stat st;
	ssize_t got;
	size_t len;
	char *text;
	int ret;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return report_system(r, path);
	if (!strcmp(path, "-")) {
		got = text_read_all(STDIN_FILENO, TEXT_FILE_MAX, &text);
		if (got < 0)
			return fail_file(path, got);
	} else {
		text = ctl_read_file(path, &len);
		if (!text)
			return fail_file(path, -errno);
	}
	ret = report_take(r, path, text);
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

	out_add(o, "gpreempt", out_json_text(gpreempt_version()));
	out_add(o, "simulated", out_json_flag(r->simulated));
	out_add(o, "sources", r->sources);
	out_add(o, "states", r->states);
	out_add(o, "timelines", r->timelines);
	out_add(o, "latencies", r->latencies);
	out_add(o, "series", r->series);
	out_add(o, "metrics", r->metrics);
	return o;
}

static int write_page(const char *path, struct json_object *o)
{
	size_t size;
	char *page = report_page(o, &size);
	int ret;

	if (!page)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	/* As a snapshot: only root may read elsewhere what is in it. */
	ret = shr_file_replace(path, 0600, page, size);
	free(page);
	return ret ? ctl_fail_text(GPREEMPT_CLASS_FAILED,
				   "name a file in a directory that can be written",
				   "the page %s cannot be written: %s", path,
				   shr_file_reason(ret)) :
		     0;
}

static int run_report(void *data)
{
	const struct report_args *args = data;
	struct report r = { 0 };
	struct json_object **list[] = {
		&r.sources, &r.states, &r.timelines, &r.latencies, &r.series, &r.metrics,
	};
	struct json_object *o;
	size_t i;
	int ret;

	if (args->mode != OUT_JSON && !args->output)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl report -o page.html",
				     "where is the page to go? -o FILE is needed");
	for (i = 0; i < ARRAY_SIZE(list); i++)
		*list[i] = json_object_new_array();
	ret = take_all(&r, &args->files);
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
	.options = options,
	.summary = "Make one page (HTML) of this host, or of files.",
	.details = "Without a FILE it shows this host now: what list, status and doctor print. A\n"
		   "FILE is a snapshot's directory, \"-\" for stdin, or what one of these has\n"
		   "printed or written:\n"
		   "  list --json, status --json, doctor --json\n"
		   "  monitor --csv, monitor --json\n"
		   "  preempt --samples, preempt --json\n"
		   "  guard --json (with --verbose: the work of online, too), guard --samples,\n"
		   "  guard --metrics\n"
		   "It is recognised by what is in it. The page has tables, timelines and\n"
		   "histograms in one file, which loads nothing from the network. It contains\n"
		   "names, command lines and users of the processes: who reads it reads these.\n"
		   "Exit status 6: something of this host or of a snapshot could not be read, and\n"
		   "is unknown on the page. 2: a FILE is something else, and nothing is written.\n",
};
