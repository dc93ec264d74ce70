// SPDX-License-Identifier: GPL-2.0-only
/* What a file is, by what is in it; and the objects that commands print with --json. */
#include <stdlib.h>
#include <string.h>

#include "ctl/report/report.h"

/*
 * One list of a host, as list, status and doctor print it. Those that are given together
 * are taken to be of one host.
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
		source = NULL;
	}
	out_add(state, "source", out_json_text(source ? source : name));
	out_add(state, key, report_clean(rows));
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		report_figures(r, name, keys[i][1], report_get(o, keys[i][0]));
}

/* The kind of an object, or NULL. */
static const char *take_object(struct report *r, const char *name, struct json_object *o)
{
	static const char *const states[][2] = {
		{ "processes", "list --json" },
		{ "holders", "status --json" },
		{ "checks", "doctor --json" },
	};
	struct json_object *targets = report_get(o, "targets");
	size_t i;

	r->simulated |= json_object_get_boolean(report_get(o, "simulated"));
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
	const char *begin; /* of the text */
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

int report_take(struct report *r, const char *name, char *text)
{
	const char *kind = take_text(r, name, text);
	struct json_object *source;

	if (!kind)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-ctl report --help lists what it reads",
				     "%s: this is no output of gpreempt-ctl that report knows",
				     name);
	source = json_object_new_object();
	out_add(source, "name", out_json_text(name));
	out_add(source, "kind", out_json_text(kind));
	json_object_array_add(r->sources, source);
	return 0;
}
