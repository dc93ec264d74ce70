// SPDX-License-Identifier: GPL-2.0-only
/* Input of report: the output of other commands, each file of which is of one kind. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "shared/util.h"
#include "report.h"

/* Values of JSON that others have written: each may be of any type. */

double report_number(struct json_object *o, const char *key)
{
	struct json_object *value = report_get(o, key);

	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return NAN;
	return json_object_get_double(value);
}

const char *report_text(struct json_object *o, const char *key)
{
	struct json_object *value = report_get(o, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static struct json_object *clean_copy(struct json_object *o);

static void add_clean(struct json_object *to, const char *key, struct json_object *value)
{
	char *clean = shr_clean_copy(key, true);

	out_add(to, clean ? clean : "", clean_copy(value));
	free(clean);
}

/*
 * Make a copy without text that could harm a terminal or turn the text around. json-c has
 * refused data that are nested deeper than 32.
 */
static struct json_object *clean_copy(struct json_object *o)
{
	struct json_object_iterator at, end;
	struct json_object *copy;
	size_t i;

	switch (json_object_get_type(o)) {
	case json_type_string:
		return out_json_text(json_object_get_string(o));
	case json_type_array:
		copy = json_object_new_array();
		for (i = 0; i < json_object_array_length(o); i++)
			json_object_array_add(copy, clean_copy(json_object_array_get_idx(o, i)));
		return copy;
	case json_type_object:
		copy = json_object_new_object();
		for (at = json_object_iter_begin(o), end = json_object_iter_end(o);
		     !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
			add_clean(copy, json_object_iter_peek_name(&at),
				  json_object_iter_peek_value(&at));
		return copy;
	case json_type_double:
		/* json-c reads NaN and Infinity, which no other reader of JSON does. */
		return isfinite(json_object_get_double(o)) ? json_object_get(o) : NULL;
	default:
		return json_object_get(o);
	}
}

/* Times in ns, of one latency. */
struct report_times {
	SHR_ARRAY(uint64_t, ns);
};

/* Text in columns: samples of preempt, of guard, and of monitor. */

/*
 * Text in columns, a line of names before the values. The next row, of which
 * report_cell() gives the value of a column: NAN if it is unknown or not there.
 */
#define REPORT_COLUMNS 32

struct report_columns {
	char separator;
	char *rest; /* lines that were not read; changed while they are */
	char *name[REPORT_COLUMNS];
	char *cell[REPORT_COLUMNS];
	size_t n;
	size_t n_cells;
};

/* Split a line into cells. A cell in quotes is a list, of which only the end is looked for. */
static size_t split(char separator, char *line, char **cell)
{
	size_t n = 0;
	char *end = line;

	while (end && n < REPORT_COLUMNS) {
		cell[n++] = line;
		end = *line == '"' ? strchr(line + 1, '"') : line;
		end = end ? strchr(end, separator) : NULL;
		if (end) {
			*end = '\0';
			line = end + 1;
		}
	}
	return n;
}

static void report_columns_begin(struct report_columns *c, char separator, char *text)
{
	*c = (struct report_columns){ .separator = separator, .rest = text };
	c->n = split(separator, strsep(&c->rest, "\n"), c->name);
}

static bool report_row(struct report_columns *c)
{
	char *line;

	do {
		line = strsep(&c->rest, "\n");
	} while (line && (!*line || *line == '#'));
	if (!line)
		return false;
	c->n_cells = split(c->separator, line, c->cell);
	return true;
}

static double report_cell(const struct report_columns *c, const char *name)
{
	double value;
	size_t i;
	char *end;

	for (i = 0; i < c->n && i < c->n_cells; i++) {
		if (strcmp(c->name[i], name))
			continue;
		value = strtod(c->cell[i], &end);
		return end == c->cell[i] || *end || !isfinite(value) ? NAN : value;
	}
	return NAN;
}

/* A column of times in ns, and the name of the latency. */
struct column {
	const char *name;
	const char *latency;
	bool not_first; /* the first cycle of a session is left out, as preempt does */
};

#define COLUMNS 3

static void report_time(struct report_times *times, double ns);
static void report_latency(struct report *r, const char *source, const char *name,
			   struct report_times *times);

static void take_latencies(struct report *r, const char *source, struct report_columns *c,
			   const struct column columns[COLUMNS], bool cycles)
{
	struct report_times times[COLUMNS] = { 0 };
	bool first;
	size_t i;

	while (report_row(c)) {
		/* A line without a PID is the sum of several targets: skip it. */
		if (cycles && isnan(report_cell(c, "pid")))
			continue;
		first = cycles && report_cell(c, "cycle") == 1;
		for (i = 0; i < COLUMNS; i++)
			if (!first || !columns[i].not_first)
				report_time(&times[i], report_cell(c, columns[i].name));
	}
	for (i = 0; i < COLUMNS; i++)
		report_latency(r, source, columns[i].latency, &times[i]);
}

/* Take the text of preempt --samples; below are the other kinds. */
static void report_preempt_samples(struct report *r, const char *name, char *text)
{
	static const struct column columns[COLUMNS] = {
		{ "suspend_ioctl_ns", "suspend ioctl", true },
		{ "suspend_slots_ns", "suspend to slots inactive", true },
		{ "resume_ioctl_ns", "resume ioctl", false },
	};
	struct report_columns c;
	char *head = strchr(text, '\n');

	/* The format's version, and then "# cycle pid ...". */
	if (!head || strncmp(head, "\n# ", 3))
		return;
	report_columns_begin(&c, ' ', head + 3);
	take_latencies(r, name, &c, columns, true);
}

static void report_guard_samples(struct report *r, const char *name, char *text)
{
	static const struct column columns[COLUMNS] = {
		{ "arrival_to_ioctl_ns", "arrival to suspend ioctl", false },
		{ "arrival_to_suspended_ns", "arrival to suspended", false },
		{ "arrival_to_slots_ns", "arrival to slots inactive", false },
	};
	struct report_columns c;

	report_columns_begin(&c, '\t', text + strlen("# "));
	take_latencies(r, name, &c, columns, false);
}

static const char *const points[] = { "t_s", "active", "slots", "suspended", "evicted" };

/* The series of a process, which is made when its first sample comes. */
static struct json_object *points_of(struct report *r, const char *source, int64_t pid)
{
	struct json_object *o, *names, *list;
	size_t i, n = json_object_array_length(r->series);

	for (i = n; i-- > 0;) {
		o = json_object_array_get_idx(r->series, i);
		if (!strcmp(report_text(o, "source"), source) && report_number(o, "pid") == pid)
			return report_get(o, "points");
	}
	o = json_object_new_object();
	names = json_object_new_array();
	list = json_object_new_array();
	for (i = 0; i < ARRAY_SIZE(points); i++)
		json_object_array_add(names, out_json_text(points[i]));
	out_add(o, "source", out_json_text(source));
	out_add(o, "pid", out_json_number(pid));
	out_add(o, "columns", names);
	out_add(o, "points", list);
	json_object_array_add(r->series, o);
	return list;
}

/* Add a point. A sample without a time has only values. */
static void add_point(struct report *r, const char *source, double pid, const double *values)
{
	struct json_object *point;
	size_t i;

	if (!(pid > 0 && pid < 1e9) || isnan(values[0]))
		return;
	point = json_object_new_array();
	for (i = 0; i < ARRAY_SIZE(points); i++)
		json_object_array_add(point, isnan(values[i]) ? NULL : out_json_double(values[i]));
	json_object_array_add(points_of(r, source, pid), point);
}

static void report_monitor_csv(struct report *r, const char *name, char *text)
{
	double values[ARRAY_SIZE(points)];
	struct report_columns c;
	size_t i;

	report_columns_begin(&c, ',', text);
	while (report_row(&c)) {
		for (i = 0; i < ARRAY_SIZE(points); i++)
			values[i] = report_cell(&c, points[i]);
		add_point(r, name, report_cell(&c, "pid"), values);
	}
}

static void take_series(struct report *r, const char *name, struct json_object *series)
{
	double values[ARRAY_SIZE(points)];
	struct json_object *sample;
	size_t i, j;

	if (!json_object_is_type(series, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(series); i++) {
		sample = json_object_array_get_idx(series, i);
		for (j = 0; j < ARRAY_SIZE(points); j++)
			values[j] = report_number(sample, points[j]);
		add_point(r, name, report_number(sample, "pid"), values);
	}
}

static void report_monitor_json(struct report *r, const char *name, struct json_object *targets)
{
	size_t i;

	for (i = 0; i < json_object_array_length(targets); i++)
		take_series(r, name, report_get(json_object_array_get_idx(targets, i), "series"));
}

/* Events of guard: data for a lane for each target, and latencies. */

#define MAX_EVENTS 40000 /* events that the page gets: the last ones */

#define LATENCY(key, name) { key "_us", name },
static const struct {
	const char *key;
	const char *name;
} latencies[] = { REPORT_LATENCIES(LATENCY) };

#define LATENCIES ARRAY_SIZE(latencies)

#define MAX_SHARES 128 /* tenants that a guard can have */

/* Parts of the time that tenants had a GPU, from one event that counts it to the next. */
struct shares {
	struct json_object *columns; /* the time, and tenants in the order in which they came */
	struct json_object *points;
	double gpu_us[MAX_SHARES]; /* time of each so far */
	double t;		   /* time of the last event of these */
	double t_us;		   /* the same, since that guard began */
};

struct events {
	struct json_object *list;
	struct json_object *summary;
	struct shares shares;
	struct report_times times[LATENCIES];
	double base; /* t_us 0, on clock_us; NAN: not known yet */
	double now;  /* the last time of all */
	int64_t cut;
	int64_t lost;	/* lines that guard could not print */
	int64_t unread; /* lines that were read, and are no events */
};

static void take_event_latencies(struct events *e, struct json_object *o, bool suspend)
{
	size_t i = suspend ? 0 : LATENCIES - 1;
	size_t end = suspend ? LATENCIES - 1 : LATENCIES;

	for (; i < end; i++)
		report_time(&e->times[i], 1e3 * report_number(o, latencies[i].key));
}

/* Returns the time of an event: a process is not held any more when its resume begins. */
static double time_of(struct json_object *o, const char *event, double now)
{
	double before = !strcmp(event, "resume") ? report_number(o, "ioctl_us") : 0;

	if (!(before > 0))
		return now;
	return before < now ? now - before : 0;
}

/* Has a call for that number of queues changed none of them? */
static bool has_failed(struct json_object *o)
{
	return report_number(o, "requested") > 0 && report_number(o, "done") == 0;
}

static void add_event(struct events *e, struct json_object *o, const char *event, double now)
{
	static const char *const keys[] = { "pid", "role", "comm", "reason", "ran_us", "text" };
	struct json_object *copy = json_object_new_object(), *value;
	size_t i;

	out_add(copy, "event", out_json_text(event));
	out_add(copy, "t_us", out_json_double(time_of(o, event, now)));
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		value = report_get(o, keys[i]);
		/* The text says the same again where there is a lane. */
		if (value && (i + 1 < ARRAY_SIZE(keys) ||
			      (strcmp(event, "joined") && strcmp(event, "left"))))
			out_add(copy, keys[i], clean_copy(value));
	}
	json_object_array_add(e->list, copy);
}

/* Returns the tenant's number; MAX_SHARES: there are too many. */
static size_t share_of(struct shares *s, struct json_object *tenant)
{
	size_t n = json_object_array_length(s->columns), i;
	struct json_object *name;
	char *text = NULL;

	if (asprintf(&text, "%s %s", report_text(tenant, "tenant"), report_text(tenant, "class")) <
	    0)
		abort();
	name = out_json_text(text);
	free(text);
	for (i = 1; i < n; i++)
		if (json_object_equal(json_object_array_get_idx(s->columns, i), name))
			break;
	if (i == n && i <= MAX_SHARES)
		json_object_array_add(s->columns, json_object_get(name));
	json_object_put(name);
	return i - 1;
}

/* Add a point: the percents of the time since the last one. */
static void take_shares(struct shares *s, struct json_object *o, double t)
{
	struct json_object *tenants = report_get(o, "tenants"), *point, *tenant;
	double t_us = report_number(o, "t_us"), us;
	size_t i, at;

	if (!json_object_is_type(tenants, json_type_array))
		return;
	/* Another guard counts from its own begin. */
	if (t_us < s->t_us) {
		memset(s->gpu_us, 0, sizeof(s->gpu_us));
		s->t = t - t_us;
	}
	if (!(t > s->t))
		return;
	point = json_object_new_array();
	json_object_array_put_idx(point, 0, out_json_double(t / 1e6));
	for (i = 0; i < json_object_array_length(tenants); i++) {
		tenant = json_object_array_get_idx(tenants, i);
		us = report_number(tenant, "gpu_us");
		at = share_of(s, tenant);
		if (at == MAX_SHARES || !(us >= s->gpu_us[at] && us < REPORT_MOST))
			continue;
		json_object_array_put_idx(point, at + 1,
					  out_json_double(100 * (us - s->gpu_us[at]) / (t - s->t)));
		s->gpu_us[at] = us;
	}
	json_object_array_add(s->points, point);
	s->t = t;
	s->t_us = t_us;
}

/* One point is no course: the summary has it. */
static void add_shares(struct report *r, const char *name, struct shares *s)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "source", out_json_text(name));
	out_add(o, "columns", s->columns);
	out_add(o, "points", s->points);
	if (json_object_array_length(s->points) > 1)
		json_object_array_add(r->shares, o);
	else
		json_object_put(o);
}

static void take_event(struct report *r, struct events *e, struct json_object *o)
{
	double t = report_number(o, "t_us"), clock;
	const char *event = report_text(o, "event");
	bool suspend = !strcmp(event, "suspend");

	if (!strcmp(event, "dropped")) {
		t = report_number(o, "lines");
		t += e->lost;
		if (t > e->lost)
			e->lost = t < REPORT_MOST ? t : REPORT_MOST;
		return;
	}
	clock = report_number(o, "clock_us");
	if (!*event || !(t >= 0 && clock >= t && clock < REPORT_MOST)) {
		e->unread++;
		return;
	}
	/* The times begin again when guard was started again. */
	e->base = isnan(e->base) ? clock - t : e->base;
	t = clock > e->base ? clock - e->base : 0;
	e->now = t > e->now ? t : e->now;
	r->simulated |= json_object_get_boolean(report_get(o, "simulated"));
	take_shares(&e->shares, o, t);
	if (!strcmp(event, "tenants"))
		return;
	if (!strcmp(event, "summary")) {
		json_object_put(e->summary);
		e->summary = clean_copy(o);
		return;
	}
	if (suspend || !strcmp(event, "resume")) {
		if (has_failed(o))
			return;
		take_event_latencies(e, o, suspend);
	}
	add_event(e, o, event, t);
}

static void finish(struct report *r, const char *name, struct events *e)
{
	struct json_object *o = json_object_new_object();
	size_t n = json_object_array_length(e->list), i;

	if (n > MAX_EVENTS) {
		e->cut = n - MAX_EVENTS;
		json_object_array_del_idx(e->list, 0, e->cut);
	}
	out_add(o, "source", out_json_text(name));
	out_add(o, "to_us", out_json_double(e->now));
	out_add(o, "cut_events", out_json_number(e->cut));
	out_add(o, "lost_lines", out_json_number(e->lost));
	out_add(o, "unread_lines", out_json_number(e->unread));
	out_add(o, "summary", e->summary);
	out_add(o, "events", e->list);
	json_object_array_add(r->timelines, o);
	add_shares(r, name, &e->shares);
	for (i = 0; i < LATENCIES; i++)
		report_latency(r, name, latencies[i].name, &e->times[i]);
}

static void report_events(struct report *r, const char *name, char *text)
{
	struct events e = {
		.base = NAN,
		.list = json_object_new_array(),
		.shares.columns = json_object_new_array(),
		.shares.points = json_object_new_array(),
	};
	struct json_object *o;
	char *line;

	json_object_array_add(e.shares.columns, out_json_text("t_s"));
	while ((line = strsep(&text, "\n"))) {
		/* Messages on stderr may be in the same file. */
		if (*line != '{')
			continue;
		o = json_tokener_parse(line);
		take_event(r, &e, o);
		json_object_put(o);
	}
	finish(r, name, &e);
}

/* Latencies: percentiles by nearest rank, and a histogram with logarithmic buckets. */

/* Six buckets in each power of ten. */
static const double steps[] = { 1, 1.5, 2, 3, 5, 7 };

/* Add a time. Without memory the command ends. */
static void report_time(struct report_times *times, double ns)
{
	uint64_t *one;

	/* The time may be unknown. */
	if (!(ns >= 0 && ns < 1e18))
		return;
	one = shr_must(shr_add(&times->ns));
	*one = ns;
}

struct json_object *report_add_latency(struct report *r, const char *source, const char *name,
				       int64_t n)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "source", out_json_text(source));
	out_add(o, "name", out_json_text(name));
	out_add(o, "n", out_json_number(n));
	json_object_array_add(r->latencies, o);
	return o;
}

