// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of GPUs, by the names and labels of AMD's exporter. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "cli/metrics.h"
#include "hold/owner.h"
#include "hold/places.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "figures.h"

/* The labels of a GPU. */
struct metrics_gpu {
	int64_t gpu_id;
	const char *device;
	char index[24]; /* "": not known */
	char partition[24];
	char kfd[24];
};

/* Are the addresses equal but for the function, where KFD's sysfs has the number of a partition? */
static bool are_near(const char *a, const char *b)
{
	size_t len = strcspn(a, ".");

	return len == strcspn(b, ".") && !strncmp(a, b, len);
}

/*
 * A GPU has the partition "NA" if it is not partitioned. What sysfs has in place of the module can
 * be partitions, or functions of a device.
 */
static void name_gpu(const struct gp_figures *f, const struct gp_gpu *gpu, struct metrics_gpu *out)
{
	size_t j, near = 0;

	*out = (struct metrics_gpu){ .gpu_id = gpu->gpu_id, .device = gpu->device };
	snprintf(out->kfd, sizeof(out->kfd), "0x%llx", (unsigned long long)gpu->gpu_id);
	/* One GPU without an address makes the order unknown. */
	if (gpu->index == GPREEMPT_UNKNOWN)
		return;
	for (j = 0; j < f->names.count; j++)
		near += are_near(f->names.items[j].device, gpu->device);
	snprintf(out->index, sizeof(out->index), "%lld", (long long)gpu->index);
	if (gpu->partitions > 1)
		snprintf(out->partition, sizeof(out->partition), "%lld", (long long)gpu->partition);
	else if (near == 1 || f->source == GPREEMPT_SOURCE_MODULE)
		strcpy(out->partition, "NA");
}

/* Set the labels of a GPU. A list of GPUs ends with the one without an id. */
static void set_gpu(const struct metrics_gpu *gpu, int64_t gpu_id, struct out_labels *labels)
{
	while (gpu->gpu_id && gpu->gpu_id != gpu_id)
		gpu++;
	if (!gpu->gpu_id)
		return;
	labels->value[OUT_GPU_ID] = gpu->index;
	labels->value[OUT_GPU_PARTITION_ID] = gpu->partition;
	labels->value[OUT_KFD_GPU_ID] = gpu->kfd;
	labels->value[OUT_PCI] = gpu->device;
}

static void add_share(struct out_metrics *m, enum out_family_id id, struct out_labels *labels,
		      const struct gp_share *share)
{
	enum gp_busy_by method = share->looks ? share->method : GP_BUSY_BY_NONE;
	double percent = gp_share_percent(share);

	labels->value[OUT_METHOD] = gp_busy_by_names[method];
	out_metric(m, id, labels, percent < 0 ? NAN : percent / 100);
	labels->value[OUT_METHOD] = NULL;
}

static void add_gpus(struct out_metrics *m, const struct gp_figures *f,
		     const struct metrics_gpu *gpus)
{
	struct out_labels labels = { 0 };
	size_t i;

	for (i = 0; i < f->gpus.count; i++) {
		const struct gp_gpu_figures *gpu = &f->gpus.items[i];

		set_gpu(gpus, gpu->node.gpu_id, &labels);
		add_share(m, OUT_GPU_BUSY, &labels, &gpu->share);
		out_metric_known(m, OUT_GPU_WAVES, &labels, gpu->waves);
		out_metric_known(m, OUT_GPU_WAVES_MAX, &labels, gpu->waves_max);
		out_metric_known(m, OUT_GPU_SLOTS_USED, &labels, gpu->node.slots_used);
		out_metric_known(m, OUT_GPU_SLOTS, &labels, gpu->node.slots);
		out_metric_known(m, OUT_GPU_VRAM, &labels, gpu->vram);
		out_metric_known(m, OUT_GPU_VRAM_USED, &labels, gpu->vram_used);
		out_metric_known(m, OUT_GPU_VRAM_SIZE, &labels, gpu->vram_size);
		out_metric_known(m, OUT_GPU_PROCESSES, &labels, gpu->node.processes);
		out_metric_known(m, OUT_GPU_QUEUES, &labels, gpu->node.queues);
	}
}

/* Metrics of processes, and the choice of processes that are left out. */

