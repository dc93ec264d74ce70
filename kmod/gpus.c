// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that a process can use, from its process-devices.
 *
 * Only the process-devices are read, which need no lock (see node.c), and not
 * the nodes behind them: a node without an address space of the process may be
 * freed meanwhile.
 */

#include <linux/errno.h>
#include <linux/mm.h>

#include "gpus.h"
#include "layout.h"
#include "node.h"
#include "queue.h"
#include "table.h"

/* Tries until the memory fits. */
#define FIT_TRIES 4

struct walk {
	struct pid *pid;
	struct gp_gpus *out;
	u32 need;
	bool found;
};

static int take_gpu(void *p, u32 i, struct walk *w)
{
	struct gp_gpu gpu;
	void *pdd, *process, *priv;

	if (gp_get_at(p, kfd_process, pdds, i, &pdd) ||
	    gp_get(pdd, kfd_process_device, process, &process) || process != p)
		return gp_broken("kfd_process_device.process is its process");
	if (gp_get(pdd, kfd_process_device, user_gpu_id, &gpu.gpu_id) ||
	    gp_get(pdd, kfd_process_device, drm_priv, &priv))
		return gp_broken("the process-device can be read");
	gpu.vm = priv;
	gpu.context = gp_queue_context(p);
	if (w->need++ < w->out->room)
		w->out->g[w->out->n++] = gpu;
	return 0;
}

static int take_process(void *p, void *data)
{
	struct pid *pid = gp_table_pid(p);
	struct walk *w = data;
	u32 i, count = gp_node_count(p);
	int ret = 0;

	put_pid(pid);
	if (!pid || pid != w->pid)
		return 0;
	w->found = true;
	for (i = 0; i < count && !ret; i++)
		ret = take_gpu(p, i, w);
	return ret;
}

int gp_gpus_take(struct pid *pid, struct gp_gpus **gpus)
{
	struct walk w = { .pid = pid };
	u32 room = gp_layout.kfd_process__pdds.at.len;
	int i, ret = -EAGAIN;

	for (i = 0; i < FIT_TRIES && ret == -EAGAIN; i++, room = w.need) {
		w.out = kvzalloc(struct_size(w.out, g, room), GFP_KERNEL);
		if (!w.out)
			return -ENOMEM;
		w.out->room = room;
		w.need = 0;
		w.found = false;
		ret = gp_table_walk(take_process, &w);
		if (!ret && !w.found)
			ret = -ESTALE;
		if (!ret && w.need > room)
			ret = -EAGAIN;
		if (ret)
			kvfree(w.out);
	}
	if (!ret)
		*gpus = w.out;
	return ret;
}
