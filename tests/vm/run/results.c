// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results of the cases, in build/vm/results/: a file for each case that passed, with a hash of
 * all that it ran on and how many seconds of a processor it took.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

uint64_t result_key(const struct bench *b, const struct job *job)
{
	uint64_t key = bench_key(b) ^ b->payload_key;
	struct bench quiet = *b;
	size_t size;
	char *text;

	/* How busy the host is changes limits of time, and nothing else. */
	quiet.pace = 1;
	text = guest_job_text(&quiet, job, &size);
	key = hash_bytes(key, text, size);
	free(text);
	text = read_file("/proc/self/exe", &size);
	if (text)
		key = hash_bytes(key, text, size);
	free(text);
	text = b->waves ? read_file(b->engine, &size) : NULL;
	if (text)
		key = hash_bytes(key, text, size);
	free(text);
	return key;
}

static FILE *open_result(const struct bench *b, const char *name, const char *mode)
{
	char path[PATH_MAX + 256], *slash;

	snprintf(path, sizeof(path), "%s/vm/results/%s", b->build, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	make_dirs(path);
	*slash = '/';
	return fopen(path, mode);
}

static double read_result(const struct bench *b, const char *name, unsigned long long *key)
{
	FILE *f = open_result(b, name, "re");
	double seconds = -1;

	*key = 0;
	if (!f)
		return -1;
	if (fscanf(f, "%llx %lf", key, &seconds) != 2)
		seconds = -1;
	fclose(f);
	return seconds;
}

bool result_kept(const struct bench *b, const char *name, uint64_t key)
{
	unsigned long long kept;

	return b->keep && !b->fresh && read_result(b, name, &kept) >= 0 && kept == key;
}

/* Less than 0: never passed here. */
double result_seconds(const struct bench *b, const char *name)
{
	unsigned long long key;

	return read_result(b, name, &key);
}

void result_keep(const struct bench *b, const char *name, uint64_t key, double seconds)
{
	FILE *f = open_result(b, name, "we");

	if (!f)
		return;
	fprintf(f, "%llx %.1f\n", (unsigned long long)key, seconds);
	fclose(f);
}
