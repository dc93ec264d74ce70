/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that commands start. */
#ifndef CTL_COMMAND_PROGRAM_H
#define CTL_COMMAND_PROGRAM_H

/*
 * Become the program, with output, if it is not negative, as its stdout and
 * stderr. Returns only when that fails, after reporting why on our stderr: as a
 * shell 127 for a program that is not there, else 126.
 */
int ctl_exec(char **command, int output);

/* The exit status as a shell has it, from what waitpid() gave. */
int ctl_program_status(int status);

#endif
