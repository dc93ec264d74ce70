// SPDX-License-Identifier: GPL-2.0-only
/* The picture of what guard did of late. */
#include <errno.h>
#include <string.h>

#include "guard/guard.h"
#include "output/message.h"
#include "shared/clock.h"
#include "shared/proc.h"

int guard_draw_open(struct guard *guard)
{
	if (!guard->options->timeline)
		return 0;
	/* The second one is what is drawn, while the first one goes on. */
	guard->picture = calloc(2, sizeof(*guard->picture));
	return guard->picture ? 0 :
				ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
}

void guard_draw(struct guard *guard, FILE *out)
{
	struct guard_picture *picture = guard->picture;
	uint64_t now;

	if (!picture)
		return;
	pthread_mutex_lock(&guard->lock);
	picture[1] = picture[0];
	now = shr_now_ns();
	pthread_mutex_unlock(&guard->lock);
	guard_picture_draw(&picture[1], guard->figures.start_ns, now,
			   ctl_simulated(), out);
}

void guard_draw_free(struct guard *guard)
{
	free(guard->picture);
	guard->picture = NULL;
}

int guard_draw_join(struct guard *guard, pid_t pid, bool online)
{
	char name[32];
	int lane;

	if (!guard->picture)
		return -1;
	shr_read_start(name, sizeof(name), "/proc/%d/comm", pid);
	name[strcspn(name, "\n")] = '\0';
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

void guard_draw_ran(struct guard *guard, int lane, uint64_t from, uint64_t to)
{
	if (!guard->picture)
		return;
	pthread_mutex_lock(&guard->lock);
	guard_picture_ran(guard->picture, lane, from, to);
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
