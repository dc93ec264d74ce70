/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_WATCH_H
#define GP_BACKEND_WATCH_H

#include <sys/types.h>

/*
 * A thread that waits for stops of one traced process and makes a descriptor
 * readable: waitpid() has none, and SIGCHLD belongs to the program. It leaves
 * the stop itself for the tracer to collect.
 */
struct gp_watch;

int gp_watch_start(pid_t pid, struct gp_watch **out, int *fd);
void gp_watch_next(struct gp_watch *w);
int gp_watch_stop(struct gp_watch *w);

#endif
