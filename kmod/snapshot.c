// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the queues of a process out of KFD's data.
 *
 * Locks, from the outermost:
 *	kfd_processes_srcu	read section of table.c, around all of it
 *	kfd_process.mutex	tried only, for the copy of the queue list: the
 *				list and its queues change under it alone
 *				(kfd_process_queue_manager.c:475, 558, called
 *				from ioctls that hold it, kfd_chardev.c:328,
 *				426). No allocation that reclaims, no register
 *				and no other lock inside of it
 *	those of node.c		after the mutex is dropped
 * The driver takes them in this order too, its debugfs for one
 * (kfd_process.c:2301-2309). The flags of a queue are protected by the lock of
 * the queue manager in the driver; they are single bytes and only shown.
 * (Lines are those of Linux 6.12.)
 */

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sort.h>

#include <gpreempt/view.h>

#include "hqd.h"
#include "layout.h"
#include "node.h"
#include "snapshot.h"
#include "table.h"

/* More queues than this mean that the list has no end. */
#define MAX_QUEUES	4096

/* Tries for a busy process: 0.3 ms in all, a suspend can hold it for 9 s. */
#define LOCK_TRIES	4
#define LOCK_WAIT_US	50

/* Room beyond what is expected, and tries until the list fits. */
#define SPARE_ROOM	8
#define FIT_TRIES	4

struct walk {
	struct pid *pid;
	const struct gp_list *last;
	struct gp_list *out;
	u32 need;
	bool slots;
	bool found;
};

static int queue_type(u32 type, u32 format)
{
	if (type == gp_layout.KFD_QUEUE_TYPE_COMPUTE)
		return format == gp_layout.KFD_QUEUE_FORMAT_AQL ?
		       GP_VIEW_QUEUE_COMPUTE_AQL : GP_VIEW_QUEUE_COMPUTE_PM4;
	if (type == gp_layout.KFD_QUEUE_TYPE_SDMA)
		return GP_VIEW_QUEUE_SDMA;
	if (type == gp_layout.KFD_QUEUE_TYPE_SDMA_XGMI)
		return GP_VIEW_QUEUE_SDMA_XGMI;
	return -1;
}

static int copy_properties(void *props, struct gp_queue *q)
{
	u32 type, format;

	if (gp_get(props, queue_properties, type, &type) ||
	    gp_get(props, queue_properties, format, &format) ||
	    gp_get(props, queue_properties, queue_id, &q->qid) ||
	    gp_get(props, queue_properties, queue_address, &q->ring) ||
	    gp_get(props, queue_properties, priority, &q->priority) ||
	    gp_get(props, queue_properties, doorbell_off, &q->doorbell) ||
	    gp_get(props, queue_properties, is_evicted, &q->evicted) ||
	    gp_get(props, queue_properties, is_suspended, &q->suspended))
		return gp_broken("a queue's properties can be read");
	q->type = queue_type(type, format);
	return 0;
}

/* What the hardware calls the queue. */
static int copy_identity(void *p, void *queue, struct gp_queue *q)
{
	void *props = gp_ptr(queue, queue, properties);
	void *device;
	struct gp_node n;
	int ret;

	if (gp_get(queue, queue, device, &device) ||
	    gp_get(queue, queue, gart_mqd_addr, &q->mqd_addr))
		return gp_broken("a queue can be read");
	ret = gp_node_find(p, device, &n);
	if (ret)
		return ret;
	q->gpu_id = n.gpu_id;
	q->slots = 1;
	if (q->type == GP_VIEW_QUEUE_COMPUTE_AQL ||
	    q->type == GP_VIEW_QUEUE_COMPUTE_PM4) {
		q->slots = hweight32(n.xcc_mask);
		return gp_node_stride(&n, props, &q->mqd_stride);
	}
	if (n.hqd_sdma_dump &&
	    (gp_get(props, queue_properties, sdma_engine_id,
		    &q->sdma_engine) ||
	     gp_get(props, queue_properties, sdma_queue_id, &q->sdma_rlc)))
		return gp_broken("an SDMA queue's properties can be read");
	return 0;
}

static const struct gp_queue *find_last(const struct gp_list *last,
					const struct gp_queue *q)
{
	u32 i;

	for (i = 0; last && i < last->n; i++) {
		if (last->q[i].ctx == q->ctx &&
		    last->q[i].gpu_id == q->gpu_id &&
		    last->q[i].mqd_addr == q->mqd_addr)
			return &last->q[i];
	}
	return NULL;
}

