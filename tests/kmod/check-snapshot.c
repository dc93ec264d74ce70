// SPDX-License-Identifier: GPL-2.0-only
/*
 * The copy of a process's queues (kmod/snapshot.c, kmod/queue.c) while the list of
 * them changes between two holds of its mutex, or while the mutex is not to be had. In
 * all cases the devices are given back, and nothing is allocated inside of a lock.
 */
#include "fake-process.h"

static struct gp_snapshot snap;
static struct gp_list *list;
static struct gp_list *slots;

#define take(last, hardware) take_from(&ours, last, hardware, __LINE__)
static unsigned int what_of(struct pid *pid, bool hardware)
{
	return !hardware ? GP_READ_QUEUES :
	       pid	 ? GP_READ_QUEUES | GP_READ_SLOTS | GP_READ_WAVES :
			   GP_READ_QUEUES | GP_READ_WAVES;
}

static int take_from(struct pid *pid, struct gp_list *last, bool hardware, int line)
{
	const int before = allocated;
	int i, ret;

	snprintf(fake_case, sizeof(fake_case), "(line %d: queue %d, pattern %d, hold %d)", line,
		 victim, pattern, when);
	walks = loads = copies = tries = sleeps = most_per_hold = hw_reads = 0;
	gp_stats[GP_STAT_process_busy].counter = 0;
	memset(&snap, 0, sizeof(snap));
	ret = gp_snapshot_take(pid, last, what_of(pid, hardware), &snap);
	list = snap.queues;
	slots = snap.slots;
	want(!held && !walking && !preempt_off);
	want(!devices[0] && !devices[1]);
	want(allocated == before + (ret ? 0 : pid && hardware ? 4 : 3));
	want(most_per_hold <= HOLD_QUEUES);
	for (i = 1; !ret && pid && i < (int)list->n; i++)
		want(by_id(&list->q[i - 1], &list->q[i]) <= 0);
	return ret;
}

static void drop(void)
{
	gp_snapshot_free(&snap);
	list = NULL;
	slots = NULL;
}

/* Take a list; without one there is nothing to look at. */
#define must_take(last, hardware)                \
	do {                                     \
		int ret_ = take(last, hardware); \
		want(!ret_);                     \
		if (ret_)                        \
			exit(1);                 \
	} while (0)

/* A read that fails, and leaves nothing behind. */
#define refused(last, error) refused_from(last, error, __LINE__)
static void refused_from(struct gp_list *last, int error, int line)
{
	want(take_from(&ours, last, true, line) == error);
	want(!list && !slots);
}

/* Check that all queues are there, each once, but for one that may be missing. */
static void want_all(int may_miss)
{
	int seen[QUEUES] = { 0 };
	u32 i;

	for (i = 0; i < list->n; i++)
		seen[list->q[i].qid]++;
	for (i = 0; i < n_queues; i++)
		want(seen[i] == 1 || (i == may_miss && !seen[i]));
}

/* Take a list in peace, for later reads. */
static struct gp_list *take_last(void)
{
	struct gp_list *last;

	must_take(NULL, false);
	last = list;
	snap.queues = NULL;
	drop();
	return last;
}

static void check_holds(void)
{
	struct gp_list *last;

	start(1, 20);
	last = take_last(); /* no room for them at first */
	want(walks == 2 && tries == 2 * (20 / HOLD_QUEUES + 1) && most_per_hold == HOLD_QUEUES);
	want(last->n == 20);
	want(last->q[3].slots == 8 && last->q[3].gpu_id == 100);
	want(last->q[3].mqd == 0x4000 && last->q[3].context == -1);
	FIELD(OBJECT(QUEUE + 19), process_queue_node, q) = NULL;
	last->q[4].slot = 44;
	last->q[5].slot = 55;
	last->q[5].mqd++;
	last->q[6].slot = 66;
	last->q[6].ctx++;
	must_take(last, true);
	want(walks == 1 && tries == 20 / HOLD_QUEUES + 1 && list->n == 19);
	want(list->q[3].slot == -1 && list->q[4].slot == 44);
	want(list->q[5].slot == -1 && list->q[6].slot == -1);
	want(slots->n == 19 * 8);
	drop();
	kvfree(last);
}

/* Contents of an entry's memory after it was taken out of the list. */
enum { FREED, FREED_ZERO, FREED_SELF, NEXT_BACK, PREV_BACK, OF_OTHER, ADDED_AGAIN };

