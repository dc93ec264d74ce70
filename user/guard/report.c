// SPDX-License-Identifier: GPL-2.0-only
/* Prints the report of guard, and writes its files. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "guard.h"

/*
 * Files that guard writes: their content, and when. A child process replaces one in one step, so
 * that a disk or a network file system that does not answer never makes guard late.
 */

#define RETRY_NS (2 * NSEC_PER_MSEC)

static void free_text(struct guard_file *file)
{
	free(file->text);
	file->text = NULL;
}

/* Make the file's present content, or NULL without memory. */
static void make_text(struct guard *guard, struct guard_file *file)
{
	FILE *out = open_memstream(&file->text, &file->size);
	int ret;

	if (!out)
		return;
	ret = file->print(guard, out);
	if (fclose(out) || ret)
		free_text(file);
}

/* How a write went. A failure is reported once, until one has worked again. */
static void note(struct guard_file *file, int code)
{
	if (code && !file->failed)
		ctl_note("the %s %s cannot be written: %s", file->what, file->path,
			 shr_file_reason(code));
	file->failed = code;
}

int guard_files_check(struct guard *guard)
{
	const struct guard_options *args = guard->options;
	size_t i;
	int ret;

	guard->file[GUARD_METRICS] = (struct guard_file){
		.what = "metrics file",
		.path = args->metrics,
		.print = guard_print_metrics,
	};
	guard->file[GUARD_SAMPLES_FILE] = (struct guard_file){
		.what = "samples file",
		.path = args->samples,
		.print = guard_print_samples,
	};
	for (i = 0; i < GUARD_FILES; i++) {
		const char *path = guard->file[i].path;

		ret = path ? shr_file_check(path) : 0;
		if (ret)
			return ctl_fail_file(guard->file[i].what, path, "cannot be written", ret);
	}
	return 0;
}

/* An errno value fits into an exit status. */
static int replace(void *arg)
{
	const struct guard_file *file = arg;

	/* A collector that runs as another user reads it. */
	return -shr_file_replace(file->path, 0644, file->text, file->size);
}

static int start(struct guard_file *file)
{
	pid_t child = shr_child_start(replace, file, NULL, 0);

	if (child < 0)
		return child;
	file->child = child;
	return 0;
}

static int result_of(int status)
{
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

void guard_files_poll(struct guard *guard)
{
	struct guard_file *file;
	int status;

	for (file = guard->file; file < guard->file + GUARD_FILES; file++)
		if (file->child && shr_child_gone(&file->child, &status))
			note(file, result_of(status));
}

void guard_files_put(struct guard *guard, enum guard_file_kind kind)
{
	struct guard_file *file = &guard->file[kind];
	int ret;

	if (!file->path)
		return;
	guard_files_poll(guard);
	make_text(guard, file);
	if (!file->text)
		return;
	ret = file->child ? -EBUSY : start(file);
	if (ret)
		note(file, ret);
	free_text(file);
}

void guard_files_last(struct guard *guard)
{
	size_t i;

	for (i = 0; i < GUARD_FILES; i++)
		if (guard->file[i].path)
			make_text(guard, &guard->file[i]);
}

/* Wait for a file. 0, also when none is being written, or -errno: -ETIMEDOUT. */
static int wait_for(struct guard *guard, struct guard_file *file)
{
	uint64_t end = shr_now_ns() + GUARD_FILE_WAIT_NS;
	int status = 0;

	while (!shr_child_gone(&file->child, &status)) {
		if (shr_now_ns() > end) {
			kill(file->child, SIGKILL);
			return -ETIMEDOUT;
		}
		guard_heartbeat(guard);
		shr_sleep_ns(RETRY_NS);
	}
	return result_of(status);
}

/* Write the last one. 0, or the exit status. */
static int finish(struct guard *guard, struct guard_file *file)
{
	int ret;

	if (!file->text)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = wait_for(guard, file);
	if (ret != -ETIMEDOUT)
		ret = start(file);
	if (!ret)
		ret = wait_for(guard, file);
	free_text(file);
	return ret ? ctl_fail_file(file->what, file->path, "could not be written at the end", ret) :
		     0;
}

int guard_files_finish(struct guard *guard)
{
	int ret = 0, one;
	size_t i;

	for (i = 0; i < GUARD_FILES; i++) {
		one = guard->file[i].path ? finish(guard, &guard->file[i]) : 0;
		ret = ret ? ret : one;
	}
	return ret;
}

/* Reports of guard to the user: events, a live line, the figures, metrics, samples. */

static const char *const latency_names[GUARD_LATENCIES] = {
	[GUARD_TO_IOCTL] = "arrival_to_ioctl_us",
	[GUARD_TO_SUSPENDED] = "arrival_to_suspended_us",
	[GUARD_TO_SLOTS] = "arrival_to_slots_us",
};

/* Take the live line away. */
static void clear_line(void)
{
	if (isatty(STDOUT_FILENO))
		fputs("\r\033[K", stdout);
}

static struct json_object *new_event(const struct guard *guard, const char *event, uint64_t ns)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "event", out_json_text(event));
	out_add(o, "t_us", out_json_us(ns - guard->figures.start_ns));
	out_add(o, "clock_us", out_json_us(ns));
	return o;
}

