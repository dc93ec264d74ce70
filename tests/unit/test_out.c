// SPDX-License-Identifier: GPL-2.0-only
/* Rows on a terminal, in a pipe and as JSON; harmless texts. */
#include "cli/cli.h"
#include "cli/table.h"
#include "shared/text.h"
#include "unit-ctl.h"

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

static void print(enum out_mode mode, size_t from, size_t count)
{
	begin_capture();
	out_rows(mode, &table, rows + from, count);
	end_capture();
}

static const struct out_form pipe_form = { .mode = OUT_PIPE };

TEST(pipe_lines)
{
	print(OUT_PIPE, 0, 2);
	ck_assert_str_eq(ctl_out, "# pid\tstate\tgpus\tgpu\theld\tns\tcommand\n"
				  "4711\tactive\tf7bc,3a1c\t0xf7bc\t1\t12.3\t"
				  "python3 train.py\n"
				  "9\t-\t-\t-\t-\t-\t"
				  "a\\011b\\012\\033[2Jc\\377\xc3\xa9\\302\\233\n");
	begin_capture();
	out_heading(&pipe_form, &table);
	out_row(&pipe_form, &table, &rows[0]);
	end_capture();
	OUT_HAS("\n4711\tactive\t");
}

TEST(csv)
{
	print(OUT_CSV, 0, 1);
	ck_assert_str_eq(ctl_out, "pid,state,gpus,gpu,held,ns,command\n"
				  "4711,active,\"f7bc,3a1c\",0xf7bc,1,12.3,"
				  "python3 train.py\n");
}

TEST(nothing)
{
	print(OUT_PIPE, 0, 0);
	ck_assert_str_eq(ctl_out, "# pid\tstate\tgpus\tgpu\theld\tns\tcommand\n");
	print(OUT_JSON, 0, 0);
	expect_rows("rows", 0);
}

TEST(sizes)
{
	static const struct out_field field = { .name = "vram",
						.heading = "VRAM",
						.kind = OUT_SIZE };
	static const struct out_table one = {
		.name = "sizes", .fields = &field, .n_fields = 1, .row_size = 8
	};
	static const int64_t bytes[] = { GPREEMPT_UNKNOWN, 0,	     1024, 1536, 1048575,
					 206158430208,	   INT64_MAX };

	unsetenv("TERM");
	begin_capture();
	out_rows(OUT_TERMINAL, &one, bytes, ARRAY_SIZE(bytes));
	end_capture();
	OUT_HAS("VRAM\n        -\n        0\n  1.0 KiB\n  1.5 KiB\n"
		"  1.0 MiB\n192.0 GiB\n  8.0 EiB\n");
	begin_capture();
	out_rows(OUT_PIPE, &one, bytes + 5, 1);
	end_capture();
	ck_assert_str_eq(ctl_out, "# vram\n206158430208\n");
	begin_capture();
	out_rows(OUT_JSON, &one, bytes + 5, 1);
	end_capture();
	expect_number("sizes.0.vram", 206158430208);
}

/* A share of looks is whole in a text, and has its digit in JSON. */
TEST(share)
{
	static const struct out_field field = { .name = "busy", .kind = OUT_SHARE };
	static const struct out_table one = {
		.name = "shares", .fields = &field, .n_fields = 1, .row_size = 8
	};
	static const int64_t share = 333;

	begin_capture();
	out_rows(OUT_PIPE, &one, &share, 1);
	end_capture();
	ck_assert_str_eq(ctl_out, "# busy\n33\n");
	begin_capture();
	out_rows(OUT_JSON, &one, &share, 1);
	end_capture();
	ck_assert_double_eq(json_object_get_double(json_at("shares.0.busy")), 33.3);
}

/* 80 columns, for nothing tells how wide it is; no colour without TERM. */
TEST(terminal)
{
	const char *at;

	unsetenv("TERM");
	print(OUT_TERMINAL, 0, 3);
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
	OUT_HAS(" PID  STATE      GPUS       TIME_US  COMMAND\n"
		"4711  active     f7bc,3a1c     12.3  python3 train.py\n");
	OUT_HAS("...\n");
	for (at = ctl_out; *at; at += strcspn(at, "\n") + 1)
		ck_assert_uint_le(strcspn(at, "\n"), 80);
	/* No process has GPUs here. */
	print(OUT_TERMINAL, 1, 2);
	ck_assert_ptr_null(strstr(ctl_out, "GPUS"));
}

/* 80 columns, of which the headings take 72: the highest rank goes, and the command is read. */
TEST(ranks)
{
	static const struct out_field wide[] = {
		FIELD(pid, "PID", OUT_DEC),
		FIELD(gpus, "GPUS", OUT_NUMBERS, .many = "GPUs"),
		FIELD(state, "A-STATE-OF-THIRTY-CHARACTERS..", OUT_WORD, .rank = 1),
		FIELD(ns, "TIME-OF-24-CHARACTERS-US", OUT_US, .rank = 2),
		FIELD(command, "COMMAND", OUT_TEXT, .cut = true),
	};
	static const struct out_table narrow = OUT_TABLE("rows", wide, struct row);
	static const struct row many[] = {
		{ 1, "active", "0,1,2", 0, 0, 5, "/usr/bin/python3 -m vllm.entrypoints.openai" },
		{ 2, "active", "0,1", 0, 0, 5, "x" },
	};

	unsetenv("TERM");
	begin_capture();
	out_rows(OUT_TERMINAL, &narrow, many, 2);
	end_capture();
	OUT_HAS("  1  3 GPUs  active");
	OUT_HAS("  2  0,1     active");
	OUT_HAS("/usr/bin/python3 -m ");
	ck_assert_ptr_null(strstr(ctl_out, "TIME-OF"));
	begin_capture();
	out_rows(OUT_PIPE, &narrow, many, 1);
	end_capture();
	OUT_HAS("1\t0,1,2\tactive\t");
}

