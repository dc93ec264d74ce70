// SPDX-License-Identifier: LGPL-2.1-or-later
/* What /proc says about a process to everybody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"

static void read_comm(const struct gpreempt *g, pid_t pid, char *buf,
		      size_t size)
{
	if (gp_read_proc(g, pid, "comm", buf, size) < 0)
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

/* The last of the numbers behind "NSpid:", one for each namespace. */
static pid_t inner_pid(const char *status, pid_t pid)
{
	const char *at = strstr(status, "\nNSpid:");
	size_t len = at ? strcspn(at + 1, "\n") + 1 : 0;

	while (len && at[len - 1] >= '0' && at[len - 1] <= '9')
		len--;
	return len ? strtol(at + len, NULL, 10) : pid;
}

/* The words with a space between, as ps shows them. */
static void read_command(const struct gpreempt *g, pid_t pid, char *buf,
			 size_t size)
{
	ssize_t i, n;

	n = gp_read_proc(g, pid, "cmdline", buf, size);
	while (n > 0 && !buf[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	buf[n > 0 ? n : 0] = '\0';
}

int gpreempt_identify(struct gpreempt *g, pid_t pid,
		      struct gpreempt_description *out)
{
	struct gp_process process;
	char status[8192];
	int ret;

	ret = gpreempt_start_time(g, pid, &out->start);
	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	if (gp_read_proc(g, pid, "status", status, sizeof(status)) < 0)
		return -ESRCH;
	ret = gp_process_parse(status, &process);
	if (ret)
		return ret;
	out->ns_pid = inner_pid(status, pid);
	out->uid = process.uid;
	out->tracer = process.tracer;
	out->tracer_comm[0] = '\0';
	if (out->tracer)
		read_comm(g, out->tracer, out->tracer_comm,
			  sizeof(out->tracer_comm));
	read_comm(g, pid, out->comm, sizeof(out->comm));
	out->command[0] = '\0';
	return 0;
}

int gpreempt_describe(struct gpreempt *g, pid_t pid,
		      struct gpreempt_description *out)
{
	int ret = gpreempt_identify(g, pid, out);

	if (!ret)
		read_command(g, pid, out->command, sizeof(out->command));
	return ret;
}