void report_add_bucket(struct json_object *latency, double from_us, double to_us, int64_t n)
{
	struct json_object *o = json_object_new_object(), *all;

	all = report_get(latency, "buckets");
	if (!all) {
		all = json_object_new_array();
		out_add(latency, "buckets", all);
	}
	out_add(o, "from_us", out_json_double(from_us));
	/* The last one of a Prometheus histogram has no end. */
	out_add(o, "to_us", out_json_double(to_us));
	out_add(o, "n", out_json_number(n));
	json_object_array_add(all, o);
}

/* Returns the bound of that number; 0 is 1 ns. */
static double bound(size_t i)
{
	double ns = steps[i % ARRAY_SIZE(steps)];

	for (i /= ARRAY_SIZE(steps); i; i--)
		ns *= 10;
	return ns;
}

/* Empty ones in between are there, others are not. The times are sorted. */
static void add_buckets(struct json_object *latency, const uint64_t *ns, size_t n)
{
	size_t i = 0, at, count;

	for (at = 0; bound(at + 1) <= ns[0]; at++)
		;
	for (; i < n; at++) {
		for (count = 0; i < n && ns[i] < bound(at + 1); i++)
			count++;
		report_add_bucket(latency, at ? bound(at) / 1e3 : 0, bound(at + 1) / 1e3, count);
	}
}

