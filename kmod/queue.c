// SPDX-License-Identifier: GPL-2.0-only
/* Copies the queues of a process out of the driver's structures; snapshot.c has the locks. */

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>

#include "layout.h"
#include "node.h"
#include "snapshot.h"

/* Longest list of queues: more mean that the list has no end. */
#define MAX_QUEUES 4096

/* Queues that are copied while the mutex is held once: some 50 us of a slow CPU. */
#define HOLD_QUEUES 4

/* Waits for a process of many queues between two of them, and the time of one, in us. */
#define HOLD_WAITS   10
#define HOLD_WAIT_US 10

/* Context of a process that is not a further one of its program. */
#define CONTEXT_PRIMARY 0xffff

bool gp_queue_is_cp(int type)
{
	return type == GP_VIEW_QUEUE_COMPUTE_AQL || type == GP_VIEW_QUEUE_COMPUTE_PM4;
}

static int queue_type(u32 type, u32 format)
{
	if (type == gp_layout.KFD_QUEUE_TYPE_COMPUTE)
		return format == gp_layout.KFD_QUEUE_FORMAT_AQL ? GP_VIEW_QUEUE_COMPUTE_AQL :
								  GP_VIEW_QUEUE_COMPUTE_PM4;
	if (type == gp_layout.KFD_QUEUE_TYPE_SDMA)
		return GP_VIEW_QUEUE_SDMA;
	if (type == gp_layout.KFD_QUEUE_TYPE_SDMA_XGMI)
		return GP_VIEW_QUEUE_SDMA_XGMI;
	return -1;
}

/* Facts that only a driver with HSA debug has */
static int copy_debug(void *props, struct gp_queue *q)
{
	bool suspended, destroying;
	u64 exception;

	q->suspended = -1;
	q->destroying = -1;
	q->exception = -1;
	if (!gp_has(debug))
		return 0;
	if (gp_get(props, queue_properties, is_suspended, &suspended) ||
	    gp_get(props, queue_properties, is_being_destroyed, &destroying) ||
	    gp_get(props, queue_properties, exception_status, &exception))
		return -EFAULT;
	q->suspended = suspended;
	q->destroying = destroying;
	q->exception = exception & ~GP_VIEW_EXCEPTION_BIT(GP_VIEW_EXCEPTION_NEW);
	return 0;
}

static int copy_properties(void *props, struct gp_queue *q)
{
	void *rptr_addr, *wptr_addr;
	u32 type, format, doorbell;

	if (gp_get(props, queue_properties, type, &type) ||
	    gp_get(props, queue_properties, format, &format) ||
	    gp_get(props, queue_properties, queue_id, &q->qid) ||
	    gp_get(props, queue_properties, queue_address, &q->ring) ||
	    gp_get(props, queue_properties, queue_size, &q->ring_size) ||
	    gp_get(props, queue_properties, priority, &q->priority) ||
	    gp_get(props, queue_properties, queue_percent, &q->wants) ||
	    gp_get(props, queue_properties, read_ptr, &rptr_addr) ||
	    gp_get(props, queue_properties, write_ptr, &wptr_addr) ||
	    gp_get(props, queue_properties, doorbell_off, &doorbell) ||
	    gp_get(props, queue_properties, ctx_save_restore_area_address, &q->cwsr) ||
	    gp_get(props, queue_properties, ctx_save_restore_area_size, &q->cwsr_size) ||
	    gp_get(props, queue_properties, is_evicted, &q->evicted) ||
	    gp_get(props, queue_properties, is_active, &q->wanted) || copy_debug(props, q))
		return gp_broken("a queue's properties can be read");
	q->doorbell = doorbell;
	q->rptr_addr = (unsigned long)rptr_addr;
	q->wptr_addr = (unsigned long)wptr_addr;
	q->type = queue_type(type, format);
	return 0;
}

static int copy_sdma(void *props, const struct gp_node *n, struct gp_queue *q)
{
	u32 engine, rlc;

	/* The belief of the driver says nothing where MES chooses. */
	if (!gp_has(sdma) || q->type < 0 || n->sdma_by_doorbell)
		return 0;
	if (gp_get(props, queue_properties, sdma_engine_id, &engine) ||
	    gp_get(props, queue_properties, sdma_queue_id, &rlc))
		return gp_broken("an SDMA queue's properties can be read");
	q->engine = engine;
	q->rlc = rlc;
	return 0;
}

