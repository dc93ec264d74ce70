// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemleak, in a kernel that has it. It takes memory for lost only when that
 * looks the same in two looks and is some seconds old.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

#define KMEMLEAK "/sys/kernel/debug/kmemleak"
#define AGE	 6 /* s, more than the kernel's least */

static int tell(const char *word)
{
	int fd = open(KMEMLEAK, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -1;
	ret = write(fd, word, strlen(word)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

static void look_twice(void)
{
	sleep(AGE);
	tell("scan");
	sleep(AGE);
	tell("scan");
}

/* Forget the losses up to now: they are not the job's. */
void leaks_forget(void)
{
	if (tell("scan=off"))
		return;
	look_twice();
	tell("clear");
}

void leaks_find(int log)
{
	char line[512];
	FILE *f;

	look_twice();
	f = fopen(KMEMLEAK, "re");
	if (!f) {
		say(log, "BUG: no kmemleak in this kernel");
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		say(log, "kmemleak: %s", line);
	}
	fclose(f);
}
