// SPDX-License-Identifier: GPL-2.0-only
/*
 * json-schema SCHEMA FILE: is each JSON value of the file as the schema says? At least one.
 * json-schema --keys SCHEMA...: the keys of the schemas.
 */
#include <stdlib.h>
#include <string.h>

#include "schema.h"

static const char *name_of(const char *path)
{
	static char name[64];
	const char *slash = strrchr(path, '/');

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	name[strcspn(name, ".")] = '\0';
	return name;
}

static struct json_object *read_schema(const char *path)
{
	struct json_object *schema = json_object_from_file(path);

	if (!schema) {
		fprintf(stderr, "%s is no schema\n", path);
		exit(2);
	}
	return schema;
}

static int check_file(const char *schema_path, const char *path)
{
	struct json_object *schema = read_schema(schema_path), *value;
	struct json_tokener *tokener = json_tokener_new();
	FILE *f = fopen(path, "r");
	static char text[1 << 22];
	char why[SCHEMA_WHY];
	size_t at = 0, len, n = 0;

	if (!f || !tokener) {
		perror(path);
		return 2;
	}
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	for (;; n++) {
		at += strspn(text + at, "\n ");
		if (at == len)
			break;
		value = json_tokener_parse_ex(tokener, text + at, len - at);
		if (json_tokener_get_error(tokener) != json_tokener_success) {
			fprintf(stderr, "%s: this is not JSON: %.60s\n", path, text + at);
			return 1;
		}
		at += json_tokener_get_parse_end(tokener);
		if (!schema_accepts(schema, value, name_of(schema_path), NULL, why)) {
			fprintf(stderr, "%s: %s\n", path, why);
			return 1;
		}
		json_object_put(value);
	}
	if (!n)
		fprintf(stderr, "%s has no JSON\n", path);
	json_tokener_free(tokener);
	json_object_put(schema);
	return !n;
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 2 && !strcmp(argv[1], "--keys")) {
		for (i = 2; i < argc; i++) {
			struct json_object *schema = read_schema(argv[i]);

			schema_print_keys(schema, name_of(argv[i]), stdout);
			json_object_put(schema);
		}
		return 0;
	}
	if (argc != 3) {
		fputs("usage: json-schema SCHEMA FILE | --keys SCHEMA...\n", stderr);
		return 2;
	}
	return check_file(argv[1], argv[2]);
}