/* Names that the hardware has for the queue. The node is one of its process. */
static int copy_identity(void *queue, const struct gp_node *n, struct gp_queue *q)
{
	void *props = gp_ptr(queue, queue, properties);

	if (gp_get(queue, queue, gart_mqd_addr, &q->mqd))
		return gp_broken("a queue can be read");
	q->gpu_id = n->gpu_id;
	q->slots = 1;
	if (!gp_queue_is_cp(q->type))
		return copy_sdma(props, n, q);
	q->slots = hweight32(n->xcc_mask);
	if (n->mqd_stride)
		q->mqd_stride = n->mqd_stride(n->mqd_mgr, props);
	return 0;
}

static const struct gp_node *find_node(void *queue, const struct gp_node *nodes, u32 count)
{
	void *device;
	u32 i;

	if (gp_get(queue, queue, device, &device))
		return NULL;
	for (i = 0; i < count; i++)
		if (nodes[i].node == device)
			return &nodes[i];
	return NULL;
}

void gp_queue_forget_hardware(struct gp_queue *q)
{
	memset_startat(q, 0xff, hardware);
}

int gp_queue_context(void *p)
{
	u16 context;

	if (!gp_has(contexts) || gp_get(p, kfd_process, context_id, &context) ||
	    context == CONTEXT_PRIMARY)
		return -1;
	return context;
}

/* Copy the facts of a queue of p. -EAGAIN: on none of the nodes, but on one opened since then. */
static int copy_queue(void *p, void *queue, const struct gp_node *nodes, u32 count,
		      struct gp_queue *q)
{
	void *props = gp_ptr(queue, queue, properties);
	const struct gp_node *n;
	void *process;
	int ret;

	if (gp_get(queue, queue, process, &process) || process != p)
		return gp_broken("queue.process is its process");
	n = find_node(queue, nodes, count);
	if (!n)
		return -EAGAIN;
	memset(q, 0, sizeof(*q));
	q->ctx = (unsigned long)p;
	q->context = gp_queue_context(p);
	q->seen = ktime_get();
	q->engine = -1;
	q->rlc = -1;
	q->slot = -1;
	q->reset = gp_get_flag(props, queue_properties, is_reset, resets);
	q->paused = gp_get_flag(p, kfd_process, queues_paused, pause);
	gp_queue_forget_hardware(q);
	ret = copy_properties(props, q);
	return ret ?: copy_identity(queue, n, q);
}

/* Copy of the queues of one context: how far it is, and how often it was waited for */
struct copy {
	void *p;
	const struct gp_node *nodes;
	u32 count;
	struct gp_list *out;
	struct list_head *from;
	int waits;
};

/*
 * An entry that was seen in an earlier hold of the mutex is in the list of p still. It may have
 * been freed, and its memory be in the list of another process.
 */
static bool is_listed(void *p, struct list_head *at, struct list_head *link)
{
	void *pqn = gp_container(at, process_queue_node, process_queue_list);
	void *queue, *process, *back;

	return !copy_from_kernel_nofault(link, at, sizeof(*link)) &&
	       !copy_from_kernel_nofault(&back, &link->prev->next, sizeof(back)) && back == at &&
	       !copy_from_kernel_nofault(&back, &link->next->prev, sizeof(back)) && back == at &&
	       !gp_peek(pqn, process_queue_node, q, &queue) &&
	       !gp_peek(queue, queue, process, &process) && process == p;
}

/* Add a queue to the list of a copy. */
static int add_queue(void *queue, struct copy *c)
{
	int ret;

	if (c->out->need++ >= c->out->room)
		return 0;
	ret = copy_queue(c->p, queue, c->nodes, c->count, &c->out->q[c->out->n]);
	c->out->n += !ret;
	return ret;
}

/*
 * Copy some queues under the mutex of the process, from the entry behind c->from on, or from the
 * first. c->from is the last one then, or NULL after the end of the list.
 */