static int copy_queue(void *p, void *queue, struct walk *w)
{
	const struct gp_queue *last;
	struct gp_queue *q;
	void *process;
	int ret;

	if (gp_get(queue, queue, process, &process) || process != p)
		return gp_broken("queue.process is its process");
	if (w->need++ >= w->out->room)
		return 0;
	q = &w->out->q[w->out->n];
	memset(q, 0, sizeof(*q));
	q->ctx = (unsigned long)p;
	q->seen = ktime_get();
	q->active = -1;
	ret = copy_properties(gp_ptr(queue, queue, properties), q);
	if (!ret)
		ret = copy_identity(p, queue, q);
	if (ret)
		return ret;
	last = find_last(w->last, q);
	q->slot = last ? last->slot : -1;
	w->out->n++;
	return 0;
}

/* Under the mutex of the process. */
static int copy_queues(void *p, struct walk *w)
{
	void *pqm = gp_ptr(p, kfd_process, pqm);
	struct list_head *head = gp_ptr(pqm, process_queue_manager, queues);
	struct list_head link, *at;
	void *queue;
	int n, ret;

	if (copy_from_kernel_nofault(&link, head, sizeof(link)))
		return gp_broken("the list of queues can be read");
	for (n = 0, at = link.next; at != head; n++, at = link.next) {
		void *pqn = gp_container(at, process_queue_node,
					 process_queue_list);

		if (n >= MAX_QUEUES ||
		    copy_from_kernel_nofault(&link, at, sizeof(link)) ||
		    gp_get(pqn, process_queue_node, q, &queue))
			return gp_broken("the list of queues has an end");
		if (!queue)	/* one of the kernel's own */
			continue;
		ret = copy_queue(p, queue, w);
		if (ret)
			return ret;
	}
	return 0;
}

/* The process is busy: take over what was seen of it before. */
static int copy_last(void *p, struct walk *w)
{
	ktime_t now = ktime_get();
	u32 i;

	if (!w->last)
		return -EBUSY;
	for (i = 0; i < w->last->n; i++) {
		const struct gp_queue *q = &w->last->q[i];

		if (q->ctx != (unsigned long)p ||
		    w->need++ >= w->out->room)
			continue;
		w->out->q[w->out->n] = *q;
		w->out->q[w->out->n].active = -1;
		w->out->q[w->out->n++].age_ms =
			max_t(s64, ktime_ms_delta(now, q->seen), 1);
	}
	return 0;
}

static bool try_lock(struct mutex *mutex)
{
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (i)
			usleep_range(LOCK_WAIT_US, 2 * LOCK_WAIT_US);
		if (mutex_trylock(mutex))
			return true;
	}
	return false;
}

/* Fill in the active slots of the queues of p, from the first-th on. */
static int read_slots(void *p, struct walk *w, u32 first)
{
	u32 i, j, count = gp_node_count(p);
	struct gp_node n;
	bool awake;
	int ret;

	for (i = 0; i < count && first < w->out->n; i++) {
		ret = gp_node_load(p, i, &n);
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		awake = false;
		for (j = first; j < w->out->n; j++) {
			if (w->out->q[j].gpu_id != n.gpu_id)
				continue;
			if (!awake && !gp_node_wake(&n))
				break;
			awake = true;
			gp_hqd_read(&n, &w->out->q[j]);
		}
		if (awake)
			gp_node_rest(&n);
	}
	return 0;
}

/* A pid can have more than one kfd_process from Linux 7.2 on. */
static int take_process(void *p, void *data)
{
	struct mutex *mutex = gp_ptr(p, kfd_process, mutex);
	struct walk *w = data;
	u32 first = w->out->n;
	struct pid *pid = gp_table_pid(p);
	int ret;

	put_pid(pid);
	if (!pid || pid != w->pid)
		return 0;
	w->found = true;
	if (try_lock(mutex)) {
		ret = copy_queues(p, w);
		mutex_unlock(mutex);
	} else {
		ret = copy_last(p, w);
	}
	if (ret || !w->slots || w->need > w->out->room)
		return ret;
	return read_slots(p, w, first);
}

static int by_id(const void *a, const void *b)
{
	const struct gp_queue *x = a, *y = b;

	if (x->qid != y->qid)
		return x->qid < y->qid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return 0;
}

int gp_snapshot_take(struct pid *pid, const struct gp_list *last, bool slots,
		     struct gp_list **list)
{
	struct walk w = { .pid = pid, .last = last, .slots = slots };
	u32 room = (last ? last->n : 0) + SPARE_ROOM;
	int i, ret = -EAGAIN;

	for (i = 0; i < FIT_TRIES; i++, room = w.need + SPARE_ROOM) {
		w.out = kvzalloc(struct_size(w.out, q, room), GFP_KERNEL);
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
		if (!ret)
			break;
		kvfree(w.out);
		if (ret != -EAGAIN)
			break;
	}
	if (ret)
		return ret;
	sort(w.out->q, w.out->n, sizeof(w.out->q[0]), by_id, NULL);
	*list = w.out;
	return 0;
}
