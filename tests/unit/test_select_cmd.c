// SPDX-License-Identifier: GPL-2.0-only
/* cmd: against the bytes of a command line, which a process can write itself. */
#include "unit.h"

static struct gp_backend_ops ops;
static const char *line;
static size_t line_len;

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	if (strcmp(path, "/proc/4194242/cmdline"))
		return gp_backend_loop.read_file(be, path, buf, size);
	size = size < line_len ? size : line_len;
	memcpy(buf, line, size);
	return size;
}

static void setup(void)
{
	unit_setup();
	ops = gp_backend_loop;
	ops.read_file = read_file;
	g->ops = &ops;
}

static bool picks(const char *word)
{
	struct gpreempt_targets *found = NULL;
	struct gpreempt_error err = { 0 };
	int ret = gpreempt_select(g, &word, 1, NULL, NULL, &found, &err);

	ck_assert(!ret || err.reason == GPREEMPT_NO_MATCH);
	gpreempt_list_free(found);
	return !ret;
}

#define BYTES(text) text, sizeof(text) - 1

/* Each argument ends with a zero, and is followed by a space for the pattern. */
static const struct {
	const char *line;
	size_t len;
	const char *pattern;
	bool matches;
} rows[] = {
	{ BYTES("train\0--job\0"), "cmd:^train --job$", true },
	{ BYTES("train\0--job\0"), "cmd:--job $", false },
	{ BYTES("train\0b\0"), "cmd: b$", true },
	{ BYTES("train\0\0\0"), "cmd:^train$", true },
	/* The program has overwritten it, without any zero. */
	{ BYTES("train: step 7"), "cmd:^train: step 7$", true },
	/* An empty argument is one, too. */
	{ BYTES("\0train\0"), "cmd:^ train$", true },
	{ BYTES("\0train\0"), "cmd:^train$", false },
	{ BYTES("a\0\0b\0"), "cmd:^a  b$", true },
	/* A kernel thread has none, and a program can have an empty one. */
	{ BYTES(""), "cmd:^$", true },
	{ BYTES("\0"), "cmd:^$", true },
	{ BYTES("\0"), "cmd: ", false },
	{ BYTES("\0\0"), "cmd:^$", true },
	/* The pattern has a backslash, and a reference to a group's match. */
	{ BYTES("a\\1b\0"), "cmd:a\\\\1b$", true },
	{ BYTES("abab\0"), "cmd:^(ab)\\1$", true },
	{ BYTES("abba\0"), "cmd:^(ab)\\1$", false },
};

TEST_EACH(bytes, ARRAY_SIZE(rows))
{
	line = rows[_i].line;
	line_len = rows[_i].len;
	ck_assert_int_eq(picks(rows[_i].pattern), rows[_i].matches);
}

TEST_FIXTURE(setup, unit_teardown)