/* The list changes before one of the holds. */
static void change(void)
{
	struct list_head *l = link_of(victim), *free = link_of(61);
	char *memory = OBJECT(QUEUE + victim);

	if (tries != when)
		return;
	unlink_entry(l);
	*free = (struct list_head){ l, l };
	is_free[QUEUE + 61] = true;
	is_free[QUEUE + victim] = pattern <= PREV_BACK;
	if (pattern <= FREED_SELF) {
		memset(memory, pattern == FREED ? 0x6b : 0, FAKE_INNER);
		FIELD(memory, process_queue_node, q) = OBJECT(QUEUE + 61);
	}
	if (pattern == FREED_SELF)
		*l = (struct list_head){ l, l };
	else if (pattern == NEXT_BACK)
		*l = (struct list_head){ free, head_of(0) };
	else if (pattern == PREV_BACK)
		*l = (struct list_head){ link_of(20), free };
	else if (pattern == OF_OTHER)
		add(victim, 1, 1);
	else if (pattern == ADDED_AGAIN)
		add(victim, 0, 0);
}

static void check_changes(void)
{
	struct gp_list *last;

	start(1, 20);
	last = take_last();
	for (pattern = 0; pattern <= ADDED_AGAIN; pattern++)
		for (victim = 0; victim < 20; victim++)
			for (when = 1; when <= 20 / HOLD_QUEUES; when++) {
				int queue = victim;

				start(2, 20);
				pids[1] = &others;
				add(20, 1, 0);
				victim = queue;
				at_try = change;
				must_take(last, false);
				want_all(victim);
				drop();
			}
	kvfree(last);
}

static void check_busy(void)
{
	struct gp_list *last;
	u32 i;

	start(1, 20);
	last = take_last();
	for (i = 5; i < 50; i *= 5) { /* between two holds, and not for long */
		held_for = i;
		waits = 0;
		must_take(last, false);
		want(walks == 1 && waits == (i < HOLD_WAITS ? 5 : HOLD_WAITS));
		want_all(-1);
		drop();
	}
	held_for = 0;
	busy_at = 2; /* the second hold, once */
	busy_times = 1;
	must_take(last, false);
	want(walks == 2 && sleeps == 1 && !list->q[0].age_ms);
	want(snap.procs->s[0].gpus == 1);
	want_all(-1);
	drop();

	busy_times = 1000; /* and the third always */
	busy_at = 3;
	fake_now += 5000000;
	for (i = 0; i < last->n; i++)
		last->q[i].active = 8;
	must_take(last, false);
	want(walks == 4 && sleeps == 3);
	want(gp_stats[GP_STAT_process_busy].counter == 1);
	want_all(-1);
	for (i = 0; i < list->n; i++)
		want(list->q[i].age_ms == 5 && list->q[i].active == -1);
	drop();
	busy_at = 1;
	refused(NULL, -EBUSY);
	for (i = 0; i < last->n; i++)
		last->q[i].ctx++;
	refused(last, -EBUSY);
	kvfree(last);

	start(3, 20); /* two contexts of it, of which one is busy */
	pids[2] = &others;
	add(20, 1, 0);
	add(60, 2, 0);
	n_queues = 21;
	last = take_last();
	busy_context = busy_at = 1;
	must_take(last, true);
	want_all(-1);
	want(list->q[20].context == 1 && list->q[20].age_ms == 1);
	want(list->q[19].context == -1 && !list->q[19].age_ms);
	drop();
	while (n_queues < 33) /* and the other has more than there is room for */
		add(n_queues++, 0, 0);
	must_take(last, true);
	want_all(-1);
	drop();
	kvfree(last);
}

/* The process opens another node after its nodes were loaded. */
static void open_node(void)
{
	n_nodes = 2;
}

/* Open another node, and make queues all the time. */
static void open_and_add(void)
{
	int i;

	n_nodes = 2;
	for (i = 0; walks > 1 && holds == 0 && i < 10; i++)
		add(n_queues++, 0, 0);
}

static void check_moving(void)
{
	struct gp_list *last;

	start(1, 19);
	add(19, 0, 1); /* the first of the list */
	n_queues = 20;
	n_nodes = 2;
	last = take_last();
	n_nodes = 1;
	at_try = open_node;
	must_take(last, true);
	want(walks == 2 && list->q[19].gpu_id == 101);
	want_all(-1);
	drop();
	kvfree(last);
	at_try = NULL;
	n_nodes = 1;
	refused(NULL, -EUCLEAN);
	want(walks == FIT_TRIES && strstr(fake_broken, "queue.device"));

	start(1, 19);
	add(19, 0, 1);
	n_queues = 20;
	at_try = open_and_add;
	refused(NULL, -EBUSY);
	want(walks == FIT_TRIES);
	start(1, 8); /* they fit, and so do their slots */
	xccs = 16;
	must_take(NULL, true);
	want(walks == 1 && slots->n == 8 * 16);
	drop();
}

