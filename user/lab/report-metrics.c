// SPDX-License-Identifier: GPL-2.0-only
/* Input of report that is Prometheus's text: values with their help, histograms as latencies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "report.h"

/* name{labels} value */
struct sample {
	char *name;
	char *labels; /* text between the braces; "" */
	double value;
};

/* The histogram at hand: its buckets, sum and count come one after the other. */
struct histogram {
	struct json_object *latency;
	char *family; /* with its labels, but not le */
	double to;
	double count;
};

/* Returns the place of a mark behind a label, or the end; a label's value may have it, too. */
static const char *find_mark(const char *at, char mark)
{
	bool quoted = false;

	for (; *at && (quoted || *at != mark); at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
	}
	return at;
}

/* Parse a sample. False: the line is something else. */
static bool parse_sample(char *line, struct sample *s)
{
	char *at = line + strcspn(line, "{ "), *end;

	*s = (struct sample){ .name = line, .labels = "" };
	if (*at == '{') {
		*at++ = '\0';
		s->labels = at;
		at += find_mark(at, '}') - at;
	}
	if (!*at)
		return false;
	*at++ = '\0';
	s->value = strtod(at, &end);
	return end != at && *line;
}

/* Returns the labels but le, for free(), and the value of that or NULL. */
static char *labels_without_le(const char *labels, const char **le)
{
	char *rest = shr_must(calloc(1, strlen(labels) + 1));
	const char *end;

	for (*le = NULL; *labels; labels = end + (*end == ',')) {
		end = find_mark(labels, ',');
		if (!strncmp(labels, "le=\"", 4)) {
			*le = labels + 4;
			continue;
		}
		if (*rest)
			strcat(rest, ",");
		strncat(rest, labels, end - labels);
	}
	return rest;
}

/* Returns our name of guard's latency, or NULL. */
static const char *name_of_family(const char *family, size_t len)
{
#define FAMILY(key, name) { "gpreempt_guard_" key "_seconds", name },
	static const char *const families[][2] = { REPORT_LATENCIES(FAMILY) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (!strncmp(families[i][0], family, len) && !families[i][0][len])
			return families[i][1];
	return NULL;
}

static struct json_object *begin_histogram(struct report *r, const char *source,
					   const struct sample *s, const char *labels, size_t len)
{
	const char *known = name_of_family(s->name, len);
	char *name = shr_must(strndup(s->name, len));
	struct json_object *o = report_add_latency(r, source, known ? known : name, 0);

	out_add(o, "labels", *labels ? out_json_text(labels) : NULL);
	free(name);
	return o;
}

/* Take a bucket. Its count is of all up to le. False: it is no count. */
static bool take_bucket(const struct sample *s, const char *le, struct histogram *h)
{
	double to = strtod(le, NULL);

	if (!(s->value >= 0 && s->value < REPORT_MOST))
		return false;
	if (s->value > h->count)
		report_add_bucket(h->latency, h->to * 1e6, to * 1e6, s->value - h->count);
	h->to = to;
	h->count = s->value > h->count ? s->value : h->count;
	out_add(h->latency, "n", out_json_number(h->count));
	return true;
}

/* Take a bucket, the sum or the count of a histogram of seconds. False: it is something else. */
static bool take_histogram(struct report *r, const char *source, const struct sample *s,
			   struct histogram *h)
{
	const char *end = strstr(s->name, "_seconds_"), *le;
	bool bucket = end && !strcmp(end, "_seconds_bucket"), taken;
	__cleanup_free char *labels = labels_without_le(s->labels, &le), *family = NULL;
	size_t len = end ? end - s->name + strlen("_seconds") : 0;

	if (!end || (bucket && !le))
		return false;
	if (asprintf(&family, "%.*s %s", (int)len, s->name, labels) < 0)
		abort();
	if (bucket && (!h->family || strcmp(h->family, family))) {
		free(h->family);
		*h = (struct histogram){
			.latency = begin_histogram(r, source, s, labels, len),
			.family = strdup(family),
		};
	}
	if (bucket)
		return take_bucket(s, le, h);
	taken = h->family && !strcmp(h->family, family);
	if (taken && !strcmp(end, "_seconds_sum") && isfinite(s->value))
		out_add(h->latency, "sum_us", out_json_double(s->value * 1e6));
	return taken;
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
		    take_histogram(r, name, &s, &histogram))
			continue;
		o = json_object_new_object();
		out_add(o, "source", out_json_text(name));
		r->simulated |= s.value == 1 && (!strcmp(s.name, "gpreempt_guard_simulated") ||
						 !strcmp(s.name, "gpreempt_simulated"));
		out_add(o, "name", out_json_text(s.name));
		out_add(o, "labels", out_json_text(s.labels));
		out_add(o, "value", isfinite(s.value) ? json_object_new_double(s.value) : NULL);
		out_add(o, "help", out_json_text(help_of(help, s.name)));
		json_object_array_add(r->metrics, o);
	}
	free(histogram.family);
}
