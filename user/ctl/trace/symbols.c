// SPDX-License-Identifier: GPL-2.0-only
/* Which of the driver's functions this kernel has. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/trace/trace.h"

#define MODULE "amdgpu"
#define PIECE  (1 << 18)

bool trace_is_module(void)
{
	return !access("/sys/module/" MODULE "/initstate", F_OK);
}

/*
 * "ffffffffc0a1b2c0 t suspend_queues\t[amdgpu]", without the newline. A name
 * with a suffix of the compiler's (".cold", ".constprop.0") is another function.
 */
static void take_line(char *line, size_t len, bool module, bool *found)
{
	char *symbol, *end;
	size_t i;

	/* Of the kernel's own there are many times more: those go first. */
	if ((len && line[len - 1] == ']') != module)
		return;
	line[len] = '\0';
	symbol = strchr(line, ' ');
	if (!symbol || (symbol[1] | 0x20) != 't' || symbol[2] != ' ')
		return;
	symbol += 3;
	end = symbol + strcspn(symbol, "\t");
	if (module && strcmp(end, "\t[" MODULE "]"))
		return;
	*end = '\0';
	for (i = 0; i < GP_TRACE_FUNCTIONS; i++)
		if (!strcmp(symbol, gp_trace_functions[i].symbol))
			found[i] = true;
}

/* Large pieces: the kernel searches for its place at each read. */
static void take_all(int fd, char *buf, bool module, bool *found)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, PIECE - len)) > 0) {
		char *at = buf, *end;

		len += n;
		while ((end = memchr(at, '\n', buf + len - at))) {
			take_line(at, end - at, module, found);
			at = end + 1;
		}
		len -= at - buf;
		memmove(buf, at, len);
	}
}

int trace_find_symbols(bool *found)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char *buf = malloc(PIECE);

	memset(found, 0, GP_TRACE_FUNCTIONS * sizeof(*found));
	if (fd < 0 || !buf) {
		free(buf);
		return -errno;
	}
	take_all(fd, buf, trace_is_module(), found);
	close(fd);
	free(buf);
	return 0;
}
