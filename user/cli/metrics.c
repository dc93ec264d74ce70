// SPDX-License-Identifier: GPL-2.0-only
/* The families of metrics, and their text for Prometheus. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <gpreempt/core.h>

#include "shared/text.h"
#include "shared/util.h"
#include "metrics.h"

/* Metrics, and the meaning of their labels. "make docs" puts this into docs/metrics.md. */

const char *const out_label_names[OUT_LABELS] = {
	[OUT_HOSTNAME] = "hostname",
	[OUT_GUARD] = "guard",
	[OUT_GPU_ID] = "gpu_id",
	[OUT_GPU_PARTITION_ID] = "gpu_partition_id",
	[OUT_KFD_GPU_ID] = "kfd_gpu_id",
	[OUT_PCI] = "pci",
	[OUT_PROCESS_ID] = "process_id",
	[OUT_COMM] = "comm",
	[OUT_USER] = "user",
	[OUT_POD_UUID] = "pod_uuid",
	[OUT_POD] = "pod",
	[OUT_NAMESPACE] = "namespace",
	[OUT_CONTAINER] = "container",
	[OUT_CONTAINER_ID] = "container_id",
	[OUT_JOB_ID] = "job_id",
	[OUT_JOB_USER] = "job_user",
	[OUT_CGROUP] = "cgroup",
	[OUT_METHOD] = "method",
	[OUT_BY] = "by",
	[OUT_ROLE] = "role",
	[OUT_STATE] = "state",
	[OUT_VERSION] = "version",
	[OUT_MODULE] = "module",
};

/* clang-format off */
const char *const out_label_texts[OUT_LABELS] = {
	[OUT_HOSTNAME] = "The host's name, as `gethostname()` returns it",
	[OUT_GUARD] = "Name of the guard: that of its file, without the end `.prom`",
	[OUT_GPU_ID] = "AMD's index of the GPU: 0 is the one with the lowest PCI address; "
		"partitions of a GPU follow each other",
	[OUT_GPU_PARTITION_ID] = "Number of the partition in its GPU, from 0; `NA` for a GPU "
		"that is not partitioned",
	[OUT_KFD_GPU_ID] = "KFD's number of the node, as in all commands of gpreempt",
	[OUT_PCI] = "PCI address of the GPU",
	[OUT_PROCESS_ID] = "PID, as the host counts",
	[OUT_COMM] = "Name of the process, which the process chooses",
	[OUT_USER] = "Name of its user, or the number if there is no name",
	[OUT_POD_UUID] = "UID of its Kubernetes pod",
	[OUT_POD] = "Name of its pod, where containerd runs it",
	[OUT_NAMESPACE] = "Namespace of its pod, where containerd runs it",
	[OUT_CONTAINER] = "Name of its container, where root's Docker, Podman, CRI-O or "
		"containerd has one",
	[OUT_CONTAINER_ID] = "Id of its container",
	[OUT_JOB_ID] = "Number of its job in Slurm or Spur",
	[OUT_JOB_USER] = "Its user, if it belongs to a job",
	[OUT_CGROUP] = "Path of its cgroup, at most 255 bytes of it",
	[OUT_METHOD] = "How the share was measured: `waves` (waves were in flight), "
		"`packets` (a queue that a slot holds had packets that were not read), or `-`: "
		"it could not be, and the value is `NaN`",
	[OUT_BY] = "The command that holds it (`suspend`, `guard` and others), the name of "
		"another debugger, or `unknown`",
	[OUT_ROLE] = "`online` or `offline`",
	[OUT_STATE] = "A word of STATE of `gpreempt-ctl list`",
	[OUT_VERSION] = "Version of gpreempt-ctl",
	[OUT_MODULE] = "Version of gpreempt.ko; absent: it is not loaded",
};

const char *const out_type_names[] = {
	[OUT_GAUGE] = "gauge",
	[OUT_COUNTER] = "counter",
	[OUT_HISTOGRAM] = "histogram",
	[OUT_INFO] = "info",
};

const char *const out_type_suffixes[] = {
	[OUT_GAUGE] = "",
	[OUT_COUNTER] = "_total",
	[OUT_HISTOGRAM] = "",
	[OUT_INFO] = "_info",
};

#define BIT(label) (1u << OUT_##label)
#define HOST	   BIT(HOSTNAME)
#define GUARD	   (HOST | BIT(GUARD))
#define NODE	   (HOST | BIT(GPU_ID) | BIT(GPU_PARTITION_ID) | BIT(KFD_GPU_ID))
#define GPU	   (NODE | BIT(PCI))
#define PROCESS	   (HOST | BIT(PROCESS_ID) | BIT(POD_UUID) | BIT(POD) | \
		    BIT(NAMESPACE) | BIT(CONTAINER) | \
		    BIT(CONTAINER_ID) | BIT(JOB_ID) | BIT(JOB_USER))
