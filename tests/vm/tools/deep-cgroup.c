// SPDX-License-Identifier: GPL-2.0-only
/*
 * deep-cgroup DIRECTORY LEVELS LETTERS PID...: makes cgroups below the directory, one in the
 * other, whose names have so many letters, and moves the processes into the last one. A
 * level at a time: no system call takes a path of more than 4,095 bytes.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_below(int dir, const char *name)
{
	int next;

	mkdirat(dir, name, 0755);
	next = openat(dir, name, O_RDONLY | O_DIRECTORY);
	close(dir);
	return next;
}

int main(int argc, char **argv)
{
	char name[NAME_MAX + 1] = "";
	int dir, procs, levels, i;

	if (argc < 5)
		return 2;
	levels = atoi(argv[2]);
	memset(name, 'm', atoi(argv[3]) % sizeof(name));
	dir = open(argv[1], O_RDONLY | O_DIRECTORY);
	while (dir >= 0 && levels--)
		dir = make_below(dir, name);
	procs = openat(dir, "cgroup.procs", O_WRONLY);
	for (i = 4; procs >= 0 && i < argc; i++)
		if (write(procs, argv[i], strlen(argv[i])) < 0)
			break;
	if (procs >= 0 && i == argc)
		return 0;
	perror(argv[1]);
	return 1;
}
