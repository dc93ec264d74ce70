// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that a process chooses reach a terminal and a log only when they are harmless: through
 * each method of printing, with each kind of harm.
 */
#include "guard/guard.h"
#include "cli/table.h"
#include "shared/text.h"
#include "unit.h"

static const char *const harm[] = {
	"a\033[8mb",			/* hidden from here on */
	"a\033]52;c;cm0gLXJmIC8K\007b", /* into the clipboard */
	"a\nroot: all is well",
	"a\rb",
	"a\tb\bc\177d",
	"a\x80z",	  /* no UTF-8 */
	"a\xc3",	  /* half a character */
	"a\xed\xa0\x80z", /* a surrogate */
	"a\xc0\xafz",	  /* a "/" that is too long */
	"a\xf5\x80\x80\x80z",
	"a\302\2338mb",	  /* CSI in one character */
	"a\xe2\x80\xaez", /* from right to left */
	"a\xe2\x81\xa6z",
	"a\xe2\x80\x8fz",
	"a\xd8\x9cz",
	"a\xe2\x80\xa8z", /* a line separator */
};

static struct {
	int out;
	int err;
	FILE *file;
} saved;

static void setup(void)
{
	unit_setup();
	setenv("NO_COLOR", "1", 1);
	fflush(NULL);
	saved.file = tmpfile();
	saved.out = dup(STDOUT_FILENO);
	saved.err = dup(STDERR_FILENO);
	dup2(fileno(saved.file), STDOUT_FILENO);
	dup2(fileno(saved.file), STDERR_FILENO);
}

/* Output since the setup. */
static const char *printed(void)
{
	static char text[65536];
	ssize_t n;

	fflush(NULL);
	n = pread(fileno(saved.file), text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void teardown(void)
{
	fflush(NULL);
	dup2(saved.out, STDOUT_FILENO);
	dup2(saved.err, STDERR_FILENO);
	close(saved.out);
	close(saved.err);
	fclose(saved.file);
	unit_teardown();
}

/* The lines are ours; and there is nothing in them that is not a letter. */
static void check_harmless(int lines, const char *between)
{
	const char *text = printed(), *at = text;
	uint32_t code;

	for (; *at; at += shr_take_utf8(at, &code)) {
		ck_assert_msg(shr_take_utf8(at, &code), "no UTF-8: %s", text);
		if (code == '\n') {
			lines--;
			continue;
		}
		ck_assert_msg(code >= 0x20 || strchr(between, code), "%s", text);
		ck_assert_msg((code < 0x7f || code > 0x9f) && code != 0x61c &&
				      (code < 0x200e || code > 0x202e) &&
				      (code < 0x2066 || code > 0x206f),
			      "%s", text);
	}
	ck_assert_msg(!lines, "%d lines too few in: %s", lines, text);
	ck_assert_ptr_nonnull(strchr(text, 'a'));
}

TEST_EACH(errors, ARRAY_SIZE(harm))
{
	struct gpreempt_error err = {
		.reason = GPREEMPT_TRACED,
		.code = -EBUSY,
		.pid = 1,
		.other = 99,
		.step = "a",
	};

	snprintf(err.name, sizeof(err.name), "%s", harm[_i]);
	ctl_fail(&err);
	err.reason = GPREEMPT_NO_MATCH;
	err.word = harm[_i];
	ctl_fail(&err);
	check_harmless(4, "");
}

TEST_EACH(error_texts, ARRAY_SIZE(harm))
{
	struct gpreempt_error err = { .code = -EBUSY, .word = harm[_i] };
	char text[600];

	snprintf(err.name, sizeof(err.name), "%s", harm[_i]);
	for (err.reason = 0; err.reason < GPREEMPT_REASON_COUNT; err.reason++) {
		gpreempt_error_text(&err, text, sizeof(text));
		puts(text);
		gpreempt_error_next(&err, text, sizeof(text));
		puts(text);
	}
	check_harmless(2 * GPREEMPT_REASON_COUNT, "");
}

TEST_EACH(lines, ARRAY_SIZE(harm))
{
	ctl_fail_text(GPREEMPT_CLASS_FAILED, harm[_i], "cgroup %s: %d", harm[_i], 7);
	ctl_note("%s", harm[_i]);
	ctl_say("a %s", harm[_i]);
	ctl_progress("%s", harm[_i]);
	check_harmless(4, "");
}

TEST_EACH(guard_events, ARRAY_SIZE(harm))
{
	struct guard_options args = { 0 };
	struct guard *guard = calloc(1, sizeof(*guard));

	guard->options = &args;
	guard_event(guard, "refused", 7, "traced by (%s)", harm[_i]);
	args.json = 1;
	guard_event(guard, "refused", 7, "traced by (%s)", harm[_i]);
	free(guard);
	check_harmless(2, "");
}

struct row {
	const char *text;
	const char *word;
	const char *list;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, text, "TEXT", OUT_TEXT),
	OUT_FIELD(struct row, word, "WORD", OUT_WORD),
	OUT_FIELD(struct row, list, "LIST", OUT_LIST),
};

static const struct out_table table = OUT_TABLE("rows", fields, struct row);

TEST_EACH(tables, ARRAY_SIZE(harm))
{
	const struct row row = { harm[_i], harm[_i], harm[_i] };

	out_rows(OUT_TERMINAL, &table, &row, 1);
	out_rows(OUT_PIPE, &table, &row, 1);
	out_rows(OUT_CSV, &table, &row, 1);
	out_row(&(const struct out_form){ .mode = OUT_TERMINAL }, &table, &row);
	out_row(&(const struct out_form){ .mode = OUT_PIPE }, &table, &row);
	check_harmless(8, "\t");
}

TEST_EACH(json, ARRAY_SIZE(harm))
{
	const struct row row = { harm[_i], harm[_i], harm[_i] };

	out_json_print(out_json_row(&table, &row));
	/* The brace and each member, and a list of one. */
	check_harmless(7, "");
}

/* Text for which a buffer has no room is left out whole, and counted. */
TEST(cut)
{
	char text[8];

	ck_assert_uint_eq(shr_clean(text, sizeof(text), "ab\033cdef", false), 10);
	ck_assert_str_eq(text, "ab\\033c");
	ck_assert_uint_eq(shr_clean(text, sizeof(text), "abcd\xc3\xa4\xc3\xa4", false), 8);
	ck_assert_str_eq(text, "abcd\xc3\xa4");
	ck_assert_uint_eq(shr_clean(NULL, 0, "a\tb", true), 3);
	ck_assert_uint_eq(shr_clean(text, sizeof(text), "a\tb", true), 3);
	ck_assert_str_eq(text, "a\tb");
}

/* Plain text is kept as it is, byte for byte, and no harm is plain. */
TEST(plain)
{
	char one[2] = "", copy[8];
	unsigned int c;
	size_t i;

	for (c = 1; c < 256; c++) {
		one[0] = c;
		shr_clean(copy, sizeof(copy), one, false);
		ck_assert_int_eq(shr_is_plain(one), !strcmp(copy, one));
	}
	ck_assert(shr_is_plain(""));
	for (i = 0; i < ARRAY_SIZE(harm); i++)
		ck_assert(!shr_is_plain(harm[i]));
}

TEST_FIXTURE(setup, teardown)
