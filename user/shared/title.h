/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHARED_TITLE_H
#define SHARED_TITLE_H

/*
 * What ps shows of this process. init before the arguments are used; set
 * clears the environment.
 */
void shr_title_init(int argc, char **argv);
__attribute__((format(printf, 2, 3))) void shr_title_set(const char *name, const char *format, ...);

#endif
