// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a recording has next, for each process and for each path. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backend/player.h"

/* Under the lock: what this process has to ask next. */
static struct gp_record *next_in_order(struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (!p->records[i].used && p->records[i].pid == pid &&
		    gp_record_in_order(&p->records[i]))
			return &p->records[i];
	return NULL;
}

static bool is_call(const struct gp_record *record, const char *call)
{
	return record && !strcmp(record->call, call);
}

static bool has_suspended(const struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->records[i].used && p->records[i].pid == pid &&
		    is_call(&p->records[i], "trap:suspend"))
			return true;
	return false;
}

/*
 * An event: the library asks what it was. When it has queues to suspend it
 * takes a snapshot first, and there may be nothing left to ask for.
 */
static bool is_event(const struct player *p, const struct gp_record *next)
{
	return is_call(next, "trap:query") ||
	       (is_call(next, "trap:snapshot") && has_suspended(p, next->pid));
}

struct target *gp_player_target(struct player *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < MAX_TARGETS; i++) {
		if (!p->targets[i].pid)
			p->targets[i] = (struct target){ pid, -1, -1 };
		if (p->targets[i].pid == pid)
			return &p->targets[i];
	}
	return NULL;
}

void gp_player_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void gp_player_announce(struct player *p, struct target *t)
{
	const struct gp_record *next = t ? next_in_order(p, t->pid) : NULL;
	uint64_t one = 1;
	ssize_t ret = 0;

	if (!next)
		return;
	if (t->events >= 0 && is_event(p, next))
		ret = write(t->events, ".", 1);
	else if (is_call(next, "wait") && t->stops >= 0)
		ret = write(t->stops, &one, sizeof(one));
	else if (is_call(next, "trap:probe"))
		gp_player_close(&t->events);
	(void)ret;
}

struct gp_record *gp_player_take(struct player *p, const char *call, pid_t pid)
{
	struct gp_record *next = next_in_order(p, pid);

	if (!next || strcmp(next->call, call))
		return NULL;
	next->used = true;
	return next;
}

/* Under the lock. */
static const struct gp_record *find_next(struct player *p, const char *call,
					 pid_t pid, const char *key)
{
	struct gp_record *last = NULL;
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct gp_record *record = &p->records[i];

		if (record->pid != pid || strcmp(record->call, call) ||
		    strcmp(record->key, key))
			continue;
		last = record;
		if (!record->used)
			break;
	}
	if (last)
		last->used = true;
	return last;
}

const struct gp_record *gp_player_find(struct player *p, const char *call,
				       pid_t pid, const char *key)
{
	const struct gp_record *record;

	pthread_mutex_lock(&p->lock);
	record = find_next(p, call, pid, key);
	pthread_mutex_unlock(&p->lock);
	return record;
}

int gp_player_open(const char *path, struct player **player, unsigned int *line)
{
	struct player *p = calloc(1, sizeof(*p));
	FILE *f;
	int ret;

	*line = 0;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	f = fopen(path, "re");
	if (!f) {
		ret = -errno;
		gp_player_free(p);
		return ret;
	}
	ret = gp_recording_read(f, &p->records, &p->count, line);
	fclose(f);
	if (ret) {
		gp_player_free(p);
		return ret;
	}
	*player = p;
	return 0;
}

void gp_player_free(struct player *p)
{
	size_t i;

	for (i = 0; i < MAX_TARGETS && p->targets[i].pid; i++) {
		gp_player_close(&p->targets[i].events);
		gp_player_close(&p->targets[i].stops);
	}
	for (i = 0; i < p->count; i++)
		gp_record_free(&p->records[i]);
	pthread_mutex_destroy(&p->lock);
	free(p->records);
	free(p);
}
