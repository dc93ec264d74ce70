// SPDX-License-Identifier: GPL-2.0-only
/* Look at the queues of processes again and again, without touching them. */
#include <poll.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/util.h"

/* Sample of one process. */
struct sample {
	int64_t t_ns;
	int64_t pid;
	int64_t queues;
	int64_t active;
	int64_t slots;
	int64_t suspended;
	int64_t evicted;
	const char *ids;
};

static const struct out_field fields[] = {
	OUT_NAMED("t_s", struct sample, t_ns, "TIME", OUT_S, .width = 7),
	OUT_FIELD(struct sample, pid, "PID", OUT_DEC, .width = 7),
	OUT_FIELD(struct sample, queues, "QUEUES", OUT_DEC, .width = 6),
	OUT_FIELD(struct sample, active, "ACTIVE", OUT_DEC, .width = 6),
	OUT_FIELD(struct sample, slots, "SLOTS", OUT_DEC, .width = 5),
	OUT_FIELD(struct sample, suspended, "SUSPENDED", OUT_DEC, .width = 9),
	OUT_FIELD(struct sample, evicted, "EVICTED", OUT_DEC, .width = 7),
	OUT_FIELD(struct sample, ids, "QUEUE-IDS", OUT_LIST, .cut = true),
};

static const struct out_table table = OUT_TABLE("series", fields, struct sample);

struct figure {
	size_t n; /* samples in which it was known */
	int64_t min;
	int64_t max;
	double sum;
};

struct seen {
	int64_t qid;
	int64_t samples;
};

static const struct out_field seen_fields[] = {
	OUT_FIELD(struct seen, qid, NULL, OUT_DEC),
	OUT_FIELD(struct seen, samples, NULL, OUT_DEC),
};

static const struct out_table seen_table = OUT_TABLE("seen", seen_fields, struct seen);

struct watched {
	struct gpreempt_target target;
	int fd; /* readable when it has ended; -1: none */
	bool ended;
	bool module; /* gpreempt.ko's view had it */
	size_t samples;
	size_t missed; /* samples for which the process could not be read */
	struct figure queues;
	struct figure active; /* hardware slots */
	struct seen *seen;    /* by queue id */
	size_t n_seen;
	struct json_object *series; /* OUT_JSON only */
};

struct monitor_args {
	struct ctl_target_args targets;
	uint64_t duration_ns; /* 0: until Ctrl-C */
	uint64_t interval_ns;
	struct out_form form;
};

struct monitor {
	const struct monitor_args *args;
	struct gpreempt *g;
	struct watched *watched;
	size_t count, alive;
	int stop; /* readable after Ctrl-C and its like */
	bool stopped;
	uint64_t start;
};

static void add_value(struct figure *figure, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		return;
	if (!figure->n || value < figure->min)
		figure->min = value;
	if (!figure->n || value > figure->max)
		figure->max = value;
	figure->sum += value;
	figure->n++;
}

/* A queue is in the sample at hand. */
static void see(struct watched *w, int64_t qid)
{
	struct seen *seen;
	size_t i;

	for (i = 0; i < w->n_seen && w->seen[i].qid < qid; i++)
		;
	if (i < w->n_seen && w->seen[i].qid == qid) {
		w->seen[i].samples++;
		return;
	}
	shr_must(shr_array_add(&w->seen, &w->n_seen, sizeof(*seen)));
	seen = w->seen + i;
	memmove(seen + 1, seen, (w->n_seen - 1 - i) * sizeof(*seen));
	*seen = (struct seen){ .qid = qid, .samples = 1 };
}

/* Sum up the chosen queues; ids gets their numbers. */
static void add_queues(const struct monitor_args *args, const struct gpreempt_view *view,
		       struct sample *sample, struct watched *w, char *ids)
{
	size_t i;

	*ids = '\0';
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		if (!gp_filter_matches(&args->targets.queues, q->qid, q->gpu_id, q->priority))
			continue;
		sample->queues++;
		out_sum(&sample->active, q->active);
		out_sum(&sample->slots, q->slots);
		out_sum(&sample->suspended, q->suspended);
		out_sum(&sample->evicted, q->evicted);
		ids += sprintf(ids, "%s%lld", sample->queues > 1 ? "," : "", (long long)q->qid);
		see(w, q->qid);
	}
}

static void set_ended(struct monitor *m, struct watched *w)
{
	m->alive--;
	w->ended = true;
	ctl_note("process %d has ended", w->target.pid);
}

