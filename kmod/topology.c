// SPDX-License-Identifier: GPL-2.0-only
/*
 * KFD's nodes, as its topology lists them.
 * First all facts are copied under topology_lock, which is tried for, and nothing else is taken or
 * allocated inside of it. A node is freed after it has left the list (kfd_topology_remove_device(),
 * before kfree() in kfd_cleanup_nodes(), kfd_device.c), which needs that lock for writing: what
 * kfd_node and kfd_dev say can be relied upon. The queue manager is freed before that. So it is
 * looked at only in ways that survive any memory, and what it says is a hint: that it leads back to
 * its node excludes memory used for something else, but not memory that was just freed. Its counts
 * may then be those of a node that has gone since.
 * Then the lock is dropped and the hardware read, with a reference to the DRM device in place of
 * it, as node.c has it. A device whose last reference is gone is not touched. The driver takes
 * topology_lock inside kfd_processes_mutex and outside of the locks of the queue manager.
 */

#include <linux/delay.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <drm/drm_drv.h>

#include "layout.h"
#include "node.h"

/* Longest list of nodes: more mean that the list has no end. */
#define MAX_NODES    1024
#define SPARE_ROOM   16
#define FIT_TRIES    4
#define LOCK_TRIES   10
#define LOCK_WAIT_US 200

/* KFD's place for its own queue, from its debugfs (KFD_CIK_HIQ_*). */
#define HIQ_PIPE 4 /* and the first queue of it */

static int scheduler_of(const struct gp_node *n)
{
	void *res = gp_ptr(n->kfd, kfd_dev, shared_resources);
	int mes = gp_get_flag(res, kgd2kfd_shared_resources, enable_mes, nodes);
	u32 policy;

	if (mes < 0 || gp_peek(n->dqm, device_queue_manager, sched_policy, &policy))
		return -1;
	if (mes)
		return GP_VIEW_SCHEDULER_MES;
	return policy == gp_layout.KFD_SCHED_POLICY_NO_HWS ? GP_VIEW_SCHEDULER_NONE :
							     GP_VIEW_SCHEDULER_HWS;
}

static void copy_hiq(void *pm, struct gp_host_node *h)
{
	void *kq, *queue;

	if (!gp_has(hiq) || gp_peek(pm, packet_manager, priv_queue, &kq) || !kq ||
	    gp_peek(kq, kernel_queue, queue, &queue) || !queue ||
	    gp_peek(queue, queue, gart_mqd_addr, &h->hiq_mqd))
		h->hiq_mqd = 0;
}

/* Counts of the queue manager, unless it is gone */
static void copy_manager(struct gp_host_node *h)
{
	void *dqm = h->n.dqm, *pm, *back;
	u32 processes, queues, mapped;
	bool over;

	if (gp_peek(dqm, device_queue_manager, dev, &back) || back != h->n.node)
		return;
	pm = gp_ptr(dqm, device_queue_manager, packet_mgr);
	if (gp_peek(dqm, device_queue_manager, processes_count, &processes) ||
	    gp_peek(dqm, device_queue_manager, total_queue_count, &queues) ||
	    gp_peek(dqm, device_queue_manager, active_queue_count, &mapped) ||
	    gp_peek(pm, packet_manager, is_over_subscription, &over))
		return;
	h->scheduler = scheduler_of(&h->n);
	h->processes = processes;
	h->queues = queues;
	h->mapped = mapped;
	/* Set with each run list and left at the last; MES is given none. */
	if (h->scheduler != GP_VIEW_SCHEDULER_MES)
		h->oversubscribed = over && mapped;
	copy_hiq(pm, h);
}

