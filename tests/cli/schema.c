// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <string.h>

#include "schema.h"

struct check {
	const char *name;
	FILE *keys;
	char *why;
	char path[256];
	size_t values; /* accepted ones: of several objects, the one with most is meant */
};

static struct json_object *member(struct json_object *schema, const char *key)
{
	return json_object_object_get(schema, key);
}

__attribute__((format(printf, 2, 3))) static bool fail(struct check *c, const char *format, ...)
{
	size_t len = snprintf(c->why, SCHEMA_WHY, "%s: %s: ", c->name, c->path);
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->why + len, SCHEMA_WHY - len, format, ap);
	va_end(ap);
	return false;
}

/* A key that several objects share by a group has one line. */
static void print_key(const struct check *c, const char *key, struct json_object *schema)
{
	if (c->keys)
		fprintf(c->keys, "%s: %s: %s\n", c->name, key,
			json_object_get_string(member(schema, "description")));
}

/* Add to the path. Returns its end before that. */
static char *go_down(struct check *c, const char *key)
{
	char *end = c->path + strlen(c->path);
	bool dot = *c->path && strcmp(key, "[]");

	snprintf(end, sizeof(c->path) - (end - c->path), "%s%s", dot ? "." : "", key);
	return end;
}

static bool is_type(const char *name, struct json_object *value)
{
	enum json_type type = json_object_get_type(value);

	if (!strcmp(name, "number") && type == json_type_int)
		return true;
	return !strcmp(name, type == json_type_int    ? "integer" :
			     type == json_type_double ? "number" :
							json_type_to_name(type));
}

static bool has_type(struct json_object *types, struct json_object *value)
{
	size_t i;

	if (!json_object_is_type(types, json_type_array))
		return !types || is_type(json_object_get_string(types), value);
	for (i = 0; i < json_object_array_length(types); i++)
		if (is_type(json_object_get_string(json_object_array_get_idx(types, i)), value))
			return true;
	return false;
}

static bool is_among(struct json_object *list, struct json_object *value)
{
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		if (json_object_equal(json_object_array_get_idx(list, i), value))
			return true;
	return false;
}

static bool check(struct check *c, struct json_object *schema, struct json_object *value);

static bool check_object(struct check *c, struct json_object *schema, struct json_object *value)
{
	struct json_object *properties = member(schema, "properties");
	struct json_object *required = member(schema, "required");
	size_t i;

	json_object_object_foreach(value, key, one)
	{
		struct json_object *below;
		char *end;

		if (!properties)
			break;
		if (!json_object_object_get_ex(properties, key, &below))
			return fail(c, "the schema has no \"%s\"", key);
		end = go_down(c, key);
		if (!check(c, below, one))
			return false;
		if (one)
			print_key(c, key, below);
		*end = '\0';
	}
	for (i = 0; required && i < json_object_array_length(required); i++) {
		const char *key = json_object_get_string(json_object_array_get_idx(required, i));

		if (!json_object_object_get_ex(value, key, NULL))
			return fail(c, "has no \"%s\"", key);
	}
	return true;
}

static bool check_array(struct check *c, struct json_object *schema, struct json_object *value)
{
	struct json_object *items = member(schema, "items");
	char *end = go_down(c, "[]");
	size_t i;

	for (i = 0; items && i < json_object_array_length(value); i++)
		if (!check(c, items, json_object_array_get_idx(value, i)))
			return false;
	*end = '\0';
	return true;
}

/* Check that it is one of several; else the reason is that of the nearest one. */
static bool check_any(struct check *c, struct json_object *schemas, struct json_object *value)
{
	char why[SCHEMA_WHY];
	size_t i, best = 0;

	for (i = 0; i < json_object_array_length(schemas); i++) {
		struct check one = { .name = c->name, .why = why };
		struct json_object *schema = json_object_array_get_idx(schemas, i);

		if (check(&one, schema, value))
			return check(c, schema, value);
		if (!i || one.values > best)
			memcpy(c->why, why, sizeof(why));
		best = one.values > best ? one.values : best;
	}
	return false;
}

static bool check(struct check *c, struct json_object *schema, struct json_object *value)
{
	struct json_object *any = member(schema, "anyOf"), *words = member(schema, "enum");

	if (any)
		return check_any(c, any, value);
	if (!has_type(member(schema, "type"), value))
		return fail(c, "%s is not %s", json_object_to_json_string(value),
			    json_object_to_json_string(member(schema, "type")));
	if (words && !is_among(words, value))
		return fail(c, "%s is not in %s", json_object_to_json_string(value),
			    json_object_to_json_string(words));
	c->values++;
	if (json_object_is_type(value, json_type_object))
		return check_object(c, schema, value);
	if (json_object_is_type(value, json_type_array))
		return check_array(c, schema, value);
	return true;
}

bool schema_accepts(struct json_object *schema, struct json_object *value, const char *name,
		    FILE *keys, char why[SCHEMA_WHY])
{
	struct check c = { .name = name, .keys = keys, .why = why };

	return check(&c, schema, value);
}

static void print_keys(struct check *c, struct json_object *schema)
{
	struct json_object *any = member(schema, "anyOf"), *items = member(schema, "items");
	struct json_object *properties = member(schema, "properties");
	size_t i;

	for (i = 0; any && i < json_object_array_length(any); i++)
		print_keys(c, json_object_array_get_idx(any, i));
	if (items)
		print_keys(c, items);
	if (!properties)
		return;
	json_object_object_foreach(properties, key, below)
	{
		print_key(c, key, below);
		print_keys(c, below);
	}
}

void schema_print_keys(struct json_object *schema, const char *name, FILE *keys)
{
	struct check c = { .name = name, .keys = keys };

	print_keys(&c, schema);
}