struct ranked {
	const struct ctl_process *p;
	double busy; /* percent, on the GPU where it is highest */
	int64_t vram;
	const char *by; /* holder of it, or "" */
};

/* Order: the busiest first, then the process with more memory. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	if (x->vram != y->vram)
		return x->vram < y->vram ? 1 : -1;
	return (x->p->pid > y->p->pid) - (x->p->pid < y->p->pid);
}

static void rank(const struct ctl_process *p, struct ranked *out)
{
	size_t i;

	*out = (struct ranked){ .p = p, .busy = -1, .by = p->held_as };
	if (p->how && !*p->held_as)
		out->by = "unknown";
	for (i = 0; i < p->gpus.count; i++) {
		const struct gp_figure *gpu = &p->gpus.items[i];
		double busy = gp_share_percent(&gpu->share);

		if (busy > out->busy)
			out->busy = busy;
		if (gpu->vram > 0)
			out->vram += gpu->vram;
	}
}

/* Was it used in this interval? */
static bool is_used(const struct gp_figure *gpu)
{
	return gp_figure_is_used(gpu) || gpu->share.busy || gpu->suspended_ns;
}

static void add_on_gpu(struct out_metrics *m, struct out_labels *labels,
		       const struct gp_figure *gpu, bool looked)
{
	add_share(m, OUT_PROCESS_BUSY, labels, &gpu->share);
	out_metric_known(m, OUT_PROCESS_WAVES, labels, gpu->waves);
	out_metric_known(m, OUT_PROCESS_QUEUES, labels, gpu->queues);
	out_metric_known(m, OUT_PROCESS_VRAM, labels, gpu->vram);
	if (gpu->evicted_ms != GPREEMPT_UNKNOWN)
		out_metric(m, OUT_PROCESS_EVICTED, labels, gpu->evicted_ms / 1e3);
	if (looked && gpu->suspended != GPREEMPT_UNKNOWN)
		out_metric(m, OUT_PROCESS_SUSPENDED, labels,
			   (double)gpu->suspended_ns / NSEC_PER_SEC);
}

static void set_identity(const struct ctl_process *p, struct out_labels *labels)
{
	labels->value[OUT_COMM] = p->comm;
	labels->value[OUT_USER] = p->user;
	labels->value[OUT_POD_UUID] = p->place.pod_uid;
	labels->value[OUT_POD] = p->place.in.pod;
	labels->value[OUT_NAMESPACE] = p->place.in.pod_namespace;
	labels->value[OUT_CONTAINER] = p->place.in.name;
	labels->value[OUT_CONTAINER_ID] = p->place.in.id;
	labels->value[OUT_JOB_ID] = p->place.job;
	if (*p->place.job)
		labels->value[OUT_JOB_USER] = p->user;
	labels->value[OUT_CGROUP] = p->place.cgroup;
}

static void add_process(struct out_metrics *m, const struct ranked *r,
			const struct metrics_gpu *gpus, bool looked)
{
	const struct ctl_process *p = r->p;
	struct out_labels labels = { { [OUT_BY] = r->by } };
	char pid[24];
	size_t i;

	snprintf(pid, sizeof(pid), "%lld", (long long)p->pid);
	labels.value[OUT_PROCESS_ID] = pid;
	set_identity(p, &labels);
	out_metric(m, OUT_PROCESS, &labels, 1);
	if (p->slots_taken)
		out_metric(m, OUT_PROCESS_SLOTS, &labels, (double)p->slots_held / p->slots_taken);
	if (*r->by)
		out_metric(m, OUT_PROCESS_HELD, &labels, 1);
	labels.value[OUT_STATE] = p->state;
	if (p->state)
		out_metric(m, OUT_PROCESS_STATE, &labels, 1);
	for (i = 0; i < p->gpus.count; i++) {
		if (!is_used(&p->gpus.items[i]))
			continue;
		set_gpu(gpus, p->gpus.items[i].gpu_id, &labels);
		add_on_gpu(m, &labels, &p->gpus.items[i], looked);
	}
}

/* Add as many processes as there is room for; returns how many series the others would have had. */
static size_t add_ranked(struct out_metrics *m, const struct ranked *ranked, size_t n,
			 const struct metrics_gpu *gpus, bool looked, size_t room)
{
	size_t i, count, dropped = 0, begin = m->series;

	for (i = 0; i < n; i++) {
		size_t before = m->series;

		m->counting = true;
		add_process(m, &ranked[i], gpus, looked);
		m->counting = false;
		count = m->series - before;
		m->series = before;
		/* Once a process did not fit, no lesser one is taken. */
		if (dropped || before - begin + count > room)
			dropped += count;
		else
			add_process(m, &ranked[i], gpus, looked);
	}
	return dropped;
}

