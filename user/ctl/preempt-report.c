// SPDX-License-Identifier: GPL-2.0-only
/* Effects of preempt on other processes, and its output. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "preempt.h"

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

/* Losses of another process. */
struct disturb_process {
	pid_t pid;
	char comm[68];
	struct {
		size_t windows;			/* calls during which the process was looked at */
		struct preempt_series unmapped; /* time out of its slots, for those seen */
	} ops[DISTURB_OPS];
	struct preempt_series resolution; /* between two looks */
};

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

void preempt_add_sample(struct preempt_series *s, uint64_t ns)
{
	*(uint64_t *)shr_must(shr_array_add(&s->v, &s->n, sizeof(ns))) = ns;
}

static bool can_be_lost(const struct disturb *d, const struct gpreempt_queue *queue)
{
	return queue->qid >= 0 && queue->qid < MAX_QIDS && queue->suspended == 0 &&
	       queue->evicted == 0 && shr_has(d->gpus, d->n_gpus, queue->gpu_id);
}

static void first_look(struct disturb *d, size_t i)
{
	struct watch *w = &d->watches[i];
	__cleanup_list struct gpreempt_view *view = NULL;
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
	__cleanup_list struct gpreempt_view *view = NULL;
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
	size_t watches = d->count;
	struct disturb_process *process;

	shr_must(shr_array_add(&d->watches, &watches, sizeof(*d->watches)));
	process = shr_must(shr_array_add(&d->list, &d->count, sizeof(*process)));
	process->pid = from->pid;
	shr_clean(process->comm, sizeof(process->comm), from->comm, false);
}

static bool uses_our_gpus(const struct disturb *d, pid_t pid)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	bool found = false;
	size_t i;

	if (gpreempt_view_read(d->p->g, pid, &view, NULL))
		return false;
	for (i = 0; i < view->count && !found; i++)
		found = shr_has(d->gpus, d->n_gpus, view->queues[i].gpu_id);
	return found;
}

/* List the processes, which come and go; the results of one that went are kept. */
static void list_processes(struct disturb *d)
{
	__cleanup_list struct gpreempt_process_list *all = NULL;
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
}

static void add_gpus(struct disturb *d, pid_t pid)
{
	__cleanup_list struct gpreempt_view *view = NULL;
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
		gpu = shr_must(shr_array_add(&d->gpus, &d->n_gpus, sizeof(*gpu)));
		*gpu = queue->gpu_id;
	}
}

struct disturb *disturb_start(struct preempt *p)
{
	__cleanup_list struct gpreempt_facts *facts = NULL;
	struct disturb *d;
	size_t i;

	/* Only the module shows slots. */
	if (gp_module_version(p->g, &facts, NULL))
		return NULL;
	d = shr_must(calloc(1, sizeof(*d)));
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

void disturb_begin(struct disturb *d, enum disturb_op op)
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

void disturb_end(struct disturb *d)
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

/* Lines for people and grep, one JSON object, and the file of --samples. */

static void print_us(const char *before, const char *name, int64_t ns)
{
	if (ns == GPREEMPT_UNKNOWN)
		printf("%s%s -\n", before, name);
	else
		printf("%s%s %.1f\n", before, name, ns / 1000.0);
}

static struct shr_stats stats_of(struct preempt_series *s)
{
	struct shr_stats stats;

