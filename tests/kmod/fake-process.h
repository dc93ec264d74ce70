/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of KFD for the test of snapshot.c and queue.c, with lists of queues that
 * can change, and a mutex that can be held, at each try to take it. What must not be
 * done inside of a lock is noticed.
 */
#ifndef GP_FAKE_PROCESS_H
#define GP_FAKE_PROCESS_H

#include "fake-kernel.h"

#define gfp_t int

enum { CONTEXTS = 1000, NODE = CONTEXTS, PDD = NODE + 4, QUEUE = 1010, QUEUES = 1024 };
#define OBJECT(i) ((void *)fake_memory[i])

static struct pid ours, others, many[CONTEXTS];
static int fake_nr(const struct pid *pid)
{
	return pid == &ours ? 1 : pid == &others ? 2 : 100 + (int)(pid - many);
}

static struct pid *pids[CONTEXTS];
static int xccs, n_contexts, n_nodes, node_error, hold_error;
static int walks, loads, copies, holds, tries, sleeps, per_hold, most_per_hold;
static int busy_at, busy_times, busy_context, when, victim, pattern;
static int preempt_off, allocated, fail_alloc, kill_at, hw_reads, n_queues;
static bool held, walking, is_free[FAKE_OBJECTS];
static void (*at_try)(void);

/* Called by all functions that can sleep. */
static void sleeps_here(void)
{
	want(!held && !walking && !preempt_off);
}

static void *fake_alloc(size_t size, int fill)
{
	void *p = NULL;

	sleeps_here();
	if (!fail_alloc || --fail_alloc) {
		p = malloc(size);
		memset(p, fill, size);
		allocated++;
	}
	return p;
}

static void kvfree(void *p)
{
	allocated -= !!p;
	free(p);
}

#define GFP_KERNEL_ACCOUNT	      0
#define kvmalloc_array(n, size, gfp)  fake_alloc((n) * (size), (gfp) + 0xa5)
#define kvzalloc(size, gfp)	      fake_alloc(size, gfp)
#define sort(base, n, size, by, swap) qsort(base, n, size, by)
#define put_pid(pid)		      ((void)(pid))
#define pid_nr(pid)		      fake_nr(pid)
#define ns_of_pid(pid)		      NULL
#define pid_nr_ns(pid, ns)	      pid_nr(pid)
#define get_pid_task(pid, type)	      ((struct task_struct *)NULL)
#define get_task_comm(to, task)	      ((void)(to))
#define put_task_struct(task)	      ((void)(task))
#define smp_rmb()		      ((void)0)

/* The clock of the driver's notes of evictions, and the lock of its queue manager. */
static u64 jiffies;
static int locked_in;
#define INITIAL_JIFFIES	      1000
#define get_jiffies_64()      (jiffies)
#define jiffies64_to_msecs(j) (4 * (j))
/* The driver has the mutex of a process for so many looks. */
static int held_for, waits;
static void udelay(unsigned long us)
{
	want(walking && !held && !preempt_off);
	waits++;
}

static bool mutex_is_locked(struct mutex *m)
{
	if ((char *)m < fake_memory[CONTEXTS])
		return held_for && held_for--;
	return locked_in && !--locked_in;
}
#define preempt_disable() (preempt_off++)
#define preempt_enable()  (preempt_off--)

static void usleep_range(unsigned long from, unsigned long to)
{
	sleeps_here();
	sleeps++;
}

static bool mutex_trylock(struct mutex *m)
{
	int context = ((char *)m - fake_memory[0]) / FAKE_SIZE;

	want(!held && walking && preempt_off);
	tries++;
	if (at_try)
		at_try();
	holds += context == busy_context;
	if (context == busy_context && holds == busy_at && busy_times) {
		busy_times--;
		return false;
	}
	per_hold = 0;
	return held = true;
}

static void mutex_unlock(struct mutex *m)
{
	want(held);
	held = false;
	most_per_hold = max(most_per_hold, per_hold);
}

#include "../../kmod/queue.c"
#include "../../kmod/snapshot.c"

static bool mapped(const void *src, size_t size)
{
	size_t at = (char *)src - fake_memory[0];

	copies++;
	if (!fake_is_object(src, size))
		return false;
	if (at % FAKE_SIZE == gp_layout.queue__gart_mqd_addr.at.offset) {
		want(held);
		per_hold++;
	}
	return true;
}

static void kasan_check_read(const void *src, size_t size)
{
	want(!fake_is_object(src, size) || !is_free[((char *)src - fake_memory[0]) / FAKE_SIZE]);
}

