// SPDX-License-Identifier: GPL-2.0-only
/*
 * json-value FILE KEY...: the value under these keys, a number for an element of an array.
 * Fails when the file is not one JSON value and nothing else, or when there is no such key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

static struct json_object *read_file(const char *path)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;
	static char text[1 << 20];
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f || !tokener)
		return NULL;
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, text, len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) +
			    strspn(text + json_tokener_get_parse_end(tokener), "\n") !=
		    len)
		return NULL;
	return object;
}

int main(int argc, char **argv)
{
	struct json_object *at;
	int i;

	if (argc < 2)
		return 2;
	at = read_file(argv[1]);
	if (!at) {
		fprintf(stderr, "%s is not one JSON value\n", argv[1]);
		return 1;
	}
	for (i = 2; i < argc; i++) {
		if (json_object_is_type(at, json_type_array)) {
			at = json_object_array_get_idx(at, atoi(argv[i]));
		} else if (!json_object_object_get_ex(at, argv[i], &at)) {
			fprintf(stderr, "no %s\n", argv[i]);
			return 1;
		}
	}
	if (json_object_is_type(at, json_type_string))
		puts(json_object_get_string(at));
	else
		puts(at ? json_object_to_json_string(at) : "null");
	return 0;
}
