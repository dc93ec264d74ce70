/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_NAMES_H
#define GP_BACKEND_NAMES_H

/*
 * Call fn for each name in a directory of the system, but for those that begin with
 * ".", until it returns another value than 0, which comes back. -errno.
 */
int gp_list_names(const char *path, int (*fn)(void *arg, const char *name),
		  void *arg);

#endif
