// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner.h"
#include "shared/macro.h"

/* "PID (NAME) STATE ...": a name may have brackets and spaces. '?': not read. */
static char read_state(int tasks, const char *tid)
{
	char path[32], text[128];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.16s/stat", tid);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return '?';
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

bool process_is_stopped(pid_t pid)
{
	const struct dirent *entry;
	char path[32], state = '?';
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	/* A thread that lives: all that do are stopped, or none is. */
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		state = read_state(dirfd(dir), entry->d_name);
		if (state != 'Z' && state != 'X' && state != '?')
			break;
	}
	closedir(dir);
	return state == 'T';
}
