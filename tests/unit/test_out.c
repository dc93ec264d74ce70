// SPDX-License-Identifier: GPL-2.0-only
/* Rows on a terminal, in a pipe and as JSON; harmless texts. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "output/table.h"
#include "shared/clean.h"
#include "unit.h"

struct row {
	int64_t pid;
	const char *state;
	const char *gpus;
	int64_t gpu;
	int64_t held;
	int64_t ns;
	const char *command;
};

#define FIELD(...) OUT_FIELD(struct row, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(pid, "PID", OUT_DEC, .width = 7),
	FIELD(state, "STATE", OUT_WORD, .width = 9),
	FIELD(gpus, "GPUS", OUT_LIST, .width = 4, .spare = true),
	FIELD(gpu, NULL, OUT_HEX),
	FIELD(held, NULL, OUT_FLAG),
	FIELD(ns, "TIME_US", OUT_US, .width = 8),
	FIELD(command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("rows", fields, struct row);

static const struct row rows[] = {
	{ 4711, "active", "f7bc,3a1c", 0xf7bc, 1, 12345, "python3 train.py" },
	{ 9, NULL, "", GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN,
	  "a\tb\n\033[2Jc\xff\xc3\xa9\xc2\x9b" },
	{ 12, "suspended", NULL, 1, 0, 0,
	  "012345678901234567890123456789 012345678901234567890123456789" },
};

static char text[4096];
static int saved = -1;
static FILE *file;

static void capture(void)
{
	file = tmpfile();
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
}

/* What was printed since. */
static const char *release(void)
{
	ssize_t n;

	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	n = pread(fileno(file), text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	fclose(file);
	return text;
}

TEST(pipe_lines)
{
	capture();
	out_rows(OUT_PIPE, &table, rows, 2);
	ck_assert_str_eq(release(),
			 "# pid\tstate\tgpus\tgpu\theld\tns\tcommand\n"
			 "4711\tactive\tf7bc,3a1c\t0xf7bc\t1\t12.3\t"
			 "python3 train.py\n"
			 "9\t-\t-\t-\t-\t-\t"
			 "a\\011b\\012\\033[2Jc\\377\xc3\xa9\\302\\233\n");
	capture();
	out_heading(OUT_PIPE, &table);
	out_row(OUT_PIPE, &table, &rows[0]);
	ck_assert_ptr_nonnull(strstr(release(), "\n4711\tactive\t"));
}

TEST(csv)
{
	capture();
	out_rows(OUT_CSV, &table, rows, 1);
	ck_assert_str_eq(release(), "pid,state,gpus,gpu,held,ns,command\n"
				    "4711,active,\"f7bc,3a1c\",0xf7bc,1,12.3,"
				    "python3 train.py\n");
}

TEST(nothing)
{
	struct json_object *object;

	capture();
	out_rows(OUT_PIPE, &table, NULL, 0);
	ck_assert_str_eq(release(),
			 "# pid\tstate\tgpus\tgpu\theld\tns\tcommand\n");
	capture();
	out_rows(OUT_JSON, &table, NULL, 0);
	object = json_tokener_parse(release());
	ck_assert_str_eq(json_object_to_json_string_ext(object, 0),
			 "{\"rows\":[]}");
	json_object_put(object);
}

/* 80 columns, for nothing tells how wide it is; no colour without TERM. */
TEST(terminal)
{
	const char *at;

	unsetenv("TERM");
	capture();
	out_rows(OUT_TERMINAL, &table, rows, 3);
	release();
	ck_assert_ptr_null(strchr(text, '\033'));
	at = strstr(text,
		    " PID  STATE      GPUS       TIME_US  COMMAND\n"
		    "4711  active     f7bc,3a1c     12.3  python3 train.py\n");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(text, "...\n"));
	for (at = text; *at; at += strcspn(at, "\n") + 1)
		ck_assert_uint_le(strcspn(at, "\n"), 80);
	/* No process has GPUs here. */
	capture();
	out_rows(OUT_TERMINAL, &table, rows + 1, 2);
	ck_assert_ptr_null(strstr(release(), "GPUS"));
}

TEST(colour)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	capture();
	out_rows(OUT_TERMINAL, &table, rows, 1);
	ck_assert_ptr_nonnull(strstr(release(), "\033[32mactive\033[0m"));
	setenv("NO_COLOR", "1", 1);
	capture();
	out_rows(OUT_TERMINAL, &table, rows, 1);
	ck_assert_ptr_null(strchr(release(), '\033'));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	capture();
	out_row(OUT_TERMINAL, &table, rows);
	ck_assert_str_eq(release(), "   4711  active     f7bc,3a1c      12.3  "
				    "python3 train.py\n");
}

TEST(json)
{
	struct json_object *object, *array, *one;

	capture();
	out_rows(OUT_JSON, &table, rows, 2);
	object = json_tokener_parse(release());
	ck_assert_ptr_nonnull(object);
	ck_assert(json_object_object_get_ex(object, "rows", &array));
	ck_assert_uint_eq(json_object_array_length(array), 2);
	one = json_object_array_get_idx(array, 0);
	ck_assert_str_eq(json_object_to_json_string_ext(one, 0),
			 "{\"pid\":4711,\"state\":\"active\","
			 "\"gpus\":[\"f7bc\",\"3a1c\"],\"gpu\":\"0xf7bc\","
			 "\"held\":true,\"ns\":12.345,"
			 "\"command\":\"python3 train.py\"}");
	one = json_object_array_get_idx(array, 1);
	ck_assert_str_eq(json_object_to_json_string_ext(one, 0),
			 "{\"pid\":9,\"state\":null,\"gpus\":[],\"gpu\":null,"
			 "\"held\":null,\"ns\":null,"
			 "\"command\":\"a\\tb\\n\\u001b[2Jc\\\\377\xc3\xa9"
			 "\\\\302\\\\233\"}");
	json_object_put(object);
}

static const struct {
	const char *text;
	const char *clean;
} texts[] = {
	{ "", "" },
	{ "python3 -m vllm", "python3 -m vllm" },
	{ "\x7f", "\\177" },
	{ "\xe2\x82\xac", "\xe2\x82\xac" },		/* euro */
	{ "\xe2\x82", "\\342\\202" },			/* half of it */
	{ "\xc0\xaf", "\\300\\257" },			/* overlong */
	{ "\xed\xa0\x80", "\\355\\240\\200" },		/* surrogate */
	{ "\xf4\x90\x80\x80", "\\364\\220\\200\\200" }, /* too large */
	{ "\xe2\x80\xae", "\\342\\200\\256" },		/* right to left */
};

TEST_EACH(clean, ARRAY_SIZE(texts))
{
	char *copy = shr_clean_copy(texts[_i].text, false);

	ck_assert_str_eq(copy, texts[_i].clean);
	free(copy);
}

/* A full disk is a failure, a reader that has left is none. */
TEST(finish)
{
	int fds[2];

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_int_eq(ctl_finish_output(5), 5);
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	putchar('x');
	ck_assert_int_eq(ctl_finish_output(0), GPREEMPT_CLASS_FAILED);
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	close(fds[0]);
	dup2(fds[1], STDOUT_FILENO);
	putchar('x');
	ck_assert_int_eq(ctl_finish_output(0), 0);
}
