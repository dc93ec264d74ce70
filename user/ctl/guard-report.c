// SPDX-License-Identifier: GPL-2.0-only
/* What the user gets to see: events, a live line, figures. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "ctl/guard.h"
#include "ctl/out.h"
#include "shared/clock.h"

#define RETRY_NS (100 * NSEC_PER_MSEC)

static void add_sample(struct guard_samples *s, uint64_t ns)
{
	if (!s->ns)
		s->ns = calloc(GUARD_SAMPLES, sizeof(*s->ns));
	if (s->ns)
		s->ns[s->count++ % GUARD_SAMPLES] = ns;
}

static void clear_line(void)
{
	if (isatty(STDOUT_FILENO))
		fputs("\r\033[K", stdout);
}

static void put(struct json_object *o, const char *key,
		struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static void put_real(struct json_object *o, const char *key, double value)
{
	put(o, key, json_object_new_double(value));
}

static struct json_object *new_event(const struct guard *guard,
				     const char *event, uint64_t ns)
{
	struct json_object *o = json_object_new_object();

	put(o, "event", out_json_text(event));
	put_real(o, "t_us", (ns - guard->figures.start_ns) / 1000.0);
	return o;
}

/* On a line of its own, whatever is in it. */
static void print_event(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(o);
}

void guard_event(const struct guard *guard, const char *event, pid_t pid,
		 const char *format, ...)
{
	struct json_object *o;
	char text[768];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!guard->args->json) {
		clear_line();
		puts(text);
		fflush(stdout);
		return;
	}
	o = new_event(guard, event, shr_now_ns());
	put(o, "pid", out_json_number(pid));
	put(o, "text", out_json_text(text));
	print_event(o);
}

static int64_t after(uint64_t from, uint64_t to)
{
	return from ? (int64_t)(to - from) : GPREEMPT_UNKNOWN;
}

static void print_switch(const struct guard *guard,
			 const struct guard_result *r)
{
	const char *reason = gpreempt_policy_reason_name(r->reason);
	struct json_object *o;

	if (!guard->args->json) {
		if (!guard->args->verbose)
			return;
		clear_line();
		printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n",
		       r->suspend ? "suspended" : "resumed", r->pid, reason,
		       r->done, r->requested, (r->end_ns - r->start_ns) / 1e3);
		fflush(stdout);
		return;
	}
	o = new_event(guard, r->suspend ? "suspend" : "resume", r->end_ns);
	put(o, "pid", out_json_number(r->pid));
	put(o, "reason", out_json_text(reason));
	put(o, "requested", out_json_number(r->requested));
	put(o, "done", out_json_number(r->done));
	put(o, "ioctl_us", out_json_us(r->end_ns - r->start_ns));
	put(o, "arrival_to_ioctl_us", out_json_us(after(r->arrival_ns, r->start_ns)));
	put(o, "arrival_to_suspended_us", out_json_us(after(r->arrival_ns, r->end_ns)));
	put(o, "simulated", out_json_flag(ctl_simulated()));
	print_event(o);
}

/* The policy took it that it worked. */
static void tell_failure(struct guard *guard, struct guard_offline *offline,
			 const struct guard_result *r)
{
	size_t i;

	pthread_mutex_lock(&guard->lock);
	for (i = 0; i < GUARD_NODES; i++) {
		int party = offline->party[i];

		if (!(r->nodes & (1ULL << i)) || party < 0 ||
		    guard->policy.party[party].suspended != r->suspend)
			continue;
		gpreempt_policy_failed(&guard->policy, party,
				       shr_now_ns() + RETRY_NS);
		offline->want ^= 1ULL << i;
	}
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	if (!guard->figures.failures++)
		guard_event(guard, "failed", r->pid, "process %d could not be "
			    "%s: %s; it is tried again", r->pid, r->suspend ?
			    "suspended" : "resumed", strerror(-r->code));
}

