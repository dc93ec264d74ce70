// SPDX-License-Identifier: GPL-2.0-only
/* A cycle: suspend, hold, resume, wait. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "preempt.h"

/* Note when the last slot of all members was seen empty; unknown if one member is. */
static void note_slots(struct preempt_cycle *all, const struct gpreempt_member *m, bool first)
{
	const struct gpreempt_outcome *o = &m->outcome;

	if (o->slots_ns == GPREEMPT_UNKNOWN || (!first && all->slots_ns == GPREEMPT_UNKNOWN)) {
		all->slots_ns = GPREEMPT_UNKNOWN;
		all->resolution_ns = GPREEMPT_UNKNOWN;
		return;
	}
	if (first || all->slots_ns < o->slots_ns + (int64_t)m->start_ns)
		all->slots_ns = o->slots_ns + m->start_ns;
	if (first || all->resolution_ns < o->resolution_ns)
		all->resolution_ns = o->resolution_ns;
}

static void note_suspend(struct preempt *p, const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now = (struct preempt_cycle){
		.requested = out->requested,
		.done = out->done,
		.suspend_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns,
	};
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		preempt_find_target(p, m->pid)->now = (struct preempt_cycle){
			.requested = m->outcome.requested,
			.done = m->outcome.done,
			.suspend_ns = m->outcome.ioctl_ns,
			.slots_ns = m->outcome.slots_ns,
			.resolution_ns = m->outcome.resolution_ns,
		};
		note_slots(&p->now, m, i == 0);
	}
}

/*
 * Note queues that ran after the slots were empty: the verdict is no "yes" then, and a "no" when
 * they ran a tenth of the time.
 */
static void note_released(struct preempt_cycle *c, uint64_t ns)
{
	if (ns > c->released_ns)
		c->released_ns = ns;
	if (ns && c->verdict == GPREEMPT_VERIFIED) {
		c->verdict = GPREEMPT_NOT_CHECKED;
		c->by = GPREEMPT_BY_NOTHING;
	}
	if (ns > c->held_ns / 10)
		c->verdict = GPREEMPT_CONTRADICTED;
}

static void note_resume(struct preempt *p, uint64_t held_ns,
			const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now.held_ns = held_ns;
	p->now.resume_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns;
	for (i = 0; i < p->n_targets; i++) {
		struct preempt_target *t = preempt_find_target(p, p->members[i].pid);

		t->now.resume_ns = p->members[i].outcome.ioctl_ns;
		t->now.held_ns = held_ns;
		note_released(&t->now, p->members[i].outcome.released_ns);
		note_released(&p->now, p->members[i].outcome.released_ns);
	}
}

/* Fail a call on all targets, by the reason of the first target that failed. */
static int fail_members(struct preempt *p, int code)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		if (!p->members[i].code)
			continue;
		p->err = p->members[i].error;
		if (p->err.reason)
			return code;
	}
	return ctl_set_error(&p->err, code, GPREEMPT_SYSTEM, p->targets[0].pid, "measuring");
}

static void disturb_begin(struct disturb *d, enum disturb_op op);
static void disturb_end(struct disturb *d);

/* Call the gang. 0, or the first error; p->members has the result of each. */
static int ask(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	const struct gpreempt_filter *which = &p->args->targets.queues;
	int ret;

	disturb_begin(p->disturb, op);
	ret = op == DISTURB_SUSPEND ? gpreempt_gang_suspend(p->gang, which, out) :
				      gpreempt_gang_resume(p->gang, which, out);
	disturb_end(p->disturb);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	return ret;
}

static int call(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	int ret = ask(p, op, out);

	while (ret && op == DISTURB_SUSPEND && preempt_change_route(p))
		ret = ask(p, op, out);
	return ret ? fail_members(p, ret) : 0;
}

/* Check that the suspended queues are out of their slots. */
static void verify_all(struct preempt *p)
{
	static const int weight[] = {
		[GPREEMPT_VERIFIED] = 0,
		[GPREEMPT_NOT_CHECKED] = 1,
		[GPREEMPT_CONTRADICTED] = 2,
	};
	size_t i;

	gpreempt_gang_verify(p->gang);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];
		struct preempt_cycle *c = &preempt_find_target(p, m->pid)->now;
		int more = weight[m->verdict] - weight[p->now.verdict];

		c->verdict = m->verdict;
		c->by = m->verified_by;
		/* Take the verdict with less evidence of two equal ones. */
		if (!i || more > 0 || (!more && c->by < p->now.by)) {
			p->now.verdict = c->verdict;
			p->now.by = c->by;
		}
	}
}

