// SPDX-License-Identifier: GPL-2.0-only
/*
 * two-threads N: N times, two threads count to 3000 in one variable without a lock, and
 * wait for nothing. Prints how often a thread overwrote what the other one had counted:
 * never, where no thread is interrupted in between.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 3000

static volatile unsigned int counted;

static void *count(void *unused)
{
	unsigned int seen;
	int i;

	(void)unused;
	for (i = 0; i < STEPS; i++) {
		seen = counted;
		counted = seen + 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc == 2 ? atoi(argv[1]) : 0;
	pthread_t threads[2];
	int lost = 0;

	if (n < 1) {
		fprintf(stderr, "usage: two-threads N\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		counted = 0;
		if (pthread_create(&threads[0], NULL, count, NULL) ||
		    pthread_create(&threads[1], NULL, count, NULL))
			return 1;
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		lost += counted != 2 * STEPS;
	}
	printf("lost %d\n", lost);
	return 0;
}