/*
 * Add the figures of the processes that have the highest shares and the most memory, up to @room
 * series. Returns the number of the others' series. Holders are left out.
 */
static size_t add_processes(struct out_metrics *m, const struct gp_figures *f,
			    const struct metrics_gpu *gpus, size_t room)
{
	__cleanup_free struct ranked *ranked =
		shr_must(calloc(f->processes.count + 1, sizeof(*ranked)));
	size_t i, n = 0;

	for (i = 0; i < f->processes.count; i++)
		if (!f->processes.items[i].holder)
			rank(&f->processes.items[i], &ranked[n++]);
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	return add_ranked(m, ranked, n, gpus, f->looks, room);
}

/* Metrics of GPUs and processes, for Prometheus. */

struct metrics_args {
	uint64_t for_ns;
	uint64_t looks_ns;
	uint64_t max_series;
	const char *format;
	const char *output; /* NULL: stdout */
};

/* Number of the host's series that are added last. */
#define LAST_SERIES 2

static double cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int parse_format(const char *word, enum out_format *out)
{
	if (!word || !strcmp(word, "prometheus"))
		*out = OUT_PROMETHEUS;
	else if (!strcmp(word, "openmetrics"))
		*out = OUT_OPENMETRICS;
	else
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl metrics --help",
				     "--format is prometheus or openmetrics");
	return 0;
}

/* Look at all GPUs for that long, at least once. *took_ns: how long it was. */
static int sample(struct ctl_sampler *s, uint64_t for_ns, uint64_t *took_ns)
{
	struct gpreempt_error err;
	uint64_t begin;
	int ret = ctl_sampler_refresh(s, &err);

	if (ret)
		return ctl_fail(&err);
	begin = shr_now_ns();
	ctl_sampler_look(s);
	if (s->blind)
		ctl_note_reason(s->why.reason, 0);
	else
		ctl_sampler_wait(s, shr_later_ns(begin, for_ns), -1);
	*took_ns = shr_now_ns() - begin;
	ret = ctl_sampler_refresh(s, &err);
	return ret ? ctl_fail(&err) : 0;
}

static void add_versions(struct out_metrics *m, struct gpreempt *g)
{
	struct out_labels labels = { { [OUT_VERSION] = gpreempt_version() } };
	const struct gpreempt_fact *module;
	__cleanup_list struct gpreempt_facts *facts = NULL;

	if (!gp_module_version(g, &facts, NULL)) {
		module = gp_facts_find(facts, "module");
		labels.value[OUT_MODULE] = module ? module->value : NULL;
	}
	out_metric(m, OUT_GPREEMPT, &labels, 1);
}

static int count_left(void *arg, const struct places_left *left)
{
	size_t *sums = arg;

	sums[left->role] += left->left;
	return 0;
}

/* Add the numbers of both roles at any time, so that an alert needs no other series. */
static void add_left(struct out_metrics *m, struct gpreempt *g)
{
	static const enum hold_role roles[] = { HOLD_ROLE_FOLLOW, HOLD_ROLE_GUARD };
	size_t sums[HOLD_ROLES] = { 0 }, i;

	/* Only root can read the numbers. */
	if (places_left_list(g, count_left, sums))
		return;
	for (i = 0; i < ARRAY_SIZE(roles); i++)
		out_metric(m, OUT_LEFT_ALONE,
			   &(struct out_labels){ { [OUT_BY] = hold_role_name(roles[i]) } },
			   sums[roles[i]]);
}