	shr_stats(s->v, s->n, &stats);
	return stats;
}

static void print_stats(const char *before, const char *name, struct preempt_series *s,
			const char *after)
{
	struct shr_stats stats = stats_of(s);

	if (!s->n) {
		printf("%s%s n=0 min=- p50=- p90=- p99=- p99.9=- max=- mean=-%s", before, name,
		       after);
		return;
	}
	printf("%s%s n=%zu min=%.1f p50=%.1f p90=%.1f p99=%.1f p99.9=%.1f max=%.1f mean=%.1f%s",
	       before, name, stats.n, stats.min / 1000.0, stats.p50 / 1000.0, stats.p90 / 1000.0,
	       stats.p99 / 1000.0, stats.p999 / 1000.0, stats.max / 1000.0, stats.mean / 1000.0,
	       after);
}

/* Slots are known with the module only. */
static void print_slots(const char *before, struct preempt_figures *f)
{
	struct shr_stats resolution;

	if (!f->slots.n) {
		printf("%ssuspend_slots_us -\n", before);
		return;
	}
	resolution = stats_of(&f->resolution);
	print_stats(before, "suspend_slots_us", &f->slots, "");
	printf(" resolution=%.1f\n", resolution.p50 / 1000.0);
}

static void print_figures(const char *before, struct preempt_figures *f)
{
	print_stats(before, "suspend_ioctl_us", &f->suspend, "\n");
	print_slots(before, f);
	print_stats(before, "resume_ioctl_us", &f->resume, "\n");
	print_us(before, "first_suspend_us", f->first_ns);
	print_us(before, "session_open_us", f->open_ns);
	printf("%sverified yes %zu no %zu not_checked %zu\n", before,
	       f->verdicts[GPREEMPT_VERIFIED], f->verdicts[GPREEMPT_CONTRADICTED],
	       f->verdicts[GPREEMPT_NOT_CHECKED]);
	printf("%sverified_by %s %zu %s %zu\n", before,
	       ctl_verified_by_name(GPREEMPT_BY_SLOTS_WAVES), f->by_waves,
	       ctl_verified_by_name(GPREEMPT_BY_SLOTS),
	       f->verdicts[GPREEMPT_VERIFIED] - f->by_waves);
}

static const char *const disturb_names[] = {
	[DISTURB_SUSPEND] = "suspend",
	[DISTURB_RESUME] = "resume",
};

static void print_disturbed(struct disturb_process *process)
{
	struct shr_stats resolution = stats_of(&process->resolution);
	int op;

	for (op = 0; op < DISTURB_OPS; op++) {
		struct shr_stats stats = stats_of(&process->ops[op].unmapped);

		printf("disturbed_us pid=%d comm=%s by=%s calls=%zu seen=%zu "
		       "p50=%.1f max=%.1f resolution=%.1f\n",
		       process->pid, process->comm, disturb_names[op], process->ops[op].windows,
		       stats.n, stats.p50 / 1000.0, stats.max / 1000.0, resolution.p50 / 1000.0);
	}
}

static void print_disturbance(struct preempt *p)
{
	const struct disturb *d = p->disturb;
	size_t i;

	if (!d) {
		puts("disturbed -");
		return;
	}
	printf("disturbed %zu other process%s on these GPUs\n", d->count,
	       d->count == 1 ? "" : "es");
	for (i = 0; i < d->count; i++)
		print_disturbed(&d->list[i]);
}

static bool has_paused(const struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++)
		if (p->targets[i].method == GPREEMPT_METHOD_PAUSE)
			return true;
	return false;
}

static void print_text(struct preempt *p)
{
	char before[32];
	size_t i;

	ctl_label_times();
	for (i = 0; i < p->n_targets && has_paused(p); i++)
		printf("how %d %s\n", p->targets[i].pid, ctl_method_name(p->targets[i].method));
	for (i = 0; i < p->n_targets && p->n_targets > 1; i++) {
		snprintf(before, sizeof(before), "target %d ", p->targets[i].pid);
		print_figures(before, &p->targets[i].figures);
	}
	print_figures("", &p->all);
	if (p->args->command)
		print_stats("", "online_us", &p->online, "\n");
	print_disturbance(p);
	printf("cycles %zu succeeded %zu", p->cycles, p->all.succeeded);
	if (p->cycles)
		printf(" rate %.1f%%", 100.0 * p->all.succeeded / p->cycles);
	puts("");
}

static void add_us(struct json_object *to, const char *key, int64_t ns)
{
	out_add(to, key, out_json_us(ns));
}

static void add_number(struct json_object *to, const char *key, int64_t value)
{
	out_add(to, key, out_json_number(value));
}

static struct json_object *json_stats(struct preempt_series *s)
{
	struct json_object *o = json_object_new_object();
	struct shr_stats stats = stats_of(s);
	const struct {
		const char *key;
		uint64_t ns;
	} parts[] = {
		{ "min", stats.min }, { "mean", stats.mean }, { "p50", stats.p50 },
		{ "p90", stats.p90 }, { "p99", stats.p99 },   { "p999", stats.p999 },
		{ "max", stats.max },
	};
	size_t i;

	add_number(o, "n", stats.n);
	/* No samples have no figures, not figures of 0. */
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		add_us(o, parts[i].key, stats.n ? (int64_t)parts[i].ns : GPREEMPT_UNKNOWN);
	return o;
}

static struct json_object *json_slots(struct preempt_figures *f)
{
	struct shr_stats resolution;
	struct json_object *o;

	if (!f->slots.n)
		return NULL;
	resolution = stats_of(&f->resolution);
	o = json_stats(&f->slots);
	add_us(o, "resolution_us", resolution.p50);
	add_us(o, "resolution_max_us", resolution.max);
	return o;
}

static void add_figures(struct json_object *o, struct preempt_figures *f)
{
	struct json_object *verified = json_object_new_object();
	struct json_object *by = json_object_new_object();

	out_add(o, "suspend_ioctl_us", json_stats(&f->suspend));
	out_add(o, "suspend_slots_us", json_slots(f));
	out_add(o, "resume_ioctl_us", json_stats(&f->resume));
	add_us(o, "first_suspend_us", f->first_ns);
	add_us(o, "session_open_us", f->open_ns);
	add_number(verified, "yes", f->verdicts[GPREEMPT_VERIFIED]);
	add_number(verified, "no", f->verdicts[GPREEMPT_CONTRADICTED]);
	add_number(verified, "not_checked", f->verdicts[GPREEMPT_NOT_CHECKED]);
	out_add(o, "verified", verified);
	add_number(by, ctl_verified_by_name(GPREEMPT_BY_SLOTS_WAVES), f->by_waves);
	add_number(by, ctl_verified_by_name(GPREEMPT_BY_SLOTS),
		   f->verdicts[GPREEMPT_VERIFIED] - f->by_waves);
	out_add(o, "verified_by", by);
}

