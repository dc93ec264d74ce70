/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data of "report", as one JSON object: docs/json-keys has its keys. Each input adds to it, and
 * report.c makes the page of it.
 */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include <stdint.h>

#include "cli/table.h"
#include "shared/util.h"

/* Larger counts and times in us are not read: an int64_t has room for a few of them. */
#define REPORT_MOST 1e15

struct report {
	struct json_object *sources;
	struct json_object *states;    /* states of a host, each at one moment */
	struct json_object *series;    /* monitor's samples */
	struct json_object *timelines; /* guard's events */
	struct json_object *shares;    /* times of guard's tenants */
	struct json_object *trials;
	struct json_object *latencies;
	struct json_object *metrics;
	bool simulated; /* some input is of a simulated GPU */
	int status;	/* exit status: 6 when something could not be read */
};

/*
 * Take a file's text, which is changed. name is for the user. 0, or the exit
 * status after saying why it is nothing that report knows.
 */
int report_take(struct report *r, const char *name, char *text);
void report_add_source(struct report *r, const char *name, const char *kind);

/* Latencies of guard's switch, with their names here; all but the last one are of a suspend. */
/* clang-format off */
#define REPORT_LATENCIES(X)                                        \
	X("arrival_to_ioctl", "arrival to suspend ioctl")          \
	X("arrival_to_suspended", "arrival to suspended")          \
	X("arrival_to_slots", "arrival to slots inactive")         \
	X("ioctl", "suspend ioctl")                                \
	X("ioctl", "resume ioctl")
/* clang-format on */

/* Take Prometheus's text, which is changed. */
void report_metrics(struct report *r, const char *name, char *text);
/* A latency in the report of which only the number is known; for its owner to fill in. */
struct json_object *report_add_latency(struct report *r, const char *source, const char *name,
				       int64_t n);
void report_add_bucket(struct json_object *latency, double from_us, double to_us, int64_t n);

/*
 * Add the result of a trial to the list; beside it what was found on a simulated GPU, if it is of a
 * real one. -EINVAL: it is no such result; -E2BIG: it has more than a trial can have.
 */
int report_trial(struct json_object *list, const char *name, struct json_object *o);

/* A member of an object, or NULL: it is no object, or has none of that name. */
static inline struct json_object *report_get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &value);
	return value;
}

/* Returns a number of an object; NAN: there is none. */
double report_number(struct json_object *o, const char *key);
/* Returns a text; "": there is none. */
const char *report_text(struct json_object *o, const char *key);

#endif
