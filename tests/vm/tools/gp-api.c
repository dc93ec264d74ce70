// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's calls in the virtual machine, measured.
 *
 *	gp-api gang CYCLES PID...	one process alone, then all together
 *	gp-api slots CYCLES PID		when its slots become inactive
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gpreempt/gpreempt.h>

#include "lib/preempt/session.h"
#include "shared/util.h"

static struct gpreempt *lib;

static void die(const char *what, const struct gpreempt_error *err)
{
	char text[512] = "";

	if (err)
		gpreempt_error_text(err, text, sizeof(text));
	fprintf(stderr, "gp-api: %s: %s\n", what, text);
	exit(1);
}

static void print_stats(const char *name, uint64_t *samples, size_t n)
{
	struct shr_stats stats;

	shr_stats(samples, n, &stats);
	printf("%s n=%zu min=%.1f p50=%.1f p90=%.1f max=%.1f\n", name, stats.n, stats.min / 1000.0,
	       stats.p50 / 1000.0, stats.p90 / 1000.0, stats.max / 1000.0);
}

static void check_members(struct gpreempt_gang *gang)
{
	struct gpreempt_member members[64];
	size_t i, count = gpreempt_gang_members(gang, members, 64);

	for (i = 0; i < count; i++) {
		if (members[i].code)
			die("member", &members[i].error);
		printf("  pid %d start %.1f ioctl %.1f us, %zu of %zu\n", members[i].pid,
		       members[i].start_ns / 1000.0, members[i].outcome.ioctl_ns / 1000.0,
		       members[i].outcome.done, members[i].outcome.requested);
	}
}

static void cycles(struct gpreempt_gang *gang, const char *name, size_t n)
{
	uint64_t *suspend = calloc(n, sizeof(*suspend));
	uint64_t *resume = calloc(n, sizeof(*resume));
	struct gpreempt_gang_outcome out;
	size_t i;

	for (i = 0; i < n; i++) {
		if (gpreempt_gang_suspend(gang, NULL, &out) || out.done != out.requested)
			check_members(gang), die("suspend", NULL);
		suspend[i] = out.span_ns;
		if (i == n / 2)
			check_members(gang);
		shr_sleep_ns(20 * NSEC_PER_MSEC);
		if (gpreempt_gang_resume(gang, NULL, &out) || out.done != out.requested)
			check_members(gang), die("resume", NULL);
		resume[i] = out.span_ns;
		/* Something to save. */
		shr_sleep_ns(20 * NSEC_PER_MSEC);
	}
	printf("%s ", name);
	print_stats("suspend_us", suspend, n);
	printf("%s ", name);
	print_stats("resume_us", resume, n);
	free(suspend);
	free(resume);
}

static int run_gang(int argc, char **argv)
{
	struct gpreempt_error err = { 0 };
	struct gpreempt_gang *gang;
	size_t n = atoi(argv[0]);
	int i;

	if (gpreempt_gang_new(lib, &gang))
		die("gang", NULL);
	for (i = 1; i < argc; i++) {
		if (gpreempt_gang_add(gang, atoi(argv[i]), GPREEMPT_METHOD_DEBUG, &err))
			die("add", &err);
		if (i == 1)
			cycles(gang, "one", n);
	}
	cycles(gang, "all", n);
	gpreempt_gang_free(gang);
	return 0;
}

/* A line a suspend: ioctl, slots and resolution in us, "-" for unknown. */
static int run_slots(int argc, char **argv)
{
	struct gpreempt_error err = { 0 };
	struct gpreempt_outcome out;
	struct gpreempt_session *s;
	size_t i, n = atoi(argv[0]);

	(void)argc;
	if (gpreempt_session_open(lib, atoi(argv[1]), &s, &err))
		die("open", &err);
	if (gp_session_sample_slots(s, GPREEMPT_SAMPLE_ON))
		die("sample", gpreempt_session_error(s));
	for (i = 0; i < n; i++) {
		if (gpreempt_session_suspend(s, NULL, &out))
			die("suspend", gpreempt_session_error(s));
		printf("slots %zu of %zu: ioctl %.1f slots ", out.done, out.requested,
		       out.ioctl_ns / 1000.0);
		if (out.slots_ns == GPREEMPT_UNKNOWN)
			printf("- -\n");
		else
			printf("%.1f %.1f\n", out.slots_ns / 1000.0, out.resolution_ns / 1000.0);
		gpreempt_session_wait(s, 20 * NSEC_PER_MSEC, NULL);
		gpreempt_session_resume(s, NULL, NULL);
		gpreempt_session_wait(s, 50 * NSEC_PER_MSEC, NULL);
	}
	gpreempt_session_close(s);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	int min_args;
} commands[] = {
	{ "gang", run_gang, 2 },
	{ "slots", run_slots, 2 },
};

int main(int argc, char **argv)
{
	size_t i;
	int ret;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name) || argc < commands[i].min_args + 2)
			continue;
		if (gpreempt_new(NULL, &lib))
			die("library", NULL);
		ret = commands[i].run(argc - 2, argv + 2);
		gpreempt_free(lib);
		return ret;
	}
	fprintf(stderr, "gp-api: what to do? See the head of its source\n");
	return 2;
}
