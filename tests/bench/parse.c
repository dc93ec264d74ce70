// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's parser on the same two files as parse.py, files read each time
 * by both: best time of RUNS in milliseconds, and what it found.
 *
 *   parse MQDS HQDS [RUNS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab/text.h"

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static void feed(struct gp_text *text, const char *path)
{
	static char buf[64 * 1024];
	FILE *file = fopen(path, "r");
	size_t len;

	if (!file) {
		perror(path);
		exit(1);
	}
	setvbuf(file, NULL, _IONBF, 0);
	while ((len = fread(buf, 1, sizeof(buf), file)))
		gp_text_feed(text, buf, len);
	fclose(file);
	gp_text_end(text);
}

int main(int argc, char **argv)
{
	struct gp_text_check sum = { 0 }, *by_xcc;
	unsigned long runs = argc > 3 ? strtoul(argv[3], NULL, 10) : 20;
	double best = 0, spent;
	uint64_t queues = 0;
	size_t count;

	if (argc < 3)
		return 2;
	while (runs--) {
		struct gp_text *text = gp_text_new();

		spent = now_ms();
		feed(text, argv[1]);
		feed(text, argv[2]);
		gp_text_join(text);
		spent = now_ms() - spent;
		if (!best || spent < best)
			best = spent;
		queues = gp_text_get(text)->n_queues;
		gp_text_check(text, GPREEMPT_UNKNOWN, &sum, &by_xcc, &count);
		free(by_xcc);
		gp_text_free(text);
	}
	printf("%.3f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", best, queues, sum.slots_active,
	       sum.slots_active - sum.slots_without_owner);
	return 0;
}
