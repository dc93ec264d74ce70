// SPDX-License-Identifier: GPL-2.0-only
/* guard --metrics: whole, well-formed, and no more series for more targets. */
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "guard/guard.h"
#include "shared/clock.h"
#include "unit.h"

#define WRITES 500
/* Of all of guard, with any targets. */
#define MAX_SERIES 16

/* Prometheus's text format: a comment, or a name, labels and a number. */
#define NAME  "[a-zA-Z_:][a-zA-Z0-9_:]*"
#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"[^\"\\\n]*\""
#define COMMENT                              \
	"# (HELP " NAME " .*|TYPE " NAME " " \
	"(counter|gauge|histogram|summary|untyped))"
#define SAMPLE                                  \
	NAME "(\\{" LABEL "(," LABEL ")*\\})? " \
	     "[-+]?([0-9]+(\\.[0-9]*)?(e[-+]?[0-9]+)?|Inf|NaN)"

static struct guard_options args;
static struct guard guard;
static char path[64];

static void set_targets(size_t n)
{
	struct guard_sample *sample = calloc(1, sizeof(*sample));
	size_t i;

	ck_assert_ptr_nonnull(sample);
	memset(&guard, 0, sizeof(guard));
	snprintf(path, sizeof(path), "/tmp/gpreempt-metrics.%d", getpid());
	args.metrics = path;
	guard.options = &args;
	guard.figures.start_ns = shr_now_ns() - NSEC_PER_SEC;
	if (n) {
		sample->ns[GUARD_TO_SUSPENDED] = 1234567;
		guard.figures.samples = 1;
	}
	guard.figures.sample = sample;
	guard.n_online = n;
	guard.n_offline = n;
	for (i = 0; i < n; i++) {
		guard.online[i].target.pid = 1000 + i;
		guard.offline[i].target.pid = 2000 + i;
		guard.offline[i].since_ns = guard.figures.start_ns;
		guard.offline[i].held_since_ns = guard.figures.start_ns + i;
	}
}

static size_t get(char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	n = read(fd, text, size - 1);
	ck_assert_int_ge(n, 0);
	close(fd);
	text[n] = '\0';
	return n;
}

/* Series in it; each line is checked. */
static size_t check_text(char *text)
{
	char *line, *next = text;
	regex_t comment, sample;
	size_t series = 0;

	ck_assert_int_eq(regcomp(&comment, "^" COMMENT "$",
				 REG_EXTENDED | REG_NOSUB),
			 0);
	ck_assert_int_eq(regcomp(&sample, "^" SAMPLE "$",
				 REG_EXTENDED | REG_NOSUB),
			 0);
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	while ((line = strsep(&next, "\n")) && next) {
		bool value = !regexec(&sample, line, 0, NULL, 0);

		ck_assert_msg(value || !regexec(&comment, line, 0, NULL, 0),
			      "no line of the format: %s", line);
		series += value;
	}
	regfree(&comment);
	regfree(&sample);
	return series;
}

/* guard's own feeds its dead man's switch. */
void guard_heartbeat(struct guard *of)
{
	(void)of;
}

static void write_metrics(void)
{
	ck_assert_int_eq(guard_files_check(&guard), 0);
	guard_files_last(&guard);
	ck_assert_int_eq(guard_files_finish(&guard), 0);
}

static size_t series_of(size_t targets)
{
	char text[16384];

	set_targets(targets);
	write_metrics();
	ck_assert_uint_gt(get(text, sizeof(text)), 0);
	unlink(path);
	free(guard.figures.sample);
	return check_text(text);
}

TEST(bounded)
{
	size_t none = series_of(0);

	ck_assert_uint_gt(none, 4);
	ck_assert_uint_le(none, MAX_SERIES);
	ck_assert_uint_eq(series_of(1), none);
	ck_assert_uint_eq(series_of(GUARD_TARGETS), none);
}

/* A reader meanwhile never sees a part of it. */
TEST(whole)
{
	size_t series = series_of(2), i, changed = 0;
	char text[16384], last[16384] = "";
	int status;
	pid_t writer;

	set_targets(2);
	write_metrics();
	writer = fork();
	ck_assert_int_ge(writer, 0);
	if (!writer)
		for (;;)
			write_metrics();
	for (i = 0; i < WRITES || changed < 100; i++) {
		ck_assert_uint_gt(get(text, sizeof(text)), 0);
		changed += strcmp(text, last) != 0;
		strcpy(last, text);
		ck_assert_uint_eq(check_text(text), series);
	}
	kill(writer, SIGKILL);
	ck_assert_int_eq(waitpid(writer, &status, 0), writer);
	/* It may have been killed in the middle of the next one. */
	snprintf(text, sizeof(text), "rm -f %s*", path);
	ck_assert_int_eq(system(text), 0);
	free(guard.figures.sample);
}

int main(void)
{
	return unit_run("metrics");
}
