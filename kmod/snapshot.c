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

/* More contexts than this are not read: a program can make any number of them. */
#define MAX_CONTEXTS 64

/* Tries for a busy process: 0.3 ms in all, a suspend can hold it for 9 s. */
#define LOCK_TRIES   4
#define LOCK_WAIT_US 50

/* Room beyond what is expected, and tries until the list fits. */
#define SPARE_ROOM 8
#define FIT_TRIES  4

/* What a reader wants; of all processes, with the waves alone, if there is no pid. */
struct request {
	struct pid *pid;
	const struct gp_list *last;
	bool hardware;
};

/*
 * One read: the memory for it, and what was found. The nodes are those of all
 * contexts of the process, each once; when the hardware is wanted their devices are
 * held, until drop_nodes().
 */
struct walk {
	const struct request *ask;

	struct gp_list *out;
	struct gp_slots *slots;
	struct gp_node *nodes;
	struct kfd_cu_occupancy *counts;

	u32 n_nodes;
	u32 n_contexts;
	u32 need_slots;
	bool busy;     /* a context was */
	bool stranger; /* a queue was on a node that is not of its process */
};

/*
 * The context is busy: take over what was seen of it before. That it had no
 * queue is not taken over, as no line would show the age of that.
 */
static int copy_last(void *p, struct walk *w)
{
	const struct gp_list *last = w->ask->last;
	ktime_t now = ktime_get();
	bool known = false;
	u32 i;

	for (i = 0; last && i < last->n; i++) {
		struct gp_queue *q = &w->out->q[w->out->n];

		if (last->q[i].ctx != (unsigned long)p)
			continue;
		known = true;
		if (w->out->need++ >= w->out->room)
			continue;
		*q = last->q[i];
		gp_queue_forget_hardware(q);
		q->age_ms = max_t(s64, ktime_ms_delta(now, q->seen), 1);
		w->out->n++;
	}
	return known ? 0 : -EBUSY;
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
		w->out->gpus++;
		for (j = 0; j < w->n_nodes && w->nodes[j].node != n->node; j++)
			;
		if (j < w->n_nodes)
			continue;
		if (w->ask->hardware && !gp_node_hold(n))
			return gp_broken("the device of a process is there");
		w->n_nodes++;
	}
	return 0;
}

static void drop_nodes(struct walk *w)
{
	while (w->n_nodes) {
		w->n_nodes--;
		if (w->ask->hardware)
			gp_node_drop(&w->nodes[w->n_nodes]);
	}
}

