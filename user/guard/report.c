// SPDX-License-Identifier: GPL-2.0-only
/* The figures for the user: a live line, a summary, metrics. */
#include "guard/guard.h"
#include "output/table.h"
#include "shared/clock.h"
#include "shared/macro.h"

static void put(struct json_object *o, const char *key,
		struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static void put_real(struct json_object *o, const char *key, double value)
{
	put(o, key, json_object_new_double(value));
}

struct totals {
	uint64_t held_ns; /* without what ran all the same: */
	uint64_t released_ns;
	uint64_t unseen;
	uint64_t kept_ns;
	double share;	/* percent of the time that they ran */
	double poll_ms; /* CPU time a second */
	double polls;	/* a second */
	struct gpreempt_stats to_ioctl;
	struct gpreempt_stats to_suspended;
	struct gpreempt_stats to_slots;
};

/* One of the latencies of each sample, by its offset there. */
static void summarise(const struct guard_figures *figures, size_t offset,
		      struct gpreempt_stats *out)
{
	size_t n = guard_samples_kept(figures), used = 0, i;
	uint64_t *copy = calloc(n + 1, sizeof(*copy));

	*out = (struct gpreempt_stats){ 0 };
	for (i = 0; copy && i < n; i++) {
		int64_t ns =
			*(const int64_t *)((const char *)&figures->sample[i] +
					   offset);

		if (ns != GPREEMPT_UNKNOWN)
			copy[used++] = ns;
	}
	if (used)
		gpreempt_stats(copy, used, out);
	free(copy);
}

static void add_up(const struct guard *guard, struct totals *t)
{
	const struct guard_figures *figures = &guard->figures;
	uint64_t now = shr_now_ns();
	double seconds = (now - figures->start_ns) / 1e9;
	size_t i;

	*t = (struct totals){
		.held_ns = figures->held_ns,
		.kept_ns = figures->kept_ns,
		.released_ns = figures->released_ns,
		.unseen = figures->unseen,
	};
	for (i = 0; i < guard->n_offline; i++) {
		const struct guard_offline *o = &guard->offline[i];

		t->held_ns += o->held_ns;
		if (o->held_since_ns && now > o->held_since_ns)
			t->held_ns += now - o->held_since_ns;
		t->kept_ns += now - o->since_ns;
		t->released_ns += o->released_ns;
		t->unseen += o->unseen;
	}
	t->held_ns -= t->released_ns < t->held_ns ? t->released_ns : t->held_ns;
	t->share = t->kept_ns ? 100.0 - 100.0 * t->held_ns / t->kept_ns : 100;
	t->poll_ms = atomic_load(&guard->poll_cpu_ns) / 1e6 / seconds;
	t->polls = atomic_load(&guard->polls) / seconds;
	summarise(figures, offsetof(struct guard_sample, to_ioctl_ns),
		  &t->to_ioctl);
	summarise(figures, offsetof(struct guard_sample, to_suspended_ns),
		  &t->to_suspended);
	summarise(figures, offsetof(struct guard_sample, to_slots_ns),
		  &t->to_slots);
}

void guard_live(struct guard *guard)
{
	size_t i, held = 0, busy = 0;
	char line[256];

	if (guard->options->json || !isatty(STDOUT_FILENO))
		return;
	for (i = 0; i < guard->n_offline; i++)
		held += guard->offline[i].held_since_ns != 0;
	for (i = 0; i < guard->n_online; i++)
		busy += guard->online[i].busy;
	snprintf(line, sizeof(line),
		 "online: %zu of %zu busy; offline: "
		 "%zu of %zu held; %llu preemptions",
		 busy, guard->n_online, held, guard->n_offline,
		 (unsigned long long)guard->figures.suspends);
	guard_clear_line();
	/* One that is wider goes on in the next line, which stays. */
	printf("%.*s", out_terminal_width() - 1, line);
	fflush(stdout);
}

static void print_stats(const char *name, const struct gpreempt_stats *s)
{
	if (!s->n) {
		printf("%s n=0 p50=- p99=- max=-\n", name);
		return;
	}
	printf("%s n=%zu p50=%.1f p99=%.1f max=%.1f\n", name, s->n,
	       s->p50 / 1e3, s->p99 / 1e3, s->max / 1e3);
}

static void print_text(const struct guard *guard, const struct totals *t)
{
	const uint64_t *resumes = guard->figures.resumes;

	guard_clear_line();
	ctl_label_times();
	printf("preemptions %llu failures %llu\n",
	       (unsigned long long)guard->figures.suspends,
	       (unsigned long long)guard->figures.failures);
	printf("resumed idle %llu share %llu duty %llu\n",
	       (unsigned long long)resumes[GPREEMPT_POLICY_IDLE],
	       (unsigned long long)resumes[GPREEMPT_POLICY_SHARE],
	       (unsigned long long)resumes[GPREEMPT_POLICY_DUTY]);
	print_stats("arrival_to_ioctl_us", &t->to_ioctl);
	print_stats("arrival_to_suspended_us", &t->to_suspended);
	print_stats("arrival_to_slots_us", &t->to_slots);
	printf("held_s %.3f of %.3f\n", t->held_ns / 1e9, t->kept_ns / 1e9);
	if (t->released_ns)
		printf("released_s %.3f\n", t->released_ns / 1e9);
	if (t->unseen)
		printf("unseen_queues %llu\n", (unsigned long long)t->unseen);
	printf("offline_share_percent %.1f\n", t->share);
	printf("poll_cpu_ms_per_s %.2f polls_per_s %.0f\n", t->poll_ms,
	       t->polls);
	fflush(stdout);
}

static struct json_object *stats_json(const struct gpreempt_stats *s)
{
	struct json_object *o;

	if (!s->n)
		return NULL;
	o = json_object_new_object();
	put(o, "n", out_json_number(s->n));
	put(o, "p50", out_json_us(s->p50));
	put(o, "p99", out_json_us(s->p99));
	put(o, "max", out_json_us(s->max));
	return o;
}

static void print_json(const struct guard *guard, const struct totals *t)
{
	struct json_object *o = guard_new_event(guard, "summary", shr_now_ns());

	put(o, "preemptions", out_json_number(guard->figures.suspends));
	put(o, "failures", out_json_number(guard->figures.failures));
	put(o, "arrival_to_ioctl_us", stats_json(&t->to_ioctl));
	put(o, "arrival_to_suspended_us", stats_json(&t->to_suspended));
	put(o, "arrival_to_slots_us", stats_json(&t->to_slots));
	put(o, "held_us", out_json_us(t->held_ns));
	put(o, "released_us", out_json_us(t->released_ns));
	put(o, "unseen_queues", out_json_number(t->unseen));
	put_real(o, "offline_share_percent", t->share);
	put_real(o, "poll_cpu_ms_per_s", t->poll_ms);
	put(o, "simulated", out_json_flag(ctl_simulated()));
	guard_print_event(o);
}

void guard_summary(struct guard *guard)
{
	struct totals t;

	add_up(guard, &t);
	if (guard->options->json)
		print_json(guard, &t);
	else
		print_text(guard, &t);
}

static void put_metrics(FILE *f, const struct guard *guard,
			const struct totals *t)
{
	const char *p = "gpreempt_guard_";

	fprintf(f,
		"# TYPE %spreemptions_total counter\n"
		"%spreemptions_total %llu\n",
		p, p, (unsigned long long)guard->figures.suspends);
	fprintf(f, "# TYPE %sfailures_total counter\n%sfailures_total %llu\n",
		p, p, (unsigned long long)guard->figures.failures);
	fprintf(f,
		"# TYPE %sheld_seconds_total counter\n"
		"%sheld_seconds_total %.6f\n",
		p, p, t->held_ns / 1e9);
	fprintf(f,
		"# TYPE %sreleased_seconds_total counter\n"
		"%sreleased_seconds_total %.6f\n",
		p, p, t->released_ns / 1e9);
	fprintf(f,
		"# TYPE %spoll_cpu_seconds_total counter\n"
		"%spoll_cpu_seconds_total %.6f\n",
		p, p, atomic_load(&guard->poll_cpu_ns) / 1e9);
	fprintf(f, "# TYPE %soffline_share gauge\n%soffline_share %.4f\n", p, p,
		t->share / 100);
	fprintf(f,
		"# TYPE %stargets gauge\n%stargets{role=\"online\"} %zu\n"
		"%stargets{role=\"offline\"} %zu\n",
		p, p, guard->n_online, p, guard->n_offline);
	fprintf(f,
		"# TYPE %ssuspended_seconds summary\n"
		"%ssuspended_seconds{quantile=\"0.5\"} %.6f\n"
		"%ssuspended_seconds{quantile=\"0.99\"} %.6f\n"
		"%ssuspended_seconds_count %zu\n",
		p, p, t->to_suspended.p50 / 1e9, p, t->to_suspended.p99 / 1e9,
		p, guard->figures.samples);
}

void guard_print_metrics(const struct guard *guard, FILE *out)
{
	struct totals t;

	add_up(guard, &t);
	put_metrics(out, guard, &t);
}

#define FIRST_NS (10 * NSEC_PER_SEC)
#define LAST_NS	 (640 * NSEC_PER_SEC)

bool report_pause_over(struct report_pause *p, uint64_t now)
{
	if (now < p->until_ns)
		return false;
	p->ns = p->ns ? 2 * p->ns : FIRST_NS;
	if (p->ns > LAST_NS)
		p->ns = LAST_NS;
	p->until_ns = now + p->ns;
	return true;
}
