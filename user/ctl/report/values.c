// SPDX-License-Identifier: GPL-2.0-only
/* Values of JSON that others have written: each may be of any type. */
#include <math.h>
#include <stdlib.h>

#include "ctl/report/report.h"
#include "shared/clean.h"

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

static void add_clean(struct json_object *to, const char *key, struct json_object *value)
{
	char *clean = shr_clean_copy(key, true);

	out_add(to, clean ? clean : "", report_clean(value));
	free(clean);
}

/* json-c has refused what is nested deeper than 32. */
struct json_object *report_clean(struct json_object *o)
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
			json_object_array_add(copy, report_clean(json_object_array_get_idx(o, i)));
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