/* Fill in the active slots of all queues; no lock of the driver is held. */
static int find_slots(struct walk *w)
{
	u32 i, j;

	for (i = 0; i < w->out->n; i++) {
		struct gp_queue *q = &w->out->q[i];

		for (j = 0; j < w->n_nodes; j++)
			if (w->nodes[j].gpu_id == q->gpu_id)
				break;
		if (j == w->n_nodes)
			continue;
		gp_hqd_read(&w->nodes[j], q, w->slots);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* The same of their waves, which a slot or a doorbell leads to. */
static int count_waves(struct walk *w)
{
	u32 j;

	for (j = 0; j < w->n_nodes; j++) {
		gp_waves_count(&w->nodes[j], w->out,
			       w->ask->pid ? w->slots : NULL, w->counts);
		if (fatal_signal_pending(current))
			return -EINTR;
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

static int too_many_contexts(void)
{
	pr_warn_ratelimited("a process has more than %d contexts: it is not shown\n",
			    MAX_CONTEXTS);
	return -E2BIG;
}

/* A pid can have more than one kfd_process, on newer drivers. */
static int take_process(void *p, void *data)
{
	struct walk *w = data;
	struct pid *pid = gp_table_pid(p);
	int ret;

	put_pid(pid);
	if (!pid || (w->ask->pid && pid != w->ask->pid))
		return 0;
	if (w->n_contexts++ == MAX_CONTEXTS && w->ask->pid)
		return too_many_contexts();
	see_holds(p, w->out);
	ret = add_nodes(p, w);
	if (!ret)
		ret = gp_queues_copy(p, w->nodes, w->n_nodes, w->out);
	w->stranger |= ret == -EAGAIN;
	if (ret != -EBUSY)
		return ret;
	w->busy = true;
	return w->ask->pid ? copy_last(p, w) : 0;
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
	kvfree(w->counts);
}

static int alloc_lists(struct walk *w, u32 room, u32 room_slots)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT;
	bool hardware = w->ask->hardware;

	w->nodes = kvmalloc_array(gp_layout.kfd_process__pdds.at.len,
				  sizeof(*w->nodes), gfp);
	w->out = kvzalloc(struct_size(w->out, q, room), gfp);
	w->slots = NULL;
	w->counts = NULL;
	if (hardware) {
		w->slots = kvzalloc(struct_size(w->slots, s, room_slots), gfp);
		w->counts = kvmalloc_array(GP_CP_SLOTS_MAX, sizeof(*w->counts),
					   gfp);
	}
	if (!w->nodes || !w->out || (hardware && (!w->slots || !w->counts))) {
		free_lists(w);
		return -ENOMEM;
	}
	w->out->room = room;
	if (hardware)
		w->slots->room = room_slots;
	return 0;
}

/* Copy the facts once. */
static int walk_once(struct walk *w)
{
	w->out->n = 0;
	w->out->debugged = -1;
	w->out->paused = -1;
	w->out->gpus = 0;
	w->n_nodes = 0;
	w->n_contexts = 0;
	w->out->need = 0;
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
	gp_stat_inc(GP_STAT_process_busy);
	return ret;
}

/* Where each queue was last seen; both lists are in order. */
static void find_last_slots(struct walk *w)
{
	const struct gp_list *last = w->ask->last;
	const struct gp_queue *old;
	struct gp_queue *q;
	u32 i, j = 0, k;

	for (i = 0; last && i < w->out->n; i++) {
		q = &w->out->q[i];
		while (j < last->n && by_id(&last->q[j], q) < 0)
			j++;
		for (k = j; k < last->n && !by_id(&last->q[k], q); k++) {
			old = &last->q[k];
			if (old->ctx == q->ctx && old->mqd == q->mqd)
				q->slot = old->slot;
		}
	}
}

/* Whether a queue is there twice: it was made again where an earlier one had been. */
static bool is_doubled(const struct gp_list *list)
{
	u32 i, j;

	for (i = 0; i < list->n; i++)
		for (j = i + 1; j < list->n && !by_id(&list->q[i], &list->q[j]);
		     j++)
			if (list->q[i].ctx == list->q[j].ctx)
				return true;
	return false;
}

static int take_once(struct walk *w)
{
	int ret = copy_facts(w);
	u32 i;

	if (ret)
		return ret;
	if (!w->n_contexts)
		return -ESTALE;
	w->need_slots = 0;
	for (i = 0; i < w->out->n; i++)
		w->need_slots += w->out->q[i].slots;
	if (w->out->need > w->out->room ||
	    (w->slots && w->need_slots > w->slots->room))
		return -EAGAIN;
	sort(w->out->q, w->out->n, sizeof(w->out->q[0]), by_id, NULL);
	if (is_doubled(w->out))
		return -EAGAIN;
	find_last_slots(w);
	return w->ask->hardware ? find_slots(w) ?: count_waves(w) : 0;
}

/* The same of all processes, with the waves by doorbell in place of slots. */
static int take_all_once(struct walk *w)
{
	int ret = copy_facts(w);
	u32 i;

	if (ret)
		return ret;
	if (w->out->need > w->out->room)
		return -EAGAIN;
	for (i = 0; i < w->out->n; i++)
		w->out->q[i].hardware = GP_VIEW_HARDWARE_READ;
	return count_waves(w);
}

int gp_snapshot_take(struct pid *pid, const struct gp_list *last, bool hardware,
		     struct gp_list **list, struct gp_slots **slots)
{
	struct request ask = { .pid = pid, .last = last, .hardware = hardware };
	static u32 all; /* queues that there were */
	u32 room = (last ? last->n : pid ? 0 : READ_ONCE(all)) + SPARE_ROOM;
	u32 room_slots = pid ? room * SPARE_ROOM : 1;
	struct walk w = { .ask = &ask };
	int i, ret = -EAGAIN;

	for (i = 0; i < FIT_TRIES && ret == -EAGAIN; i++) {
		w.stranger = false;
		ret = alloc_lists(&w, room, room_slots);
		if (ret)
			return ret;
		ret = pid ? take_once(&w) : take_all_once(&w);
		drop_nodes(&w);
		/* A walk that ended early has not seen all of them. */
		room = max(room, w.out->need + SPARE_ROOM);
		room_slots = pid ? max(w.need_slots * 2, room * SPARE_ROOM) : 1;
		if (ret)
			free_lists(&w);
	}
	if (ret == -EAGAIN && w.stranger)
		return gp_broken("queue.device is a node of its process");
	if (ret)
		return ret;
	if (!pid)
		WRITE_ONCE(all, w.out->n);
	kvfree(w.nodes);
	kvfree(w.counts);
	*list = w.out;
	if (slots)
		*slots = w.slots;
	else
		kvfree(w.slots);
	return 0;
}
