// SPDX-License-Identifier: GPL-2.0-only
/* Files that guard writes: by a child, so that a slow disk never makes it late. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guard/guard.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "unit.h"

static struct guard guard;
static struct guard_options args;
static char dir[32], path[64], messages[64];
static unsigned int beats;

/* guard's own feeds its dead man's switch. */
void guard_heartbeat(struct guard *of)
{
	ck_assert_ptr_eq(of, &guard);
	beats++;
}

static void setup(void)
{
	strcpy(dir, "/tmp/gpreempt-output.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(messages, sizeof(messages), "%s/messages", dir);
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
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static size_t count_in(const char *name, const char *what)
{
	char text[4096], *at = text;
	FILE *f = fopen(name, "r");
	size_t n = 0;

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	for (; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Its text has that number. */
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
	guard_files_put(&guard, GUARD_TIMELINE);
	put_and_wait(1);
	ck_assert_uint_eq(count_in(path, "preemptions_total 1\n"), 1);
	/* Also when the last but one is not done yet. */
	put(2);
	ck_assert_int_eq(finish(3), 0);
	ck_assert_uint_eq(count_in(path, "preemptions_total 3\n"), 1);
	ck_assert_uint_gt(beats, 0);
	ck_assert_uint_eq(count_in(messages, "\n"), 0);
}

/* It was well at the start, and is not later: said once. */
TEST(fails_later)
{
	put_and_wait(1);
	put_directory();
	put_and_wait(2);
	ck_assert_uint_eq(count_in(messages, "note: the metrics file /tmp/"),
			  1);
	ck_assert_uint_eq(count_in(messages, "cannot be written: a directory"),
			  1);
	put_and_wait(2);
	ck_assert_uint_eq(count_in(messages, "\n"), 1);
	/* But each failure of the last one. */
	ck_assert_int_eq(finish(3), GPREEMPT_CLASS_FAILED);
	ck_assert_int_eq(finish(3), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(messages, "could not be written at the end: "
					     "a directory is there"),
			  2);
	/* It works again, and then not: said again. */
	ck_assert_int_eq(rmdir(path), 0);
	put_and_wait(4);
	put_directory();
	put_and_wait(5);
	ck_assert_uint_eq(count_in(messages, "note: "), 2);
	/* As at the start. */
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
	begin = shr_now_ns();
	ck_assert_int_eq(finish(2), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_ge(shr_now_ns() - begin, GUARD_FILE_WAIT_NS);
	ck_assert_uint_eq(count_in(messages,
				   "at the end: Connection timed out"),
			  1);
	ck_assert_uint_gt(beats, 100);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* Without memory for what is to be in it at the end. */
TEST(no_memory)
{
	guard_files_last(&guard);
	free(guard.file[GUARD_METRICS].last);
	guard.file[GUARD_METRICS].last = NULL;
	ck_assert_int_ne(guard_files_finish(&guard), 0);
}

int main(void)
{
	tcase_add_checked_fixture(unit_case(), setup, teardown);
	return unit_run("guard-files");
}
