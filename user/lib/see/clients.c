// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists the processes that have a GPU open, and the GPUs that this process may see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/select.h>

#include "lib/core/internal.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"
#include "words.h"

static int add_pid(void *arg, const char *name)
{
	struct gp_pids *pids = arg;
	uint64_t number;
	pid_t *pid;

	if (shr_parse_u64(name, INT32_MAX, &number))
		return 0;
	pid = shr_add(pids);
	if (!pid)
		return -ENOMEM;
	*pid = number;
	return 0;
}

static int list_pids(struct gpreempt *g, const char *dir, struct gp_pids *out)
{
	int ret;

	*out = (struct gp_pids){ 0 };
	ret = g->ops->list_dir(g->be, dir, add_pid, out);
	if (ret) {
		free(out->items);
		*out = (struct gp_pids){ 0 };
	}
	return ret;
}

int gp_kfd_pids(struct gpreempt *g, struct gp_pids *out, struct gpreempt_error *err)
{
	static const char step[] = "reading KFD's list of processes";
	int ret = list_pids(g, GP_SYSFS_PROC, out);

	if (ret == -ENOENT)
		return gp_error(err, -ENODEV, GPREEMPT_NO_KFD, 0, step);
	return ret ? gp_error(err, ret, GPREEMPT_SYSTEM, 0, step) : 0;
}

int gp_all_pids(struct gpreempt *g, struct gp_pids *out)
{
	return list_pids(g, "/proc", out);
}

struct look {
	struct gpreempt *g;
	pid_t pid;
	uint64_t kfd;
	int denied; /* -errno of a descriptor that was not looked at */
};

static int is_kfd(void *arg, const char *name)
{
	struct look *look = arg;
	char path[GP_PID_PATH], file[32];
	uint64_t device;
	int ret;

	snprintf(file, sizeof(file), "fd/%.16s", name);
	gp_pid_path(path, "/proc", look->pid, file);
	ret = look->g->ops->device_of(look->g->be, path, &device);
	if (ret == -EACCES || ret == -EPERM)
		look->denied = ret;
	return !ret && device == look->kfd;
}

int gp_has_kfd_open(struct gpreempt *g, pid_t pid)
{
	struct look look = { .g = g, .pid = pid };
	char path[GP_PID_PATH];
	int ret = g->ops->device_of(g->be, "/dev/kfd", &look.kfd);

	if (ret)
		return ret;
	gp_pid_path(path, "/proc", pid, "fd");
	ret = g->ops->list_dir(g->be, path, is_kfd, &look);
	/* The process has ended. */
	if (ret == -ENOENT || ret == -ESRCH)
		return 0;
	return ret ? ret : look.denied;
}

static bool is_one_of(const uint32_t *gpu_ids, size_t n, int64_t gpu_id)
{
	return !n || shr_has(gpu_ids, n, gpu_id);
}

/* Combine two answers about one process: if one of them is yes, the answer is yes. */
static int64_t add_answer(int64_t a, int64_t b)
{
	if (a == 1 || b == 1)
		return 1;
	return a ? a : b;
}

/* Answer after a failed look: a process that KFD no longer lists uses nothing. */
static int64_t no_answer(const struct gpreempt_error *err)
{
	return gpreempt_error_class(err) == GPREEMPT_CLASS_NO_TARGET ? 0 : GPREEMPT_UNKNOWN;
}

static int64_t has_memory(struct gpreempt *g, pid_t pid, const uint32_t *gpu_ids, size_t n)
{
	struct gpreempt_process_gpus *list;
	struct gpreempt_error err;
	int64_t answer = 0;
	size_t i;

	if (gpreempt_process_gpus_read(g, pid, GPREEMPT_FIGURE_VRAM, &list, &err))
		return no_answer(&err);
	for (i = 0; i < list->count; i++)
		if (is_one_of(gpu_ids, n, list->gpus[i].gpu_id))
			answer =
				add_answer(answer, list->gpus[i].vram > 0 ? 1 : list->gpus[i].vram);
	gpreempt_process_gpus_free(list);
	return answer;
}