static void add_all(struct out_metrics *m, struct ctl_sampler *s, uint64_t max, uint64_t took_ns)
{
	const struct gp_figures *f = &s->figures;
	__cleanup_free struct metrics_gpu *gpus =
		shr_must(calloc(f->names.count + 1, sizeof(*gpus)));
	size_t i, used;

	for (i = 0; i < f->names.count; i++)
		name_gpu(f, &f->names.items[i], &gpus[i]);
	add_versions(m, s->g);
	out_metric(m, OUT_SIMULATED, NULL, ctl_simulated());
	out_metric(m, OUT_SAMPLE_SECONDS, NULL, took_ns / 1e9);
	out_metric(m, OUT_SAMPLE_LOOKS, NULL, f->looks);
	add_left(m, s->g);
	add_gpus(m, f, gpus);
	used = m->series + LAST_SERIES;
	out_metric(m, OUT_SERIES_DROPPED, NULL,
		   add_processes(m, f, gpus, max > used ? max - used : 0));
	out_metric(m, OUT_SCRAPE_CPU, NULL,
		   cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
}

/* Print to stdout, or to a whole file. 0 or an exit status. */
static int print(struct out_metrics *m, const struct metrics_args *args, enum out_format format)
{
	__cleanup_free char *text = NULL;
	size_t size;
	FILE *out = args->output ? shr_must(open_memstream(&text, &size)) : stdout;
	int ret = out_metrics_print(m, format, out);

	if (args->output && fclose(out))
		ret = -ENOMEM;
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	if (args->output)
		ret = shr_file_replace(args->output, 0644, text, size);
	return ret ? ctl_fail_file("metrics file", args->output, "cannot be written", ret) : 0;
}

static int collect(struct gpreempt *g, const struct metrics_args *args, enum out_format format)
{
	struct ctl_sampler s;
	struct out_metrics m;
	uint64_t took_ns = 0;
	int ret;

	ctl_sampler_init(&s, g, args->looks_ns);
	ret = sample(&s, args->for_ns, &took_ns);
	if (!ret) {
		out_metrics_init(&m);
		add_all(&m, &s, args->max_series, took_ns);
		ret = print(&m, args, format);
	}
	ctl_sampler_clear(&s);
	return ret;
}

static int run_metrics(void *data)
{
	const struct metrics_args *args = data;
	__cleanup_handle struct gpreempt *g = NULL;
	enum out_format format = OUT_PROMETHEUS;
	int code, ret = parse_format(args->format, &format);

	code = !ret && args->output ? shr_file_check(args->output) : 0;
	if (code)
		return ctl_fail_file("metrics file", args->output, "cannot be written", code);
	if (!ret)
		ret = ctl_open_host("read the figures of all processes", &g);
	if (!ret)
		ret = collect(g, args, format);
	return ret;
}

static const struct ctl_option options[] = {
	{ "for", CTL_DURATION, offsetof(struct metrics_args, for_ns), "TIME",
	  "how long to look, for shares of that time (1s)" },
	{ "looks", CTL_DURATION, offsetof(struct metrics_args, looks_ns), "TIME",
	  "time between looks (0s: 20ms, or what 1 % of a CPU allows)" },
	{ "format", CTL_NAME, offsetof(struct metrics_args, format), "FORMAT",
	  "prometheus (default) or openmetrics" },
	{ "max-series", CTL_COUNT, offsetof(struct metrics_args, max_series), "N",
	  "leave out processes beyond that many series (2000)" },
	{ "output", CTL_FILE, offsetof(struct metrics_args, output), "FILE",
	  "replace a file, as for the textfile collector" },
	{ 0 },
};

const struct ctl_command ctl_metrics = {
	.name = "metrics",
	.run = run_metrics,
	.args_size = sizeof(struct metrics_args),
	.summary = "Print metrics of GPUs and processes for Prometheus.",
	.details =
		"Looks at all GPUs for a time, up to 50 times a second and with 1 % of a CPU\n"
		"at most, and prints once. Shares are of these looks: a process is busy in\n"
		"those in which it has waves in flight. /dev/kfd is not opened.\n"
		"\n"
		"With more series than --max-series, whole processes are left out: those that\n"
		"were busy least, and of these those with least memory. The metric\n"
		"gpreempt_series_dropped counts their series; those of GPUs are always there.\n"
		"\n"
		"docs/metrics.md has all metrics and labels. gpreempt-metrics.timer runs it for\n"
		"the textfile collector of node_exporter.\n",
	.examples =
		"  gpreempt-ctl metrics --for 0\n"
		"  gpreempt-ctl metrics --output gpreempt.prom   # a textfile for node_exporter\n",
	.options = options,
	.defaults = &(const struct metrics_args){ .for_ns = NSEC_PER_SEC, .max_series = 2000 },
};
