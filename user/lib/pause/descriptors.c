// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which descriptors of a process are /dev/kfd. */
#include <stdio.h>

#include "lib/pause/pause.h"

#define KFD "/dev/kfd"

static const char step[] = "looking for " KFD " in the process";

struct search {
	struct gpreempt *g;
	pid_t pid;
	uint64_t device;
	struct gp_array *numbers;
	bool denied; /* what is behind a descriptor was not for us */
};

static int look(void *arg, const char *name)
{
	struct search *search = arg;
	char path[GP_PID_PATH], file[32];
	uint64_t device;
	int *number, ret;

	/* The kernel's names here are numbers. */
	snprintf(file, sizeof(file), "fd/%s", name);
	gp_pid_path(path, "/proc", search->pid, file);
	ret = search->g->ops->device_of(search->g->be, path, &device);
	if (ret == -EACCES || ret == -EPERM)
		search->denied = true;
	if (ret || device != search->device)
		return 0;
	number = gp_array_add(search->numbers, sizeof(*number));
	if (!number)
		return -ENOMEM;
	*number = atoi(name);
	return 0;
}

static int fail_list(struct gpreempt *g, int code, pid_t pid,
		     struct gpreempt_error *err)
{
	switch (code) {
	case -ENOENT:
	case -ESRCH:
		return gp_error(err, -ESRCH, GPREEMPT_ENDED, pid, step);
	case -EACCES:
	case -EPERM:
		return gp_error(err, -EPERM, GPREEMPT_TRACE_DENIED, pid, step);
	case 0:
		/* It may be no GPU process at all. */
		code = gp_target_exists(g, pid, step, err);
		if (code)
			return code;
		return gp_error(err, -ENXIO, GPREEMPT_KFD_CLOSED, pid, step);
	default:
		return gp_error(err, code, GPREEMPT_SYSTEM, pid, step);
	}
}

int gp_find_device(struct gpreempt *g, pid_t pid, uint64_t *device,
		   struct gpreempt_error *err)
{
	int ret = g->ops->device_of(g->be, KFD, device);

	return ret ? gp_error(err, ret, GPREEMPT_NO_KFD, pid, step) : 0;
}

int gp_find_descriptors(struct gpreempt *g, pid_t pid, uint64_t device,
			struct gp_array *numbers, struct gpreempt_error *err)
{
	struct search search = {
		.g = g, .pid = pid, .device = device, .numbers = numbers
	};
	char path[GP_PID_PATH];
	int ret;

	*numbers = (struct gp_array){ 0 };
	gp_pid_path(path, "/proc", pid, "fd");
	ret = g->ops->list_dir(g->be, path, look, &search);
	if (!ret && numbers->count)
		return 0;
	free(numbers->items);
	*numbers = (struct gp_array){ 0 };
	return fail_list(g, !ret && search.denied ? -EPERM : ret, pid, err);
}
