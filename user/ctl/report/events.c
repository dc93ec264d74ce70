// SPDX-License-Identifier: GPL-2.0-only
/* guard's events: what the page needs to draw a lane for each target, and latencies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/report/report.h"

#define MAX_EVENTS 40000 /* that the page gets: the last ones */

/* Of a switch: all but the last are of a suspend. */
static const struct {
	const char *key;
	const char *name;
} latencies[] = {
	{ "arrival_to_ioctl_us", "arrival to suspend ioctl" },
	{ "arrival_to_suspended_us", "arrival to suspended" },
	{ "arrival_to_slots_us", "arrival to slots inactive" },
	{ "ioctl_us", "suspend ioctl" },
	{ "ioctl_us", "resume ioctl" },
};

#define LATENCIES ARRAY_SIZE(latencies)

struct events {
	struct json_object *list;
	struct json_object *summary;
	struct report_times times[LATENCIES];
	double base; /* t_us 0, on clock_us; NAN: not known yet */
	double now;  /* the last time of all */
	int64_t cut;
	int64_t lost;	/* lines that guard could not print */
	int64_t unread; /* that were read, and are no events */
};

static void take_latencies(struct events *e, struct json_object *o, bool suspend)
{
	size_t i = suspend ? 0 : LATENCIES - 1;
	size_t end = suspend ? LATENCIES - 1 : LATENCIES;

	for (; i < end; i++)
		report_time(&e->times[i], 1e3 * report_number(o, latencies[i].key));
}

/* When it happened: a process is not held any more when its resume begins. */
static double time_of(struct json_object *o, const char *event, double now)
{
	double before = !strcmp(event, "resume") ? report_number(o, "ioctl_us") : 0;

	if (!(before > 0))
		return now;
	return before < now ? now - before : 0;
}

/* Has that number of queues changed none of them? */
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
			out_add(copy, keys[i], report_clean(value));
	}
	json_object_array_add(e->list, copy);
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
	/* Of a guard that was started again the times begin again. */
	e->base = isnan(e->base) ? clock - t : e->base;
	t = clock > e->base ? clock - e->base : 0;
	e->now = t > e->now ? t : e->now;
	r->simulated |= json_object_get_boolean(report_get(o, "simulated"));
	if (!strcmp(event, "summary")) {
		json_object_put(e->summary);
		e->summary = report_clean(o);
		return;
	}
	if (suspend || !strcmp(event, "resume")) {
		if (has_failed(o))
			return;
		take_latencies(e, o, suspend);
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
	for (i = 0; i < LATENCIES; i++)
		report_latency(r, name, latencies[i].name, &e->times[i]);
}

void report_events(struct report *r, const char *name, char *text)
{
	struct events e = { .base = NAN, .list = json_object_new_array() };
	struct json_object *o;
	char *line;

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