static int keep(struct preempt_figures *f, struct preempt_cycle *now, bool first)
{
	int ret = 0;

	now->succeeded = now->requested && now->done == now->requested &&
			 now->verdict != GPREEMPT_CONTRADICTED;
	f->succeeded += now->succeeded;
	f->verdicts[now->verdict]++;
	f->by_waves += now->by == GPREEMPT_BY_SLOTS_WAVES;
	if (!now->requested)
		return 0;
	if (first)
		f->first_ns = now->suspend_ns;
	else
		ret = preempt_add_sample(&f->suspend, now->suspend_ns);
	if (!ret && !first && now->slots_ns != GPREEMPT_UNKNOWN) {
		ret = preempt_add_sample(&f->slots, now->slots_ns);
		if (!ret)
			ret = preempt_add_sample(&f->resolution, now->resolution_ns);
	}
	return ret ? ret : preempt_add_sample(&f->resume, now->resume_ns);
}

static int keep_all(struct preempt *p)
{
	bool first = p->cycles == 1;
	size_t i;
	int ret;

	ret = keep(&p->all, &p->now, first);
	for (i = 0; i < p->n_targets && !ret; i++)
		ret = keep(&p->targets[i].figures, &p->targets[i].now, first);
	return ret ? ctl_set_error(&p->err, ret, GPREEMPT_SYSTEM, 0, "keeping the samples") : 0;
}

int preempt_cycle(struct preempt *p)
{
	struct gpreempt_gang_outcome out;
	int ret, online = 0;
	uint64_t start;

	p->cycles++;
	ret = call(p, DISTURB_SUSPEND, &out);
	if (ret)
		return ret;
	start = shr_now_ns();
	note_suspend(p, &out);
	verify_all(p);
	if (p->args->command)
		online = preempt_online(p);
	else
		ret = preempt_wait(p, p->args->hold_ns, -1);
	if (online && online != -ECHILD)
		ret = online;
	if (ret)
		return ret;
	start = shr_now_ns() - start;
	ret = call(p, DISTURB_RESUME, &out);
	if (ret)
		return ret;
	note_resume(p, start, &out);
	ret = keep_all(p);
	if (ret)
		return ret;
	preempt_put_samples(p);
	preempt_print_cycle(p);
	if (online)
		return online;
	return preempt_wait(p, p->args->interval_ns, -1);
}

/*
 * Effects of a suspend or resume on the other processes on the same GPUs. Under the hardware
 * scheduler the driver takes all queues off the node for it. A thread looks at the slots of
 * those processes from before each call until all queues are back, and notes for how long a
 * queue that was in its slots was not.
 */

#define MAX_QIDS 1024
/* Queues that are not back by then are off for another reason. */
#define LIMIT_NS (20 * NSEC_PER_MSEC)
/* How often to look which processes there are. */
#define LIST_PERIOD_NS NSEC_PER_SEC

/* State of another process during one call. */
struct watch {
	bool there;	       /* the thread looks at it */
	bool mapped[MAX_QIDS]; /* queue ids in their slots at the start */
	uint64_t looked_ns;
	uint64_t lost_ns; /* when one was first seen out of its slots */
	uint64_t back_ns; /* when all were seen back after that */
	uint64_t gap_ns;  /* the longer one of the looks at both ends */
};

struct disturb {
	struct preempt *p;
	pthread_t thread;
	sem_t begin;
	sem_t ready; /* the first look is taken */
	sem_t done;
	atomic_bool ended; /* the call has returned */
	bool quit;
	bool running; /* between begin and done */
	enum disturb_op op;
	uint32_t *gpus; /* GPUs of the targets' queues */
	size_t n_gpus;
	uint64_t listed_ns;
	struct disturb_process *list;
	struct watch *watches;
	size_t count;
};

int preempt_add_sample(struct preempt_series *s, uint64_t ns)
{
	uint64_t *sample = shr_array_add(&s->v, &s->n, sizeof(*sample));

	if (!sample)
		return -ENOMEM;
	*sample = ns;
	return 0;
}

