// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifetime DIR N LIMIT_MS: how long after a KFD process is born its directory
 * DIR/<pid> appears, and how long after its end it is gone. N processes, one
 * after the other. Exits 1 if more than one in 20 takes longer than the limit,
 * which is there because an emulated CPU may itself be away for a while.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GIVE_UP_NS 5000000000ULL
#define MAX_TRIALS 1000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Opening /dev/kfd is what makes a KFD process. Tells when it returned. */
static int child(int born, int end)
{
	uint64_t when;
	char c;
	int fd;

	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	when = fd < 0 ? 0 : now_ns();
	if (write(born, &when, sizeof(when)) != sizeof(when))
		return 1;
	return read(end, &c, 1) < 0;
}

/*
 * Waits until the path is there (or not). Returns the time since @since. Sleeps
 * in between: polling all the time would take the CPU from those it waits for.
 */
static uint64_t wait_path(const char *path, bool there, uint64_t since)
{
	const struct timespec nap = { 0, 100000 };
	uint64_t took;

	for (;;) {
		took = now_ns() - since;
		if ((access(path, F_OK) == 0) == there || took > GIVE_UP_NS)
			return took;
		nanosleep(&nap, NULL);
	}
}

static int trial(const char *dir, uint64_t *birth, uint64_t *death)
{
	int born[2], end[2], status;
	char path[256];
	uint64_t when;
	pid_t pid;

	if (pipe(born) || pipe(end))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(end[1]);
		_exit(child(born[1], end[0]));
	}
	close(born[1]);
	close(end[0]);
	if (read(born[0], &when, sizeof(when)) != sizeof(when) || !when)
		return -ENODEV;
	snprintf(path, sizeof(path), "%s/%d", dir, (int)pid);
	*birth = wait_path(path, true, when);
	close(end[1]);
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	*death = wait_path(path, false, now_ns());
	close(born[0]);
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool report(const char *name, uint64_t *ns, size_t n, uint64_t limit_ns)
{
	size_t late = 0, i;

	qsort(ns, n, sizeof(*ns), compare);
	for (i = 0; i < n; i++)
		late += ns[i] > limit_ns;
	printf("%s_us n=%zu min=%.0f p50=%.0f p90=%.0f max=%.0f late=%zu\n", name, n,
	       (double)ns[0] / 1e3, (double)ns[n / 2] / 1e3, (double)ns[n * 9 / 10] / 1e3,
	       (double)ns[n - 1] / 1e3, late);
	return late * 20 <= n;
}

int main(int argc, char **argv)
{
	static uint64_t birth[MAX_TRIALS], death[MAX_TRIALS];
	uint64_t limit_ns;
	size_t n, i;
	bool ok;
	int ret;

	n = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	if (n < 1 || n > MAX_TRIALS) {
		fprintf(stderr, "usage: lifetime DIR N LIMIT_MS\n");
		return 2;
	}
	limit_ns = strtoull(argv[3], NULL, 10) * 1000000;
	for (i = 0; i < n; i++) {
		ret = trial(argv[1], &birth[i], &death[i]);
		if (ret) {
			fprintf(stderr, "lifetime: %s\n", strerror(-ret));
			return 1;
		}
	}
	ok = report("birth", birth, n, limit_ns);
	ok = report("death", death, n, limit_ns) && ok;
	return ok ? 0 : 1;
}
