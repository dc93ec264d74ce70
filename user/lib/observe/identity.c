// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who a process is, as /proc says to everybody, and whether it uses the GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"

enum { STATE, TGID, TRACER, UID, NS_PID, THREADS, N_KEYS };

static const char *const keys[N_KEYS] = {
	[STATE] = "State:\t", [TGID] = "Tgid:\t",    [TRACER] = "TracerPid:\t",
	[UID] = "Uid:\t",     [NS_PID] = "NSpid:\t", [THREADS] = "Threads:\t",
};

/* The key of a line of /proc/<pid>/status. Most lines have none of them: two letters tell. */
static int find_key(const char *line)
{
	int i = 0;

	while (i < N_KEYS && (keys[i][0] != line[0] || keys[i][1] != line[1] ||
			      strncmp(line, keys[i], strlen(keys[i]))))
		i++;
	return i;
}

/* The last number of a line. */
static int64_t last_number(const char *line)
{
	const char *end = strchrnul(line, '\n');

	while (end > line && end[-1] != '\t')
		end--;
	return strtoll(end, NULL, 10);
}

static void take_status(const char *line, struct gp_process *out)
{
	int key = find_key(line);
	const char *value = key < N_KEYS ? line + strlen(keys[key]) : NULL;

	switch (key) {
	case STATE:
		out->state = *value;
		break;
	case TGID:
		out->tgid = strtoul(value, NULL, 10);
		break;
	case TRACER:
		out->tracer = strtoul(value, NULL, 10);
		break;
	case UID:
		out->uid = strtoul(value, NULL, 10);
		break;
	case NS_PID:
		out->ns_pid = last_number(value);
		break;
	case THREADS:
		out->threads = strtoul(value, NULL, 10);
		break;
	}
}

int gp_process_read(const struct gpreempt *g, pid_t pid, struct gp_process *out)
{
	char text[8192];
	const char *at;
	ssize_t n;

	n = gp_read_proc(g, pid, "status", text, sizeof(text));
	if (n < 0)
		return n;
	/* One whose user is not there is not root's. */
	*out = (struct gp_process){ .uid = -1, .ns_pid = GPREEMPT_UNKNOWN };
	/* The name comes first and holds no newline: the kernel escapes it. */
	for (at = strchr(text, '\n'); at; at = strchr(at, '\n'))
		take_status(++at, out);
	return out->state ? 0 : -EPROTO;
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
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
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