static void look(struct monitor *m, struct watched *w)
{
	struct sample sample = { .t_ns = shr_now_ns() - m->start, .pid = w->target.pid };
	__cleanup_list struct gpreempt_view *view = NULL;
	struct gpreempt_error err;
	char *ids = NULL;
	uint64_t start;

	if (gpreempt_start_time(m->g, w->target.pid, &start) || start != w->target.start) {
		set_ended(m, w);
		return;
	}
	w->samples++;
	if (!gpreempt_view_read(m->g, w->target.pid, &view, &err)) {
		ids = shr_must(malloc(view->count * 12 + 1));
		add_queues(m->args, view, &sample, w, ids);
		w->module |= view->source == GPREEMPT_SOURCE_MODULE;
		sample.ids = ids;
		add_value(&w->queues, sample.queues);
		add_value(&w->active, sample.active);
	} else {
		w->missed++;
		sample.queues = sample.active = sample.slots = sample.suspended = sample.evicted =
			GPREEMPT_UNKNOWN;
	}
	if (w->series) {
		json_object_array_add(w->series, out_json_row(&table, &sample));
		ctl_progress("%zu samples of process %d ...", w->samples, w->target.pid);
	} else {
		out_row(&m->args->form, &table, &sample);
	}
	free(ids);
}

/* Wait until then, or until there is a reason to stop. */
static void wait_until(struct monitor *m, struct pollfd *fds, uint64_t when)
{
	uint64_t now;
	size_t i;

	while (!m->stopped && m->alive && (now = shr_now_ns()) < when) {
		uint64_t ms = (when - now) / NSEC_PER_MSEC + 1;

		for (i = 0; i < m->count; i++)
			fds[i].fd = m->watched[i].ended ? -1 : m->watched[i].fd;
		if (poll(fds, m->count + 1, ms > 10000 ? 10000 : ms) <= 0)
			continue;
		for (i = 0; i < m->count; i++)
			if (fds[i].revents)
				set_ended(m, &m->watched[i]);
		m->stopped = fds[m->count].revents != 0;
	}
}

static void sample_all(struct monitor *m)
{
	struct pollfd *fds = shr_must(calloc(m->count + 1, sizeof(*fds)));
	uint64_t next = m->start, end = UINT64_MAX;
	size_t i;

	for (i = 0; i <= m->count; i++)
		fds[i].events = POLLIN;
	fds[m->count].fd = m->stop;
	if (m->args->duration_ns)
		end = m->start + m->args->duration_ns;
	for (;;) {
		for (i = 0; i < m->count; i++)
			if (!m->watched[i].ended)
				look(m, &m->watched[i]);
		/* A snapshot has one moment. */
		if (m->args->targets.from)
			break;
		next += m->args->interval_ns;
		if (next > end)
			break;
		/* A look that took longer than the interval leaves a gap. */
		while (next < shr_now_ns())
			next += m->args->interval_ns;
		wait_until(m, fds, next);
		if (m->stopped || !m->alive)
			break;
	}
	if (next > end)
		wait_until(m, fds, end);
	free(fds);
}

static void print_figure(FILE *f, const char *head, const char *name, const struct figure *figure)
{
	if (!figure->n)
		fprintf(f, "%s  %s not known\n", head, name);
	else
		fprintf(f, "%s  %s mean %.1f min %lld max %lld %s\n", head, name,
			figure->sum / figure->n, (long long)figure->min, (long long)figure->max,
			figure->min == figure->max ? "stable" : "not stable");
}

/* Print the sums. They are not for the same file as samples in CSV. */
static void print_sum(const struct monitor *m, const struct watched *w)
{
	FILE *f = m->args->form.mode == OUT_CSV ? stderr : stdout;
	const char *head = m->args->form.mode == OUT_PIPE ? "# " : "";
	size_t i;

	fprintf(f, "%sprocess %d: %zu samples in %.1f s, %zu missed%s\n", head, w->target.pid,
		w->samples, (shr_now_ns() - m->start) / 1e9, w->missed,
		w->ended ? "; it has ended" : "");
	print_figure(f, head, "queues", &w->queues);
	print_figure(f, head, "active slots", &w->active);
	for (i = 0; i < w->n_seen; i++)
		fprintf(f, "%s  queue %lld in %lld of %zu samples\n", head,
			(long long)w->seen[i].qid, (long long)w->seen[i].samples,
			w->samples - w->missed);
}

static struct json_object *json_figure(const struct figure *figure)
{
	struct json_object *object;

	if (!figure->n)
		return NULL;
	object = json_object_new_object();
	out_add(object, "mean", out_json_double(figure->sum / figure->n));
	out_add(object, "min", out_json_number(figure->min));
	out_add(object, "max", out_json_number(figure->max));
	out_add(object, "stable", out_json_flag(figure->min == figure->max));
	return object;
}

