// SPDX-License-Identifier: GPL-2.0-only
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define MAX_WORDS 16

int ctl_main(int argc, char **argv);

struct stream {
	FILE *file;
	char *text;
	size_t len;
};

static void start(struct stream *s)
{
	s->file = open_memstream(&s->text, &s->len);
	if (!s->file)
		abort();
}

/* Ends it. Is nothing in it but lines of cells that may be printed? */
static bool is_text(struct stream *s)
{
	size_t i;

	fclose(s->file);
	for (i = 0; i < s->len; i++) {
		unsigned char byte = s->text[i];

		if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f)
			return false;
	}
	return true;
}

/* json-c reads NaN and Infinity; JSON has neither. */
static bool has_no_number(const char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == 'N' || *text == 'I'))
			return true;
	}
	return false;
}

static bool is_json(const struct stream *s)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;
	bool is;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, s->text, s->len + 1);
	is = object && !has_no_number(s->text);
	json_object_put(object);
	json_tokener_free(tokener);
	return is;
}

static int split(char *line, char **argv)
{
	char *rest = NULL, *word;
	int argc = 0;

	for (word = strtok_r(line, " ", &rest); word && argc < MAX_WORDS - 1;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

int fuzz_command(const char *line, const void *input, size_t len)
{
	FILE *in = stdin, *out = stdout, *err = stderr;
	char words[256], *argv[MAX_WORDS];
	struct stream got = { 0 }, said = { 0 };
	int argc, status;

	snprintf(words, sizeof(words), "gpreempt-ctl %s", line);
	argc = split(words, argv);
	start(&got);
	start(&said);
	stdin = fmemopen((void *)(len ? input : "\n"), len ? len : 1, "r");
	stdout = got.file;
	stderr = said.file;
	status = ctl_main(argc, argv);
	fclose(stdin);
	stdin = in;
	stdout = out;
	stderr = err;
	if (!is_text(&got) | !is_text(&said) ||
	    (strstr(line, "--json") && got.len && !is_json(&got))) {
		fprintf(stderr, "%s\n%s%s\n", line, got.text, said.text);
		abort();
	}
	free(got.text);
	free(said.text);
	return status;
}