int gp_table_walk(int (*fn)(void *p, void *data), void *data)
{
	int i, ret = 0;

	walks++;
	holds = 0;
	walking = true;
	for (i = 0; i < n_contexts && !ret; i++)
		ret = fn(OBJECT(i), data);
	walking = false;
	return ret;
}

struct pid *gp_table_pid(void *p)
{
	return pids[((char *)p - fake_memory[0]) / FAKE_SIZE];
}

u32 gp_node_count(void *p)
{
	return n_nodes + 1;
}

/* The first of them has no DRM file. The process-devices are all one. */
int gp_node_find(void *p, u32 i, void **pdd, void **node)
{
	want(walking && !held);
	*pdd = OBJECT(PDD);
	*node = i ? OBJECT(NODE + i - 1) : NULL;
	return 0;
}

int gp_node_load(void *node, struct gp_node *n)
{
	int i = ((char *)node - fake_memory[0]) / FAKE_SIZE - NODE;

	memset(n, 0, sizeof(*n));
	n->node = node;
	n->dqm = OBJECT(PDD);
	n->gpu_id = 100 + i;
	n->waves_max = 7;
	n->xcc_mask = (1 << xccs) - 1;
	loads++;
	return i + 1 == node_error ? -EUCLEAN : 0;
}

static int devices[2];

bool gp_node_hold(struct gp_node *n)
{
	if (n->gpu_id == hold_error)
		return false;
	want(!devices[n->gpu_id - 100]++); /* once for all contexts */
	return true;
}

void gp_node_drop(struct gp_node *n)
{
	sleeps_here();
	want(!--devices[n->gpu_id - 100]);
}

void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_list *s)
{
	sleeps_here();
	want(devices[n->gpu_id - 100] == 1 && q->gpu_id == n->gpu_id);
	q->active = q->slots;
	s->n += s->room ? q->slots : 0; /* for all processes no slot is kept */
	want(s->n <= s->room);
	fake_killed = ++hw_reads == kill_at;
}

void gp_waves_count(struct gp_node *n, struct gp_list *out, struct gp_list *s,
		    struct kfd_cu_occupancy *counts)
{
	sleeps_here();
	want(devices[n->gpu_id - 100] == 1);
	memset(counts, 0, GP_CP_SLOTS_MAX * sizeof(*counts));
	fake_killed = ++hw_reads == kill_at;
}

static struct list_head *link_of(int queue)
{
	return gp_ptr(OBJECT(QUEUE + queue), process_queue_node, process_queue_list);
}

static struct list_head *head_of(int context)
{
	return gp_ptr(gp_ptr(OBJECT(context), kfd_process, pqm), process_queue_manager, queues);
}

static void link_first(struct list_head *l, struct list_head *head)
{
	l->next = head->next;
	l->prev = head;
	l->next->prev = l;
	head->next = l;
}

static void unlink_entry(struct list_head *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
	l->next = (void *)0x100;
	l->prev = (void *)0x122;
}

/* The entry and the queue lie in one object. The driver adds at the head. */
static void add(int queue, int context, int node)
{
	void *q = OBJECT(QUEUE + queue);
	void *props = gp_ptr(q, queue, properties);

	link_first(link_of(queue), head_of(context));
	FIELD(q, process_queue_node, q) = q;
	FIELD(q, queue, process) = OBJECT(context);
	FIELD(q, queue, device) = OBJECT(NODE + node);
	FIELD(q, queue, gart_mqd_addr) = 0x1000 * (queue + 1);
	FIELD(props, queue_properties, queue_id) = queue;
	FIELD(props, queue_properties, type) = gp_layout.KFD_QUEUE_TYPE_COMPUTE;
}

/* Contexts of one process; all queues are in the first of them. */
static void start(int contexts, int queues)
{
	int i;

	n_contexts = contexts;
	n_queues = queues;
	n_nodes = 1;
	xccs = 8;
	node_error = hold_error = busy_at = busy_context = victim = 0;
	busy_times = 1000;
	fail_alloc = kill_at = 0;
	fake_killed = false;
	at_try = NULL;
	memset(is_free, 0, sizeof(is_free));
	for (i = 0; i < contexts; i++) {
		pids[i] = &ours;
		head_of(i)->next = head_of(i)->prev = head_of(i);
		FIELD(OBJECT(i), kfd_process, context_id) = i ?: 0xffff;
	}
	for (i = 0; i < queues; i++)
		add(i, 0, 0);
}

#endif /* GP_FAKE_PROCESS_H */
