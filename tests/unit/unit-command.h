/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines under test in a directory of their own. */
#ifndef UNIT_COMMAND_H
#define UNIT_COMMAND_H

#include <limits.h>

#include "cli/cli.h"
#include "unit-ctl.h"

/* A new directory, which is the current one until command_teardown(). */
void command_setup(void);
void command_teardown(void);
/* The same on the made-up system of unit.h. */
void system_setup(void);
void system_teardown(void);

/* A file with that, and the directories that it needs. */
void make_file(const char *path, const char *text, size_t len);
void make_text(const char *path, const char *text);
/* One of tests/unit/fixtures, under another name; false: it is not there. */
bool copy_fixture(const char *fixture, const char *path);
/* Its whole text, for free(). */
char *fixture_text(const char *fixture, size_t *len);
mode_t mode_of(const char *path);

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

/*
 * A snapshot of a real driver, for decode and diff. It is "now": processes 144 and
 * 156 with four queues. For command_teardown().
 */
void snapshots_setup(void);
/* Its mqds, as of a process before that had the same MQDs and other rings. */
void make_other_rings(const char *path);

/*
 * From now on a program that a command under test has started is a process with queues 0 and 1 when
 * it has sent its parent SIGUSR1.
 */
void take_programs(void);

/* The first lines of a plan. */
#define PLAN                                               \
	"runs 2\nconcurrent 1\namd_log 4\nduration_ns 0\n" \
	"a touch ran; exec sleep 9\nb ./b\n"
/* The plan of the experiment "e", with these lines. */
void write_plan(const char *more);

#endif
