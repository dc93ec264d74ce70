/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of JSON against the schemas that user/doc/make-schemas prints, and against no other ones.
 * A key that a schema does not name is a mistake here; a program that reads our JSON ignores it.
 */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#define SCHEMA_WHY 512 /* characters for a reason */

/*
 * Check the value. False after writing the reason. Else print "NAME: key: meaning" on a line of
 * keys for each key whose value is not null, as "list: pid: PID, as the host counts"; NULL: nowhere.
 */
bool schema_accepts(struct json_object *schema, struct json_object *value, const char *name,
		    FILE *keys, char why[SCHEMA_WHY]);
/* Print all keys of the schema in the same way. */
void schema_print_keys(struct json_object *schema, const char *name, FILE *keys);

#endif
