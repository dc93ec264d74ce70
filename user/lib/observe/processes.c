// SPDX-License-Identifier: LGPL-2.1-or-later
/* The GPU processes, out of the driver's sysfs files and /proc. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/array.h"
#include "shared/parse.h"

#define VRAM "vram_"

struct list {
	const struct gpreempt *g;
	struct gpreempt_process *processes;
	size_t count;
};

/* What is counted of one process. */
struct count {
	const struct gpreempt *g;
	struct gpreempt_process *process;
};

static int count_gpu(void *arg, const char *name)
{
	struct count *count = arg;

	count->process->gpus += !strncmp(name, VRAM, strlen(VRAM));
	return 0;
}

static int count_queue(void *arg, const char *name)
{
	struct count *count = arg;
	char text[32];
	uint64_t type;

	count->process->queues++;
	if (gp_read_small(count->g, text, sizeof(text),
			  GP_SYSFS_PROC "/%lld/queues/%.16s/type",
			  (long long)count->process->pid, name) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (shr_parse_u64(text, UINT32_MAX, &type))
		return 0;
	switch (gp_sysfs_queue_type(type)) {
	case GPREEMPT_QUEUE_SDMA:
		count->process->sdma++;
		break;
	case GPREEMPT_QUEUE_SDMA_XGMI:
		count->process->xgmi++;
		break;
	}
	return 0;
}

/* What is not printable, or would end a cell, as the module prints it. */
static void put_comm(const char *comm, char *out, size_t size)
{
	size_t used = 0;

	for (; *comm && *comm != '\n' && used + 5 < size; comm++) {
		unsigned char c = *comm;

		if (strchr("._:/+@-", c) || (c < 0x80 && isalnum(c)))
			out[used++] = c;
		else
			used += sprintf(out + used, "\\%03o", c);
	}
	out[used] = '\0';
}

/* The last number of "NSpid:\t161\t1\n" is that of the innermost namespace. */
static int64_t innermost(const char *status)
{
	const char *at = strstr(status, "\nNSpid:\t");
	const char *end = at ? strchr(at + 1, '\n') : NULL;

	if (!end)
		return GPREEMPT_UNKNOWN;
	while (end[-1] != '\t')
		end--;
	return strtoll(end, NULL, 10);
}

static int add_process(void *arg, const char *name)
{
	struct list *list = arg;
	const struct gp_backend_ops *ops = list->g->ops;
	struct gpreempt_process *process;
	struct count count = { .g = list->g };
	char text[8192], path[64];
	uint64_t pid;

	if (shr_parse_u64(name, INT32_MAX, &pid))
		return 0;
	process =
		shr_array_add(&list->processes, &list->count, sizeof(*process));
	if (!process)
		return -ENOMEM;
	gp_process_unknown(process);
	process->pid = pid;
	process->gpus = process->queues = process->sdma = process->xgmi = 0;
	count.process = process;
	if (gp_read_small(list->g, text, sizeof(text), "/proc/%.16s/comm",
			  name) > 0)
		put_comm(text, process->comm, sizeof(process->comm));
	if (gp_read_small(list->g, text, sizeof(text), "/proc/%.16s/status",
			  name) > 0)
		process->ns_pid = innermost(text);
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%.16s", name);
	ops->list_dir(list->g->be, path, count_gpu, &count);
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%.16s/queues", name);
	ops->list_dir(list->g->be, path, count_queue, &count);
	return 0;
}

int gp_sysfs_processes(const struct gpreempt *g, struct gpreempt_process **out,
		       size_t *count)
{
	struct list list = { .g = g };
	int ret;

	ret = g->ops->list_dir(g->be, GP_SYSFS_PROC, add_process, &list);
	if (ret) {
		free(list.processes);
		return ret;
	}
	*out = list.processes;
	*count = list.count;
	return 0;
}
