// SPDX-License-Identifier: GPL-2.0-only
/* Text in columns: samples of preempt, of guard, and of monitor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/report/report.h"

/* A cell in quotes is a list, of which nothing is read: its end is what counts. */
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

void report_columns_begin(struct report_columns *c, char separator, char *text)
{
	*c = (struct report_columns){ .separator = separator, .rest = text };
	c->n = split(separator, strsep(&c->rest, "\n"), c->name);
}

bool report_row(struct report_columns *c)
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

double report_cell(const struct report_columns *c, const char *name)
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

/* A column of times in ns, and what the latency is called. */
struct column {
	const char *name;
	const char *latency;
	bool not_first; /* the first cycle of a session is left out, as preempt does */
};

#define COLUMNS 3

static void take_latencies(struct report *r, const char *source, struct report_columns *c,
			   const struct column columns[COLUMNS], bool cycles)
{
	struct report_times times[COLUMNS] = { 0 };
	bool first;
	size_t i;

	while (report_row(c)) {
		/* Of several targets a line has all together: no process. */
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

void report_preempt_samples(struct report *r, const char *name, char *text)
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

void report_guard_samples(struct report *r, const char *name, char *text)
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

/* Values are those of points; nothing else is known of a sample without a time. */
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

void report_monitor_csv(struct report *r, const char *name, char *text)
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

void report_monitor_json(struct report *r, const char *name, struct json_object *targets)
{
	size_t i;

	for (i = 0; i < json_object_array_length(targets); i++)
		take_series(r, name, report_get(json_object_array_get_idx(targets, i), "series"));
}