static bool can_be_lost(const struct disturb *d, const struct gpreempt_queue *queue)
{
	return queue->qid >= 0 && queue->qid < MAX_QIDS && queue->suspended == 0 &&
	       queue->evicted == 0 && shr_has(d->gpus, d->n_gpus, queue->gpu_id);
}

static void first_look(struct disturb *d, size_t i)
{
	struct watch *w = &d->watches[i];
	struct gpreempt_view *view;
	size_t k;

	memset(w, 0, sizeof(*w));
	if (gpreempt_view_read(d->p->g, d->list[i].pid, &view, NULL))
		return;
	w->looked_ns = shr_now_ns();
	for (k = 0; k < view->count; k++) {
		const struct gpreempt_queue *queue = &view->queues[k];

		if (can_be_lost(d, queue) && queue->active > 0) {
			w->mapped[queue->qid] = true;
			w->there = true;
		}
	}
	gpreempt_list_free(view);
}

/* Has a queue left its slots? */
static bool is_lost(const struct disturb *d, const struct watch *w,
		    const struct gpreempt_view *view)
{
	size_t k;

	for (k = 0; k < view->count; k++) {
		const struct gpreempt_queue *queue = &view->queues[k];

		if (can_be_lost(d, queue) && w->mapped[queue->qid] && queue->active == 0)
			return true;
	}
	return false;
}

static void look(struct disturb *d, size_t i)
{
	struct watch *w = &d->watches[i];
	struct gpreempt_view *view;
	uint64_t now, gap;
	bool lost;

	if (!w->there || w->back_ns)
		return;
	if (gpreempt_view_read(d->p->g, d->list[i].pid, &view, NULL)) {
		w->there = false;
		return;
	}
	now = shr_now_ns();
	gap = now - w->looked_ns;
	w->looked_ns = now;
	lost = is_lost(d, w, view);
	gpreempt_list_free(view);
	if (lost == !!w->lost_ns)
		return;
	if (lost)
		w->lost_ns = now;
	else
		w->back_ns = now;
	if (gap > w->gap_ns)
		w->gap_ns = gap;
}

static bool all_back(const struct disturb *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (d->watches[i].there && d->watches[i].lost_ns && !d->watches[i].back_ns)
			return false;
	return true;
}

static void keep_disturb(struct disturb *d)
{
	size_t i;

	for (i = 0; i < d->count; i++) {
		struct disturb_process *process = &d->list[i];
		const struct watch *w = &d->watches[i];

		if (!w->there)
			continue;
		process->ops[d->op].windows++;
		if (!w->back_ns)
			continue;
		preempt_add_sample(&process->ops[d->op].unmapped, w->back_ns - w->lost_ns);
		preempt_add_sample(&process->resolution, w->gap_ns);
	}
}

static void watch_call(struct disturb *d)
{
	uint64_t limit = 0, began;
	size_t i;

	for (i = 0; i < d->count; i++)
		first_look(d, i);
	sem_post(&d->ready);
	do {
		/* Look once more after the end, for a call that is shorter than one look. */
		if (atomic_load(&d->ended) && !limit)
			limit = shr_now_ns() + LIMIT_NS;
		began = shr_now_ns();
		for (i = 0; i < d->count; i++)
			look(d, i);
		/* Leave half of the time to the measured processes. */
		shr_sleep_ns(shr_now_ns() - began);
	} while (!limit || (!all_back(d) && shr_now_ns() < limit));
	keep_disturb(d);
	sem_post(&d->done);
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		;
}

static void *run(void *arg)
{
	struct disturb *d = arg;

	for (;;) {
		wait_for(&d->begin);
		if (d->quit)
			return NULL;
		watch_call(d);
	}
}

static bool is_listed(const struct disturb *d, pid_t pid)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (d->list[i].pid == pid)
			return true;
	return false;
}

static void add_process(struct disturb *d, const struct gpreempt_process *from)
{
	struct disturb_process *process;

	if (shr_array_room(&d->watches, d->count, 1, sizeof(*d->watches)))
		return;
	process = shr_array_add(&d->list, &d->count, sizeof(*process));
	if (!process)
		return;
	process->pid = from->pid;
	shr_clean(process->comm, sizeof(process->comm), from->comm, false);
	d->watches[d->count - 1] = (struct watch){ 0 };
}