#define BOTH	   (NODE | PROCESS)

const struct out_family out_families[OUT_FAMILIES] = {
	[OUT_GPREEMPT] = { "gpreempt", OUT_INFO, NULL, HOST | BIT(VERSION) | BIT(MODULE),
		"Versions of gpreempt." },
	[OUT_SIMULATED] = { "gpreempt_simulated", OUT_GAUGE, NULL, HOST,
		"1: the GPUs are simulated, and times are not those of hardware." },
	[OUT_SAMPLE_SECONDS] = { "gpreempt_sample_seconds", OUT_GAUGE, "seconds", HOST,
		"How long the command looked at the GPUs. Shares are of this time." },
	[OUT_SAMPLE_LOOKS] = { "gpreempt_sample_looks", OUT_GAUGE, NULL, HOST,
		"How often it looked in this time. 0: it could not, and shares are NaN." },
	[OUT_SCRAPE_CPU] = { "gpreempt_scrape_cpu_seconds", OUT_GAUGE, "seconds", HOST,
		"Processor time that the command took for this text." },
	[OUT_SERIES_DROPPED] = { "gpreempt_series_dropped", OUT_GAUGE, NULL, HOST,
		"Process series omitted because of --max-series." },
	[OUT_LEFT_ALONE] = { "gpreempt_left_alone", OUT_GAUGE, NULL, HOST | BIT(BY),
		"Processes with queues that follow or guard would hold, and has no place for." },
	[OUT_GPU_BUSY] = { "gpreempt_gpu_busy_ratio", OUT_GAUGE, "ratio", GPU | BIT(METHOD),
		"Share of looks in which a process executed on the GPU." },
	[OUT_GPU_WAVES] = { "gpreempt_gpu_waves", OUT_GAUGE, NULL, GPU,
		"Waves in flight at the last look." },
	[OUT_GPU_WAVES_MAX] = { "gpreempt_gpu_waves_max", OUT_GAUGE, NULL, GPU,
		"Waves that can be in flight." },
	[OUT_GPU_SLOTS_USED] = { "gpreempt_gpu_slots_used", OUT_GAUGE, NULL, GPU,
		"Hardware slots that are active on the first XCC." },
	[OUT_GPU_SLOTS] = { "gpreempt_gpu_slots", OUT_GAUGE, NULL, GPU,
		"Hardware slots that KFD has on each XCC." },
	[OUT_GPU_VRAM] = { "gpreempt_gpu_vram_bytes", OUT_GAUGE, "bytes", GPU,
		"Memory of the GPU that KFD counts for all its processes." },
	[OUT_GPU_VRAM_USED] = { "gpreempt_gpu_vram_used_bytes", OUT_GAUGE, "bytes", GPU,
		"Memory of the device that is in use, by whatever user; of its first partition." },
	[OUT_GPU_VRAM_SIZE] = { "gpreempt_gpu_vram_size_bytes", OUT_GAUGE, "bytes", GPU,
		"Memory that the GPU has." },
	[OUT_GPU_PROCESSES] = { "gpreempt_gpu_processes", OUT_GAUGE, NULL, GPU,
		"Processes that have queues on the GPU." },
	[OUT_GPU_QUEUES] = { "gpreempt_gpu_queues", OUT_GAUGE, NULL, GPU,
		"Queues on the GPU." },
	[OUT_PROCESS] = { "gpreempt_process", OUT_INFO, NULL,
		PROCESS | BIT(COMM) | BIT(USER) | BIT(CGROUP),
		"Identity of a GPU process." },
	[OUT_PROCESS_SLOTS] = { "gpreempt_process_slots_ratio", OUT_GAUGE, "ratio", PROCESS,
		"Share of the hardware slots of its queues that hold them, on all GPUs." },
	[OUT_PROCESS_HELD] = { "gpreempt_process_held", OUT_GAUGE, NULL, PROCESS | BIT(BY),
		"1: a command of gpreempt, a debugger or a checkpoint has it. Absent: none has." },
	[OUT_PROCESS_STATE] = { "gpreempt_process_state", OUT_GAUGE, NULL, PROCESS | BIT(STATE),
		"1: its state at the end of the sample. Absent: it is not known." },
	[OUT_PROCESS_BUSY] = { "gpreempt_process_busy_ratio", OUT_GAUGE, "ratio",
		BOTH | BIT(METHOD),
		"Share of looks in which the process executed on the GPU." },
	[OUT_PROCESS_WAVES] = { "gpreempt_process_waves", OUT_GAUGE, NULL, BOTH,
		"Waves of the process in flight at the last look." },
	[OUT_PROCESS_QUEUES] = { "gpreempt_process_queues", OUT_GAUGE, NULL, BOTH,
		"Queues of the process on the GPU." },
	[OUT_PROCESS_VRAM] = { "gpreempt_process_vram_bytes", OUT_GAUGE, "bytes", BOTH,
		"Memory of the GPU that KFD counts for the process." },
	[OUT_PROCESS_EVICTED] = { "gpreempt_process_evicted_seconds", OUT_COUNTER, "seconds",
		BOTH,
		"How long the driver has had its queues off the GPU, for a pause or for "
		"memory, since the process began." },
	[OUT_PROCESS_SUSPENDED] = { "gpreempt_process_suspended_seconds", OUT_GAUGE, "seconds",
		BOTH,
		"How long, of gpreempt_sample_seconds, all its queues on the GPU were "
		"suspended by the debug interface." },
	[OUT_GUARD_SIMULATED] = { "gpreempt_guard_simulated", OUT_GAUGE, NULL, GUARD,
		"1: the GPUs of this guard are simulated." },
	[OUT_GUARD_TARGETS] = { "gpreempt_guard_targets", OUT_GAUGE, NULL, GUARD | BIT(ROLE),
		"Processes that guard has now." },
	[OUT_GUARD_PREEMPTIONS] = { "gpreempt_guard_preemptions", OUT_COUNTER, NULL, GUARD,
		"Times that an offline process was suspended." },
	[OUT_GUARD_FAILURES] = { "gpreempt_guard_failures", OUT_COUNTER, NULL, GUARD,
		"Suspends and resumes that failed." },
	[OUT_GUARD_HELD] = { "gpreempt_guard_held_seconds", OUT_COUNTER, "seconds", GUARD,
		"How long offline processes were held, added up." },
	[OUT_GUARD_RELEASED] = { "gpreempt_guard_released_seconds", OUT_COUNTER, "seconds",
		GUARD,
		"How long they ran in part although they were to be held, since they "
		"destroyed queues." },
	[OUT_GUARD_OFFLINE_SHARE] = { "gpreempt_guard_offline_share_ratio", OUT_GAUGE, "ratio",
		GUARD,
		"Part of their time that offline processes were not held, since guard began." },
	[OUT_GUARD_POLL_CPU] = { "gpreempt_guard_poll_cpu_seconds", OUT_COUNTER, "seconds",
		GUARD,
		"Processor time that looking for online work took." },
	[OUT_GUARD_TO_IOCTL] = { "gpreempt_guard_arrival_to_ioctl_seconds", OUT_HISTOGRAM,
		"seconds", GUARD,
		"From the arrival of online work to the call that suspends." },
	[OUT_GUARD_TO_SUSPENDED] = { "gpreempt_guard_arrival_to_suspended_seconds",
		OUT_HISTOGRAM, "seconds", GUARD,
		"From the arrival of online work to the return of that call." },
	[OUT_GUARD_TO_SLOTS] = { "gpreempt_guard_arrival_to_slots_seconds", OUT_HISTOGRAM,
		"seconds", GUARD,
		"From the arrival of online work until no slot holds the queues any more, "
		"where the slots were watched." },
};
/* clang-format on */

