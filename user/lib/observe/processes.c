// SPDX-License-Identifier: LGPL-2.1-or-later
/* The GPU processes, out of the driver's sysfs files and /proc. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/parse.h"

#define PROCESS(name, kind) GP_COLUMN(struct gpreempt_process, name, kind)
const struct gp_table gp_processes_table = GP_TABLE(PROCESSES, struct gpreempt_process, PROCESS);

static int count_gpu(void *arg, const char *name)
{
	struct gpreempt_process *process = arg;
	uint64_t gpu_id;

	process->gpus += gp_is_vram(name, &gpu_id);
	return 0;
}

struct counter {
	const struct gpreempt *g;
	const char *dir;
	struct gpreempt_process *process;
};

static int count_queue(void *arg, const char *name)
{
	struct counter *counter = arg;
	struct gpreempt_process *process = counter->process;

	process->queues++;
	switch (gp_sysfs_queue_type(counter->g, counter->dir, name)) {
	case GPREEMPT_QUEUE_SDMA:
		process->sdma++;
		break;
	case GPREEMPT_QUEUE_SDMA_XGMI:
		process->xgmi++;
		break;
	}
	return 0;
}

/* What is not printable, or would end a cell, as the module prints it. */
static void put_comm(const char *comm, char *out, size_t size)
{
	size_t used = 0;

	for (; *comm && used + 5 < size; comm++) {
		unsigned char c = *comm;

		if (strchr("._:/+@-", c) || (c < 0x80 && isalnum(c)))
			out[used++] = c;
		else
			used += sprintf(out + used, "\\%03o", c);
	}
	out[used] = '\0';
}

static bool fill(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_process *process = record;
	struct gp_process status;
	char path[64], comm[32];
	struct counter counter = { .g = g, .dir = path, .process = process };
	uint64_t pid;

	if (shr_parse_u64(name, INT32_MAX, &pid))
		return false;
	process->pid = pid;
	process->gpus = process->queues = process->sdma = process->xgmi = 0;
	gp_read_comm(g, pid, comm, sizeof(comm));
	put_comm(comm, process->comm, sizeof(process->comm));
	if (!gp_process_read(g, pid, &status))
		process->ns_pid = status.ns_pid;
	snprintf(path, sizeof(path), "%s/%.16s", dir, name);
	g->ops->list_dir(g->be, path, count_gpu, process);
	snprintf(path, sizeof(path), "%s/%.16s/queues", dir, name);
	g->ops->list_dir(g->be, path, count_queue, &counter);
	return true;
}

int gp_sysfs_processes(const struct gpreempt *g, void *records, size_t *count)
{
	return gp_table_list(g, GP_SYSFS_PROC, &gp_processes_table, fill, records, count);
}

/*
 * Only these two files: they show what the driver has counted. A read of
 * cu_occupancy waits for the driver's lock of its queues, which a suspend holds for
 * up to 9 s, and sdma_<gpu_id> reads memory of the process.
 */
#define GPU(name) GP_COLUMN(struct gpreempt_process_gpu, name, DEC)
static const struct gp_column gpu_columns[] = { GPU(gpu_id) GPU(vram) GPU(evicted_ms) };

static const struct gp_table gpus_table = {
	.columns = gpu_columns,
	.n_columns = ARRAY_SIZE(gpu_columns),
	.record_size = sizeof(struct gpreempt_process_gpu),
};

static bool fill_gpu(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_process_gpu *gpu = record;
	uint64_t gpu_id;

	(void)g;
	(void)dir;
	if (!gp_is_vram(name, &gpu_id))
		return false;
	gpu->gpu_id = gpu_id;
	return true;
}

static void read_figures(const struct gpreempt *g, const char *dir, unsigned int figures,
			 struct gpreempt_process_gpu *gpu)
{
	unsigned long long id = gpu->gpu_id;
	uint64_t value;

	if (figures & GPREEMPT_FIGURE_VRAM && !gp_read_number(g, &value, "%s/vram_%llu", dir, id))
		gpu->vram = value;
	if (figures & GPREEMPT_FIGURE_EVICTED &&
	    !gp_read_number(g, &value, "%s/stats_%llu/evicted_ms", dir, id))
		gpu->evicted_ms = value;
}

void gp_process_gpu_read(const struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpu *gpu)
{
	char dir[GP_PID_PATH];

	gpu->vram = gpu->evicted_ms = GPREEMPT_UNKNOWN;
	snprintf(dir, sizeof(dir), GP_SYSFS_PROC "/%d", pid);
	read_figures(g, dir, figures, gpu);
}

int gpreempt_process_gpus_read(struct gpreempt *g, pid_t pid, unsigned int figures,
			       struct gpreempt_process_gpus **out, struct gpreempt_error *err)
{
	static const char step[] = "reading what it uses of the GPUs";
	struct gpreempt_process_gpus *list = calloc(1, sizeof(*list));
	char path[GP_PID_PATH];
	size_t i;
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", pid);
	ret = gp_table_list(g, path, &gpus_table, fill_gpu, &list->gpus, &list->count);
	for (i = 0; !ret && i < list->count; i++)
		read_figures(g, path, figures, &list->gpus[i]);
	if (ret)
		ret = gp_fail_view(g, ret, pid, step, err);
	return gp_list_give(ret, list, out);
}

GP_LIST_FREE(gpreempt_process_gpus_free, gpreempt_process_gpus, gpus)
