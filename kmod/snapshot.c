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
#include <linux/sched/signal.h>
#include <linux/sort.h>

#include <gpreempt/view.h>

#include "hqd.h"
#include "layout.h"
#include "node.h"
#include "queue.h"
#include "snapshot.h"
#include "stats.h"
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
	struct gp_slots *slots;
	u32 need;
	u32 need_slots;
	bool hardware;
	bool found;
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
	ret = gp_queue_copy(p, queue, q);
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
		struct gp_queue *q = &w->out->q[w->out->n];

		if (w->last->q[i].ctx != (unsigned long)p ||
		    w->need++ >= w->out->room)
			continue;
		*q = w->last->q[i];
		gp_queue_forget_hardware(q);
		q->age_ms = max_t(s64, ktime_ms_delta(now, q->seen), 1);
		w->out->n++;
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
	gp_stat_busy(GP_STAT_LOCK(process));
	return false;
}

/*
 * Read the hardware of one queue. The node is let go after each, so that a
 * reset of the device waits for one queue at most.
 */
static void read_queue(struct gp_node *n, struct gp_queue *q, struct walk *w)
{
	q->hardware = gp_node_wake(n);
	gp_stat_unread(q->hardware);
	if (q->hardware != GP_VIEW_HARDWARE_READ)
		return;
	gp_hqd_read(n, q, w->slots);
	gp_node_rest(n);
	gp_stat_unread(q->hardware);
}

/* Fill in the active slots of the queues of p, from the first-th on. */
static int read_slots(void *p, struct walk *w, u32 first)
{
	u32 i, j, count = gp_node_count(p);
	struct gp_node n;
	int ret;

	for (j = first; j < w->out->n; j++)
		w->need_slots += w->out->q[j].slots;
	if (w->slots && w->need_slots > w->slots->room)
		return 0;
	for (i = 0; i < count && first < w->out->n; i++) {
		ret = gp_node_load(p, i, &n);
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		for (j = first; j < w->out->n; j++) {
			if (w->out->q[j].gpu_id != n.gpu_id)
				continue;
			if (fatal_signal_pending(current))
				return -EINTR;
			read_queue(&n, &w->out->q[j], w);
			cond_resched();
		}
	}
	return 0;
}

static void see_debugger(void *p, struct gp_list *out)
{
	bool debugged;

	if (gp_has(debug) &&
	    !gp_get(p, kfd_process, debug_trap_enabled, &debugged))
		out->debugged = max_t(int, out->debugged, debugged);
}

/* A pid can have more than one kfd_process from Linux 7.2 on. */
static int take_process(void *p, void *data)
{
	struct mutex *mutex = gp_ptr(p, kfd_process, mutex);
	struct walk *w = data;
	u32 first = w->out->n;
	struct pid *pid = gp_table_pid(p);
	ktime_t since;
	int ret;

	put_pid(pid);
	if (!pid || pid != w->pid)
		return 0;
	w->found = true;
	see_debugger(p, w->out);
	if (try_lock(mutex)) {
		since = ktime_get();
		ret = copy_queues(p, w);
		mutex_unlock(mutex);
		gp_stat_locked(GP_STAT_LOCK(process), since);
	} else {
		ret = copy_last(p, w);
	}
	if (ret || !w->hardware || w->need > w->out->room)
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

static int slot_by_id(const void *a, const void *b)
{
	const struct gp_slot *x = a, *y = b;

	if (x->qid != y->qid)
		return x->qid < y->qid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return x->xcc - y->xcc;
}

static int alloc_lists(struct walk *w, u32 room, u32 room_slots, bool slots)
{
	w->out = kvzalloc(struct_size(w->out, q, room), GFP_KERNEL);
	w->slots = !slots ? NULL :
		   kvzalloc(struct_size(w->slots, s, room_slots), GFP_KERNEL);
	if (!w->out || (slots && !w->slots)) {
		kvfree(w->out);
		kvfree(w->slots);
		return -ENOMEM;
	}
	w->out->room = room;
	w->out->debugged = -1;
	if (slots)
		w->slots->room = room_slots;
	w->need = 0;
	w->need_slots = 0;
	w->found = false;
	return 0;
}

static int take_once(struct walk *w)
{
	int ret = gp_table_walk(take_process, w);

	if (ret)
		return ret;
	if (!w->found)
		return -ESTALE;
	if (w->need > w->out->room ||
	    (w->slots && w->need_slots > w->slots->room))
		return -EAGAIN;
	return 0;
}

int gp_snapshot_take(struct pid *pid, const struct gp_list *last,
		     bool hardware, struct gp_list **list,
		     struct gp_slots **slots)
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
		room = w.need + SPARE_ROOM;
		room_slots = max(w.need_slots, room) * 2;
		if (ret) {
			kvfree(w.out);
			kvfree(w.slots);
		}
	}
	if (ret)
		return ret;
	sort(w.out->q, w.out->n, sizeof(w.out->q[0]), by_id, NULL);
	*list = w.out;
	if (slots) {
		sort(w.slots->s, w.slots->n, sizeof(w.slots->s[0]), slot_by_id,
		     NULL);
		*slots = w.slots;
	}
	return 0;
}
