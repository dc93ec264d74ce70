// SPDX-License-Identifier: GPL-2.0-only
/*
 * KFD's nodes, as its topology lists them.
 *
 * First all facts are copied under topology_lock, which is tried for, and
 * nothing else is taken or allocated inside of it. A node is freed after it has
 * left the list (kfd_topology_remove_device(), before kfree() in
 * kfd_cleanup_nodes(), kfd_device.c), which needs that lock for writing: what
 * kfd_node and kfd_dev say can be relied upon. The queue manager is freed
 * before that, so it is looked at only in ways that survive any memory, and
 * does not count unless it leads back to its node.
 *
 * Then the lock is dropped and the hardware read, with a reference to the DRM
 * device in place of it. From then on no kfd_node or kfd_dev is followed, only
 * the device and the hooks, which are constants of the driver; gp_node_wake()
 * looks once more at the queue manager, in the way above. A device whose last
 * reference is gone is not touched.
 *
 * Order: topology_lock is dropped before the locks of node.c. The driver takes
 * it inside kfd_processes_mutex and outside of those of the queue manager.
 */

#include <linux/delay.h>
#include <linux/device.h>
#include <linux/mm.h>
#include <drm/drm_drv.h>

#include "hqd.h"
#include "layout.h"
#include "stats.h"
#include "symbols.h"
#include "topology.h"

/* More nodes than this mean that the list has no end. */
#define MAX_NODES	1024
#define SPARE_ROOM	16
#define FIT_TRIES	4
#define LOCK_TRIES	10
#define LOCK_WAIT_US	200

/* Where KFD puts its own queue, as its debugfs has it (KFD_CIK_HIQ_*). */
#define HIQ_PIPE	4
#define HIQ_QUEUE	0

static int scheduler_of(const struct gp_node *n)
{
	void *res = gp_ptr(n->kfd, kfd_dev, shared_resources);
	u32 policy;
	bool mes;

	if (gp_get(res, kgd2kfd_shared_resources, enable_mes, &mes) ||
	    gp_get(n->dqm, device_queue_manager, sched_policy, &policy))
		return -1;
	if (mes)
		return GP_VIEW_SCHEDULER_MES;
	return policy == gp_layout.KFD_SCHED_POLICY_NO_HWS ?
	       GP_VIEW_SCHEDULER_NONE : GP_VIEW_SCHEDULER_HWS;
}

static void copy_hiq(void *pm, struct gp_host_node *h)
{
	void *kq, *queue;

	h->hiq_mqd = 0;
	if (!gp_has(hiq) ||
	    gp_get(pm, packet_manager, priv_queue, &kq) || !kq ||
	    gp_get(kq, kernel_queue, queue, &queue) || !queue ||
	    gp_get(queue, queue, gart_mqd_addr, &h->hiq_mqd))
		h->hiq_mqd = 0;
}

/* What the queue manager says, unless it is gone. */
static void copy_manager(struct gp_host_node *h)
{
	void *dqm = h->n.dqm, *pm, *back;
	u32 processes, queues, mapped;
	bool over;

	h->scheduler = -1;
	h->processes = -1;
	h->queues = -1;
	h->mapped = -1;
	h->oversubscribed = -1;
	if (gp_get(dqm, device_queue_manager, dev, &back) ||
	    back != h->n.node)
		return;
	pm = gp_ptr(dqm, device_queue_manager, packet_mgr);
	if (gp_get(dqm, device_queue_manager, processes_count, &processes) ||
	    gp_get(dqm, device_queue_manager, total_queue_count, &queues) ||
	    gp_get(dqm, device_queue_manager, active_queue_count, &mapped) ||
	    gp_get(pm, packet_manager, is_over_subscription, &over))
		return;
	h->scheduler = scheduler_of(&h->n);
	h->processes = processes;
	h->queues = queues;
	h->mapped = mapped;
	/* The driver sets it with each run list, and leaves it at the last. */
	h->oversubscribed = over && mapped;
	copy_hiq(pm, h);
}