static bool uses_our_gpus(const struct disturb *d, pid_t pid)
{
	struct gpreempt_view *view;
	bool found = false;
	size_t i;

	if (gpreempt_view_read(d->p->g, pid, &view, NULL))
		return false;
	for (i = 0; i < view->count && !found; i++)
		found = shr_has(d->gpus, d->n_gpus, view->queues[i].gpu_id);
	gpreempt_list_free(view);
	return found;
}

/* List the processes, which come and go; the results of one that went are kept. */
static void list_processes(struct disturb *d)
{
	struct gpreempt_process_list *all;
	size_t i;

	d->listed_ns = shr_now_ns();
	if (gpreempt_processes_read(d->p->g, &all, NULL))
		return;
	for (i = 0; i < all->count; i++) {
		const struct gpreempt_process *process = &all->processes[i];

		if (process->queues && process->pid != getpid() &&
		    !preempt_find_target(d->p, process->pid) && !is_listed(d, process->pid) &&
		    uses_our_gpus(d, process->pid))
			add_process(d, process);
	}
	gpreempt_list_free(all);
}

static void add_gpus(struct disturb *d, pid_t pid)
{
	struct gpreempt_view *view;
	size_t i;

	if (gpreempt_view_read(d->p->g, pid, &view, NULL))
		return;
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *queue = &view->queues[i];
		uint32_t *gpu;

		if (!gp_filter_matches(&d->p->args->targets.queues, queue->qid, queue->gpu_id,
				       queue->priority) ||
		    shr_has(d->gpus, d->n_gpus, queue->gpu_id))
			continue;
		gpu = shr_array_add(&d->gpus, &d->n_gpus, sizeof(*gpu));
		if (!gpu)
			break;
		*gpu = queue->gpu_id;
	}
	gpreempt_list_free(view);
}

/* Is the module there? Only the module shows slots. */
static bool module_there(struct gpreempt *g)
{
	struct gpreempt_facts *facts;

	if (gp_module_version(g, &facts, NULL))
		return false;
	gpreempt_list_free(facts);
	return true;
}

struct disturb *disturb_start(struct preempt *p)
{
	struct disturb *d;
	size_t i;

	if (!module_there(p->g))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->p = p;
	for (i = 0; i < p->n_targets; i++)
		add_gpus(d, p->targets[i].pid);
	list_processes(d);
	sem_init(&d->begin, 0, 0);
	sem_init(&d->ready, 0, 0);
	sem_init(&d->done, 0, 0);
	if (!pthread_create(&d->thread, NULL, run, d))
		return d;
	disturb_free(d);
	return NULL;
}

/* The thread has dealt with the call before. */
static void settle(struct disturb *d)
{
	if (d->running)
		wait_for(&d->done);
	d->running = false;
}

/* Around each call; d may be NULL. */
static void disturb_begin(struct disturb *d, enum disturb_op op)
{
	if (!d)
		return;
	settle(d);
	if (shr_now_ns() - d->listed_ns > LIST_PERIOD_NS)
		list_processes(d);
	if (!d->count)
		return;
	d->op = op;
	atomic_store(&d->ended, false);
	d->running = true;
	sem_post(&d->begin);
	wait_for(&d->ready);
}

static void disturb_end(struct disturb *d)
{
	if (d)
		atomic_store(&d->ended, true);
}

void disturb_stop(struct disturb *d)
{
	if (!d || d->quit)
		return;
	disturb_end(d);
	settle(d);
	d->quit = true;
	sem_post(&d->begin);
	pthread_join(d->thread, NULL);
}

struct disturb_process *disturb_result(struct disturb *d, size_t *count)
{
	*count = d->count;
	return d->list;
}

void disturb_free(struct disturb *d)
{
	size_t i;
	int op;

	if (!d)
		return;
	for (i = 0; i < d->count; i++) {
		for (op = 0; op < DISTURB_OPS; op++)
			free(d->list[i].ops[op].unmapped.v);
		free(d->list[i].resolution.v);
	}
	free(d->list);
	free(d->watches);
	free(d->gpus);
	free(d);
}