/* Print the text, or with --json return the event that has it, for print_event(). */
static struct json_object *new_text(const struct guard *guard, const char *event, pid_t pid,
				    const char *text)
{
	struct json_object *o;

	if (!guard->options->json) {
		clear_line();
		ctl_say("%s", text);
		return NULL;
	}
	o = new_event(guard, event, guard_now(guard));
	out_add(o, "pid", out_json_number(pid));
	out_add(o, "text", out_json_text(text));
	return o;
}

static bool is_simulated(const struct guard *guard)
{
	return guard->sim || ctl_simulated();
}

/* Print an event on a line of its own, and free it. */
static void print_event(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
						       JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(o);
}

void guard_event(const struct guard *guard, const char *event, pid_t pid, const char *format, ...)
{
	struct json_object *o;
	char text[768];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	o = new_text(guard, event, pid, text);
	if (o)
		print_event(o);
}

void guard_tell_joined(const struct guard *guard, pid_t pid, bool online)
{
	const char *role = online ? "online" : "offline";
	struct gpreempt_description who = { 0 };
	struct json_object *o;
	char text[64];

	snprintf(text, sizeof(text), "process %d is %s", pid, role);
	o = new_text(guard, "joined", pid, text);
	if (!o)
		return;
	gp_identify(guard->g, pid, &who);
	out_add(o, "role", out_json_text(role));
	out_add(o, "comm", out_json_text(*who.comm ? who.comm : NULL));
	print_event(o);
}

void guard_tell_work(const struct guard *guard, const struct guard_note *note)
{
	struct json_object *o = new_event(guard, note->busy ? "busy" : "idle", note->ns);

	out_add(o, "pid", out_json_number(note->pid));
	print_event(o);
}

/* Report lost notes, by the event for lines that were not read in time. */
void guard_tell_lost(size_t n)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "event", out_json_text("dropped"));
	out_add(o, "lines", out_json_number(n));
	print_event(o);
}

void guard_tell_ran(const struct guard *guard, pid_t pid, uint64_t ns)
{
	struct json_object *o;

	if (!guard->work)
		return;
	o = new_event(guard, "ran", shr_now_ns());
	out_add(o, "pid", out_json_number(pid));
	out_add(o, "ran_us", out_json_us(ns));
	print_event(o);
}

void guard_tell_switch(const struct guard *guard, const struct guard_result *r,
		       const struct guard_sample *s)
{
	const char *reason = gpreempt_policy_reason_name(r->reason);
	struct json_object *o;
	size_t i;

	if (!guard->options->json) {
		if (!guard->options->verbose)
			return;
		clear_line();
		printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n",
		       r->suspend ? "suspended" : "resumed", r->pid, reason, r->done, r->requested,
		       (r->end_ns - r->start_ns) / 1e3);
		fflush(stdout);
		return;
	}
	o = new_event(guard, r->suspend ? "suspend" : "resume", r->end_ns);
	out_add(o, "pid", out_json_number(r->pid));
	out_add(o, "reason", out_json_text(reason));
	out_add(o, "requested", out_json_number(r->requested));
	out_add(o, "done", out_json_number(r->done));
	out_add(o, "ioctl_us", out_json_us(r->end_ns - r->start_ns));
	for (i = 0; i < GUARD_LATENCIES; i++)
		out_add(o, latency_names[i], out_json_us(s->ns[i]));
	out_add(o, "simulated", out_json_flag(is_simulated(guard)));
	print_event(o);
}

