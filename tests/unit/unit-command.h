/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines under test in a directory of their own. */
#ifndef UNIT_COMMAND_H
#define UNIT_COMMAND_H

#include <limits.h>

#include "ctl/command/ctl.h"
#include "unit-ctl.h"

/* A new directory, which is the current one until command_teardown(). */
void command_setup(void);
void command_teardown(void);

/* A file with that, and the directories that it needs. */
void make_file(const char *path, const char *text, size_t len);
void make_text(const char *path, const char *text);
/* One of tests/unit/fixtures, under another name; false: it is not there. */
bool copy_fixture(const char *fixture, const char *path);
/* Its whole text, for free(). */
char *fixture_text(const char *fixture, size_t *len);
mode_t mode_of(const char *path);

#endif