static int copy_queues(struct copy *c)
{
	void *pqm = gp_ptr(c->p, kfd_process, pqm);
	struct list_head *head = gp_ptr(pqm, process_queue_manager, queues);
	struct list_head link, *at = c->from ?: head;
	void *queue, *pqn;
	int n = 0, ret;

	if (c->from && !is_listed(c->p, at, &link))
		return -EBUSY;
	if (!c->from && gp_read(&link, head, sizeof(link)))
		return gp_broken("the list of queues can be read");
	while (link.next != head) {
		at = link.next;
		pqn = gp_container(at, process_queue_node, process_queue_list);
		if (n++ == MAX_QUEUES || gp_read(&link, at, sizeof(link)) ||
		    gp_get(pqn, process_queue_node, q, &queue))
			return gp_broken("the list of queues has an end");
		if (!queue) /* one of the kernel's own */
			continue;
		ret = add_queue(queue, c);
		if (ret)
			return ret;
		c->from = at;
		if (n >= HOLD_QUEUES)
			return 0;
	}
	c->from = NULL;
	return 0;
}

/*
 * Hold the mutex once, and copy queues; or -EBUSY. After the first copy it waits a little,
 * without sleep as SRCU is held: a program that maps memory has the mutex often.
 */
static int copy_some(struct copy *c)
{
	struct mutex *mutex = gp_ptr(c->p, kfd_process, mutex);
	ktime_t since;
	int ret = -EBUSY;

	while (c->from && mutex_is_locked(mutex) && c->waits++ < HOLD_WAITS)
		udelay(HOLD_WAIT_US);
	preempt_disable();
	if (mutex_trylock(mutex)) {
		since = ktime_get();
		ret = copy_queues(c);
		mutex_unlock(mutex);
		gp_stat_locked(GP_STAT_LOCK(process), since);
	}
	preempt_enable();
	return ret;
}

int gp_queues_copy(void *p, const struct gp_node *nodes, u32 count, struct gp_list *out)
{
	struct copy c = { .p = p, .nodes = nodes, .count = count, .out = out };
	u32 n = out->n, need = out->need;
	int ret;

	do
		ret = out->need - need > MAX_QUEUES ? gp_broken("the list of queues has an end") :
						      copy_some(&c);
	while (!ret && c.from);
	if (ret == -EBUSY) {
		out->n = n;
		out->need = need;
	}
	return ret;
}

struct evictions {
	u64 counter, since;
	u32 evicted;
};

static bool copy_evictions(void *pdd, struct evictions *e)
{
	void *qpd = gp_ptr(pdd, kfd_process_device, qpd);

	smp_rmb(); /* order the reads above before those below */
	return !gp_get(pdd, kfd_process_device, evict_duration_counter, &e->counter) &&
	       !gp_get(pdd, kfd_process_device, last_evict_timestamp, &e->since) &&
	       !gp_get(qpd, qcm_process_device, evicted, &e->evicted);
}

/*
 * Copy how long the process was evicted from a node. The driver raises `evicted` first and notes
 * the time last (evict_process_queues_cpsch()), and adds to the counter before it clears `evicted`
 * (restore_process_queues_cpsch()), both under the lock of the queue manager. So what was read
 * counts if that was free, and nothing has changed: else it is not known now. The clock is read
 * between the two looks: after them, an eviction that has ended since would count too long. A
 * process evicted before it had an address space there has no time noted, and the driver then adds
 * its own time since the boot, and more.
 */
void gp_evictions_copy(const struct gp_node *n, void *pdd, struct gp_gpu *gpu)
{
	struct mutex *lock = gp_ptr(n->dqm, device_queue_manager, lock_hidden);
	void *qpd = gp_ptr(pdd, kfd_process_device, qpd);
	struct evictions e = {}, again = {};
	u32 count;
	u64 now;

	if (gp_has(evictions) && !gp_get(qpd, qcm_process_device, queue_count, &count))
		gpu->need = count;
	if (!gp_has(evictions) || !copy_evictions(pdd, &e))
		return;
	gpu->evicted = e.evicted != 0;
	now = get_jiffies_64();
	if (mutex_is_locked(lock) || !copy_evictions(pdd, &again) || mutex_is_locked(lock) ||
	    memcmp(&e, &again, sizeof(e)))
		return;
	if (e.evicted && e.since)
		e.counter += now - e.since;
	if (e.counter <= now - INITIAL_JIFFIES + 1)
		gpu->evicted_ms = jiffies64_to_msecs(e.counter);
}

int gp_evictions_count(void *pdd)
{
	void *qpd = gp_ptr(pdd, kfd_process_device, qpd);
	u32 count;

	return gp_has(evictions) && !gp_get(qpd, qcm_process_device, evicted, &count) ? (int)count :
											-1;
}
