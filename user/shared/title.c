// SPDX-License-Identifier: GPL-2.0-only
/* What ps shows of this process. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shared/title.h"

static struct {
	char *start;
	size_t size;
} title;

/*
 * The kernel shows what stands where it put the arguments; the environment comes right behind.
 */
void shr_title_init(int argc, char **argv)
{
	char **word, *last = argv[argc - 1];

	for (word = environ; word && *word; word++)
		if (*word == last + strlen(last) + 1)
			last = *word;
	title.start = argv[0];
	title.size = last + strlen(last) + 1 - argv[0];
}

void shr_title_set(const char *name, const char *format, ...)
{
	va_list ap;

	prctl(PR_SET_NAME, name);
	clearenv();
	memset(title.start, 0, title.size);
	va_start(ap, format);
	vsnprintf(title.start, title.size, format, ap);
	va_end(ap);
}