static struct json_object *json_targets(struct preempt *p)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		struct json_object *o = json_object_new_object();
		struct preempt_target *t = &p->targets[i];

		add_number(o, "pid", t->pid);
		add_number(o, "succeeded", t->figures.succeeded);
		out_add(o, "how", out_json_text(ctl_method_name(t->method)));
		out_add(o, "not_debug_because", out_json_text(*t->why ? t->why : NULL));
		add_figures(o, &t->figures);
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *json_disturbed(struct disturb_process *process)
{
	struct shr_stats resolution = stats_of(&process->resolution);
	struct json_object *o = json_object_new_object();
	int op;

	add_number(o, "pid", process->pid);
	out_add(o, "comm", out_json_text(process->comm));
	for (op = 0; op < DISTURB_OPS; op++) {
		struct json_object *part = json_stats(&process->ops[op].unmapped);

		add_number(part, "calls", process->ops[op].windows);
		out_add(o, op == DISTURB_SUSPEND ? "suspend_us" : "resume_us", part);
	}
	add_us(o, "resolution_us", resolution.n ? (int64_t)resolution.p50 : GPREEMPT_UNKNOWN);
	return o;
}

static struct json_object *json_disturbance(struct preempt *p)
{
	struct json_object *array = p->disturb ? json_object_new_array() : NULL;
	size_t i;

	for (i = 0; array && i < p->disturb->count; i++)
		json_object_array_add(array, json_disturbed(&p->disturb->list[i]));
	return array;
}

static void print_json(struct preempt *p, const char *error)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "cycles", p->cycles);
	add_number(o, "succeeded", p->all.succeeded);
	add_figures(o, &p->all);
	out_add(o, "online_us", p->args->command ? json_stats(&p->online) : NULL);
	out_add(o, "targets", json_targets(p));
	out_add(o, "disturbed", json_disturbance(p));
	out_add(o, "error", out_json_text(error));
	out_add(o, "simulated", out_json_flag(ctl_simulated()));
	out_json_print(o);
}

void preempt_print_result(struct preempt *p, const char *error)
{
	if (p->args->mode == OUT_JSON)
		print_json(p, error);
	else
		print_text(p);
}

int preempt_open_samples(struct preempt *p)
{
	if (!p->args->samples)
		return 0;
	p->samples = fopen(p->args->samples, "we");
	if (!p->samples)
		return -errno;
	fputs("gpreempt-samples - version: 1.1\n"
	      "# cycle pid requested done suspend_ioctl_ns suspend_slots_ns slots_resolution_ns "
	      "held_ns resume_ioctl_ns verified verified_by\n",
	      p->samples);
	return 0;
}

static void put_line(const struct preempt *p, pid_t pid, const struct preempt_cycle *c)
{
	static const char *const verdicts[] = {
		[GPREEMPT_NOT_CHECKED] = "-",
		[GPREEMPT_VERIFIED] = "1",
		[GPREEMPT_CONTRADICTED] = "0",
	};
	const int64_t numbers[] = {
		pid ? pid : GPREEMPT_UNKNOWN,
		c->requested,
		c->done,
		c->suspend_ns,
		c->slots_ns,
		c->resolution_ns,
		c->held_ns,
		c->resume_ns,
	};
	size_t i;

	fprintf(p->samples, "%zu", p->cycles);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] == GPREEMPT_UNKNOWN)
			fputs(" -", p->samples);
		else
			fprintf(p->samples, " %" PRId64, numbers[i]);
	fprintf(p->samples, " %s %s\n", verdicts[c->verdict], ctl_verified_by_name(c->by) ?: "-");
}

/* Write each cycle at once: the samples are there however we end. */
void preempt_put_samples(struct preempt *p)
{
	size_t i;

	if (!p->samples)
		return;
	for (i = 0; i < p->n_targets; i++)
		put_line(p, p->targets[i].pid, &p->targets[i].now);
	if (p->n_targets > 1)
		put_line(p, 0, &p->now);
	if (fflush(p->samples) && !p->samples_error)
		p->samples_error = -errno;
}

int preempt_close_samples(struct preempt *p)
{
	if (!p->samples)
		return 0;
	if (fclose(p->samples) && !p->samples_error)
		p->samples_error = -errno;
	p->samples = NULL;
	return p->samples_error;
}
