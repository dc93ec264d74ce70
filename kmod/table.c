// SPDX-License-Identifier: GPL-2.0-only
/*
 * KFD's table of processes.
 * The walk is a read section of kfd_processes_srcu. A process that is found in it is not released
 * before it ends: kfd_process_notifier_release() takes the process out of the table and waits for
 * readers first, and kfd_process_wq_release() frees its structure after that.
 * A process that is being created is in the table before its creation is sure to succeed, and when
 * that fails it is freed without waiting for readers (create_process()). So nothing of an entry is
 * followed before it has shown that it is whole, and the looks before that survive any address.
 */

#include <linux/sched.h>

#include "layout.h"

/* Longest bucket: more entries mean that it has no end. */
#define MAX_CHAIN 65536

/* Tries, as the entry before one may go while this looks at both */
#define LINK_TRIES 8

/*
 * Is an entry in its list? Then it was there during the reads before this. The entry before it
 * can go meanwhile, and then another one links to it.
 */
static bool is_linked(struct hlist_node *node)
{
	struct hlist_node now, *link, **pprev = NULL;
	int i;

	for (i = 0; i < LINK_TRIES; i++) {
		smp_rmb(); /* order the read above before those below */
		if (copy_from_kernel_nofault(&now, node, sizeof(now)) || now.pprev == pprev)
			return false;
		pprev = now.pprev;
		if (!copy_from_kernel_nofault(&link, pprev, sizeof(link)) && link == node)
			return true;
	}
	return false;
}

/*
 * create_process() has come to where nothing can fail any more. The structure starts as zeros, and
 * the last that is written is the function of this work item; also of further contexts, which have
 * no MMU notifier. A driver without kfd_node need not have such an item, and has only first
 * contexts: there the last call that can fail registers the MMU notifier, which has users when it
 * has succeeded (__mmu_notifier_register()). The leader stays meanwhile, as one of its threads is
 * in create_process().
 */
static bool is_made(void *p)
{
	struct mmu_notifier notifier;
	struct work_struct work;

	if (gp_layout.has_nodes)
		return !gp_peek(p, kfd_process, debug_event_workarea, &work) &&
		       within_module((unsigned long)work.func, gp_symbols.amdgpu);
	return !gp_peek(p, kfd_process, mmu_notifier, &notifier) && notifier.users && notifier.mm &&
	       within_module((unsigned long)notifier.ops, gp_symbols.amdgpu);
}

/*
 * Is a process in the table for good? It is still linked after the other reads, so these were
 * reads of its memory.
 */
static bool is_whole(void *p, struct hlist_node *node)
{
	void *pqm = gp_ptr(p, kfd_process, pqm);
	void *back;

	return is_made(p) && !gp_peek(pqm, process_queue_manager, process, &back) && back == p &&
	       is_linked(node);
}

/*
 * The entry behind node, which is not known to be whole: what it says counts if it is in the
 * list after that. If not, the walk goes on behind prev, the last entry that is whole and so
 * cannot be freed, or at the head; unless that leads here again.
 */
static struct hlist_node *next_of(struct hlist_head *head, struct hlist_node *prev,
				  struct hlist_node *node)
{
	struct hlist_node *next;

	if (!copy_from_kernel_nofault(&next, &node->next, sizeof(next)) && is_linked(node))
		return next;
	next = READ_ONCE(*(prev ? &prev->next : &head->first));
	return next == node ? NULL : next;
}

static int walk_chain(struct hlist_head *head, int (*fn)(void *p, void *data), void *data)
{
	struct hlist_node *node = READ_ONCE(head->first);
	struct hlist_node *prev = NULL;
	int n, ret;

	for (n = 0; node && n < MAX_CHAIN; n++) {
		void *p = gp_container(node, kfd_process, kfd_processes);

		if (!is_whole(p, node)) {
			node = next_of(head, prev, node);
			continue;
		}
		ret = fn(p, data);
		if (ret)
			return ret;
		prev = node;
		node = READ_ONCE(node->next);
	}
	return 0;
}

int gp_table_walk(int (*fn)(void *p, void *data), void *data)
{
	ktime_t since = ktime_get();
	unsigned int i;
	int idx, ret = 0;

	idx = srcu_read_lock(gp_symbols.srcu);
	for (i = 0; i < gp_symbols.buckets && !ret; i++)
		ret = walk_chain(&gp_symbols.table[i], fn, data);
	srcu_read_unlock(gp_symbols.srcu, idx);
	gp_stat_locked(GP_STAT_LOCK(table), since);
	return ret;
}

struct pid *gp_table_pid(void *p)
{
	struct task_struct *lead;

	if (gp_get(p, kfd_process, lead_thread, &lead) || !lead)
		return NULL;
	return get_task_pid(lead, PIDTYPE_TGID);
}
