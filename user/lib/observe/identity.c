// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who a process is, as /proc says to everybody, and whether it uses the GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"

/* The number behind "Key:\t" in the text of /proc/<pid>/status. */
static unsigned long status_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* Its number in the innermost namespace. */
static int64_t inner_pid(const char *status)
{
	const char *at = strstr(status, "\nNSpid:\t");
	const char *end = at ? strchr(at + 1, '\n') : NULL;

	if (!end)
		return GPREEMPT_UNKNOWN;
	while (end[-1] != '\t')
		end--;
	return strtoll(end, NULL, 10);
}

int gp_process_read(const struct gpreempt *g, pid_t pid, struct gp_process *out)
{
	char text[8192], *state;
	ssize_t n;

	n = gp_read_proc(g, pid, "status", text, sizeof(text));
	if (n < 0)
		return n;
	/* The name comes first and holds no newline: the kernel escapes it. */
	state = strstr(text, "\nState:\t");
	if (!state)
		return -EPROTO;
	out->state = state[strlen("\nState:\t")];
	out->tgid = status_number(state, "\nTgid:\t");
	out->ns_pid = inner_pid(text);
	/* One that is not there is not root's. */
	out->uid = strstr(state, "\nUid:\t") ? status_number(state, "\nUid:\t") : (uid_t)-1;
	out->tracer = status_number(state, "\nTracerPid:\t");
	out->threads = status_number(state, "\nThreads:\t");
	return 0;
}

int gpreempt_start_time(struct gpreempt *g, pid_t pid, uint64_t *ticks)
{
	char text[1024];
	const char *at;
	ssize_t n;
	int field;

	n = gp_read_proc(g, pid, "stat", text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : n;
	/* The name, field 2, may hold anything; it ends at the last ")". */
	at = strrchr(text, ')');
	for (field = 2; at && *at && field < 22; at++)
		field += at[1] == ' ';
	if (!at || !*at)
		return -EPROTO;
	*ticks = strtoull(at + 1, NULL, 10);
	return 0;
}

/* Only its absence says no: another failure is not the target's. */
static bool have_dir(struct gpreempt *g, const char *path)
{
	return gp_look_in(g, path) != -ENOENT;
}

int gp_target_exists(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	struct gp_process process;
	char path[64];

	if (!have_dir(g, GP_SYSFS_PROC))
		return gp_error(err, -ENODEV, GPREEMPT_NO_KFD, pid, step);
	if (gp_process_read(g, pid, &process))
		return gp_error(err, -ESRCH, GPREEMPT_NO_PROCESS, pid, step);
	if (process.tgid != pid) {
		gp_error(err, -ESRCH, GPREEMPT_THREAD, pid, step);
		if (err)
			err->other = process.tgid;
		return -ESRCH;
	}
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d/queues", pid);
	if (!have_dir(g, path))
		return gp_error(err, -ENODATA, GPREEMPT_NOT_GPU, pid, step);
	return 0;
}

void gp_read_comm(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	if (gp_read_proc(g, pid, "comm", buf, size) < 0)
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

ssize_t gp_read_command(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	ssize_t i, n;

	n = gp_read_proc(g, pid, "cmdline", buf, size);
	while (n > 0 && !buf[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

int gpreempt_identify(struct gpreempt *g, pid_t pid, struct gpreempt_description *out)
{
	struct gp_process process;
	int ret;

	ret = gpreempt_start_time(g, pid, &out->start);
	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	ret = gp_process_read(g, pid, &process);
	if (ret)
		return ret == -EPROTO ? ret : -ESRCH;
	out->ns_pid = process.ns_pid == GPREEMPT_UNKNOWN ? pid : process.ns_pid;
	out->uid = process.uid;
	out->tracer = process.tracer;
	out->tracer_comm[0] = '\0';
	if (out->tracer)
		gp_read_comm(g, out->tracer, out->tracer_comm, sizeof(out->tracer_comm));
	gp_read_comm(g, pid, out->comm, sizeof(out->comm));
	out->command[0] = '\0';
	return 0;
}

int gpreempt_describe(struct gpreempt *g, pid_t pid, struct gpreempt_description *out)
{
	int ret = gpreempt_identify(g, pid, out);

	if (!ret)
		gp_read_command(g, pid, out->command, sizeof(out->command));
	return ret;
}
