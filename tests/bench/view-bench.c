// SPDX-License-Identifier: GPL-2.0-only
/*
 * view-bench COUNT FILE...: reads the files from start to end as cat would, COUNT
 * times, and prints the nanoseconds of the fastest, the median and the slowest
 * time for all of them. Without the cost of starting cat.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int read_all(const char *path)
{
	static char buf[128 * 1024]; /* buffer size of cat */
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	close(fd);
	return n;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0;
	uint64_t *times = calloc(count > 0 ? count : 1, sizeof(*times));
	int i, j;

	if (count < 1 || !times)
		return 2;
	for (i = 0; i < count; i++) {
		uint64_t start = now_ns();

		for (j = 2; j < argc; j++) {
			if (read_all(argv[j])) {
				perror(argv[j]);
				return 1;
			}
		}
		times[i] = now_ns() - start;
	}
	qsort(times, count, sizeof(*times), compare);
	printf("%llu %llu %llu\n", (unsigned long long)times[0],
	       (unsigned long long)times[count / 2], (unsigned long long)times[count - 1]);
	return 0;
}
