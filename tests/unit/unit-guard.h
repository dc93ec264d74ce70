/* SPDX-License-Identifier: GPL-2.0-only */
/* The command "guard" as a process of its own, with process 4194242 on a made-up driver. */
#ifndef UNIT_GUARD_H
#define UNIT_GUARD_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* For files of the test; what guard prints is in the other two. */
extern char dir[32], out_path[64], err_path[64];
extern pid_t guard;
extern rlim_t descriptors;     /* descriptors that it may have; 0: no limit */
extern void (*in_guard)(void); /* in the new process, before the command; or NULL */

void guard_setup(void);
void guard_teardown(void);
void with_module(void);

/* Until the next call. */
const char *text_of(const char *path);
size_t count_in(const char *path, const char *what);
void start(const char *words);
/* For that in a file, while guard runs. */
void wait_for(const char *path, const char *what);
/* Its exit status; a negative number is the signal that has killed it. */
int end(int signal);

#endif