/* Under topology_lock. */
static int copy_node(void *node, u32 number, struct gp_host_node *h)
{
	struct gp_node *n = &h->n;
	void *info;
	int ret;

	memset(h, 0, sizeof(*h));
	ret = gp_node_follow(node, n);
	if (ret)
		return ret;
	info = gp_ptr(n->kfd, kfd_dev, device_info);
	if (gp_get(info, kfd_device_info, gfx_target_version, &h->gfx))
		return gp_broken("the device info can be read");
	h->node = number;
	h->slots = bitmap_weight(n->cp_slots, n->n_slots);
	h->slots_used = -1;
	h->hiq = -1;
	copy_manager(h);
	/* The memory of the device is there for as long as its node is. */
	h->hardware = GP_VIEW_HARDWARE_REMOVED;
	if (kref_get_unless_zero(&n->ddev->ref)) {
		strscpy(h->device, dev_name(n->ddev->dev), sizeof(h->device));
		h->hardware = GP_VIEW_HARDWARE_READ;
	}
	return 0;
}

/* Under topology_lock. How many nodes there are, or an error. */
static int copy_nodes(struct gp_host_nodes *out)
{
	struct list_head *at, link = *gp_symbols.topology;
	u32 number, need = 0;
	void *dev, *node;
	int ret;

	for (number = 0, at = link.next; at != gp_symbols.topology;
	     number++, at = link.next) {
		dev = gp_container(at, kfd_topology_device, list);
		if (number >= MAX_NODES ||
		    copy_from_kernel_nofault(&link, at, sizeof(link)) ||
		    gp_get(dev, kfd_topology_device, gpu, &node))
			return gp_broken("the list of nodes has an end");
		if (!node)	/* a CPU */
			continue;
		/* In the list a little before its device knows it. */
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
	gp_stat_busy(GP_STAT_LOCK(topology));
	return false;
}

/* The registers of a node, whose device is referenced. */
static void read_node(struct gp_host_node *h)
{
	struct gp_node *n = &h->n;
	u32 inst = n->xcc_mask ? __ffs(n->xcc_mask) : 0;
	struct gp_hqd hqd;

	h->hardware = gp_node_wake(n);
	if (h->hardware != GP_VIEW_HARDWARE_READ)
		return;
	h->slots_used = gp_hqd_count(n, inst);
	if (h->slots_used < 0)
		h->hardware = GP_VIEW_HARDWARE_FAILED;
	else if (h->hiq_mqd &&
		 !gp_hqd_dump(n, HIQ_PIPE, HIQ_QUEUE, inst, &hqd))
		h->hiq = hqd.active && hqd.mqd == h->hiq_mqd;
	gp_node_rest(n);
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
		drm_dev_put(h->n.ddev);
	}
}

static int take_once(struct gp_host_nodes *all)
{
	ktime_t since;
	int ret;

	if (!try_lock(gp_symbols.topology_lock))
		return -EBUSY;
	since = ktime_get();
	ret = copy_nodes(all);
	up_read(gp_symbols.topology_lock);
	gp_stat_locked(GP_STAT_LOCK(topology), since);
	read_nodes(all, ret >= 0 && ret <= all->room);
	return ret;
}

int gp_topology_take(struct gp_host_nodes **out)
{
	struct gp_host_nodes *all;
	u32 room = SPARE_ROOM;
	int i, ret;

	if (!gp_has(nodes))
		return -EOPNOTSUPP;
	for (i = 0; i < FIT_TRIES; i++) {
		all = kvzalloc(struct_size(all, h, room), GFP_KERNEL);
		if (!all)
			return -ENOMEM;
		all->room = room;
		ret = take_once(all);
		if (ret >= 0 && ret <= room) {
			*out = all;
			return 0;
		}
		kvfree(all);
		if (ret < 0)
			return ret;
		room = ret + SPARE_ROOM;
	}
	return -EBUSY;
}
