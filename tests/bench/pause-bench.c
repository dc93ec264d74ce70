// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause-bench PID OPENS COUNT: a pause against a debug session, on one process.
 *
 * OPENS times, in turn: from nothing attached to off the GPU, by a pause, and by
 * a new session with its first suspend. Then COUNT times, in turn: suspend and
 * resume in one session and the ioctls alone; pause and unpause. The driver
 * refuses a pause while the session traces the process, so the turns are blocks
 * of BLOCK. Prints a line "key value" for each figure, times in us.
 */
#include <unistd.h>

#include "bench.h"

#define BLOCK	  20
#define SETTLE_NS 200000

enum figure {
	PAUSE_OPEN,
	SESSION_OPEN,
	PAUSE,
	UNPAUSE,
	SUSPEND,
	RESUME,
	REFUSED,
	FIGURES
};

static const char *const names[FIGURES] = {
	"pause_from_nothing",	 "session_from_nothing", "pause_ioctl",
	"unpause_ioctl",	 "suspend_ioctl",	 "resume_ioctl",
	"refused_unpause_ioctl",
};

struct bench {
	struct gpreempt *g;
	pid_t pid;
	uint64_t *samples[FIGURES];
	size_t n[FIGURES];
};

static void add(struct bench *b, enum figure f, uint64_t ns)
{
	b->samples[f][b->n[f]++] = ns;
}

/* The GPU works before the next one. */
static void settle(void)
{
	uint64_t end = now_ns() + SETTLE_NS;

	while (now_ns() < end)
		;
}

/* What a pause begins with: an unpause of what is not paused. */
static void refuse(struct bench *b)
{
	struct gpreempt_pause_report report;
	struct gpreempt_error err;

	if (gpreempt_unpause(b->g, b->pid, 0, &report, &err))
		die_of(&err);
	add(b, REFUSED, report.ioctl_ns);
	settle();
}

static void pause_once(struct bench *b, bool open)
{
	struct gpreempt_pause_report report;
	struct gpreempt_error err;
	uint64_t start;

	if (!open)
		refuse(b);
	start = now_ns();
	if (gpreempt_pause(b->g, b->pid, 0, &report, &err))
		die_of(&err);
	if (open)
		add(b, PAUSE_OPEN, report.return_ns - start);
	else
		add(b, PAUSE, report.ioctl_ns);
	settle();
	if (gpreempt_unpause(b->g, b->pid, 0, &report, &err))
		die_of(&err);
	if (!open)
		add(b, UNPAUSE, report.ioctl_ns);
	settle();
}

static void suspend(struct gpreempt_session *s, struct gpreempt_outcome *out)
{
	if (gpreempt_session_suspend(s, NULL, out))
		die("suspend", EIO);
	settle();
}

static void resume(struct gpreempt_session *s, struct gpreempt_outcome *out)
{
	if (gpreempt_session_resume(s, NULL, out))
		die("resume", EIO);
	settle();
}

static void session(struct bench *b, size_t count, bool open)
{
	struct gpreempt_outcome outcome;
	struct gpreempt_session *s;
	struct gpreempt_error err;
	uint64_t start = now_ns();

	if (gpreempt_session_open(b->g, b->pid, &s, &err))
		die_of(&err);
	if (gpreempt_session_suspend(s, NULL, &outcome))
		die("first suspend", EIO);
	if (open)
		add(b, SESSION_OPEN, now_ns() - start);
	resume(s, &outcome);
	for (; count; count--) {
		suspend(s, &outcome);
		add(b, SUSPEND, outcome.ioctl_ns);
		resume(s, &outcome);
		add(b, RESUME, outcome.ioctl_ns);
	}
	gpreempt_session_close(s);
}

static double print(struct bench *b, enum figure f)
{
	struct gpreempt_stats stats;

	gpreempt_stats(b->samples[f], b->n[f], &stats);
	printf("%s_us %.1f\n", names[f], stats.p50 / 1000.0);
	return stats.p50;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	double p50[FIGURES];
	size_t i, opens, count;

	if (argc != 4 || gpreempt_new(NULL, &b.g))
		return 2;
	b.pid = atoi(argv[1]);
	opens = strtoul(argv[2], NULL, 10);
	count = strtoul(argv[3], NULL, 10);
	for (i = 0; i < FIGURES; i++)
		b.samples[i] = get(opens + count + BLOCK, sizeof(uint64_t));
	for (i = 0; i < opens; i++) {
		pause_once(&b, true);
		session(&b, 0, true);
	}
	while (b.n[PAUSE] < count) {
		for (i = 0; i < BLOCK; i++)
			pause_once(&b, false);
		session(&b, BLOCK, false);
	}
	for (i = 0; i < FIGURES; i++)
		p50[i] = print(&b, i);
	printf("pause_ioctl_ratio %.3f\n", p50[PAUSE] / p50[SUSPEND]);
	printf("pause_alone_ratio %.3f\n",
	       (p50[PAUSE] - p50[REFUSED]) / p50[SUSPEND]);
	printf("unpause_ioctl_ratio %.3f\n", p50[UNPAUSE] / p50[RESUME]);
	printf("pause_from_nothing_ratio %.3f\n",
	       p50[PAUSE_OPEN] / p50[SESSION_OPEN]);
	return 0;
}