static struct json_object *json_sum(const struct watched *w)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "pid", out_json_number(w->target.pid));
	out_add(object, "source", out_json_text(w->module ? "module" : "sysfs"));
	out_add(object, "ended", out_json_flag(w->ended));
	out_add(object, "samples", out_json_number(w->samples));
	out_add(object, "missed", out_json_number(w->missed));
	out_add(object, "queues", json_figure(&w->queues));
	out_add(object, "active", json_figure(&w->active));
	out_add(object, seen_table.name, out_json_rows(&seen_table, w->seen, w->n_seen));
	out_add(object, table.name, json_object_get(w->series));
	return object;
}

static void print_sums(const struct monitor *m)
{
	struct json_object *object, *targets;
	bool sysfs = false;
	size_t i;

	if (m->args->form.mode == OUT_JSON) {
		targets = json_object_new_array();
		for (i = 0; i < m->count; i++)
			json_object_array_add(targets, json_sum(&m->watched[i]));
		object = json_object_new_object();
		out_add(object, "targets", targets);
		out_json_print(object);
	}
	for (i = 0; i < m->count; i++) {
		if (m->args->form.mode != OUT_JSON)
			print_sum(m, &m->watched[i]);
		sysfs |= !m->watched[i].module;
	}
	if (sysfs)
		ctl_note_sysfs(m->args->targets.from);
}

static void begin(struct monitor *m, const struct gpreempt_targets *list)
{
	size_t i;

	m->count = m->alive = list->count;
	m->watched = shr_must(calloc(m->count, sizeof(*m->watched)));
	for (i = 0; i < m->count; i++) {
		struct watched *w = &m->watched[i];

		w->target = list->targets[i];
		w->fd = m->args->targets.from ? -1 : shr_pidfd_open(w->target.pid);
		if (m->args->form.mode == OUT_JSON)
			w->series = json_object_new_array();
	}
	m->stop = shr_signals_open_stop();
	m->start = shr_now_ns();
	out_heading(&m->args->form, &table);
}

static void end(struct monitor *m)
{
	size_t i;

	for (i = 0; i < m->count; i++) {
		if (m->watched[i].fd >= 0)
			close(m->watched[i].fd);
		json_object_put(m->watched[i].series);
		free(m->watched[i].seen);
	}
	if (m->stop >= 0)
		close(m->stop);
	free(m->watched);
}

static int run_monitor(void *data)
{
	const struct monitor_args *args = data;
	struct monitor m = { .args = args };
	__cleanup_list struct gpreempt_targets *list = NULL;
	int ret;

	if (!args->interval_ns)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl monitor --help",
				     "--interval 0 would never wait");
	ret = ctl_open(args->targets.from, &m.g);
	if (!ret)
		ret = ctl_targets(m.g, &args->targets, &list);
	if (!ret) {
		begin(&m, list);
		sample_all(&m);
		if (args->form.mode == OUT_JSON)
			ctl_progress_end();
		print_sums(&m);
		end(&m);
	}
	gpreempt_free(m.g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "for", CTL_DURATION, offsetof(struct monitor_args, duration_ns), "TIME",
	  "for that long (30s); 0s: until Ctrl-C" },
	{ "interval", CTL_DURATION, offsetof(struct monitor_args, interval_ns), "TIME",
	  "time between samples (5s)" },
	{ "csv", CTL_CSV, offsetof(struct monitor_args, form.mode), NULL,
	  "print samples as CSV, and the summary on stderr" },
	CTL_QUEUE_OPTIONS(struct monitor_args),
	CTL_WAIT_OPTION(struct monitor_args),
	CTL_ROW_OPTIONS(struct monitor_args),
	CTL_FROM_OPTION(struct monitor_args),
	{ 0 },
};

const struct ctl_command ctl_monitor = {
	.name = "monitor",
	.run = run_monitor,
	CTL_TARGET_ARGS(struct monitor_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Sample the queues of a process repeatedly.",
	.details = "The process is not touched. Each line is a sample. At the end, also after\n"
		   "Ctrl-C, it prints the number of samples; mean, minimum and maximum; whether\n"
		   "the number was stable; and how often each queue id was seen. It ends when\n"
		   "the last process has ended. Of a snapshot (--from) there is one sample.\n",
	.examples = "  gpreempt-ctl monitor comm:train --for 60 --interval 1\n"
		    "  gpreempt-ctl monitor comm:train --for 1 --interval 1 --csv > train.csv\n",
	.table = &table,
	.options = options,
	.defaults =
		&(const struct monitor_args){
			.duration_ns = 30 * NSEC_PER_SEC,
			.interval_ns = 5 * NSEC_PER_SEC,
		},
};
