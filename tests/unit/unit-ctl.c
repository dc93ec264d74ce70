// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "cli/schema.h"
#include "unit-ctl.h"

char ctl_out[1 << 18];
char ctl_err[1 << 14];

/* ctl_out as JSON, when it has been asked for. */
static struct json_object *printed;

struct capture {
	FILE *file;
	int fd; /* descriptor that is redirected */
	int saved;
};

static void redirect(struct capture *c, int fd)
{
	c->file = tmpfile();
	ck_assert_ptr_nonnull(c->file);
	c->fd = fd;
	c->saved = dup(fd);
	dup2(fileno(c->file), fd);
}

static void restore(struct capture *c, char *text, size_t size)
{
	size_t n;

	dup2(c->saved, c->fd);
	close(c->saved);
	rewind(c->file);
	n = fread(text, 1, size - 1, c->file);
	text[n] = '\0';
	fclose(c->file);
}

static struct capture out, err;
static bool capturing;

#ifdef __SANITIZE_ADDRESS__
/* Print the report of a sanitizer, before it ends the test. */
static void show_report(void)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	if (!capturing)
		return;
	while ((n = pread(err.fd, buf, sizeof(buf), at)) > 0) {
		if (write(err.saved, buf, n) != n)
			break;
		at += n;
	}
}

/* UBSan ends the process without that call. It calls this before it prints its report. */
void __ubsan_on_report(void);

void __ubsan_on_report(void)
{
	if (capturing)
		dup2(err.saved, err.fd);
}
#endif

void begin_capture(void)
{
	fflush(NULL);
	redirect(&out, STDOUT_FILENO);
	redirect(&err, STDERR_FILENO);
	capturing = true;
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(show_report);
#endif
}

void end_capture(void)
{
	capturing = false;
	fflush(NULL);
	restore(&err, ctl_err, sizeof(ctl_err));
	restore(&out, ctl_out, sizeof(ctl_out));
	json_object_put(printed);
	printed = NULL;
}

static struct json_object *read_schema(const char *command)
{
	const char *dir = getenv("SCHEMAS");
	struct json_object *schema;
	char path[4096];

	ck_assert_msg(dir, "SCHEMAS is not set: tests/unit/run sets it");
	snprintf(path, sizeof(path), "%s/%s.json", dir, command);
	schema = json_object_from_file(path);
	ck_assert_msg(schema, "docs/json-keys has no %s (%s)", command, path);
	return schema;
}

void expect_schema(const char *command, const char *text)
{
	struct json_object *schema = read_schema(command), *value;
	struct json_tokener *tokener = json_tokener_new();
	const char *path = getenv("JSON_KEYS");
	/* Some tests are another user for a while. */
	FILE *keys = path ? fopen(path, "ae") : NULL;
	char why[SCHEMA_WHY];

	for (; text += strspn(text, "\n "), *text; text += json_tokener_get_parse_end(tokener)) {
		value = json_tokener_parse_ex(tokener, text, -1);
		ck_assert_msg(value, "this is not JSON: %s", text);
		ck_assert_msg(schema_accepts(schema, value, command, keys, why), "%s: %s", why,
			      text);
		json_object_put(value);
	}
	if (keys)
		fclose(keys);
	json_tokener_free(tokener);
	json_object_put(schema);
}

/* Is --json among the options of a command line? */
static bool wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

int program_line(int (*program)(int argc, char **argv), const char *format, ...)
{
	static char line[1024];
	char *argv[64], command[32];
	int argc, status;
	bool json;
	va_list ap;

	/* A holder writes its title over all of them. */
	strcpy(line, "gpreempt-program ");
	va_start(ap, format);
	vsnprintf(line + strlen(line), sizeof(line) - strlen(line), format, ap);
	va_end(ap);
	argc = unit_words(line, argv);
	json = wants_json(argc, argv);
	/* Options alone are those of list. */
	snprintf(command, sizeof(command), "%s", argc > 1 && *argv[1] != '-' ? argv[1] : "list");
	begin_capture();
	status = program(argc, argv);
	end_capture();
	if (json && *ctl_out)
		expect_schema(command, ctl_out);
	return status;
}

void read_json(const char *text)
{
	json_object_put(printed);
	printed = json_tokener_parse(text);
	ck_assert_msg(printed, "this is not JSON: %s%s", text, ctl_err);
}

struct json_object *json_at(const char *path)
{
	struct json_object *at;
	char copy[256], *word, *rest = NULL;

	if (!printed)
		read_json(ctl_out);
	at = printed;
	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strtok_r(copy, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
		if (json_object_is_type(at, json_type_array)) {
			size_t nth = strtoul(word, NULL, 10);

			ck_assert_msg(nth < json_object_array_length(at), "no %s in %s", path,
				      ctl_out);
			at = json_object_array_get_idx(at, nth);
		} else {
			ck_assert_msg(json_object_object_get_ex(at, word, &at), "no %s in %s", path,
				      ctl_out);
		}
	}
	return at;
}

const char *json_text(const char *path)
{
	return json_object_get_string(json_at(path));
}

void expect_number(const char *path, int64_t value)
{
	struct json_object *at = json_at(path);

	ck_assert_msg(at && json_object_get_int64(at) == value, "%s is %s, not %lld", path,
		      json_object_to_json_string(at), (long long)value);
}

void expect_text(const char *path, const char *text)
{
	ck_assert_pstr_eq(json_text(path), text);
}

void expect_null(const char *path)
{
	ck_assert_msg(!json_at(path), "%s is %s, not null", path, json_text(path));
}

void expect_rows(const char *path, size_t count)
{
	ck_assert_uint_eq(json_object_array_length(json_at(path)), count);
}
