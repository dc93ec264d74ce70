/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that is played: whose turn it is, and which record comes next.
 * Calls with an order are taken; all else is found by its key.
 */
#ifndef GP_BACKEND_PLAYER_H
#define GP_BACKEND_PLAYER_H

#include <pthread.h>

#include "lib/backend/recording.h"

#define MAX_TARGETS 64

/* The ends of descriptors that the driver or the kernel would write to. */
struct target {
	pid_t pid;
	int events;
	int stops;
};

struct player {
	pthread_mutex_t lock; /* for all that follows */
	struct gp_record *records;
	size_t count;
	struct target targets[MAX_TARGETS];
};

/* *line: where the file is no recording, or 0. */
int gp_player_open(const char *path, struct player **player,
		   unsigned int *line);
void gp_player_free(struct player *p);

/* Of the calls that have an order. NULL: another one comes first. Locked. */
struct gp_record *gp_player_take(struct player *p, const char *call, pid_t pid);
/* Of the others: the next for this key, or the last once more. Takes the lock. */
const struct gp_record *gp_player_find(struct player *p, const char *call,
				       pid_t pid, const char *key);

/* NULL: there are too many. Locked, as the next two. */
struct target *gp_player_target(struct player *p, pid_t pid);
/*
 * Make the event that made the library ask: an event, a stop, or an end of the
 * session by another process, after which it asks whether there is one.
 */
void gp_player_announce(struct player *p, struct target *t);
/* Close it, if it is open. */
void gp_player_close(int *fd);

#endif
