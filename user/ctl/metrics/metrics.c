// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of GPUs and processes, for Prometheus. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/owner-text.h"
#include "agent/places.h"
#include "ctl/command/ctl.h"
#include "ctl/metrics/metrics.h"
#include "shared/atomic-file.h"
#include "shared/clock.h"

struct metrics_args {
	uint64_t for_ns;
	uint64_t looks_ns;
	uint64_t max_series;
	const char *format;
	const char *output; /* NULL: stdout */
};

/* Series of the host that are added last. */
#define LAST_SERIES 2

static double cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int parse_format(const char *word, enum out_format *out)
{
	if (!word || !strcmp(word, "prometheus"))
		*out = OUT_PROMETHEUS;
	else if (!strcmp(word, "openmetrics"))
		*out = OUT_OPENMETRICS;
	else
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl metrics --help",
				     "--format is prometheus or openmetrics");
	return 0;
}

/* Look at all GPUs for that long, at least once. *took_ns: how long it was. */
static int sample(struct ctl_sampler *s, uint64_t for_ns, uint64_t *took_ns)
{
	struct gpreempt_error err;
	uint64_t begin;
	int ret = ctl_sampler_refresh(s, &err);

	if (ret)
		return ctl_fail(&err);
	begin = shr_now_ns();
	ctl_sampler_look(s);
	if (s->blind)
		ctl_note_reason(s->why.reason, 0);
	else
		ctl_sampler_wait(s, shr_later_ns(begin, for_ns), -1);
	*took_ns = shr_now_ns() - begin;
	ret = ctl_sampler_refresh(s, &err);
	return ret ? ctl_fail(&err) : 0;
}

static void add_versions(struct out_metrics *m, struct gpreempt *g)
{
	struct out_labels labels = { { [OUT_VERSION] = gpreempt_version() } };
	const struct gpreempt_fact *module;
	struct gpreempt_facts *facts = NULL;

	if (!gpreempt_module_version(g, &facts, NULL)) {
		module = gpreempt_facts_find(facts, "module");
		labels.value[OUT_MODULE] = module ? module->value : NULL;
	}
	out_metric(m, OUT_GPREEMPT, &labels, 1);
	gpreempt_facts_free(facts);
}

static int count_left(void *arg, const struct places_left *left)
{
	size_t *sums = arg;

	sums[left->role] += left->left;
	return 0;
}

/* Both are there at any time, so that an alert needs no other series. */
static void add_left(struct out_metrics *m, struct gpreempt *g)
{
	static const enum hold_role roles[] = { HOLD_ROLE_FOLLOW, HOLD_ROLE_GUARD };
	size_t sums[HOLD_ROLES] = { 0 }, i;

	/* Not root's: it is not known. */
	if (places_left_list(g, count_left, sums))
		return;
	for (i = 0; i < ARRAY_SIZE(roles); i++)
		out_metric(m, OUT_LEFT_ALONE,
			   &(struct out_labels){ { [OUT_BY] = hold_role_name(roles[i]) } },
			   sums[roles[i]]);
}

static int add_all(struct out_metrics *m, struct ctl_sampler *s, const struct metrics_args *args,
		   uint64_t took_ns)
{
	uint64_t max = args->max_series;
	size_t dropped = 0, used;
	struct metrics_gpus gpus;
	int ret = metrics_name_gpus(&s->figures, &gpus);

	if (ret)
		return ret;
	add_versions(m, s->g);
	out_metric(m, OUT_SIMULATED, NULL, ctl_simulated());
	out_metric(m, OUT_SAMPLE_SECONDS, NULL, took_ns / 1e9);
	out_metric(m, OUT_SAMPLE_LOOKS, NULL, s->figures.looks);
	add_left(m, s->g);
	metrics_add_gpus(m, &s->figures, &gpus);
	used = m->series + LAST_SERIES;
	ret = metrics_add_processes(m, s, &gpus, max > used ? max - used : 0, &dropped);
	out_metric(m, OUT_SERIES_DROPPED, NULL, dropped);
	out_metric(m, OUT_SCRAPE_CPU, NULL,
		   cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
	free(gpus.gpus);
	return ret;
}

/* On stdout, or as the whole of a file. 0 or an exit status. */
static int print(struct out_metrics *m, const struct metrics_args *args, enum out_format format)
{
	char *text = NULL;
	size_t size;
	FILE *out = args->output ? open_memstream(&text, &size) : stdout;
	int ret;

	if (!out)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = out_metrics_print(m, format, out);
	if (args->output && fclose(out))
		ret = -ENOMEM;
	if (ret) {
		free(text);
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	}
	if (args->output)
		ret = shr_file_replace(args->output, 0644, text, size);
	free(text);
	return ret ? ctl_fail_file("metrics file", args->output, "cannot be written", ret) : 0;
}

static int collect(struct gpreempt *g, const struct metrics_args *args, enum out_format format)
{
	struct ctl_sampler s;
	struct out_metrics m;
	uint64_t took_ns = 0;
	int ret;

	ctl_sampler_init(&s, g, args->looks_ns);
	ret = sample(&s, args->for_ns, &took_ns);
	if (!ret) {
		out_metrics_init(&m);
		if (add_all(&m, &s, args, took_ns))
			m.failed = true;
		ret = print(&m, args, format);
	}
	ctl_sampler_clear(&s);
	return ret;
}

static int run_metrics(void *data)
{
	const struct metrics_args *args = data;
	struct gpreempt *g = NULL;
	enum out_format format = OUT_PROMETHEUS;
	int code, ret = parse_format(args->format, &format);

	code = !ret && args->output ? shr_file_check(args->output) : 0;
	if (code)
		return ctl_fail_file("metrics file", args->output, "cannot be written", code);
	if (!ret)
		ret = ctl_open_host(&g);
	if (!ret)
		ret = collect(g, args, format);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "for", CTL_DURATION, offsetof(struct metrics_args, for_ns), "TIME",
	  "how long to look, for shares of that time (1s)" },
	{ "looks", CTL_DURATION, offsetof(struct metrics_args, looks_ns), "TIME",
	  "time between looks (0s: 20ms, or what 1 % of a CPU allows)" },
	{ "format", CTL_NAME, offsetof(struct metrics_args, format), "FORMAT",
	  "prometheus (default) or openmetrics" },
	{ "max-series", CTL_COUNT, offsetof(struct metrics_args, max_series), "N",
	  "leave out processes beyond that many series (2000)" },
	{ "output", CTL_FILE, offsetof(struct metrics_args, output), "FILE",
	  "replace a file, as for the textfile collector" },
	{ 0 },
};

const struct ctl_command ctl_metrics = {
	.name = "metrics",
	.run = run_metrics,
	.args_size = sizeof(struct metrics_args),
	.summary = "Print metrics of GPUs and processes for Prometheus.",
	.details =
		"Looks at all GPUs for a time, up to 50 times a second and with 1 % of a CPU\n"
		"at most, and prints once. Shares are of these looks: a process is busy in\n"
		"those in which it has waves in flight. /dev/kfd is not opened.\n"
		"\n"
		"With more series than --max-series, whole processes are left out: those that\n"
		"were busy least, and of these those with least memory. The metric\n"
		"gpreempt_series_dropped counts their series; those of GPUs are always there.\n"
		"\n"
		"docs/metrics.md has all metrics and labels. gpreempt-metrics.timer runs it for\n"
		"the textfile collector of node_exporter.\n",
	.options = options,
	.defaults =
		&(const struct metrics_args){
			.for_ns = NSEC_PER_SEC,
			.max_series = 2000,
		},
};