static int64_t has_queue(struct gpreempt *g, pid_t pid, const uint32_t *gpu_ids, size_t n)
{
	struct gpreempt_view *view;
	struct gpreempt_error err;
	int64_t answer = 0;
	size_t i;

	if (gpreempt_view_read(g, pid, &view, &err))
		return no_answer(&err);
	for (i = 0; i < view->count; i++) {
		int64_t gpu_id = view->queues[i].gpu_id;

		if (is_one_of(gpu_ids, n, gpu_id))
			answer = 1;
		else if (gpu_id == GPREEMPT_UNKNOWN)
			answer = add_answer(answer, GPREEMPT_UNKNOWN);
	}
	gpreempt_view_free(view);
	return answer;
}

int64_t gp_uses_gpus(struct gpreempt *g, pid_t pid, const uint32_t *gpu_ids, size_t n)
{
	return add_answer(has_memory(g, pid, gpu_ids, n), has_queue(g, pid, gpu_ids, n));
}

bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id)
{
	uint64_t value;

	return !gp_read_number(g, &value, GP_SYSFS_PROC "/%d/vram_%lld", pid, (long long)gpu_id);
}

const struct gpreempt_node *gp_find_gpu(const struct gpreempt_nodes *nodes, const char *word)
{
	const struct gpreempt_node *of_number = NULL;
	char *end;
	unsigned long long id = strtoull(word, &end, 16);
	uint64_t number;
	size_t i;

	if (end == word || *end)
		id = 0;
	if (shr_parse_u64(word, UINT32_MAX, &number))
		number = UINT64_MAX;
	for (i = 0; i < nodes->count; i++) {
		const struct gpreempt_node *node = &nodes->nodes[i];

		if ((id && (uint64_t)node->gpu_id == id) ||
		    (*word && !strcasecmp(node->device, word)))
			return node;
		if ((uint64_t)node->node == number)
			of_number = node;
	}
	return of_number;
}

/* Queues of the calling program. */

/* Read our own PID, as this /proc counts, and our start time. */
static int read_self(struct gpreempt *g, pid_t *pid, uint64_t *start)
{
	char text[64];
	ssize_t n = gp_read_small(g, text, sizeof(text), "/proc/self/stat");

	if (n < 0)
		return n;
	*pid = atoi(text);
	return gpreempt_start_time(g, *pid, start);
}

/*
 * KFD names a process as the host counts. If this /proc is the host's, our
 * number there is it; else the host's process of that number, if it is shown
 * here, has another start time. 0: not to be known here.
 */
static pid_t find_self(const struct gpreempt_targets *all, pid_t pid, uint64_t start)
{
	pid_t found = 0;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (all->targets[i].start != start)
			continue;
		if (all->targets[i].pid == pid)
			return pid;
		if (found)
			return 0; /* two that started at once */
		found = all->targets[i].pid;
	}
	return found;
}

int gpreempt_self_queues(struct gpreempt *g, struct gpreempt_view **out, struct gpreempt_error *err)
{
	static const char step[] = "looking for our own queues";
	struct gpreempt_targets *all;
	uint64_t start = 0;
	pid_t self = 0, pid;
	int ret = read_self(g, &self, &start);

	if (ret)
		return gp_error(err, ret, GPREEMPT_SYSTEM, 0, step);
	ret = gpreempt_processes(g, &all, err);
	if (ret)
		return ret;
	pid = find_self(all, self, start);
	gpreempt_targets_free(all);
	if (!pid)
		return gp_error(err, -ENODATA,
				getpid() == self ? GPREEMPT_NOT_GPU : GPREEMPT_PID_NAMESPACE, self,
				step);
	return gpreempt_view_read(g, pid, out, err);
}