/* Copy a node. Under topology_lock. */
static int copy_node(void *node, u32 number, struct gp_host_node *h)
{
	struct gp_node *n = &h->n;
	int ret;

	memset(h, 0, sizeof(*h));
	ret = gp_node_follow(node, n);
	if (ret)
		return ret;
	h->gpu_id = n->gpu_id;
	h->gfx = n->gfx;
	h->xcc_mask = n->xcc_mask;
	h->xccs = hweight32(n->xcc_mask);
	h->node = number;
	h->slots = bitmap_weight(n->cp_slots, n->n_slots);
	memset_startat(h, 0xff, slots_used);
	copy_manager(h);
	/* The memory of the device is there for as long as its node is. */
	h->hardware = GP_VIEW_HARDWARE_REMOVED;
	if (gp_node_hold(n)) {
		strscpy(h->device, dev_name(n->ddev->dev), sizeof(h->device));
		h->hardware = GP_VIEW_HARDWARE_READ;
	}
	return 0;
}

/* Copy all nodes. Returns how many there are, or an error. Under topology_lock. */
static int copy_nodes(struct gp_host_nodes *out)
{
	struct list_head *at, link = *gp_symbols.topology;
	u32 number, need = 0;
	void *dev, *node;
	int ret;

	for (number = 0, at = link.next; at != gp_symbols.topology; number++, at = link.next) {
		dev = gp_container(at, kfd_topology_device, list);
		if (number >= MAX_NODES || gp_read(&link, at, sizeof(link)) ||
		    gp_get(dev, kfd_topology_device, gpu, &node))
			return gp_broken("the list of nodes has an end");
		if (!node) /* a CPU */
			continue;
		/* A node is in the list a little before its device knows it. */
		if (!gp_node_is_whole(node) || need++ >= out->room)
			continue;
		ret = copy_node(node, number, &out->h[out->n]);
		if (ret)
			return ret;
		out->n++;
	}
	return need;
}

static bool try_lock(struct rw_semaphore *lock)
{
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (i)
			usleep_range(LOCK_WAIT_US, 2 * LOCK_WAIT_US);
		if (down_read_trylock(lock))
			return true;
	}
	return false;
}

/* Read the registers of a node, whose device is referenced. */
static void read_node(struct gp_host_node *h)
{
	struct gp_node *n = &h->n;
	struct gp_hqd hqd;

	h->hardware = gp_node_get_hw(n);
	if (h->hardware != GP_VIEW_HARDWARE_READ)
		return;
	h->hardware = -gp_hqd_count(n, &h->slots_used);
	if (h->hardware == GP_VIEW_HARDWARE_READ && h->hiq_mqd &&
	    !gp_hqd_dump(n, HIQ_PIPE * n->n_queues, gp_node_first_xcc(n), &hqd))
		h->hiq = hqd.active && hqd.mqd == h->hiq_mqd;
	gp_node_put_hw(n);
}

static void read_nodes(struct gp_host_nodes *all, bool hardware)
{
	u32 i;

	for (i = 0; i < all->n; i++) {
		struct gp_host_node *h = &all->h[i];

		if (h->hardware != GP_VIEW_HARDWARE_READ)
			continue;
		if (hardware) {
			read_node(h);
			gp_stat_unread(h->hardware);
			cond_resched();
		}
		gp_node_drop(&h->n);
	}
}

static int take_once(struct gp_host_nodes *all)
{
	int ret;

	if (!try_lock(gp_symbols.topology_lock))
		return -EBUSY;
	ret = copy_nodes(all);
	up_read(gp_symbols.topology_lock);
	read_nodes(all, ret >= 0 && ret <= all->room);
	return ret;
}

struct gp_host_nodes *gp_topology_take(void)
{
	struct gp_host_nodes *all;
	u32 room = SPARE_ROOM;
	int i, ret;

	if (!gp_has(nodes))
		return ERR_PTR(-EOPNOTSUPP);
	for (i = 0; i < FIT_TRIES; i++) {
		all = kvzalloc(struct_size(all, h, room), GFP_KERNEL);
		if (!all)
			return ERR_PTR(-ENOMEM);
		all->room = room;
		ret = take_once(all);
		if (ret >= 0 && ret <= room)
			return all;
		kvfree(all);
		if (ret < 0)
			return ERR_PTR(ret);
		room = ret + SPARE_ROOM;
	}
	return ERR_PTR(-EBUSY);
}