static void take(struct guard *guard, const struct guard_result *r)
{
	struct guard_offline *offline = guard_find(guard, r->pid);
	struct guard_figures *figures = &guard->figures;

	print_switch(guard, r);
	if (r->code) {
		if (offline && r->code != -ENOTCONN)
			tell_failure(guard, offline, r);
		return;
	}
	if (r->suspend)
		figures->suspends++;
	else
		figures->resumes[r->reason]++;
	if (r->arrival_ns) {
		add_sample(&figures->to_ioctl, r->start_ns - r->arrival_ns);
		add_sample(&figures->to_suspended, r->end_ns - r->arrival_ns);
	}
	if (!offline)
		return;
	if (r->suspend && !offline->held_since_ns) {
		offline->held_since_ns = r->end_ns;
	} else if (!r->suspend && offline->held_since_ns) {
		offline->held_ns += r->start_ns - offline->held_since_ns;
		offline->held_since_ns = 0;
	}
}

void guard_take_results(struct guard *guard)
{
	static struct guard_result results[GUARD_RESULTS];
	size_t n, i;

	pthread_mutex_lock(&guard->results_lock);
	n = guard->n_results;
	memcpy(results, guard->results, n * sizeof(*results));
	guard->n_results = 0;
	pthread_mutex_unlock(&guard->results_lock);
	for (i = 0; i < n; i++)
		take(guard, &results[i]);
}

struct totals {
	uint64_t held_ns;
	uint64_t kept_ns;
	double share;		/* percent of the time that they ran */
	double poll_ms;		/* CPU time a second */
	double polls;		/* a second */
	struct gpreempt_stats to_ioctl;
	struct gpreempt_stats to_suspended;
};

static void summarise(const struct guard_samples *s,
		      struct gpreempt_stats *out)
{
	size_t n = s->count < GUARD_SAMPLES ? s->count : GUARD_SAMPLES;
	uint64_t *copy = calloc(n + 1, sizeof(*copy));

	*out = (struct gpreempt_stats){ 0 };
	if (copy && n) {
		memcpy(copy, s->ns, n * sizeof(*copy));
		gpreempt_stats(copy, n, out);
	}
	free(copy);
}

static void add_up(const struct guard *guard, struct totals *t)
{
	const struct guard_figures *figures = &guard->figures;
	uint64_t now = shr_now_ns();
	double seconds = (now - figures->start_ns) / 1e9;
	size_t i;

	*t = (struct totals){
		.held_ns = figures->held_ns, .kept_ns = figures->kept_ns,
	};
	for (i = 0; i < guard->n_offline; i++) {
		const struct guard_offline *o = &guard->offline[i];

		t->held_ns += o->held_ns;
		if (o->held_since_ns && now > o->held_since_ns)
			t->held_ns += now - o->held_since_ns;
		t->kept_ns += now - o->since_ns;
	}
	t->share = t->kept_ns ? 100.0 - 100.0 * t->held_ns / t->kept_ns : 100;
	t->poll_ms = atomic_load(&guard->poll_cpu_ns) / 1e6 / seconds;
	t->polls = atomic_load(&guard->polls) / seconds;
	summarise(&figures->to_ioctl, &t->to_ioctl);
	summarise(&figures->to_suspended, &t->to_suspended);
}

void guard_live(struct guard *guard)
{
	size_t i, held = 0, busy = 0;

	if (guard->args->json || !isatty(STDOUT_FILENO))
		return;
	for (i = 0; i < guard->n_offline; i++)
		held += guard->offline[i].held_since_ns != 0;
	for (i = 0; i < guard->n_online; i++)
		busy += guard->online[i].busy;
	clear_line();
	printf("online: %zu of %zu busy; offline: %zu of %zu held; "
	       "%llu preemptions", busy, guard->n_online, held,
	       guard->n_offline,
	       (unsigned long long)guard->figures.suspends);
	fflush(stdout);
}

static void print_stats(const char *name, const struct gpreempt_stats *s)
{
	printf("%s n=%zu p50=%.1f p99=%.1f max=%.1f\n", name, s->n,
	       s->p50 / 1e3, s->p99 / 1e3, s->max / 1e3);
}

static void print_text(const struct guard *guard, const struct totals *t)
{
	const uint64_t *resumes = guard->figures.resumes;

	clear_line();
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
	printf("held_s %.3f of %.3f\n", t->held_ns / 1e9, t->kept_ns / 1e9);
	printf("offline_share_percent %.1f\n", t->share);
	printf("poll_cpu_ms_per_s %.2f polls_per_s %.0f\n", t->poll_ms,
	       t->polls);
	fflush(stdout);
}

