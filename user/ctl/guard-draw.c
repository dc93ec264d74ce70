// SPDX-License-Identifier: GPL-2.0-only
/* The file of the picture: whole at any time, as that of the metrics. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/guard.h"
#include "shared/clock.h"

/* The new picture, until it is whole; NULL: see errno. */
static FILE *open_next(const char *path, char *next, size_t size)
{
	if ((size_t)snprintf(next, size, "%s.new", path) >= size) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(next, "we");
}

static int fail_path(const char *path, const char *why)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "name a file in a directory that can be written",
			     "the timeline %s cannot be written: %s", path, why);
}

/* Before anything is suspended: a picture that nobody gets is of no use. */
int guard_draw_open(struct guard *guard)
{
	const char *path = guard->args->sched.timeline;
	struct stat st;
	char next[4096];
	FILE *f;

	if (!path)
		return 0;
	/* A device or a link would be replaced by a file. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return fail_path(path, "it is there, and no regular file");
	f = open_next(path, next, sizeof(next));
	if (!f)
		return fail_path(path, strerror(errno));
	fclose(f);
	unlink(next);
	/* The second one is what is drawn, while the first one goes on. */
	guard->picture = calloc(2, sizeof(*guard->picture));
	return guard->picture ? 0 :
	       ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
}

/* 0 or -errno: the disk may be full. */
static int close_whole(FILE *f)
{
	int error = fflush(f) || ferror(f) ? -errno : 0;

	if (fclose(f) && !error)
		error = -errno;
	return error;
}

void guard_draw(struct guard *guard)
{
	const char *path = guard->args->sched.timeline;
	struct guard_picture *picture = guard->picture;
	char next[4096];
	uint64_t now;
	int error;
	FILE *f;

	if (!picture)
		return;
	pthread_mutex_lock(&guard->lock);
	picture[1] = picture[0];
	now = shr_now_ns();
	pthread_mutex_unlock(&guard->lock);
	f = open_next(path, next, sizeof(next));
	if (!f) {
		ctl_note("%s cannot be written: %s", path, strerror(errno));
		return;
	}
	guard_picture_draw(&picture[1], guard->figures.start_ns, now,
			   ctl_simulated(), f);
	error = close_whole(f);
	if (!error && rename(next, path))
		error = -errno;
	if (!error)
		return;
	unlink(next);
	ctl_note("%s cannot be written: %s", path, strerror(-error));
}

void guard_draw_free(struct guard *guard)
{
	free(guard->picture);
	guard->picture = NULL;
}

int guard_draw_join(struct guard *guard, pid_t pid, bool online)
{
	char name[32] = "", path[64];
	FILE *f;
	int lane;

	if (!guard->picture)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f) {
		if (fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		fclose(f);
	}
	pthread_mutex_lock(&guard->lock);
	lane = guard_picture_join(guard->picture, pid, name, online,
				  shr_now_ns());
	pthread_mutex_unlock(&guard->lock);
	return lane;
}

void guard_draw_leave(struct guard *guard, int lane)
{
	if (!guard->picture)
		return;
	pthread_mutex_lock(&guard->lock);
	guard_picture_leave(guard->picture, lane, shr_now_ns());
	pthread_mutex_unlock(&guard->lock);
}

void guard_draw_held(struct guard *guard, int lane, bool held, uint64_t ns)
{
	if (!guard->picture)
		return;
	pthread_mutex_lock(&guard->lock);
	if (held)
		guard_picture_begin(guard->picture, lane, ns);
	else
		guard_picture_end(guard->picture, lane, ns);
	pthread_mutex_unlock(&guard->lock);
}