void guard_tell_churn(const struct guard *guard, pid_t pid, const struct guard_channel *c)
{
	uint64_t recent = atomic_load(&c->recent_ns);
	uint64_t window = atomic_load(&c->window_ns);
	struct json_object *o;
	char text[192];

	snprintf(text, sizeof(text),
		 "process %d %s queues while it is held: ran %.1f s of the last %.0f", pid,
		 atomic_load(&c->made) ? "makes and destroys" : "destroys", recent / 1e9,
		 window / 1e9);
	o = new_text(guard, "churn", pid, text);
	if (!o)
		return;
	out_add(o, "recent_us", out_json_us(recent));
	out_add(o, "window_us", out_json_us(window));
	print_event(o);
}

void guard_add_sample(struct guard_figures *f, const struct guard_sample *one)
{
	size_t i;

	if (!f->sample)
		f->sample = calloc(GUARD_SAMPLES, sizeof(*f->sample));
	if (f->sample)
		f->sample[f->samples++ % GUARD_SAMPLES] = *one;
	for (i = 0; i < GUARD_LATENCIES; i++)
		if (one->ns[i] != GPREEMPT_UNKNOWN)
			out_histogram_add(&f->latency[i], one->ns[i]);
}

static size_t samples_kept(const struct guard_figures *f)
{
	return f->samples < GUARD_SAMPLES ? f->samples : GUARD_SAMPLES;
}

int guard_print_samples(struct guard *guard, FILE *out)
{
	const struct guard_figures *figures = &guard->figures;
	size_t n = figures->samples, i, j;

	fputs("# arrival_to_ioctl_ns\tarrival_to_suspended_ns\tarrival_to_slots_ns\n", out);
	for (i = n - samples_kept(figures); i < n; i++)
		for (j = 0; j < GUARD_LATENCIES; j++) {
			int64_t ns = figures->sample[i % GUARD_SAMPLES].ns[j];

			if (ns == GPREEMPT_UNKNOWN)
				fputc('-', out);
			else
				fprintf(out, "%lld", (long long)ns);
			fputc(j + 1 < GUARD_LATENCIES ? '\t' : '\n', out);
		}
	return 0;
}

struct totals {
	struct guard_times times; /* held time without the time that ran all the same */
	double share;		  /* percent of the time that they ran */
	double poll_ms;		  /* CPU time a second */
	double polls;		  /* a second */
	struct shr_stats latency[GUARD_LATENCIES];
};

static void summarise(const struct guard_figures *figures, enum guard_latency which,
		      struct shr_stats *out)
{
	size_t n = samples_kept(figures), used = 0, i;
	uint64_t *copy = calloc(n + 1, sizeof(*copy));

	for (i = 0; copy && i < n; i++)
		if (figures->sample[i].ns[which] != GPREEMPT_UNKNOWN)
			copy[used++] = figures->sample[i].ns[which];
	if (used)
		shr_stats(copy, used, out);
	free(copy);
}

void guard_add_times(struct guard_times *sum, const struct guard_offline *o, uint64_t now)
{
	sum->kept_ns += now - o->since_ns;
	sum->held_ns += o->times.held_ns;
	if (o->held_since_ns && now > o->held_since_ns)
		sum->held_ns += now - o->held_since_ns;
	sum->released_ns += o->times.released_ns;
	sum->unseen += o->times.unseen;
}

static void add_up(const struct guard *guard, struct totals *t)
{
	const struct guard_figures *figures = &guard->figures;
	uint64_t now = guard_now(guard);
	double seconds = (now - figures->start_ns) / 1e9;
	struct guard_times *times = &t->times;
	size_t i;

	*t = (struct totals){ .times = figures->gone };
	for (i = 0; i < guard->n_offline; i++)
		guard_add_times(times, &guard->offline[i], now);
	times->held_ns -= times->released_ns < times->held_ns ? times->released_ns : times->held_ns;
	t->share = times->kept_ns ? 100.0 - 100.0 * times->held_ns / times->kept_ns : 100;
	t->poll_ms = atomic_load(&guard->poll_cpu_ns) / 1e6 / seconds;
	t->polls = atomic_load(&guard->polls) / seconds;
	for (i = 0; i < GUARD_LATENCIES; i++)
		summarise(figures, i, &t->latency[i]);
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
		 "online: %zu of %zu busy; offline: %zu of %zu held; %llu preemptions", busy,
		 guard->n_online, held, guard->n_offline,
		 (unsigned long long)guard->figures.suspends);
	clear_line();
	/* A longer line would go on in the next line, which stays. */
	printf("%.*s", out_terminal_width() - 1, line);
	fflush(stdout);
}