static struct json_object *stats_json(const struct gpreempt_stats *s)
{
	struct json_object *o = json_object_new_object();

	put(o, "n", out_json_number(s->n));
	put(o, "p50", out_json_us(s->p50));
	put(o, "p99", out_json_us(s->p99));
	put(o, "max", out_json_us(s->max));
	return o;
}

static void print_json(const struct guard *guard, const struct totals *t)
{
	struct json_object *o = new_event(guard, "summary", shr_now_ns());

	put(o, "preemptions", out_json_number(guard->figures.suspends));
	put(o, "failures", out_json_number(guard->figures.failures));
	put(o, "arrival_to_ioctl_us", stats_json(&t->to_ioctl));
	put(o, "arrival_to_suspended_us", stats_json(&t->to_suspended));
	put(o, "held_us", out_json_us(t->held_ns));
	put_real(o, "offline_share_percent", t->share);
	put_real(o, "poll_cpu_ms_per_s", t->poll_ms);
	put(o, "simulated", out_json_flag(ctl_simulated()));
	print_event(o);
}

void guard_summary(struct guard *guard)
{
	struct totals t;

	add_up(guard, &t);
	if (guard->args->json)
		print_json(guard, &t);
	else
		print_text(guard, &t);
}

static void put_metrics(FILE *f, const struct guard *guard,
			const struct totals *t)
{
	const char *p = "gpreempt_guard_";

	fprintf(f, "# TYPE %spreemptions_total counter\n"
		"%spreemptions_total %llu\n", p, p,
		(unsigned long long)guard->figures.suspends);
	fprintf(f, "# TYPE %sfailures_total counter\n%sfailures_total %llu\n",
		p, p, (unsigned long long)guard->figures.failures);
	fprintf(f, "# TYPE %sheld_seconds_total counter\n"
		"%sheld_seconds_total %.6f\n", p, p, t->held_ns / 1e9);
	fprintf(f, "# TYPE %spoll_cpu_seconds_total counter\n"
		"%spoll_cpu_seconds_total %.6f\n", p, p,
		atomic_load(&guard->poll_cpu_ns) / 1e9);
	fprintf(f, "# TYPE %soffline_share gauge\n%soffline_share %.4f\n", p,
		p, t->share / 100);
	fprintf(f, "# TYPE %stargets gauge\n%stargets{role=\"online\"} %zu\n"
		"%stargets{role=\"offline\"} %zu\n", p, p, guard->n_online, p,
		guard->n_offline);
	fprintf(f, "# TYPE %ssuspended_seconds summary\n"
		"%ssuspended_seconds{quantile=\"0.5\"} %.6f\n"
		"%ssuspended_seconds{quantile=\"0.99\"} %.6f\n"
		"%ssuspended_seconds_count %zu\n", p, p,
		t->to_suspended.p50 / 1e9, p, t->to_suspended.p99 / 1e9, p,
		guard->figures.to_suspended.count);
}

/* Whole at any time: whoever reads the file sees the old one or the new one. */
void guard_metrics(struct guard *guard)
{
	const char *path = guard->args->sched.metrics;
	char next[4096];
	struct totals t;
	FILE *f;

	if (!path)
		return;
	snprintf(next, sizeof(next), "%s.new", path);
	f = fopen(next, "we");
	if (!f)
		return;
	add_up(guard, &t);
	put_metrics(f, guard, &t);
	if (!fclose(f))
		rename(next, path);
}

void guard_write_samples(const struct guard *guard)
{
	const struct guard_figures *figures = &guard->figures;
	size_t n = figures->to_ioctl.count, i;
	FILE *f;

	if (!guard->args->sched.samples)
		return;
	f = fopen(guard->args->sched.samples, "we");
	if (!f) {
		ctl_note("%s cannot be written: %s",
			 guard->args->sched.samples, strerror(errno));
		return;
	}
	fputs("# arrival_to_ioctl_ns\tarrival_to_suspended_ns\n", f);
	for (i = n < GUARD_SAMPLES ? 0 : n - GUARD_SAMPLES; i < n; i++)
		fprintf(f, "%llu\t%llu\n", (unsigned long long)
			figures->to_ioctl.ns[i % GUARD_SAMPLES],
			(unsigned long long)
			figures->to_suspended.ns[i % GUARD_SAMPLES]);
	fclose(f);
}
