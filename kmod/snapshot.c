// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the queues of a process out of KFD's data.
 *
 * Locks, from the outermost:
 *	kfd_processes_srcu	read section of table.c, for the copy of the
 *				facts. Nothing sleeps in it: the end of every
 *				GPU process waits for it
 *				(kfd_process_notifier_release())
 *	kfd_process.mutex	tried only, for the copy of the queue list: the
 *				list and its queues change under it alone
 *				(pqm_create_queue(), pqm_destroy_queue(), called
 *				from ioctls that hold it). Without preemption, as
 *				the process waits for it in its next call. No
 *				allocation, no register and no other lock inside of it
 *	those of node.c		after both are dropped
 * The driver takes them in this order too, its debugfs for one
 * (kfd_debugfs_mqds_by_process()). The flags of a queue are protected by the lock of
 * the queue manager in the driver; they are single bytes and only shown.
 */

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>

#include <gpreempt/view.h>

#include "hqd.h"
#include "layout.h"
#include "node.h"
#include "queue.h"
#include "snapshot.h"
#include "stats.h"
#include "symbols.h"

/* More queues than this mean that the list has no end. */
#define MAX_QUEUES 4096

/* Tries for a busy process: 0.3 ms in all, a suspend can hold it for 9 s. */
#define LOCK_TRIES   4
#define LOCK_WAIT_US 50

/* Room beyond what is expected, and tries until the list fits. */
#define SPARE_ROOM 8
#define FIT_TRIES  4

/*
 * One read: what is asked, the memory for it, and what was found. The nodes are those
 * of all contexts of the process, each once; when the hardware is wanted their
 * devices are held, until drop_nodes().
 */
struct walk {
	struct pid *pid;
	const struct gp_list *last;
	bool hardware;

	struct gp_list *out;
	struct gp_slots *slots;
	struct gp_node *nodes;

	u32 n_nodes;
	u32 need;
	u32 need_slots;
	bool found;
	bool busy; /* a context was */
};

/* Under the mutex of the process. */
static int copy_queues(void *p, struct walk *w)
{
	void *pqm = gp_ptr(p, kfd_process, pqm);
	struct list_head *head = gp_ptr(pqm, process_queue_manager, queues);
	struct list_head link, *at;
	void *queue;
	int n, ret;

	if (gp_read(&link, head, sizeof(link)))
		return gp_broken("the list of queues can be read");
	for (n = 0, at = link.next; at != head; n++, at = link.next) {
		void *pqn = gp_container(at, process_queue_node,
					 process_queue_list);

		if (n >= MAX_QUEUES || gp_read(&link, at, sizeof(link)) ||
		    gp_get(pqn, process_queue_node, q, &queue))
			return gp_broken("the list of queues has an end");
		if (!queue) /* one of the kernel's own */
			continue;
		if (w->need++ >= w->out->room)
			continue;
		ret = gp_queue_copy(p, queue, w->nodes, w->n_nodes,
				    &w->out->q[w->out->n]);
		if (ret)
			return ret;
		w->out->n++;
	}
	return 0;
}

/*
 * The context is busy: take over what was seen of it before. That it had no
 * queue is not taken over, as no line would show the age of that.
 */
static int copy_last(void *p, struct walk *w)
{
	ktime_t now = ktime_get();
	bool known = false;
	u32 i;

	for (i = 0; w->last && i < w->last->n; i++) {
		struct gp_queue *q = &w->out->q[w->out->n];

		if (w->last->q[i].ctx != (unsigned long)p)
			continue;
		known = true;
		if (w->need++ >= w->out->room)
			continue;
		*q = w->last->q[i];
		gp_queue_forget_hardware(q);
		q->age_ms = max_t(s64, ktime_ms_delta(now, q->seen), 1);
		w->out->n++;
	}
	return known ? 0 : -EBUSY;
}

/* Copy the queue list, unless the process is busy. */
static int copy_now(void *p, struct walk *w, bool *busy)
{
	struct mutex *mutex = gp_ptr(p, kfd_process, mutex);
	ktime_t since;
	int ret = 0;

	preempt_disable();
	*busy = !mutex_trylock(mutex);
	if (!*busy) {
		since = ktime_get();
		ret = copy_queues(p, w);
		mutex_unlock(mutex);
		gp_stat_locked(GP_STAT_LOCK(process), since);
	}
	preempt_enable();
	return ret;
}

/* Add the nodes of p that are not there yet, while they cannot be freed. */
static int add_nodes(void *p, struct walk *w)
{
	u32 room = gp_layout.kfd_process__pdds.at.len;
	u32 i, j, count = gp_node_count(p);
	struct gp_node *n;
	int ret;

	for (i = 0; i < count && w->n_nodes < room; i++) {
		n = &w->nodes[w->n_nodes];
		ret = gp_node_load(p, i, n);
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		for (j = 0; j < w->n_nodes && w->nodes[j].node != n->node; j++)
			;
		if (j < w->n_nodes)
			continue;
		if (w->hardware && !gp_node_hold(n))
			return gp_broken("the device of a process is there");
		w->n_nodes++;
	}
	return 0;
}

static void drop_nodes(struct walk *w)
{
	while (w->n_nodes) {
		w->n_nodes--;
		if (w->hardware)
			gp_node_drop(&w->nodes[w->n_nodes]);
	}
}

/*
 * Read the hardware of one queue. The node is put to rest after each, so that a
 * reset of the device waits for one queue at most.
 */
