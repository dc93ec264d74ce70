// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's pause, without a command around it.
 *
 *	gp-pause check PID	could it be paused?
 *	gp-pause pause PID
 *	gp-pause unpause PID
 *	gp-pause cycle PID N	N pauses and unpauses, while another thread looks
 *				whether the process is ever stopped or traced
 *				when it should not be
 *
 * Exit status: the class of the error.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gpreempt/gpreempt.h>

#include "lib/preempt/pause.h"

static const char *const words[] = { "no", "yes", "unknown" };

static struct gpreempt *g;
static pid_t pid;
static atomic_bool over;
static unsigned long samples, stopped;

static int fail(const struct gpreempt_error *err)
{
	char text[512];

	gpreempt_error_text(err, text, sizeof(text));
	printf("error: %s\n", text);
	gpreempt_error_next(err, text, sizeof(text));
	printf("next: %s\n", text);
	return gpreempt_error_class(err);
}

static void print(const char *what, const struct gp_pause_report *r)
{
	printf("%s %d: before %s after %s contexts %u foreign %u ioctl_ns %llu\n", what, pid,
	       words[r->before], words[r->after], r->contexts, r->foreign,
	       (unsigned long long)r->ioctl_ns);
}

static long tracer(void)
{
	char path[64], line[256];
	long found = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %ld", &found);
	if (f)
		fclose(f);
	return found;
}

/* Watch for both words of a stop: by job control, and by a tracer. */
static void *watch(void *arg)
{
	char path[64], text[256];

	(void)arg;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!over) {
		FILE *f = fopen(path, "re");
		const char *state;

		if (!f)
			break;
		state = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		fclose(f);
		if (!state)
			continue;
		samples++;
		stopped += state[2] == 'T' || state[2] == 't';
	}
	return NULL;
}

static int one(bool pause, enum gp_paused before)
{
	struct gp_pause_report report;
	struct gpreempt_error err;
	int ret = pause ? gp_pause(g, pid, 0, NULL, &report, &err) :
			  gp_unpause(g, pid, 0, &report, &err);

	if (ret)
		return fail(&err);
	if (report.before != before || tracer() != 0) {
		printf("error: before %s, tracer %ld\n", words[report.before], tracer());
		return 1;
	}
	return 0;
}

static int cycle(long count)
{
	pthread_t thread;
	int ret = 0;
	long i;

	if (pthread_create(&thread, NULL, watch, NULL))
		return 1;
	for (i = 0; i < count && !ret; i++) {
		ret = one(true, GP_PAUSED_NO);
		if (!ret)
			ret = one(false, GP_PAUSED_YES);
	}
	over = true;
	pthread_join(thread, NULL);
	printf("cycles %ld samples %lu stopped %lu\n", i, samples, stopped);
	return ret;
}

int main(int argc, char **argv)
{
	struct gp_pause_report report;
	struct gpreempt_error err;
	int ret;

	setlinebuf(stdout);
	if (argc < 3 || gpreempt_new(NULL, &g)) {
		fprintf(stderr, "usage: gp-pause check|pause|unpause|cycle PID [N]\n");
		return 2;
	}
	pid = atoi(argv[2]);
	if (!strcmp(argv[1], "cycle"))
		return cycle(argc > 3 ? atol(argv[3]) : 100);
	if (!strcmp(argv[1], "check")) {
		ret = gp_pause_check(g, pid, &err);
	} else {
		ret = !strcmp(argv[1], "pause") ? gp_pause(g, pid, 0, NULL, &report, &err) :
						  gp_unpause(g, pid, 0, &report, &err);
		print(argv[1], &report);
	}
	return ret ? fail(&err) : 0;
}
