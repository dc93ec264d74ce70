// SPDX-License-Identifier: GPL-2.0-only
/* Files that guard writes: by a child, so that a slow disk never makes it late. */
#include <regex.h>

#include "guard/guard.h"
#include "unit-command.h"

#define WRITES 500
/* Series of a whole guard, with any targets. */
#define MAX_SERIES 69

/* Prometheus's text format: a comment, or a name, labels and a number. */
#define NAME  "[a-zA-Z_:][a-zA-Z0-9_:]*"
#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"[^\"\\\n]*\""
#define COMMENT                              \
	"# (HELP " NAME " .*|TYPE " NAME " " \
	"(counter|gauge|histogram|summary|untyped))"
#define SAMPLE                                  \
	NAME "(\\{" LABEL "(," LABEL ")*\\})? " \
	     "[-+]?([0-9]+(\\.[0-9]*)?(e[-+]?[0-9]+)?|Inf|NaN)"

static struct guard guard;
static struct guard_options args;
static const char path[] = "out", messages[] = "messages";
static unsigned int beats;

/* guard's own feeds its dead man's switch. */
void guard_heartbeat(struct guard *of)
{
	ck_assert_ptr_eq(of, &guard);
	beats++;
}

static void setup(void)
{
	command_setup();
	ck_assert_ptr_nonnull(freopen(messages, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	memset(&guard, 0, sizeof(guard));
	args = (struct guard_options){ .metrics = path };
	guard.options = &args;
	guard.figures.start_ns = shr_now_ns();
	beats = 0;
	ck_assert_int_eq(guard_files_check(&guard), 0);
}

static void teardown(void)
{
	command_teardown();
	free(guard.figures.sample);
}

static size_t count_in(const char *name, const char *what)
{
	const char *at = unit_file(name);
	size_t n = 0;

	for (; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Put that number into the text. */
static void put(uint64_t number)
{
	guard.figures.suspends = number;
	guard_files_put(&guard, GUARD_METRICS);
}

static void put_and_wait(uint64_t number)
{
	put(number);
	UNIT_WAIT((guard_files_poll(&guard), !guard.file[GUARD_METRICS].child));
}

static int finish(uint64_t number)
{
	guard.figures.suspends = number;
	guard_files_last(&guard);
	return guard_files_finish(&guard);
}

static void put_directory(void)
{
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

TEST(written)
{
	guard_files_put(&guard, GUARD_SAMPLES_FILE);
	/* The label before the number is the host's name. */
	put_and_wait(71);
	ck_assert_uint_eq(count_in(path, "} 71\n"), 1);
	/* The last text is written also when the one before is not done yet. */
	put(72);
	ck_assert_int_eq(finish(73), 0);
	ck_assert_uint_eq(count_in(path, "} 73\n"), 1);
	ck_assert_uint_eq(count_in(messages, "\n"), 0);
}

/* The file fails after a good start: one message. */
TEST(fails_later)
{
	put_and_wait(1);
	put_directory();
	put_and_wait(2);
	ck_assert_uint_eq(count_in(messages, "note: the metrics file out "), 1);
	ck_assert_uint_eq(count_in(messages, "cannot be written: a directory"), 1);
	put_and_wait(2);
	ck_assert_uint_eq(count_in(messages, "\n"), 1);
	/* Each failure of the last text is reported. */
	ck_assert_int_eq(finish(3), GPREEMPT_CLASS_FAILED);
	ck_assert_int_eq(finish(3), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(messages, "could not be written at the end: "
					     "a directory is there"),
			  2);
	/* The file works again, and fails again: another message. */
	ck_assert_int_eq(rmdir(path), 0);
	put_and_wait(4);
	put_directory();
	put_and_wait(5);
	ck_assert_uint_eq(count_in(messages, "note: "), 2);
	/* The check at the start fails, too. */
	ck_assert_int_eq(guard_files_check(&guard), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(messages, "next: name a file in a directory "
					     "that can be written"),
			  3);
}

static int pause_for_ever(void *arg)
{
	(void)arg;
	return pause();
}

/* A disk that does not answer: guard does not wait for it, but at the end. */
TEST(hangs)
{
	pid_t child = shr_child_start(pause_for_ever, NULL, NULL, 0);
	uint64_t begin;

	ck_assert_int_gt(child, 0);
	guard.file[GUARD_METRICS].child = child;
	guard_files_poll(&guard);
	ck_assert_uint_eq(count_in(messages, "\n"), 0);
	put(1);
	put(1);
	ck_assert_uint_eq(count_in(messages, "cannot be written: Device or "
					     "resource busy"),
			  1);
	ck_assert_int_eq(guard.file[GUARD_METRICS].child, child);
	unit_make_up_time();
	begin = shr_now_ns();
	ck_assert_int_eq(finish(2), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_ge(shr_now_ns() - begin, UNIT_LIMIT_NS);
	ck_assert_uint_eq(count_in(messages, "at the end: Connection timed out"), 1);
	ck_assert_uint_gt(beats, 100);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* There is no memory for the text at the end. */
TEST(no_memory)
{
	guard_files_last(&guard);
	free(guard.file[GUARD_METRICS].text);
	guard.file[GUARD_METRICS].text = NULL;
	ck_assert_int_ne(guard_files_finish(&guard), 0);
}

/*
 * The metrics
 */

static void set_targets(size_t n)
{
	struct guard_sample *sample = calloc(1, sizeof(*sample));
	size_t i;

	ck_assert_ptr_nonnull(sample);
	free(guard.figures.sample);
	guard.figures.start_ns = shr_now_ns() - NSEC_PER_SEC;
	sample->ns[GUARD_TO_SUSPENDED] = 1234567;
	guard.figures.samples = n > 0;
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

	ck_assert_int_eq(regcomp(&comment, "^" COMMENT "$", REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_int_eq(regcomp(&sample, "^" SAMPLE "$", REG_EXTENDED | REG_NOSUB), 0);
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

static void write_metrics(void)
{
	guard_files_last(&guard);
	ck_assert_int_eq(guard_files_finish(&guard), 0);
}

static size_t series_of(size_t targets)
{
	char text[16384];

	set_targets(targets);
	write_metrics();
	ck_assert_uint_gt(get(text, sizeof(text)), 0);
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
}

TEST_FIXTURE(setup, teardown)