static void read_queue(struct gp_node *n, struct gp_queue *q, struct walk *w)
{
	q->hardware = gp_node_get_hw(n);
	gp_stat_unread(q->hardware);
	if (q->hardware != GP_VIEW_HARDWARE_READ)
		return;
	gp_hqd_read(n, q, w->slots);
	gp_node_put_hw(n);
	gp_stat_unread(q->hardware);
}

/* Fill in the active slots of all queues; no lock of the driver is held. */
static int read_slots(struct walk *w)
{
	u32 i, j;

	for (i = 0; i < w->out->n; i++) {
		struct gp_queue *q = &w->out->q[i];

		for (j = 0; j < w->n_nodes; j++)
			if (w->nodes[j].gpu_id == q->gpu_id)
				break;
		if (j == w->n_nodes)
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		read_queue(&w->nodes[j], q, w);
		cond_resched();
	}
	return 0;
}

static void see_holds(void *p, struct gp_list *out)
{
	int debugged = gp_get_flag(p, kfd_process, debug_trap_enabled, debug);
	int paused = gp_get_flag(p, kfd_process, queues_paused, pause);

	out->debugged = max(out->debugged, debugged);
	out->paused = max(out->paused, paused);
}

/* A pid can have more than one kfd_process, on newer drivers. */
static int take_process(void *p, void *data)
{
	struct walk *w = data;
	struct pid *pid = gp_table_pid(p);
	bool busy;
	int ret;

	put_pid(pid);
	if (!pid || pid != w->pid)
		return 0;
	w->found = true;
	see_holds(p, w->out);
	ret = add_nodes(p, w);
	if (!ret)
		ret = copy_now(p, w, &busy);
	if (ret || !busy)
		return ret;
	w->busy = true;
	return copy_last(p, w);
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

static void free_lists(struct walk *w)
{
	kvfree(w->out);
	kvfree(w->slots);
	kvfree(w->nodes);
}

static int alloc_lists(struct walk *w, u32 room, u32 room_slots, bool slots)
{
	w->nodes = kvmalloc_array(gp_layout.kfd_process__pdds.at.len,
				  sizeof(*w->nodes), GFP_KERNEL);
	w->out = kvzalloc(struct_size(w->out, q, room), GFP_KERNEL);
	w->slots = !slots ? NULL :
			    kvzalloc(struct_size(w->slots, s, room_slots),
				     GFP_KERNEL);
	if (!w->nodes || !w->out || (slots && !w->slots)) {
		free_lists(w);
		return -ENOMEM;
	}
	w->out->room = room;
	if (slots)
		w->slots->room = room_slots;
	return 0;
}

/* Copy the facts once. */
static int walk_once(struct walk *w)
{
	w->out->n = 0;
	w->out->debugged = -1;
	w->out->paused = -1;
	w->n_nodes = 0;
	w->need = 0;
	w->found = false;
	w->busy = false;
	return gp_table_walk(take_process, w);
}

/* Until no context is busy, or with what was seen before of those that are. */
static int copy_facts(struct walk *w)
{
	int i, ret;

	for (i = 1;; i++) {
		ret = walk_once(w);
		if (!w->busy)
			return ret;
		if (i == LOCK_TRIES)
			break;
		drop_nodes(w);
		usleep_range(LOCK_WAIT_US, 2 * LOCK_WAIT_US);
	}
	gp_stat_busy(GP_STAT_LOCK(process));
	return ret;
}

/* Where each queue was last seen. */
static void find_last_slots(struct walk *w)
{
	const struct gp_queue *last;
	struct gp_queue *q;
	u32 i, j;

	for (i = 0; w->last && i < w->out->n; i++) {
		q = &w->out->q[i];
		for (j = 0; j < w->last->n; j++) {
			last = &w->last->q[j];
			if (last->ctx != q->ctx || last->gpu_id != q->gpu_id ||
			    last->mqd_addr != q->mqd_addr)
				continue;
			q->slot = last->slot;
			break;
		}
	}
}

static int take_once(struct walk *w)
{
	int ret = copy_facts(w);
	u32 i;

	if (ret)
		return ret;
	if (!w->found)
		return -ESTALE;
	w->need_slots = 0;
	for (i = 0; w->hardware && i < w->out->n; i++)
		w->need_slots += w->out->q[i].slots;
	if (w->need > w->out->room ||
	    (w->slots && w->need_slots > w->slots->room))
		return -EAGAIN;
	find_last_slots(w);
	sort(w->out->q, w->out->n, sizeof(w->out->q[0]), by_id, NULL);
	return w->hardware ? read_slots(w) : 0;
}

int gp_snapshot_take(struct pid *pid, const struct gp_list *last, bool hardware,
		     struct gp_list **list, struct gp_slots **slots)
{
	struct walk w = { .pid = pid, .last = last, .hardware = hardware };
	u32 room = (last ? last->n : 0) + SPARE_ROOM;
	u32 room_slots = room * SPARE_ROOM;
	int i, ret = -EAGAIN;

	for (i = 0; i < FIT_TRIES && ret == -EAGAIN; i++) {
		ret = alloc_lists(&w, room, room_slots, slots);
		if (ret)
			return ret;
		ret = take_once(&w);
		drop_nodes(&w);
		room = w.need + SPARE_ROOM;
		room_slots = max(w.need_slots, room) * 2;
		if (ret)
			free_lists(&w);
	}
	if (ret)
		return ret;
	kvfree(w.nodes);
	*list = w.out;
	if (slots)
		*slots = w.slots;
	return 0;
}
