// SPDX-License-Identifier: GPL-2.0-only
/* Files that guard writes: by a child, so that a slow disk never makes it late. */
#include "guard/guard.h"
#include "unit-command.h"

/* Series of a whole guard, with any targets. */
#define MAX_SERIES 70

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
	guard_config_start(&guard.config);
	ck_assert_int_eq(gpreempt_policy_new(&guard.config.figures, 0, &guard.policy), 0);
	guard.figures.start_ns = shr_now_ns();
	beats = 0;
	ck_assert_int_eq(guard_files_check(&guard), 0);
}

static void teardown(void)
{
	command_teardown();
	free(guard.figures.sample);
	gpreempt_policy_free(guard.policy);
}

static size_t count_in(const char *name, const char *what)
{
	return unit_count(unit_file(name), what);
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

/* "make check-metrics" has the form of each line. */
static size_t series_of(size_t targets)
{
	size_t n = 0;
	const char *line;

	set_targets(targets);
	guard_files_last(&guard);
	ck_assert_int_eq(guard_files_finish(&guard), 0);
	for (line = unit_file(path); *line; line = strchr(line, '\n') + 1)
		n += *line != '#';
	return n;
}

TEST(bounded)
{
	size_t none = series_of(0);

	ck_assert_uint_gt(none, 4);
	ck_assert_uint_le(none, MAX_SERIES);
	ck_assert_uint_eq(series_of(1), none);
	ck_assert_uint_eq(series_of(GUARD_TARGETS), none);
}

TEST_FIXTURE(setup, teardown)
