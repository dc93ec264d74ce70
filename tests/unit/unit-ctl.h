/* SPDX-License-Identifier: GPL-2.0-only */
/* Whole command lines of gpreempt-ctl and gpreempt-lab, on the made-up system of unit.h. */
#ifndef UNIT_CTL_H
#define UNIT_CTL_H

#include <json-c/json.h>

#include "unit.h"

/* Output of the last command line, or of the last capture. */
extern char ctl_out[1 << 18];
extern char ctl_err[1 << 14];

/*
 * Run it; words are split at blanks, but not in '...'. Returns the exit status. What it prints
 * with --json is as its schema says.
 */
__attribute__((format(printf, 2, 3))) int program_line(int (*program)(int argc, char **argv),
						       const char *format, ...);
#define ctl_line(...) program_line(ctl_main, __VA_ARGS__)
#define lab_line(...) program_line(lab_main, __VA_ARGS__)

/* The same, which must end with that status. */
#define CTL(status, ...) ENDS(status, ctl_line(__VA_ARGS__))
#define LAB(status, ...) ENDS(status, lab_line(__VA_ARGS__))
#define ENDS(status, line)                                                                        \
	do {                                                                                      \
		int got_ = line;                                                                  \
		ck_assert_msg(got_ == (status), "status %d, not %d: %s%s", got_, status, ctl_out, \
			      ctl_err);                                                           \
	} while (0)

/* Is that text in what was printed? */
#define HAS(where, text)                                                                \
	do {                                                                            \
		const char *text_ = text;                                               \
		ck_assert_msg(strstr(where, text_), "no \"%s\" in:\n%s", text_, where); \
	} while (0)
#define OUT_HAS(text) HAS(ctl_out, text)
#define ERR_HAS(text) HAS(ctl_err, text)

/* The same for a text with numbers. */
#define OUT_LINE(...) OUT_HAS(unit_text(__VA_ARGS__))
#define ERR_LINE(...) ERR_HAS(unit_text(__VA_ARGS__))

/*
 * Check that the output is JSON, and has that at a path as "queues.0.pid", which must be there.
 * A flag is 0 or 1.
 */
struct json_object *json_at(const char *path);
const char *json_text(const char *path);
void expect_number(const char *path, int64_t value);
/* NULL: it is null. */
void expect_text(const char *path, const char *text);
void expect_null(const char *path);
void expect_rows(const char *path, size_t count);
/* Check that each JSON value of the text is as the command's schema says, and has no other key. */
void expect_schema(const char *command, const char *text);
/* They are of this text, until something else is printed. */
void read_json(const char *text);

/* Capture the output between the two in ctl_out and ctl_err. */
void begin_capture(void);
void end_capture(void);

/* The status of each program's own main(). */
int ctl_main(int argc, char **argv);
int lab_main(int argc, char **argv);

#endif