TEST(colour)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	print(OUT_TERMINAL, 0, 1);
	OUT_HAS("\033[32mactive\033[0m");
	setenv("NO_COLOR", "1", 1);
	print(OUT_TERMINAL, 0, 1);
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	begin_capture();
	out_row(&(const struct out_form){ .mode = OUT_TERMINAL }, &table, rows);
	end_capture();
	ck_assert_str_eq(ctl_out, "   4711  active     f7bc,3a1c      12.3  "
				  "python3 train.py\n");
}

TEST(json)
{
	print(OUT_JSON, 0, 2);
	expect_rows("rows", 2);
	ck_assert_str_eq(json_object_to_json_string_ext(json_at("rows.0"), 0),
			 "{\"pid\":4711,\"state\":\"active\","
			 "\"gpus\":[\"f7bc\",\"3a1c\"],\"gpu\":\"0xf7bc\","
			 "\"held\":true,\"ns\":12.345,"
			 "\"command\":\"python3 train.py\"}");
	ck_assert_str_eq(json_object_to_json_string_ext(json_at("rows.1"), 0),
			 "{\"pid\":9,\"state\":null,\"gpus\":[],\"gpu\":null,"
			 "\"held\":null,\"ns\":null,"
			 "\"command\":\"a\\tb\\n\\u001b[2Jc\\\\377\xc3\xa9"
			 "\\\\302\\\\233\"}");
}

static void print_as(const struct out_form *form)
{
	begin_capture();
	out_print(form, &table, rows, 3);
	end_capture();
}

/* Columns by key or heading, in that order, also those that a terminal does not show otherwise. */
TEST(columns)
{
	struct out_form form = { .mode = OUT_PIPE, .columns = "ns,Command,pid" };

	print_as(&form);
	OUT_HAS("# ns\tcommand\tpid\n12.3\tpython3 train.py\t4711\n-\t");
	/* The heading GPUS and a key are other columns in other letters: the word itself wins. */
	ck_assert_ptr_eq(out_find(&table, "GPUS", 4), &fields[2]);
	ck_assert_ptr_eq(out_find(&table, "gpu", 3), &fields[3]);
	ck_assert_ptr_eq(out_find(&table, "TIME_us", 7), &fields[5]);
	ck_assert_ptr_null(out_find(&table, "gp", 2));
	ck_assert_ptr_null(out_find(&table, "", 0));
	form = (struct out_form){ .mode = OUT_TERMINAL, .columns = "gpu,held,gpus" };
	unsetenv("TERM");
	print_as(&form);
	/* GPUS is "-" in two rows, and would not be left out if it were in all. */
	OUT_HAS("GPU     HELD  GPUS\n0xf7bc  1     f7bc,3a1c\n-       -     -\n0x1     0     -\n");
}

TEST(bare)
{
	struct out_form form = { .mode = OUT_PIPE, .columns = "pid", .bare = 1 };

	print_as(&form);
	ck_assert_str_eq(ctl_out, "4711\n9\n12\n");
	form.mode = OUT_TERMINAL;
	print_as(&form);
	ck_assert_str_eq(ctl_out, "4711\n   9\n  12\n");
	form.mode = OUT_CSV;
	print_as(&form);
	ck_assert_str_eq(ctl_out, "4711\n9\n12\n");
	begin_capture();
	out_heading(&form, &table);
	end_capture();
	ck_assert_str_eq(ctl_out, "");
}

/* Numbers by their value, texts with numbers in them, too; what is not known is last. */
TEST(sorted)
{
	static const struct {
		const char *sort, *pids;
	} cases[] = {
		{ "pid", "9\n12\n4711\n" },	 { "-PID", "4711\n12\n9\n" },
		{ "state", "4711\n12\n9\n" },	 { "-state", "12\n4711\n9\n" },
		{ "ns", "12\n4711\n9\n" },	 { "-time_us", "4711\n12\n9\n" },
		{ "-command", "4711\n9\n12\n" }, { "gpus", "4711\n9\n12\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		print_as(&(const struct out_form){
			.mode = OUT_PIPE, .columns = "pid", .bare = 1, .sort = cases[i].sort });
		ck_assert_msg(!strcmp(ctl_out, cases[i].pids), "%s: %s", cases[i].sort, ctl_out);
	}
}

/* The option is stronger than NO_COLOR and the lack of a terminal. */
TEST(colour_asked)
{
	struct out_form form = { .mode = OUT_PIPE, .colour = OUT_COLOUR_ALWAYS };

	setenv("NO_COLOR", "1", 1);
	print_as(&form);
	OUT_HAS("4711\t\033[32mactive\033[0m\tf7bc,3a1c\t");
	form.mode = OUT_CSV;
	print_as(&form);
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	form = (struct out_form){ .mode = OUT_TERMINAL, .colour = OUT_COLOUR_NEVER };
	print_as(&form);
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
	form = (struct out_form){ .mode = OUT_PIPE };
	print_as(&form);
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
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
