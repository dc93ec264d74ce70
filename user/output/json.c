// SPDX-License-Identifier: GPL-2.0-only
/* Rows as JSON. */
#include <math.h>
#include <string.h>

#include "output/table.h"
#include "shared/clean.h"

struct json_object *out_json_number(int64_t value)
{
	return value == GPREEMPT_UNKNOWN ? NULL : json_object_new_int64(value);
}

struct json_object *out_json_flag(int64_t value)
{
	return value == GPREEMPT_UNKNOWN ? NULL : json_object_new_boolean(value != 0);
}

struct json_object *out_json_double(double value)
{
	char text[32];

	if (!isfinite(value))
		return NULL;
	if (snprintf(text, sizeof(text), "%.3f", value) >= (int)sizeof(text))
		return json_object_new_double(value);
	return json_object_new_double_s(value, text);
}

struct json_object *out_json_us(int64_t ns)
{
	return ns == GPREEMPT_UNKNOWN ? NULL : out_json_double(ns / 1000.0);
}

struct json_object *out_json_text(const char *text)
{
	struct json_object *object;
	char *clean;

	if (!text)
		return NULL;
	clean = shr_clean_copy(text, true);
	object = json_object_new_string(clean ? clean : "");
	free(clean);
	return object;
}

static struct json_object *json_list(const char *text)
{
	struct json_object *array = json_object_new_array();
	char *copy = strdup(text ? text : ""), *word, *rest = NULL;

	for (word = copy ? strtok_r(copy, ",", &rest) : NULL; word;
	     word = strtok_r(NULL, ",", &rest))
		json_object_array_add(array, out_json_text(word));
	free(copy);
	return array;
}

static struct json_object *json_hex(int64_t value)
{
	char text[24];

	if (value == GPREEMPT_UNKNOWN)
		return NULL;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	return json_object_new_string(text);
}

static struct json_object *json_text(const struct out_field *field, const void *row)
{
	const char *text = out_text_of(field, row);

	if (field->kind == OUT_SET || field->kind == OUT_LIST)
		return text ? json_list(text) : NULL;
	return out_json_text(text && *text ? text : NULL);
}

static struct json_object *json_value(const struct out_field *field, const void *row)
{
	int64_t number;

	if (field->kind <= OUT_LIST)
		return json_text(field, row);
	number = out_number_of(field, row);
	switch (field->kind) {
	case OUT_HEX:
		return json_hex(number);
	case OUT_FLAG:
		return out_json_flag(number);
	case OUT_US:
		return out_json_us(number);
	case OUT_S:
		return number == GPREEMPT_UNKNOWN ? NULL : out_json_double(number / 1e9);
	case OUT_TENTHS:
		return number == GPREEMPT_UNKNOWN ? NULL : out_json_double(number / 10.0);
	default:
		return out_json_number(number);
	}
}

struct json_object *out_json_row(const struct out_table *table, const void *row)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < table->n_fields; i++)
		json_object_object_add(object, table->fields[i].name,
				       json_value(&table->fields[i], row));
	return object;
}

struct json_object *out_json_rows(const struct out_table *table, const void *rows, size_t count)
{
	struct json_object *array = json_object_new_array();
	const char *row = rows;
	size_t i;

	for (i = 0; i < count; i++, row += table->row_size)
		json_object_array_add(array, out_json_row(table, row));
	return array;
}

void out_json_print_timed(const struct out_table *table, const void *rows, size_t count)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "simulated", out_json_flag(ctl_simulated()));
	out_add(object, table->name, out_json_rows(table, rows, count));
	out_json_print(object);
}

void out_json_write(FILE *f, struct json_object *object)
{
	const int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			  JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(f, "%s\n", json_object_to_json_string_ext(object, flags));
	json_object_put(object);
}

void out_json_print_line(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	fflush(stdout);
}

void out_json_print(struct json_object *object)
{
	out_json_write(stdout, object);
	fflush(stdout);
}