static void print_stats(const char *name, const struct shr_stats *s)
{
	if (!s->n) {
		printf("%s n=0 p50=- p99=- max=-\n", name);
		return;
	}
	printf("%s n=%zu p50=%.1f p99=%.1f max=%.1f\n", name, s->n, s->p50 / 1e3, s->p99 / 1e3,
	       s->max / 1e3);
}

/* Do it for each tenant, online ones first. */
static void each_tenant(struct guard *guard,
			void (*fn)(void *arg, const struct guard_tenant *t, uint64_t ns,
				   const struct gp_policy_tenant *counted),
			void *arg)
{
	size_t online, i;

	pthread_mutex_lock(&guard->lock);
	for (online = 2; online-- > 0;)
		for (i = 0; i < guard->config.n[online]; i++) {
			const struct guard_tenant *t = &guard->config.tenant[online][i];

			fn(arg, t,
			   guard->sim ? guard->sim->gpu_ns[t->number] :
					gp_policy_time(guard->policy, t->number),
			   &guard->policy->tenant[t->number]);
		}
	pthread_mutex_unlock(&guard->lock);
}

static const char *class_of(const struct guard_tenant *t)
{
	return t->wish.role == GPREEMPT_ROLE_ONLINE ? "online" : "offline";
}

static void print_tenant(void *arg, const struct guard_tenant *t, uint64_t ns,
			 const struct gp_policy_tenant *counted)
{
	(void)arg;
	printf("tenant %s %s gpu_s %.3f requests %llu suspends %llu\n", t->word, class_of(t),
	       ns / 1e9, (unsigned long long)counted->requests,
	       (unsigned long long)counted->suspends);
}

/* Requests that online processes have opened. Servers that no word names open some, too. */
static uint64_t requests(const struct guard *guard)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < GPREEMPT_POLICY_TENANTS; i++)
		n += guard->policy->tenant[i].requests;
	return n;
}

static void print_text(struct guard *guard, const struct totals *t)
{
	const uint64_t *resumes = guard->figures.resumes;
	size_t i;

	clear_line();
	ctl_label_times();
	printf("preemptions %llu failures %llu\n", (unsigned long long)guard->figures.suspends,
	       (unsigned long long)guard->figures.failures);
	if (requests(guard))
		printf("requests %llu preemptions_per_request %.2f\n",
		       (unsigned long long)requests(guard),
		       (double)guard->figures.suspends / requests(guard));
	printf("resumed idle %llu share %llu duty %llu\n",
	       (unsigned long long)resumes[GPREEMPT_POLICY_IDLE],
	       (unsigned long long)resumes[GPREEMPT_POLICY_SHARE],
	       (unsigned long long)resumes[GPREEMPT_POLICY_DUTY]);
	if (resumes[GPREEMPT_POLICY_JOB_CONTROL])
		printf("job_control_resumes %llu\n",
		       (unsigned long long)resumes[GPREEMPT_POLICY_JOB_CONTROL]);
	for (i = 0; i < GUARD_LATENCIES; i++)
		print_stats(latency_names[i], &t->latency[i]);
	printf("held_s %.3f of %.3f\n", t->times.held_ns / 1e9, t->times.kept_ns / 1e9);
	if (t->times.released_ns)
		printf("released_s %.3f\n", t->times.released_ns / 1e9);
	if (t->times.unseen)
		printf("unseen_queues %llu\n", (unsigned long long)t->times.unseen);
	printf("offline_share_percent %.1f\n", t->share);
	each_tenant(guard, print_tenant, NULL);
	printf("poll_cpu_ms_per_s %.2f polls_per_s %.0f\n", t->poll_ms, t->polls);
	fflush(stdout);
}

static void add_tenant(void *arg, const struct guard_tenant *t, uint64_t ns,
		       const struct gp_policy_tenant *counted)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "tenant", out_json_text(t->word));
	out_add(o, "class", out_json_text(class_of(t)));
	out_add(o, "gpu_us", out_json_us(ns));
	out_add(o, "requests", out_json_number(counted->requests));
	out_add(o, "suspends", out_json_number(counted->suspends));
	json_object_array_add(arg, o);
}

