// SPDX-License-Identifier: GPL-2.0-only
/* Prometheus's text: values with their help, and histograms as latencies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/report/report.h"

/* name{labels} value */
struct sample {
	char *name;
	char *labels; /* what is between the braces; "" */
	double value;
};

/* The histogram at hand: its buckets come one after the other. */
struct histogram {
	struct json_object *latency;
	char name[512]; /* with its labels, but not le */
	double to;
	double count;
};

/* At the brace, which may also stand in the value of a label, or at the end of the line. */
static char *end_of_labels(char *at)
{
	bool quoted = false;

	for (; *at && (quoted || *at != '}'); at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
	}
	return at;
}

/* False: it is something else. */
static bool parse_sample(char *line, struct sample *s)
{
	char *at = line + strcspn(line, "{ "), *end;

	*s = (struct sample){ .name = line, .labels = "" };
	if (*at == '{') {
		*at++ = '\0';
		s->labels = at;
		at = end_of_labels(at);
	}
	if (!*at)
		return false;
	*at++ = '\0';
	s->value = strtod(at, &end);
	return end != at && *line;
}

/* Counts are of all up to le. False: it has no le. */
static bool take_bucket(struct report *r, const char *source, const struct sample *s,
			struct histogram *h)
{
	char *le = strstr(s->labels, "le=\""), *end, name[sizeof(h->name)];
	double to;

	if (!le || !(s->value >= 0 && s->value < REPORT_MOST))
		return false;
	to = strtod(le + strlen("le=\""), &end);
	end += *end == '"';
	snprintf(name, sizeof(name), "%.*s %.*s%s", (int)(strlen(s->name) - strlen("_bucket")),
		 s->name, (int)(le - s->labels), s->labels, end + (*end == ','));
	if (!h->latency || strcmp(h->name, name)) {
		*h = (struct histogram){
			.latency = report_add_latency(r, source, name, 0),
		};
		strcpy(h->name, name);
	}
	if (s->value > h->count)
		report_add_bucket(h->latency, h->to * 1e6, to * 1e6, s->value - h->count);
	h->to = to;
	h->count = s->value > h->count ? s->value : h->count;
	out_add(h->latency, "n", out_json_number(h->count));
	return true;
}

static bool is_bucket(const char *name)
{
	const char *at = strstr(name, "_seconds_bucket");

	return at && !at[strlen("_seconds_bucket")];
}

/* The help of a value, if the last line of help is about its family; or NULL. */
static const char *help_of(const char *line, const char *name)
{
	size_t len = line ? strcspn(line, " ") : 0;

	if (!len || strncmp(line, name, len) || !line[len])
		return NULL;
	return line + len + 1;
}

void report_metrics(struct report *r, const char *name, char *text)
{
	struct histogram histogram = { 0 };
	const char *help = NULL;
	struct json_object *o;
	struct sample s;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!strncmp(line, "# HELP ", 7))
			help = line + 7;
		if (*line == '#' || !parse_sample(line, &s) ||
		    (is_bucket(s.name) && take_bucket(r, name, &s, &histogram)))
			continue;
		o = json_object_new_object();
		out_add(o, "source", out_json_text(name));
		out_add(o, "name", out_json_text(s.name));
		out_add(o, "labels", out_json_text(s.labels));
		out_add(o, "value", isfinite(s.value) ? json_object_new_double(s.value) : NULL);
		out_add(o, "help", out_json_text(help_of(help, s.name)));
		json_object_array_add(r->metrics, o);
	}
}
