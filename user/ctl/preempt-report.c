// SPDX-License-Identifier: GPL-2.0-only
/* Output of preempt: lines for people and grep, or one JSON object; and --samples. */
#include <errno.h>
#include <inttypes.h>

#include "cli/table.h"
#include "preempt.h"
#include "shared/util.h"

static void print_us(const char *before, const char *name, int64_t ns)
{
	if (ns == GPREEMPT_UNKNOWN)
		printf("%s%s -\n", before, name);
	else
		printf("%s%s %.1f\n", before, name, ns / 1000.0);
}

void preempt_print_cycle(const struct preempt *p)
{
	const struct preempt_cycle *c = &p->now;

	if (p->args->mode == OUT_JSON || (!p->args->verbose && !isatty(STDOUT_FILENO)))
		return;
	printf("cycle %zu: %zu of %zu queues, suspend %.1f us, ", p->cycles, c->done, c->requested,
	       c->suspend_ns / 1000.0);
	if (c->slots_ns != GPREEMPT_UNKNOWN)
		printf("slots %.1f us, ", c->slots_ns / 1000.0);
	printf("resume %.1f us, verified: %s", c->resume_ns / 1000.0, ctl_verdict_name(c->verdict));
	if (c->by == GPREEMPT_BY_WAVES)
		printf(" (waves in flight)");
	if (c->released_ns)
		printf(", queues ran %.1f us while held", c->released_ns / 1000.0);
	putchar('\n');
	fflush(stdout);
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
		struct shr_stats stats;

		stats = stats_of(&process->ops[op].unmapped);
		printf("disturbed_us pid=%d comm=%s by=%s calls=%zu seen=%zu "
		       "p50=%.1f max=%.1f resolution=%.1f\n",
		       process->pid, process->comm, disturb_names[op], process->ops[op].windows,
		       stats.n, stats.p50 / 1000.0, stats.max / 1000.0, resolution.p50 / 1000.0);
	}
}

static void print_disturbance(struct preempt *p)
{
	struct disturb_process *list;
	size_t i, count;

	if (!p->disturb) {
		puts("disturbed -");
		return;
	}
	list = disturb_result(p->disturb, &count);
	printf("disturbed %zu other process%s on these GPUs\n", count, count == 1 ? "" : "es");
	for (i = 0; i < count; i++)
		print_disturbed(&list[i]);
}

static bool has_paused(const struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++)
		if (p->targets[i].route == GPREEMPT_ROUTE_PAUSE)
			return true;
	return false;
}

static void print_text(struct preempt *p)
{
	char before[32];
	size_t i;

	ctl_label_times();
	for (i = 0; i < p->n_targets && has_paused(p); i++)
		printf("how %d %s\n", p->targets[i].pid, ctl_route_name(p->targets[i].route));
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
		out_add(o, "how", out_json_text(ctl_route_name(t->route)));
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
		struct json_object *part;

		part = json_stats(&process->ops[op].unmapped);
		add_number(part, "calls", process->ops[op].windows);
		out_add(o, op == DISTURB_SUSPEND ? "suspend_us" : "resume_us", part);
	}
	add_us(o, "resolution_us", resolution.n ? (int64_t)resolution.p50 : GPREEMPT_UNKNOWN);
	return o;
}

static struct json_object *json_disturbance(struct preempt *p)
{
	struct json_object *array;
	struct disturb_process *list;
	size_t i, count;

	if (!p->disturb)
		return NULL;
	array = json_object_new_array();
	list = disturb_result(p->disturb, &count);
	for (i = 0; i < count; i++)
		json_object_array_add(array, json_disturbed(&list[i]));
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