static void check_refused(void)
{
	int i;

	start(64, 20);
	add(60, 1, 0); /* an id of the first context, too */
	FIELD(gp_ptr(OBJECT(QUEUE + 60), queue, properties), queue_properties, queue_id) = 5;
	must_take(NULL, true);
	want(walks == 2 && list->n == 21 && snap.procs->s[0].gpus == 64);
	drop();
	start(65, 1);
	refused(NULL, -E2BIG);
	start(1, 1);
	pids[0] = &others;
	refused(NULL, -ESTALE);
	pids[0] = NULL;
	refused(NULL, -ESTALE);

	start(1, 4);
	n_nodes = 2;
	hold_error = 101;
	refused(NULL, -EUCLEAN);
	hold_error = 0;
	node_error = 2;
	refused(NULL, -EUCLEAN);
	node_error = 0;
	for (kill_at = 1; kill_at <= 4 + 2; kill_at++)
		refused(NULL, -EINTR);
	for (i = 1; i <= 4; i++) {
		fail_alloc = i;
		refused(NULL, -ENOMEM);
	}
	FIELD(OBJECT(QUEUE + 2), queue, process) = OBJECT(1);
	refused(NULL, -EUCLEAN);
	want(strstr(fake_broken, "queue.process"));
}

/* A list that does not come back to its head, of queues or of the kernel's own. */
static void check_endless(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		start(1, 5);
		link_of(0)->next = link_of(4);
		link_of(4)->prev = link_of(0);
		if (i)
			for (; i < 6; i++)
				FIELD(OBJECT(QUEUE + i - 1), process_queue_node, q) = NULL;
		refused(NULL, -EUCLEAN);
		want(walks == 1 && strstr(fake_broken, "has an end"));
	}
}

/* All processes: no slot is searched, and a busy one has no queues. */
static void check_all(void)
{
	u32 i;

	start(3, 20);
	pids[1] = NULL; /* the process is ending */
	pids[2] = &others;
	add(20, 2, 0);
	for (i = 0; i < 3; i++) {
		want(!take_from(NULL, NULL, true, __LINE__));
		want(walks == (i ? 1 : 2) && list->n == 21 && !slots);
		want(hw_reads == 1 && list->q[20].ctx != list->q[0].ctx);
		want(list->q[20].hardware == GP_VIEW_HARDWARE_READ);
		want(list->q[20].active == -1);
		drop();
	}
	busy_context = 0;
	busy_at = 1;
	want(!take_from(NULL, NULL, true, __LINE__));
	want(walks == LOCK_TRIES && list->n == 1 && list->q[0].qid == 20);
	drop();
	busy_at = 0;
	pids[0] = pids[2] = NULL;
	want(!take_from(NULL, NULL, true, __LINE__) && !list->n);
	drop();
	for (i = 1; i <= 4; i++) {
		start(1, 4);
		fail_alloc = i;
		want(take_from(NULL, NULL, true, __LINE__) == -ENOMEM);
	}
}

/* Start so many processes with a queue each, but for one whose driver's data is wrong. */
static void start_many(int n, int wrong)
{
	int i;

	start(n, 0);
	for (i = 0; i < n; i++) {
		pids[i] = &many[i];
		add(i, i, 0);
	}
	if (wrong >= 0)
		FIELD(OBJECT(QUEUE + wrong), queue, process) = OBJECT(CONTEXTS);
}

/* Check that one walk has all processes, and costs the same for each. */
static void check_many(void)
{
	static const int counts[] = { 8, 64, 1000 };
	int n, each = 0;
	u32 i, c;

	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		n = counts[c];
		start_many(n, -1);
		want(!take_from(NULL, NULL, false, __LINE__)); /* for the room */
		drop();
		want(!take_from(NULL, NULL, false, __LINE__));
		want(walks == 1 && loads == 1 && list->n == n);
		want(snap.procs->n == n && snap.gpus->n == 2 * n);
		for (i = 0; i < list->n; i++)
			want(snap.procs->s[list->q[i].proc].of == &many[list->q[i].qid] &&
			     snap.gpus->g[list->q[i].gpu].node_id == 100);
		want(!each || copies <= each * n);
		each = copies / n + 1;
		drop();
	}
}

