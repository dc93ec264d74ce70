/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines of gpreempt-ctl, run in the fuzzer's own process. */
#ifndef FUZZ_COMMAND_H
#define FUZZ_COMMAND_H

#include <stddef.h>

/*
 * Runs a line, without "gpreempt-ctl", that reads this from stdin. What it prints must be
 * text that cannot harm a terminal, and with --json JSON in UTF-8: else the fuzzer
 * aborts. Returns the exit status.
 */
int fuzz_command(const char *line, const void *input, size_t len);

#endif /* FUZZ_COMMAND_H */