/* Sort and free the times, and add their figures; without times nothing is added. */
static void report_latency(struct report *r, const char *source, const char *name,
			   struct report_times *times)
{
	struct shr_stats s;
	struct json_object *o;
	double sum;
	size_t i;

	if (times->ns.count) {
		/* shr_stats() sorts them. */
		for (sum = 0, i = 0; i < times->ns.count; i++)
			sum += times->ns.items[i];
		shr_stats(times->ns.items, times->ns.count, &s);
		o = report_add_latency(r, source, name, s.n);
		out_add(o, "min_us", out_json_us(s.min));
		out_add(o, "p50_us", out_json_us(s.p50));
		out_add(o, "p90_us", out_json_us(s.p90));
		out_add(o, "p99_us", out_json_us(s.p99));
		out_add(o, "max_us", out_json_us(s.max));
		out_add(o, "sum_us", out_json_double(sum / 1e3));
		add_buckets(o, times->ns.items, times->ns.count);
	}
	free(times->ns.items);
	*times = (struct report_times){ 0 };
}

/* Add a latency whose figures others have computed, in us; the caller keeps figures. */
static void report_figures(struct report *r, const char *source, const char *name,
			   struct json_object *figures)
{
	static const char *const keys[][2] = {
		{ "min", "min_us" }, { "p50", "p50_us" }, { "p90", "p90_us" },
		{ "p99", "p99_us" }, { "max", "max_us" },
	};
	double n = report_number(figures, "n");
	struct json_object *o;
	size_t i;

