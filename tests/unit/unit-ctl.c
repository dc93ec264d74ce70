// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit-ctl.h"

char ctl_out[1 << 18];
char ctl_err[1 << 14];
struct json_object *json;

struct capture {
	FILE *file;
	int fd; /* what is redirected */
	int saved;
};

static void begin_capture(struct capture *c, int fd)
{
	c->file = tmpfile();
	ck_assert_ptr_nonnull(c->file);
	c->fd = fd;
	c->saved = dup(fd);
	dup2(fileno(c->file), fd);
}

static void end_capture(struct capture *c, char *text, size_t size)
{
	size_t n;

	dup2(c->saved, c->fd);
	close(c->saved);
	rewind(c->file);
	n = fread(text, 1, size - 1, c->file);
	text[n] = '\0';
	fclose(c->file);
}

#ifdef __SANITIZE_ADDRESS__
static const struct capture *captured_err;

/* What a sanitizer has reported, before it ends the test. */
static void show_report(void)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	if (!captured_err)
		return;
	while ((n = pread(captured_err->fd, buf, sizeof(buf), at)) > 0) {
		if (write(captured_err->saved, buf, n) != n)
			break;
		at += n;
	}
}

/* UBSan's end does not call that one. This comes before its report is printed. */
void __ubsan_on_report(void);

void __ubsan_on_report(void)
{
	if (captured_err)
		dup2(captured_err->saved, captured_err->fd);
}

static void show_report_of(const struct capture *err)
{
	captured_err = err;
	__sanitizer_set_death_callback(show_report);
}
#else
static void show_report_of(const struct capture *err)
{
	(void)err;
}
#endif

int ctl_words(int argc, char **argv)
{
	struct capture out, err;
	int status;

	fflush(NULL);
	begin_capture(&out, STDOUT_FILENO);
	begin_capture(&err, STDERR_FILENO);
	show_report_of(&err);
	status = ctl_main(argc, argv);
	show_report_of(NULL);
	fflush(NULL);
	end_capture(&err, ctl_err, sizeof(ctl_err));
	end_capture(&out, ctl_out, sizeof(ctl_out));
	return status;
}

int ctl_line(const char *format, ...)
{
	static char line[1024];
	char *argv[64], *word;
	int argc = 0;
	va_list ap;

	strcpy(line, "gpreempt-ctl ");
	va_start(ap, format);
	vsnprintf(line + strlen(line), sizeof(line) - strlen(line), format, ap);
	va_end(ap);
	for (word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ctl_words(argc, argv);
}

void read_json(void)
{
	json_object_put(json);
	json = json_tokener_parse(ctl_out);
	ck_assert_msg(json, "this is not JSON: %s%s", ctl_out, ctl_err);
}

struct json_object *ctl_json(void)
{
	read_json();
	return json;
}

struct json_object *json_member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	ck_assert_msg(json_object_object_get_ex(o, key, &value), "no %s", key);
	return value;
}

struct json_object *json_at(struct json_object *object, const char *path)
{
	char copy[256], *word, *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strtok_r(copy, ".", &rest); word;
	     word = strtok_r(NULL, ".", &rest)) {
		if (json_object_is_type(object, json_type_array)) {
			ck_assert_msg(json_object_array_length(object) >
					      strtoul(word, NULL, 10),
				      "no %s", path);
			object = json_object_array_get_idx(object,
							   strtoul(word, NULL,
								   10));
		} else {
			ck_assert_msg(json_object_object_get_ex(object, word,
								&object),
				      "no %s in %s", word, path);
		}
	}
	return object;
}

void expect_number(struct json_object *object, const char *path, int64_t value)
{
	struct json_object *found = json_at(object, path);

	ck_assert_msg(found, "%s is null", path);
	ck_assert_msg(json_object_get_int64(found) == value,
		      "%s is %s, not %lld", path,
		      json_object_to_json_string(found), (long long)value);
}

void expect_null(struct json_object *object, const char *path)
{
	struct json_object *found = json_at(object, path);

	ck_assert_msg(!found, "%s is %s, not null", path,
		      json_object_to_json_string(found));
}

void expect_text(struct json_object *object, const char *path, const char *text)
{
	ck_assert_str_eq(json_object_get_string(json_at(object, path)), text);
}

void expect_length(struct json_object *object, const char *path, size_t n)
{
	ck_assert_uint_eq(json_object_array_length(json_at(object, path)), n);
}
