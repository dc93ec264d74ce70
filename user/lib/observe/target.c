// SPDX-License-Identifier: LGPL-2.1-or-later
/* Can a session on a process be opened? */
#include <string.h>

#include "lib/core/internal.h"

/* Inode numbers of the host's namespaces, the same on every kernel. */
static const struct {
	const char *path, *host;
} namespaces[] = {
	{ "/proc/self/ns/pid", "pid:[4026531836]" },
	/* The start times of processes are those of the reader's. */
	{ "/proc/self/ns/time", "time:[4026531834]" },
};

int gp_check_host(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	char ns[64];
	ssize_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(namespaces); i++) {
		n = g->ops->read_link(g->be, namespaces[i].path, ns, sizeof(ns) - 1);
		if (n <= 0)
			continue;
		ns[n] = '\0';
		if (strcmp(ns, namespaces[i].host))
			return gp_error(err, -ENOTSUP, GPREEMPT_PID_NAMESPACE, pid, step);
	}
	/* What is there and not a link is -EINVAL. */
	if (g->ops->read_link(g->be, "/dev/kfd", ns, sizeof(ns)) == -ENOENT)
		return gp_error(err, -ENOENT, GPREEMPT_NO_KFD, pid, step);
	return 0;
}

static int check_traced(struct gpreempt *g, pid_t pid, pid_t tracer, const char *step,
			struct gpreempt_error *err)
{
	struct gp_process process;

	if (!tracer)
		return 0;
	gp_error(err, -EBUSY, GPREEMPT_TRACED, pid, step);
	if (!err)
		return -EBUSY;
	/* It is a thread that traces; people know its process. */
	if (!gp_process_read(g, tracer, &process))
		tracer = process.tgid;
	err->other = tracer;
	gp_read_comm(g, tracer, err->name, sizeof(err->name));
	return -EBUSY;
}

int gp_check_traceable(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	struct gp_process process;
	int ret;

	ret = gp_process_read(g, pid, &process);
	if (ret)
		return gp_error(err, -ESRCH, GPREEMPT_NO_PROCESS, pid, step);
	if (strchr("ZX", process.state))
		return process.threads > 1 ?
			       gp_error(err, -ENOTSUP, GPREEMPT_LEADER_GONE, pid, step) :
			       gp_error(err, -ESRCH, GPREEMPT_ENDED, pid, step);
	return check_traced(g, pid, process.tracer, step, err);
}

int gpreempt_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	static const char step[] = "looking at the process";
	int ret;

	if (!g->ops->is_root(g->be))
		return gp_error(err, -EPERM, GPREEMPT_NOT_ROOT, pid, step);
	ret = gp_check_host(g, pid, step, err);
	if (ret)
		return ret;
	ret = gp_target_exists(g, pid, step, err);
	if (ret)
		return ret;
	ret = gp_check_traceable(g, pid, step, err);
	return ret ? ret : gp_check_gpus(g, pid, step, err);
}
