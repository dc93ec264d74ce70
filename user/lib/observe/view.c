// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where the queues of a process are read: the module, or else the driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/view.h>

#include "lib/observe/observe.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/parse.h"

#define SYSFS_TYPE_COMPUTE 0 /* PM4 and AQL alike */
#define SYSFS_TYPE_SDMA	   1
/*
 * The driver's own numbers. That of XGMI is 4, and 3 where the driver has lost
 * the type before it (DIQ, from Linux 7.0 on). No queue of a process in sysfs is
 * of another type with these numbers: DIQ is the kernel's, and a queue that asks
 * for an engine (5, later 4) becomes one of the two SDMA types at its creation.
 */
#define SYSFS_TYPE_SDMA_XGMI	 3
#define SYSFS_TYPE_SDMA_XGMI_OLD 4

/* The driver's lock is held for a moment by many things; how long we ask. */
#define BUSY_TRIES    20
#define BUSY_PAUSE_NS (5 * NSEC_PER_MSEC)

struct sysfs_reader {
	const struct gpreempt *g;
	pid_t pid;
	struct gpreempt_view *view;
};

static int64_t sysfs_number(const struct sysfs_reader *r, const char *qid,
			    const char *file)
{
	uint64_t value;
	char text[32];

	if (gp_read_small(r->g, text, sizeof(text),
			  GP_SYSFS_PROC "/%d/queues/%s/%s", r->pid, qid,
			  file) <= 0)
		return GPREEMPT_UNKNOWN;
	text[strcspn(text, "\n")] = '\0';
	if (shr_parse_u64(text, UINT32_MAX, &value))
		return GPREEMPT_UNKNOWN;
	return value;
}

int64_t gp_sysfs_queue_type(int64_t type)
{
	switch (type) {
	case SYSFS_TYPE_COMPUTE:
		return GPREEMPT_QUEUE_COMPUTE;
	case SYSFS_TYPE_SDMA:
		return GPREEMPT_QUEUE_SDMA;
	case SYSFS_TYPE_SDMA_XGMI:
	case SYSFS_TYPE_SDMA_XGMI_OLD:
		return GPREEMPT_QUEUE_SDMA_XGMI;
	default:
		return GPREEMPT_UNKNOWN;
	}
}

static int add_sysfs_queue(void *arg, const char *name)
{
	struct sysfs_reader *r = arg;
	struct gpreempt_view *view = r->view;
	struct gpreempt_queue *queue;
	uint64_t qid;

	if (shr_parse_u64(name, UINT32_MAX, &qid))
		return 0;
	queue = shr_array_add(&view->queues, &view->count, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	gp_queue_unknown(queue);
	queue->qid = qid;
	queue->gpu_id = sysfs_number(r, name, "gpuid");
	queue->type = gp_sysfs_queue_type(sysfs_number(r, name, "type"));
	queue->age_ms = 0;
	return 0;
}

static int read_sysfs(const struct gpreempt *g, pid_t pid,
		      struct gpreempt_view **out)
{
	struct sysfs_reader r = { .g = g, .pid = pid };
	char path[64];
	int ret;

	r.view = calloc(1, sizeof(*r.view));
	if (!r.view)
		return -ENOMEM;
	r.view->source = GPREEMPT_SOURCE_SYSFS;
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d/queues", pid);
	ret = g->ops->list_dir(g->be, path, add_sysfs_queue, &r);
	if (ret) {
		gpreempt_view_free(r.view);
		return ret;
	}
	if (r.view->count)
		qsort(r.view->queues, r.view->count, sizeof(*r.view->queues),
		      gp_compare_queues);
	*out = r.view;
	return 0;
}

int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file,
		 char **text, size_t *len)
{
	int tries = BUSY_TRIES, ret;
	char path[GP_PID_PATH];

	if (pid)
		gp_pid_path(path,
			    GP_DEBUGFS "/" GP_VIEW_DIR "/" GP_VIEW_PID_DIR, pid,
			    file);
	else
		snprintf(path, sizeof(path), GP_DEBUGFS "/" GP_VIEW_DIR "/%s",
			 file);
	for (;;) {
		ret = gp_read_text(g, path, text, len);
		if (ret != -EBUSY || !--tries)
			return ret;
		shr_sleep_ns(BUSY_PAUSE_NS);
	}
}

static int read_module(const struct gpreempt *g, pid_t pid,
		       struct gpreempt_view **out)
{
	__cleanup_free char *text = NULL;
	size_t len;
	int ret;

	ret = gp_view_text(g, pid, GP_VIEW_QUEUES_FILE, &text, &len);
	return ret ? ret : gpreempt_view_parse(text, len, out);
}

int gpreempt_view_read(struct gpreempt *g, pid_t pid,
		       struct gpreempt_view **out, struct gpreempt_error *err)
{
	static const char step[] = "reading the queues";
	int ret = read_module(g, pid, out);

	if (ret == -ENOENT || ret == -EACCES || ret == -EPERM)
		ret = read_sysfs(g, pid, out);
	if (ret == -ENOENT || ret == -ESTALE || ret == -ESRCH) {
		ret = gp_target_exists(g, pid, step, err);
		/* It was not there a moment ago, or is not any more. */
		if (!ret)
			ret = gp_error(err, -ENODATA, GPREEMPT_NOT_GPU, pid,
				       step);
	} else if (ret) {
		gp_error(err, ret, GPREEMPT_SYSTEM, pid, step);
	}
	return ret;
}

const struct gpreempt_queue *
gpreempt_view_find(const struct gpreempt_view *view, uint32_t qid)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].qid == qid)
			return &view->queues[i];
	return NULL;
}

bool gpreempt_view_paused(const struct gpreempt_view *view)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].state != GPREEMPT_UNKNOWN &&
		    (view->queues[i].state & 1 << GP_VIEW_STATE_PAUSED))
			return true;
	return false;
}

void gpreempt_view_free(struct gpreempt_view *view)
{
	if (!view)
		return;
	free(view->queues);
	free(view);
}