/* Text formats of Prometheus and of OpenMetrics, for the table above. */

/* Bounds as both formats write a number with a point. */
static const struct {
	uint64_t ns;
	const char *le;
} buckets[OUT_BUCKETS] = {
	{ 50 * NSEC_PER_USEC, "5e-05" },   { 100 * NSEC_PER_USEC, "0.0001" },
	{ 200 * NSEC_PER_USEC, "0.0002" }, { 500 * NSEC_PER_USEC, "0.0005" },
	{ 1 * NSEC_PER_MSEC, "0.001" },	   { 2 * NSEC_PER_MSEC, "0.002" },
	{ 5 * NSEC_PER_MSEC, "0.005" },	   { 10 * NSEC_PER_MSEC, "0.01" },
	{ 20 * NSEC_PER_MSEC, "0.02" },	   { 50 * NSEC_PER_MSEC, "0.05" },
	{ 100 * NSEC_PER_MSEC, "0.1" },	   { 200 * NSEC_PER_MSEC, "0.2" },
	{ 500 * NSEC_PER_MSEC, "0.5" },	   { 1 * NSEC_PER_SEC, "1.0" },
	{ 2 * NSEC_PER_SEC, "2.0" },	   { 5 * NSEC_PER_SEC, "5.0" },
	{ 10 * NSEC_PER_SEC, "10.0" },
};

void out_histogram_add(struct out_histogram *h, uint64_t ns)
{
	size_t i = 0;

	while (i < OUT_BUCKETS && ns > buckets[i].ns)
		i++;
	h->bucket[i]++;
	h->sum_ns += ns;
}

