// SPDX-License-Identifier: GPL-2.0-only
/*
 * gang-bench NAME BLOCKS COUNT PID...: what it costs to suspend all of these
 * processes together, against the first of them alone. In turn, a block of
 * COUNT suspends with all, a block with one. Prints lines "NAME_key value".
 */
#include "shared/util.h"
#include "bench.h"

/* Times that let a process which was taken off in the middle of something get back to it. */
#define RUN_NS	30000000
#define HOLD_NS 2000000

struct series {
	uint64_t *v;
	size_t n;
};

struct bench {
	struct gpreempt_gang *gang;
	pid_t *pids;
	size_t n_pids;
	size_t count;
	struct series suspend_all, suspend_one;
	struct series resume_all, resume_one;
};

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { .tv_nsec = ns };

	while (nanosleep(&t, &t) < 0)
		;
}

static void add(struct bench *b, size_t i)
{
	struct gpreempt_error err;

	if (gpreempt_gang_add(b->gang, b->pids[i], GPREEMPT_METHOD_DEBUG, &err))
		die_of(&err);
}

static void change(struct bench *b, bool suspend, size_t members, struct series *series)
{
	struct gpreempt_gang_outcome out;
	int ret;

	ret = suspend ? gpreempt_gang_suspend(b->gang, NULL, &out) :
			gpreempt_gang_resume(b->gang, NULL, &out);
	if (ret)
		die(suspend ? "suspend" : "resume", -ret);
	if (out.members != members || out.succeeded != members || !out.requested)
		die("not all processes", EPROTO);
	if (series)
		series->v[series->n++] = out.span_ns;
}

/* The first of a block is apart: queues that were never suspended cost more. */
static void run_block(struct bench *b, size_t members, struct series *suspend,
		      struct series *resume)
{
	size_t i;

	for (i = 0; i <= b->count; i++) {
		sleep_ns(RUN_NS);
		change(b, true, members, i ? suspend : NULL);
		sleep_ns(HOLD_NS);
		change(b, false, members, i ? resume : NULL);
	}
}

static void run(struct bench *b, size_t blocks)
{
	size_t i, k;

	add(b, 0);
	for (i = 0; i < blocks; i++) {
		run_block(b, 1, &b->suspend_one, &b->resume_one);
		for (k = 1; k < b->n_pids; k++)
			add(b, k);
		run_block(b, b->n_pids, &b->suspend_all, &b->resume_all);
		for (k = 1; k < b->n_pids; k++)
			gpreempt_gang_remove(b->gang, b->pids[k]);
	}
}

static double median_us(struct series *series)
{
	struct shr_stats stats;

	shr_stats(series->v, series->n, &stats);
	return stats.p50 / 1e3;
}

static void print(struct bench *b, const char *name)
{
	double all = median_us(&b->suspend_all);
	double one = median_us(&b->suspend_one);

	printf("%s_ratio %.3f\n", name, all / one);
	printf("%s_us %.1f\n", name, all);
	printf("%s_one_us %.1f\n", name, one);
	printf("%s_resume_us %.1f\n", name, median_us(&b->resume_all));
	printf("%s_resume_one_us %.1f\n", name, median_us(&b->resume_one));
	printf("%s_n %zu\n", name, b->suspend_all.n);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct gpreempt *g;
	size_t i, blocks, room;

	if (argc < 5)
		return 2;
	blocks = strtoul(argv[2], NULL, 10);
	b.count = strtoul(argv[3], NULL, 10);
	b.n_pids = argc - 4;
	b.pids = get(b.n_pids, sizeof(*b.pids));
	for (i = 0; i < b.n_pids; i++)
		b.pids[i] = atoi(argv[4 + i]);
	room = blocks * b.count;
	b.suspend_all.v = get(room, sizeof(uint64_t));
	b.suspend_one.v = get(room, sizeof(uint64_t));
	b.resume_all.v = get(room, sizeof(uint64_t));
	b.resume_one.v = get(room, sizeof(uint64_t));
	if (gpreempt_new(NULL, &g) || gpreempt_gang_new(g, &b.gang))
		die("memory", ENOMEM);
	run(&b, blocks);
	gpreempt_gang_free(b.gang);
	gpreempt_free(g);
	print(&b, argv[1]);
	return 0;
}
