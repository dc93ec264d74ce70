/* SPDX-License-Identifier: GPL-2.0-only */
/* The guard's socket. */
#ifndef CTL_GUARD_SERVE_H
#define CTL_GUARD_SERVE_H

#define GUARD_CLIENTS 128

struct guard;
struct guard_server;

/* -EADDRINUSE: another guard listens there. */
int guard_serve_start(struct guard *guard, const char *path,
		      struct guard_server **out);
void guard_serve_stop(struct guard_server *s, const char *path);

#endif
