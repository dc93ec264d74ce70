/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_WATCH_H
#define GP_BACKEND_WATCH_H

#include <sys/types.h>

/*
 * A thread that waits for stops of one traced process and makes a descriptor
 * readable: waitpid() has none, and SIGCHLD belongs to the program. It leaves
 * the stop itself for the tracer to collect. See struct gp_backend_ops.
 */
int gp_watch_start(void *be, pid_t pid, void **watch, int *fd);
void gp_watch_next(void *be, void *watch);
int gp_watch_stop(void *be, void *watch);

#endif
