// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over KFD's table (kmod/table.c) while an entry goes away under it: the creation of a
 * process fails, which waits for no reader. That happens at each of the reads of the walk in
 * turn, and its memory then has what freed and reused memory may have. Processes that are in
 * the table all the time have to be visited once each, the other never; and what is read of it
 * never as memory that is alive, of which KASAN is asked.
 *
 * The kernel's types are those of fake-kernel.h.
 */
#include "fake-kernel.h"

/* Replace READ_ONCE(): each read is a tick. */
#undef READ_ONCE
#define READ_ONCE(x)                             \
	({                                       \
		tick();                          \
		*(volatile __typeof__(x) *)&(x); \
	})
/* Barriers are a tick, too: the list can change there. */
#define smp_rmb() tick() /* no other processor reads */

static void tick(void);
static bool within_module(unsigned long addr, const struct module *mod);
static int srcu_read_lock(struct srcu_struct *s)
{
	(void)s;
	return 0;
}
static void srcu_read_unlock(struct srcu_struct *s, int i)
{
	(void)s;
	(void)i;
}
static struct pid *get_task_pid(struct task_struct *t, int type);

#include "../../kmod/table.c"

/* A process. The driver has one of the two members that tell whether it is whole. */
struct process {
	struct hlist_node node;
	struct work_struct work;
	struct mmu_notifier notifier;
	void *pqm_process;
	struct task_struct *lead;
};

enum { MAX = 5, READS = 200 };

static struct process p[MAX];
static struct hlist_head table[2];
static struct srcu_struct srcu;
static struct module amdgpu;
static struct task_struct task;
static struct pid a_pid;
static int reads, when, dying, dead, pattern, visits[MAX], bad;
static const void *asked_at;
static size_t asked_size;

static void fail(const char *what)
{
	if (bad++ < 5)
		printf("check-walk: %s (entry %d dies at read %d, memory %d)\n", what, dying, when,
		       pattern);
}

static void scribble(struct process *q)
{
	switch (pattern) {
	case 0: /* unchanged */
		break;
	case 1:
		memset(q, 0, sizeof(*q));
		break;
	case 2:
		memset(q, 0x6b, sizeof(*q));
		break;
	case 3: /* a circle */
		q->node.next = &q->node;
		break;
	case 4: /* into the middle of something */
		memset(q, 0, sizeof(*q));
		q->node.next = (struct hlist_node *)&p[0].work;
		break;
	case 5: /* back */
		q->node.next = table[0].first;
		break;
	}
}

/* Take an entry out as hlist_del_rcu() does; then its memory is freed and given to others. */
static void die(void)
{
	struct process *q = &p[dying];

	dead = true;
	*q->node.pprev = q->node.next;
	if (q->node.next)
		q->node.next->pprev = q->node.pprev;
	q->node.pprev = (void *)0x122;
	scribble(q);
}

static void tick(void)
{
	if (++reads == when && !dead)
		die();
	if (reads > READS * MAX) {
		printf("check-walk: it does not end\n");
		exit(1);
	}
}

static bool mapped(const void *src, size_t size)
{
	const char *at = src;

	tick();
	return (at >= (char *)p && at + size <= (char *)(p + MAX)) ||
	       (at >= (char *)table && at + size <= (char *)(table + 2));
}

static void kasan_check_read(const void *src, size_t size)
{
	asked_at = src;
	asked_size = size;
	if (dead && (char *)src >= (char *)&p[dying] && (char *)src < (char *)(&p[dying] + 1))
		fail("KASAN is asked of memory that is free");
}

static bool within_module(unsigned long addr, const struct module *mod)
{
	return addr - (unsigned long)mod->text < sizeof(mod->text);
}

static struct pid *get_task_pid(struct task_struct *t, int type)
{
	return t == &task && type == PIDTYPE_TGID ? &a_pid : NULL;
}

/*
 * Make a process, up to the step that the driver has reached. The last step that can fail
 * registers its notifier; a driver with kfd_node goes on, and writes the function of a work
 * item.
 */
static void make(struct process *q, bool whole)
{
	q->notifier.ops = amdgpu.text;
	if (whole || gp_layout.has_nodes) {
		q->notifier.mm = &task;
		q->notifier.users = 1;
	}
	if (whole && gp_layout.has_nodes)
		q->work.func = (void (*)(void))(uintptr_t)amdgpu.text;
}

/* All in one bucket, in order; the one that is being created is not whole. */
static void fill(int n)
{
	struct hlist_node **at = &table[0].first;
	int i;

	memset(p, 0, sizeof(p));
	table[0].first = NULL;
	memset(visits, 0, sizeof(visits));
	reads = 0;
	dead = false;
	for (i = 0; i < n; i++) {
		p[i].node.pprev = at;
		*at = &p[i].node;
		at = &p[i].node.next;
		p[i].pqm_process = &p[i];
		p[i].lead = &task;
		make(&p[i], i != dying);
	}
}

static int visit(void *at, void *data)
{
	long i = (struct process *)at - p;

	(void)data;
	if (i < 0 || i >= MAX || at != (void *)&p[i])
		fail("something is visited that is no process");
	else
		visits[i]++;
	return 0;
}

static void check(int n)
{
	int i;

	fill(n);
	if (gp_table_walk(visit, NULL))
		fail("the walk ends with an error");
	for (i = 0; i < n; i++) {
		int want = i == dying ? 0 : 1;

		if (visits[i] != want)
			fail(i == dying ? "a process is visited that is not whole" :
			     visits[i]	? "a process is visited twice" :
					  "a process is missed");
	}
}

/* Check that living entries are read in a form that KASAN checks. */
static void check_alive(void)
{
	dying = MAX;
	when = 0;
	fill(1);
	asked_at = NULL;
	if (gp_table_pid(&p[0]) != &a_pid)
		fail("the PID is another");
	if (asked_at != &p[0].lead || asked_size != sizeof(p[0].lead))
		fail("KASAN is not asked of the field that is read");
	asked_at = NULL;
	if (gp_table_walk(visit, NULL) || asked_at)
		fail("KASAN is asked of what need not be alive");
}

static int check_all(void)
{
	int n, cases = 0;

	for (n = 1; n <= MAX; n++)
		for (dying = 0; dying < n; dying++)
			for (pattern = 0; pattern <= 5; pattern++)
				for (when = 1; when <= READS; when++, cases++)
					check(n);
	check_alive();
	return cases;
}

int main(void)
{
	int cases;

	gp_symbols = (struct gp_symbols){
		.amdgpu = &amdgpu, .table = table, .buckets = 2, .srcu = &srcu
	};
	gp_layout.kfd_process__kfd_processes.at.offset = offsetof(struct process, node);
	gp_layout.kfd_process__debug_event_workarea.at.offset = offsetof(struct process, work);
	gp_layout.kfd_process__mmu_notifier.at.offset = offsetof(struct process, notifier);
	gp_layout.kfd_process__pqm.at.offset = offsetof(struct process, pqm_process);
	gp_layout.process_queue_manager__process.at.offset = 0;
	gp_layout.kfd_process__lead_thread.at.offset = offsetof(struct process, lead);
	gp_layout.has_nodes = true;
	cases = check_all();
	gp_layout.has_nodes = false;
	cases += check_all();
	if (!bad)
		printf("kmod/table.c: sees all processes while one goes away (%d cases)\n", cases);
	return bad != 0;
}