static const struct gp_summaries *take_procs(void)
{
	want(!gp_snapshot_take(NULL, NULL, GP_READ_QUEUES | GP_READ_SLOTS, &snap));
	gp_snapshot_sum_procs(&snap);
	return snap.procs;
}

/* The facts of a wrong process are not known, and the others are there. */
static void check_wrong(void)
{
	const struct gp_summaries *all;
	const struct gp_gpus *gpus;
	u32 i;

	FIELD(gp_ptr(OBJECT(PDD), kfd_process_device, qpd), qcm_process_device, queue_count) = 1;
	start_many(8, 5);
	FIELD(OBJECT(PDD), kfd_process_device, drm_priv) = OBJECT(PDD);
	all = take_procs();
	want(all->n == 8);
	for (i = 0; i < all->n; i++) {
		want(all->s[i].pid == 100 + (int)i);
		want(all->s[i].queues == (i == 5 ? -1 : 1));
		want(all->s[i].gpus == (i == 5 ? -1 : 1));
		want(all->s[i].active == (i == 5 ? -1 : 8));
	}
	drop();
	want(!take_from(NULL, NULL, true, __LINE__));
	gp_snapshot_sum_gpus(&snap, true);
	gpus = snap.gpus;
	want(gpus->n == 8);
	for (i = 0; i < gpus->n; i++) {
		want(gpus->g[i].pid == 100 + (int)i && gpus->g[i].queues == 1);
		want(gpus->g[i].hardware == (i == 5 ? -1 : GP_VIEW_HARDWARE_READ));
		want(gpus->g[i].suspended == (i == 5 ? -1 : 0));
		want(gpus->g[i].waves_max == 7);
	}
	drop();
	start_many(8, -1); /* busy all the time */
	busy_context = 5;
	busy_at = 1;
	walks = 0;
	all = take_procs();
	want(all->n == 8 && all->s[5].queues == -1 && all->s[5].pid == 105);
	want(all->s[4].queues == 1 && walks == LOCK_TRIES);
	drop();
}

/* Evictions in a process-device: of the driver's three notes, and its lock. */
static s64 evicted(u32 now, u64 since, u64 counter, int locked)
{
	void *qpd = gp_ptr(OBJECT(PDD), kfd_process_device, qpd);
	struct gp_gpu gpu = { .evicted = -1, .evicted_ms = -1, .need = -1 };
	const struct gp_node n = { .dqm = OBJECT(PDD) };

	FIELD(qpd, qcm_process_device, evicted) = now;
	FIELD(OBJECT(PDD), kfd_process_device, last_evict_timestamp) = since;
	FIELD(OBJECT(PDD), kfd_process_device, evict_duration_counter).counter = counter;
	locked_in = locked;
	gp_evictions_copy(&n, OBJECT(PDD), &gpu);
	want(gpu.evicted == !!now);
	return gpu.evicted_ms;
}

static void check_evictions(void)
{
	jiffies = INITIAL_JIFFIES + 500;
	want(evicted(0, 0, 0, 0) == 0);
	want(evicted(0, jiffies - 90, 30, 0) == 30 * 4);
	want(evicted(2, jiffies - 90, 30, 0) == (30 + 90) * 4);
	want(evicted(1, jiffies - 90, 30, 1) == -1); /* the walk has the lock */
	want(evicted(1, jiffies - 90, 30, 2) == -1); /* or takes it */
	want(evicted(1, 0, 0, 0) == 0);		     /* before it had an address space there */
	want(evicted(0, 0, jiffies, 0) == -1);	     /* and what comes of that */
}

/* The mutex is not held longer for the most queues that the driver allows. */
static void check_most(void)
{
	start(1, QUEUES);
	must_take(NULL, true);
	want(list->n == QUEUES && most_per_hold == HOLD_QUEUES);
	want_all(-1);
	drop();
}

int main(void)
{
	fake_layout();
	check_holds();
	check_changes();
	check_busy();
	check_moving();
	check_refused();
	check_endless();
	check_all();
	check_many();
	check_wrong();
	check_evictions();
	check_most();
	want(!allocated);
	if (!fake_bad)
		printf("kmod/snapshot.c: copies queues once each while their list changes\n");
	return fake_bad != 0;
}
