/* SPDX-License-Identifier: GPL-2.0-only */
/* The guard's socket. */
#ifndef GUARD_SERVE_H
#define GUARD_SERVE_H

#include <stdbool.h>

/* Connections at once, and as many processes that others speak for. */
#define GUARD_CLIENTS	   128
#define GUARD_CLIENTS_ROOT 16 /* of these, root's alone */
#define GUARD_CLIENTS_USER 32 /* at most, of one other user */

struct guard;
struct guard_server;

/*
 * -EADDRINUSE: another guard listens there; or another negative errno value.
 * @path must outlive the server.
 */
int guard_serve_start(struct guard *guard, const char *path,
		      struct guard_server **out);
/* Does the kernel keep users away that are not allowed? */
bool guard_serve_private(const struct guard_server *s);
/* NULL is allowed. */
void guard_serve_stop(struct guard_server *s);

#endif