void out_metrics_init(struct out_metrics *m)
{
	*m = (struct out_metrics){ 0 };
	/* The last byte stays 0 when the name is too long. */
	if (gethostname(m->hostname, sizeof(m->hostname) - 1))
		*m->hostname = '\0';
}

/* The text of a family so far; NULL without memory. */
static FILE *open_family(struct out_metrics *m, enum out_family_id id)
{
	if (!m->family[id].f)
		m->family[id].f = open_memstream(&m->family[id].text, &m->family[id].size);
	if (!m->family[id].f)
		m->failed = true;
	return m->family[id].f;
}

/* Write a value harmless, in the quotes' form of both formats. */
static int put_value(FILE *f, const char *value)
{
	char *clean = shr_clean_copy(value, false);
	const char *c;

	if (!clean)
		return -ENOMEM;
	for (c = clean; *c; c++) {
		if (*c == '\\' || *c == '"')
			fputc('\\', f);
		fputc(*c, f);
	}
	free(clean);
	return 0;
}

/* Print the labels in braces; nothing if there are none. */
static void put_labels(struct out_metrics *m, FILE *f, unsigned int mask,
		       const struct out_labels *labels, const char *le)
{
	const char *before = "{";
	size_t i;

	for (i = 0; i < OUT_LABELS; i++) {
		const char *value = i == OUT_HOSTNAME ? m->hostname :
				    i == OUT_GUARD    ? m->guard :
				    labels	      ? labels->value[i] :
							NULL;

		if (!(mask & 1u << i) || !value || !*value)
			continue;
		fprintf(f, "%s%s=\"", before, out_label_names[i]);
		if (put_value(f, value))
			m->failed = true;
		fputc('"', f);
		before = ",";
	}
	if (le)
		fprintf(f, "%sle=\"%s\"", before, le);
	if (le || *before == ',')
		fputc('}', f);
}

#define NANO 1000000000

/* Print a number with a point in each locale, without useless digits. */
static void put_number(FILE *f, double value)
{
	uint64_t whole = isnan(value) ? 0 : value;
	uint64_t nano = isnan(value) ? 0 : (value - whole) * NANO + 0.5;
	int digits = 9;

	if (isnan(value)) {
		fputs("NaN", f);
		return;
	}
	whole += nano / NANO;
	nano %= NANO;
	fprintf(f, "%llu", (unsigned long long)whole);
	if (!nano)
		return;
	for (; !(nano % 10); nano /= 10)
		digits--;
	fprintf(f, ".%0*llu", digits, (unsigned long long)nano);
}

static void put_sample(struct out_metrics *m, enum out_family_id id, const char *suffix,
		       const struct out_labels *labels, const char *le, double value)
{
	const struct out_family *family = &out_families[id];
	FILE *f;

	m->series++;
	if (m->counting)
		return;
	f = open_family(m, id);
	if (!f)
		return;
	fprintf(f, "%s%s", family->name, suffix);
	put_labels(m, f, family->labels, labels, le);
	fputc(' ', f);
	put_number(f, value);
	fputc('\n', f);
}

void out_metric(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		double value)
{
	put_sample(m, id, out_type_suffixes[out_families[id].type], labels, NULL, value);
}

void out_metric_known(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		      int64_t value)
{
	if (value != GPREEMPT_UNKNOWN)
		out_metric(m, id, labels, value);
}

void out_metric_times(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		      const struct out_histogram *h)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i <= OUT_BUCKETS; i++) {
		count += h->bucket[i];
		put_sample(m, id, "_bucket", labels, i < OUT_BUCKETS ? buckets[i].le : "+Inf",
			   count);
	}
	put_sample(m, id, "_sum", labels, NULL, h->sum_ns / 1e9);
	put_sample(m, id, "_count", labels, NULL, count);
}

/* Print the head. OpenMetrics names a counter and an info without the suffix. */
static void put_head(const struct out_family *family, enum out_format format, FILE *out)
{
	bool open = format == OUT_OPENMETRICS;
	const char *suffix = open ? "" : out_type_suffixes[family->type];
	const char *type = !open && family->type == OUT_INFO ? out_type_names[OUT_GAUGE] :
							       out_type_names[family->type];

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help,
		family->name, suffix, type);
	if (open && family->unit)
		fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
}

int out_metrics_print(struct out_metrics *m, enum out_format format, FILE *out)
{
	size_t i;

	for (i = 0; i < OUT_FAMILIES; i++) {
		if (!m->family[i].f)
			continue;
		if (fclose(m->family[i].f))
			m->failed = true;
		if (!m->failed) {
			put_head(&out_families[i], format, out);
			fputs(m->family[i].text, out);
		}
		free(m->family[i].text);
	}
	if (format == OUT_OPENMETRICS)
		fputs("# EOF\n", out);
	return m->failed ? -ENOMEM : 0;
}
