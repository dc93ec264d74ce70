// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AMD log of a traced command. Its times are microseconds of
 * CLOCK_MONOTONIC, as those of our instance are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/amdlog/amdlog.h"
#include "ctl/trace/trace.h"
#include "shared/array.h"
#include "shared/macro.h"

#define NAME "amd.log"
/* A timeline of more than that is of no use. */
#define PACKETS_MAX 1000000

void trace_log_set(const char *dir, uint64_t level)
{
	char text[24], full[PATH_MAX], path[PATH_MAX + 16];

	if (!level || !realpath(dir, full))
		return;
	snprintf(path, sizeof(path), "%s/" NAME, full);
	snprintf(text, sizeof(text), "%" PRIu64, level);
	setenv("AMD_LOG_LEVEL", text, 1);
	setenv("AMD_LOG_LEVEL_FILE", path, 1);
}

static void take_packet(void *data, const struct gp_amdlog_packet *p)
{
	struct trace_packets *packets = data;
	struct gp_amdlog_packet *next;

	if (packets->count == PACKETS_MAX) {
		packets->dropped++;
		return;
	}
	next = shr_must(shr_add(packets));
	*next = *p;
}

static void read_file(const char *path, struct trace_packets *packets)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gp_amdlog *log;

	if (fd < 0)
		return;
	packets->files++;
	if (!amdlog_read_fd(fd, take_packet, packets, &log)) {
		packets->problems += gp_amdlog_get(log)->n_problems;
		gp_amdlog_free(log);
	}
	close(fd);
}

void trace_log_read(const char *dir, struct trace_packets *packets)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[PATH_MAX];

	/* Some versions of ROCm put a number behind the name. */
	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, NAME, strlen(NAME)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		read_file(path, packets);
	}
	if (d)
		closedir(d);
}
