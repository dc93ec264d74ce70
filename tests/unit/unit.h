/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the unit tests of the user space share. */
#ifndef UNIT_H
#define UNIT_H

/* Headers that most tests use. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gpreempt/gpreempt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-kfd/loop.h"
#include "lib/core/internal.h"
#include "shared/util.h"
#include "unit-limits.h"

/*
 * The made-up process. No number that a running process is likely to have: some of
 * what is tested looks into the host's own /proc too, and in a container, where
 * numbers begin at 1, the tests' own children come by each small one.
 */
#define PID 4194242

/* The case to which tests are added. */
TCase *unit_case(void);
/* A test function, which is added to that case; its body follows. */
#define TEST(name) TEST_EACH(name, 1)
/* The same for each _i that is less than @count; none with 0. */
#define TEST_EACH(name, count)                                         \
	static const struct TTest *name;                               \
	__attribute__((constructor)) static void unit_add_##name(void) \
	{                                                              \
		tcase_add_loop_test(unit_case(), name, 0, count);      \
	}                                                              \
	START_TEST(name)
/* A test that ends with exit status 0 by itself. */
#define TEST_EXIT(name)                                                \
	static const struct TTest *name;                               \
	__attribute__((constructor)) static void unit_add_##name(void) \
	{                                                              \
		tcase_add_exit_test(unit_case(), name, 0);             \
	}                                                              \
	START_TEST(name)
/*
 * A line about what is not tested here, and why: tests/unit/run counts and names it.
 * The test then returns.
 */
__attribute__((format(printf, 2, 3))) void unit_skip(const char *name, const char *format, ...);
/* A test that only root can pass; for others it is skipped. */
#define TEST_AS_ROOT(name) TEST_EACH(name, unit_as_root(#name))
int unit_as_root(const char *name);
/*
 * Until that is so. Fails when it takes longer than anything may take. No test sleeps
 * until something may have happened, or waits for an event in another way than this or
 * unit_readable().
 */
#define UNIT_WAIT(condition)                                                   \
	do {                                                                   \
		int left_ = UNIT_LIMIT_S * 1000;                               \
		while (!(condition)) {                                         \
			ck_assert_msg(left_-- > 0, "in vain: %s", #condition); \
			usleep(1000);                                          \
		}                                                              \
	} while (0)
/* An end of time for a call that must not take long. */
uint64_t unit_soon(void);
/* Until it can be read, or has an error or an end; what poll() reports of it. */
int unit_readable(int fd);
/* Is the descriptor readable now? */
bool unit_is_readable(int fd);
/* Set a limit in the processes that exist, and wait until one has it. */
void unit_shorten_limit(enum unit_limit which, uint64_t ns);
/* Functions before and after each test above this, up to the fixture before it; or NULL. */
#define TEST_FIXTURE(setup, teardown)                                                \
	__attribute__((constructor)) static void unit_add_##setup##_##teardown(void) \
	{                                                                            \
		unit_end_case(setup, teardown);                                      \
	}
void unit_end_case(SFun setup, SFun teardown);
/* Run it, which a program without a main() does. Returns the exit status. */
int unit_run(void);

/*
 * A made-up system with a GPU process of that number, and a library on it.
 * While it is there, each gpreempt_new() of the code under test is on it, too.
 */
extern struct gp_loop loop;
extern struct gpreempt *g;
void unit_setup(void);
/* The same with a process of that number, which may be a real one. */
void unit_setup_for(pid_t pid);
void unit_teardown(void);
/* A process of that number, which has a GPU, is listed nowhere yet. */
void unit_make_process(pid_t pid);
/* One GPU, 63420 or 0xf7bc, behind one socket. */
void unit_one_gpu(const char *properties);
/* 8 GPUs, as nodes 2 to 9 behind two sockets. */
#define UNIT_GPUS 8
extern const unsigned int unit_gpu_ids[UNIT_GPUS];
void unit_eight_gpus(void);
/* A file of that system; both texts must live as long as the test. */
void set_file(const char *path, const char *text);
/* Set the module's text of that process's queues. */
void set_view(pid_t pid, const char *text);
/* Print into a text that lasts for the test. */
__attribute__((format(printf, 1, 2))) const char *unit_text(const char *format, ...);
/* All of a file, with a zero behind it, for free(); NULL: there is none. */
char *unit_load(const char *path, size_t *len);
/* Returns the content of a file that must be there, until the next call. */
const char *unit_file(const char *path);
/* How often that is in a text. */
size_t unit_count(const char *text, const char *what);
/* Cut each hostname="..." out of metrics: it is this host's. */
void unit_drop_hostnames(char *text);
/* Check that the first lines are those of a file in tests/report/fixtures: its columns. */
void expect_fixture_head(const char *fixture, const char *text, int lines);
/*
 * Where a capture of a real host is: below CAPTURES, which tests/unit/run sets. NULL:
 * there is none, and the test is skipped.
 */
const char *unit_capture(const char *name);
/* Memory of zeros that a child shares with this process. */
void *unit_share(size_t size);
/* Split at blanks, but not in '...': argv[] up to a NULL. Returns argc. */
int unit_words(char *line, char **argv);
/* Wait for a child: its exit status, or the signal that ended it, as -SIGKILL. */
int unit_status(pid_t child);
/* Kill a child, and wait for it. */
void unit_end(pid_t child);
/* Descriptors that are open; the sanitizers miss one that leaks. */
int unit_count_descriptors(void);

/* Happens once, before the next flock() of the code under test. */
extern void (*unit_before_flock)(void);
/* So long was the host in suspend-to-RAM: CLOCK_BOOTTIME is ahead by it. */
extern int64_t unit_slept_s;
/* Both clocks show that, in children, too; 0: they run. */
extern uint64_t *unit_frozen;
#define unit_frozen_ns (*unit_frozen)
/*
 * From now on both clocks, and timers that are set, go on only by what this process
 * sleeps, or waits in ppoll(), which takes no time.
 */
void unit_make_up_time(void);
void unit_run_time(void);
bool unit_time_is_made_up(void);

/* A session on it that must open. */
struct gpreempt_session *unit_open(void);
/* Forget the calls so far. */
void unit_clear_trace(void);

#endif