static struct json_object *json_tenants(struct guard *guard)
{
	struct json_object *tenants = json_object_new_array();

	each_tenant(guard, add_tenant, tenants);
	return tenants;
}

void guard_tell_tenants(struct guard *guard)
{
	struct json_object *o;

	if (!guard->options->json)
		return;
	o = new_event(guard, "tenants", guard_now(guard));
	out_add(o, "tenants", json_tenants(guard));
	print_event(o);
}

static void print_json(struct guard *guard, const struct totals *t)
{
	struct json_object *o = new_event(guard, "summary", guard_now(guard));
	size_t i;

	out_add(o, "preemptions", out_json_number(guard->figures.suspends));
	out_add(o, "requests", out_json_number(requests(guard)));
	out_add(o, "tenants", json_tenants(guard));
	out_add(o, "failures", out_json_number(guard->figures.failures));
	for (i = 0; i < GUARD_LATENCIES; i++)
		out_add(o, latency_names[i], out_json_stats(&t->latency[i]));
	out_add(o, "held_us", out_json_us(t->times.held_ns));
	out_add(o, "released_us", out_json_us(t->times.released_ns));
	out_add(o, "unseen_queues", out_json_number(t->times.unseen));
	out_add(o, "offline_share_percent", json_object_new_double(t->share));
	out_add(o, "poll_cpu_ms_per_s", json_object_new_double(t->poll_ms));
	out_add(o, "simulated", out_json_flag(is_simulated(guard)));
	print_event(o);
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

static const enum out_family_id latency_families[GUARD_LATENCIES] = {
	[GUARD_TO_IOCTL] = OUT_GUARD_TO_IOCTL,
	[GUARD_TO_SUSPENDED] = OUT_GUARD_TO_SUSPENDED,
	[GUARD_TO_SLOTS] = OUT_GUARD_TO_SLOTS,
};

static void tenant_metric(void *arg, const struct guard_tenant *t, uint64_t ns,
			  const struct gp_policy_tenant *counted)
{
	struct out_labels labels = { { [OUT_ROLE] = class_of(t) } };
	char word[256];

	snprintf(word, sizeof(word), "%s", t->word);
	labels.value[OUT_TENANT] = word;
	out_metric(arg, OUT_GUARD_TENANT, &labels, ns / 1e9);
	out_metric(arg, OUT_GUARD_TENANT_SUSPENDS, &labels, counted->suspends);
}

int guard_print_metrics(struct guard *guard, FILE *out)
{
	const char *path = guard->options->metrics, *name = path ? strrchr(path, '/') : NULL;
	const struct guard_figures *figures = &guard->figures;
	struct out_metrics m;
	struct totals t;
	size_t i;

	out_metrics_init(&m);
	/* A collector reads the files of all guards of a host together. */
	name = name ? name + 1 : path ? path : "";
	snprintf(m.guard, sizeof(m.guard), "%.*s", (int)strcspn(name, "."), name);
	add_up(guard, &t);
	out_metric(&m, OUT_GUARD_SIMULATED, NULL, is_simulated(guard));
	out_metric(&m, OUT_GUARD_TARGETS, &(struct out_labels){ { [OUT_ROLE] = "online" } },
		   guard->n_online);
	out_metric(&m, OUT_GUARD_TARGETS, &(struct out_labels){ { [OUT_ROLE] = "offline" } },
		   guard->n_offline);
	out_metric(&m, OUT_GUARD_PREEMPTIONS, NULL, figures->suspends);
	out_metric(&m, OUT_GUARD_FAILURES, NULL, figures->failures);
	out_metric(&m, OUT_GUARD_HELD, NULL, t.times.held_ns / 1e9);
	out_metric(&m, OUT_GUARD_RELEASED, NULL, t.times.released_ns / 1e9);
	each_tenant(guard, tenant_metric, &m);
	out_metric(&m, OUT_GUARD_REQUESTS, NULL, requests(guard));
	out_metric(&m, OUT_GUARD_OFFLINE_SHARE, NULL, t.share / 100);
	out_metric(&m, OUT_GUARD_POLL_CPU, NULL, atomic_load(&guard->poll_cpu_ns) / 1e9);
	for (i = 0; i < GUARD_LATENCIES; i++)
		out_metric_times(&m, latency_families[i], NULL, &figures->latency[i]);
	return out_metrics_print(&m, OUT_PROMETHEUS, out);
}
