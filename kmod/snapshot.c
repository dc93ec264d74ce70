// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the queues of a process out of KFD's data.
 *
 * Locks, from the outermost:
 *	kfd_processes_srcu	read section of table.c, for the copy of the
 *				facts. Nothing sleeps in it: the end of every
 *				GPU process waits for it (kfd_process.c:1295)
 *	kfd_process.mutex	tried only, for the copy of the queue list: the
 *				list and its queues change under it alone
 *				(kfd_process_queue_manager.c:475, 558, called
 *				from ioctls that hold it, kfd_chardev.c:328,
 *				426). Without preemption, as the process waits
 *				for it in its next call. No allocation, no
 *				register and no other lock inside of it
 *	those of node.c		after both are dropped
 * The driver takes them in this order too, its debugfs for one
 * (kfd_process.c:2301-2309). The flags of a queue are protected by the lock of
 * the queue manager in the driver; they are single bytes and only shown.
 * (Lines are those of Linux 6.12.)
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
 * One read. The nodes are those of all contexts of the process, each once; when
 * the hardware is wanted their devices are held, until drop_nodes().
 */
struct walk {
	struct pid *pid;
	const struct gp_list *last;
	struct gp_list *out;
	struct gp_slots *slots;
	struct gp_node *nodes;
	u32 n_nodes;
	u32 room_nodes;
	u32 need;
	u32 need_slots;
	bool hardware;
	bool found;
	bool patient; /* try once more when a context is busy */
	bool busy;    /* one was */
};

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
	int ret;

	if (w->need++ >= w->out->room)
		return 0;
	q = &w->out->q[w->out->n];
	ret = gp_queue_copy(p, queue, w->nodes, w->n_nodes, q);
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
		ret = copy_queue(p, queue, w);
		if (ret)
			return ret;
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
	u32 i, j, count = gp_node_count(p);
	struct gp_node *n;
	int ret;

	for (i = 0; i < count && w->n_nodes < w->room_nodes; i++) {
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

	for (i = 0; i < w->n_nodes; i++) {
		struct gp_node *n = &w->nodes[i];

		for (j = 0; j < w->out->n; j++) {
			if (w->out->q[j].gpu_id != n->gpu_id)
				continue;
			if (fatal_signal_pending(current))
				return -EINTR;
			read_queue(n, &w->out->q[j], w);
			cond_resched();
		}
	}
	return 0;
}

static void see_holds(void *p, struct gp_list *out)
{
	bool debugged;

	if (gp_has(debug) &&
	    !gp_get(p, kfd_process, debug_trap_enabled, &debugged))
		out->debugged = max_t(int, out->debugged, debugged);
	out->paused = max(out->paused, gp_queue_paused(p));
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
	return w->patient ? 0 : copy_last(p, w);
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

static int slot_by_id(const void *a, const void *b)
{
	const struct gp_slot *x = a, *y = b;

	if (x->qid != y->qid)
		return x->qid < y->qid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return x->xcc - y->xcc;
}

static void free_lists(struct walk *w)
{
	kvfree(w->out);
	kvfree(w->slots);
	kvfree(w->nodes);
}

static int alloc_lists(struct walk *w, u32 room, u32 room_slots, bool slots)
{
	w->room_nodes = gp_layout.kfd_process__pdds.at.len;
	w->nodes = kvmalloc_array(w->room_nodes, sizeof(*w->nodes), GFP_KERNEL);
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

/* Until no context is busy; the last time with what was seen before. */
static int copy_facts(struct walk *w)
{
	int i, ret;

	for (i = 1;; i++) {
		w->patient = i < LOCK_TRIES;
		ret = walk_once(w);
		if (ret || !w->busy)
			return ret;
		if (!w->patient)
			break;
		drop_nodes(w);
		usleep_range(LOCK_WAIT_US, 2 * LOCK_WAIT_US);
	}
	return 0;
}

static int take_once(struct walk *w)
{
	int ret = copy_facts(w);
	u32 i;

	if (w->busy && !w->patient)
		gp_stat_busy(GP_STAT_LOCK(process));
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
	sort(w.out->q, w.out->n, sizeof(w.out->q[0]), by_id, NULL);
	*list = w.out;
	if (slots) {
		sort(w.slots->s, w.slots->n, sizeof(w.slots->s[0]), slot_by_id,
		     NULL);
		*slots = w.slots;
	}
	return 0;
}