	if (!(n > 0 && n < REPORT_MOST))
		return;
	o = report_add_latency(r, source, name, n);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		out_add(o, keys[i][1], out_json_double(report_number(figures, keys[i][0])));
}

/* Kinds of files, found by their content; and the objects that commands print with --json. */

/*
 * Take one list of a host, in the form of gpus, list, status and doctor. Lists that are given
 * together count as one host's.
 */
static void take_state(struct report *r, const char *name, const char *key,
		       struct json_object *rows)
{
	size_t n = json_object_array_length(r->states);
	struct json_object *state;
	char *source = NULL;

	state = n ? json_object_array_get_idx(r->states, n - 1) : NULL;
	if (!state || report_get(state, "time") || report_get(state, key)) {
		state = json_object_new_object();
		json_object_array_add(r->states, state);
	} else if (asprintf(&source, "%s, %s", report_text(state, "source"), name) < 0) {
		abort();
	}
	out_add(state, "source", out_json_text(source ? source : name));
	out_add(state, key, clean_copy(rows));
	free(source);
}

static void take_preempt(struct report *r, const char *name, struct json_object *o)
{
	static const char *const keys[][2] = {
		{ "suspend_ioctl_us", "suspend ioctl" },
		{ "suspend_slots_us", "suspend to slots inactive" },
		{ "resume_ioctl_us", "resume ioctl" },
		{ "online_us", "online command" },
	};
	struct json_object *targets = report_get(o, "targets"), *figures;
	bool alone = json_object_is_type(targets, json_type_array) &&
		     json_object_array_length(targets) == 1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		figures = alone ? report_get(json_object_array_get_idx(targets, 0), keys[i][0]) :
				  NULL;
		/* The samples are of each target: those of all together begin some us before. */
		report_figures(r, name, keys[i][1], figures ? figures : report_get(o, keys[i][0]));
	}
}

/* The kind of an object, or NULL. */
static const char *take_object(struct report *r, const char *name, struct json_object *o)
{
	static const char *const states[][2] = {
		{ "gpus", "gpus --json" },
		{ "processes", "list --json" },
		{ "holders", "status --json" },
		{ "checks", "doctor --json" },
	};
	struct json_object *targets = report_get(o, "targets");
	size_t i;
	int ret;

	r->simulated |= json_object_get_boolean(report_get(o, "simulated"));
	ret = report_trial(r->trials, name, o);
	if (ret != -EINVAL)
		return ret ? NULL : "trial --output";
	/* top prints both, in another form. */
	if (report_get(o, "gpus") && report_get(o, "processes"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		struct json_object *rows = report_get(o, states[i][0]);

		if (!json_object_is_type(rows, json_type_array))
			continue;
		take_state(r, name, states[i][0], rows);
		return states[i][1];
	}
	if (report_get(o, "cycles") && report_get(o, "suspend_ioctl_us")) {
		take_preempt(r, name, o);
		return "preempt --json";
	}
	if (!json_object_is_type(targets, json_type_array) ||
	    !report_get(json_object_array_get_idx(targets, 0), "series"))
		return NULL;
	report_monitor_json(r, name, targets);
	return "monitor --json";
}

static const char *take_json(struct report *r, const char *name, const char *text)
{
	struct json_object *o = json_tokener_parse(text);
	const char *kind = take_object(r, name, o);

	json_object_put(o);
	return kind;
}

static const struct {
	const char *begin; /* first bytes of the text */
	const char *kind;
	void (*take)(struct report *r, const char *name, char *text);
} kinds[] = {
	{ "gpreempt-samples - version: 1.", "preempt --samples", report_preempt_samples },
	{ "# arrival_to_ioctl_ns\t", "guard --samples", report_guard_samples },
	{ "t_s,pid,", "monitor --csv", report_monitor_csv },
	{ "# HELP ", "metrics", report_metrics },
	{ "# TYPE ", "metrics", report_metrics },
	{ "{\"event\":", "guard --json", report_events },
};

/* Messages on stderr may stand before the first event in the same file. */
static char *skip_notes(char *text)
{
	char *at = text;

	while (!strncmp(at, "note: ", 6) || !strncmp(at, "gpreempt-ctl: ", 14)) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return strncmp(at, "{\"event\":", 9) ? text : at;
}

static const char *take_text(struct report *r, const char *name, char *text)
{
	size_t i;

	text = skip_notes(text);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(text, kinds[i].begin, strlen(kinds[i].begin))) {
			kinds[i].take(r, name, text);
			return kinds[i].kind;
		}
	return *text == '{' ? take_json(r, name, text) : NULL;
}

void report_add_source(struct report *r, const char *name, const char *kind)
{
	struct json_object *source = json_object_new_object();

	out_add(source, "name", out_json_text(name));
	out_add(source, "kind", out_json_text(kind));
	json_object_array_add(r->sources, source);
}

int report_take(struct report *r, const char *name, char *text)
{
	const char *kind = take_text(r, name, text);

	if (!kind)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-lab report --help lists what it reads",
				     "%s: this is no output of gpreempt-ctl that report knows",
				     name);
	report_add_source(r, name, kind);
	return 0;
}
