/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics for Prometheus. One table of families makes the text, the page
 * docs/metrics.md and a part of the tests.
 */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */

/*
 * Labels in the order in which they are printed: LABEL(id, name, text of docs/metrics.md). Those
 * that AMD's device metrics exporter has, too, have its names and its values, so that both can be
 * joined. The hostname is a label of each sample, set by out_metric(), and so is a guard's name.
 */
#define OUT_LABEL_LIST(LABEL) \
	LABEL(HOSTNAME, "hostname", "The host's name, as `gethostname()` returns it") \
	LABEL(GUARD, "guard", "Name of the guard: that of its file, without the end `.prom`") \
	LABEL(TENANT, "tenant", "TARGET of a tenant of the guard, at most 255 bytes of it") \
	LABEL(GPU_ID, "gpu_id", \
	      "AMD's index of the GPU: 0 is the one with the lowest PCI address; partitions of " \
	      "a GPU follow each other") \
	LABEL(GPU_PARTITION_ID, "gpu_partition_id", \
	      "Number of the partition in its GPU, from 0; `NA` for a GPU that is not " \
	      "partitioned") \
	LABEL(KFD_GPU_ID, "kfd_gpu_id", \
	      "KFD's number of the node, as in all commands of gpreempt") \
	LABEL(PCI, "pci", "PCI address of the GPU") \
	LABEL(PROCESS_ID, "process_id", "PID, as the host counts") \
	LABEL(COMM, "comm", "Name of the process, which the process chooses") \
	LABEL(USER, "user", "Name of its user, or the number if there is no name") \
	LABEL(POD_UUID, "pod_uuid", "UID of its Kubernetes pod") \
	LABEL(POD, "pod", "Name of its pod, where containerd runs it") \
	LABEL(NAMESPACE, "namespace", "Namespace of its pod, where containerd runs it") \
	LABEL(CONTAINER, "container", \
	      "Name of its container, where root's Docker, Podman, CRI-O or containerd has one") \
	LABEL(CONTAINER_ID, "container_id", "Id of its container") \
	LABEL(JOB_ID, "job_id", "Number of its job in Slurm or Spur") \
	LABEL(JOB_USER, "job_user", "Its user, if it belongs to a job") \
	LABEL(CGROUP, "cgroup", "Path of its cgroup, at most 255 bytes of it") \
	LABEL(METHOD, "method", \
	      "How the share was measured: `waves` (waves were in flight), `packets` (a queue " \
	      "that a slot holds had packets that were not read), or `-`: it could not be, and " \
	      "the value is `NaN`") \
	LABEL(BY, "by", \
	      "The command that holds it (`suspend`, `guard` and others), the name of another " \
	      "debugger, or `unknown`") \
	LABEL(ROLE, "role", "`online` or `offline`") \
	LABEL(STATE, "state", "A word of STATE of `gpreempt-ctl list`") \
	LABEL(VERSION, "version", "Version of gpreempt-ctl") \
	LABEL(MODULE, "module", "Version of gpreempt.ko; absent: it is not loaded")

/* Metrics in the order of the text: FAMILY(id, name, type, unit, labels, help). */
#define OUT_FAMILY_LIST(FAMILY) \
	FAMILY(GPREEMPT, "gpreempt", INFO, NULL, HOST | BIT(VERSION) | BIT(MODULE), \
	       "Versions of gpreempt.") \
	FAMILY(SIMULATED, "gpreempt_simulated", GAUGE, NULL, HOST, \
	       "1: the GPUs are simulated, and times are not those of hardware.") \
	FAMILY(SAMPLE_SECONDS, "gpreempt_sample_seconds", GAUGE, "seconds", HOST, \
	       "How long the command looked at the GPUs. Shares are of this time.") \
	FAMILY(SAMPLE_LOOKS, "gpreempt_sample_looks", GAUGE, NULL, HOST, \
	       "How often it looked in this time. 0: it could not, and shares are NaN.") \
	FAMILY(SCRAPE_CPU, "gpreempt_scrape_cpu_seconds", GAUGE, "seconds", HOST, \
	       "Processor time that the command took for this text.") \
	FAMILY(SERIES_DROPPED, "gpreempt_series_dropped", GAUGE, NULL, HOST, \
	       "Process series omitted because of --max-series.") \
	FAMILY(LEFT_ALONE, "gpreempt_left_alone", GAUGE, NULL, HOST | BIT(BY), \
	       "Processes with queues that follow or guard would hold, and has no place for.") \
	FAMILY(GPU_BUSY, "gpreempt_gpu_busy_ratio", GAUGE, "ratio", GPU | BIT(METHOD), \
	       "Share of looks in which a process executed on the GPU.") \
	FAMILY(GPU_WAVES, "gpreempt_gpu_waves", GAUGE, NULL, GPU, \
	       "Waves in flight at the last look.") \
	FAMILY(GPU_WAVES_MAX, "gpreempt_gpu_waves_max", GAUGE, NULL, GPU, \
	       "Waves that can be in flight.") \
	FAMILY(GPU_SLOTS_USED, "gpreempt_gpu_slots_used", GAUGE, NULL, GPU, \
	       "Hardware slots that are active on the first XCC.") \
	FAMILY(GPU_SLOTS, "gpreempt_gpu_slots", GAUGE, NULL, GPU, \
	       "Hardware slots that KFD has on each XCC.") \
	FAMILY(GPU_VRAM, "gpreempt_gpu_vram_bytes", GAUGE, "bytes", GPU, \
	       "Memory of the GPU that KFD counts for all its processes.") \
	FAMILY(GPU_VRAM_USED, "gpreempt_gpu_vram_used_bytes", GAUGE, "bytes", GPU, \
	       "Memory of the device that is in use, by whatever user; of its first partition.") \
	FAMILY(GPU_VRAM_SIZE, "gpreempt_gpu_vram_size_bytes", GAUGE, "bytes", GPU, \
	       "Memory that the GPU has.") \
	FAMILY(GPU_PROCESSES, "gpreempt_gpu_processes", GAUGE, NULL, GPU, \
	       "Processes that have queues on the GPU.") \
	FAMILY(GPU_QUEUES, "gpreempt_gpu_queues", GAUGE, NULL, GPU, \
	       "Queues on the GPU.") \
	FAMILY(PROCESS, "gpreempt_process", INFO, NULL, \
	       PROCESS | BIT(COMM) | BIT(USER) | BIT(CGROUP), \
	       "Identity of a GPU process.") \
	FAMILY(PROCESS_SLOTS, "gpreempt_process_slots_ratio", GAUGE, "ratio", PROCESS, \
	       "Share of the hardware slots of its queues that hold them, on all GPUs.") \
	FAMILY(PROCESS_HELD, "gpreempt_process_held", GAUGE, NULL, PROCESS | BIT(BY), \
	       "1: a command of gpreempt, a debugger or a checkpoint has it. Absent: none has.") \
	FAMILY(PROCESS_STATE, "gpreempt_process_state", GAUGE, NULL, PROCESS | BIT(STATE), \
	       "1: its state at the end of the sample. Absent: it is not known.") \
	FAMILY(PROCESS_BUSY, "gpreempt_process_busy_ratio", GAUGE, "ratio", BOTH | BIT(METHOD), \
	       "Share of looks in which the process executed on the GPU.") \
	FAMILY(PROCESS_WAVES, "gpreempt_process_waves", GAUGE, NULL, BOTH, \
	       "Waves of the process in flight at the last look.") \
	FAMILY(PROCESS_QUEUES, "gpreempt_process_queues", GAUGE, NULL, BOTH, \
	       "Queues of the process on the GPU.") \
	FAMILY(PROCESS_VRAM, "gpreempt_process_vram_bytes", GAUGE, "bytes", BOTH, \
	       "Memory of the GPU that KFD counts for the process.") \
	FAMILY(PROCESS_EVICTED, "gpreempt_process_evicted_seconds", COUNTER, "seconds", BOTH, \
	       "How long the driver has had its queues off the GPU, for a pause or for memory, " \
	       "since the process began.") \
	FAMILY(PROCESS_SUSPENDED, "gpreempt_process_suspended_seconds", GAUGE, "seconds", BOTH, \
	       "How long, of gpreempt_sample_seconds, all its queues on the GPU were suspended " \
	       "by the debug interface.") \
	FAMILY(GUARD_SIMULATED, "gpreempt_guard_simulated", GAUGE, NULL, GUARD, \
	       "1: the GPUs of this guard are simulated.") \
	FAMILY(GUARD_TARGETS, "gpreempt_guard_targets", GAUGE, NULL, GUARD | BIT(ROLE), \
	       "Processes that guard has now.") \
	FAMILY(GUARD_PREEMPTIONS, "gpreempt_guard_preemptions", COUNTER, NULL, GUARD, \
	       "Times that an offline process was suspended.") \
	FAMILY(GUARD_FAILURES, "gpreempt_guard_failures", COUNTER, NULL, GUARD, \
	       "Suspends and resumes that failed.") \
	FAMILY(GUARD_HELD, "gpreempt_guard_held_seconds", COUNTER, "seconds", GUARD, \
	       "How long offline processes were held, added up.") \
	FAMILY(GUARD_RELEASED, "gpreempt_guard_released_seconds", COUNTER, "seconds", GUARD, \
	       "How long they ran in part although they were to be held, since they destroyed " \
	       "queues.") \
	FAMILY(GUARD_TENANT, "gpreempt_guard_tenant_seconds", COUNTER, "seconds", \
	       GUARD | BIT(TENANT) | BIT(ROLE), \
	       "How long a tenant had a GPU: offline, while one of its processes could run and " \
	       "had work, on each GPU; online, while each of them had work.") \
	FAMILY(GUARD_TENANT_SUSPENDS, "gpreempt_guard_tenant_suspends", COUNTER, NULL, \
	       GUARD | BIT(TENANT) | BIT(ROLE), \
	       "Suspends of its processes that were ordered, if it is offline.") \
	FAMILY(GUARD_REQUESTS, "gpreempt_guard_requests", COUNTER, NULL, GUARD, \
	       "Requests that online processes have opened.") \
	FAMILY(GUARD_OFFLINE_SHARE, "gpreempt_guard_offline_share_ratio", GAUGE, "ratio", GUARD, \
	       "Part of their time that offline processes were not held, since guard began.") \
	FAMILY(GUARD_POLL_CPU, "gpreempt_guard_poll_cpu_seconds", COUNTER, "seconds", GUARD, \
	       "Processor time that looking for online work took.") \
	FAMILY(GUARD_TO_IOCTL, "gpreempt_guard_arrival_to_ioctl_seconds", HISTOGRAM, "seconds", \
	       GUARD, \
	       "From the arrival of online work to the call that suspends.") \
	FAMILY(GUARD_TO_SUSPENDED, "gpreempt_guard_arrival_to_suspended_seconds", HISTOGRAM, \
	       "seconds", GUARD, \
	       "From the arrival of online work to the return of that call.") \
	FAMILY(GUARD_TO_SLOTS, "gpreempt_guard_arrival_to_slots_seconds", HISTOGRAM, "seconds", \
	       GUARD, \
	       "From the arrival of online work until no slot holds the queues any more, where " \
	       "the slots were watched.")
/* clang-format on */

#define OUT_ID(id, ...) OUT_##id,
enum out_label { OUT_LABEL_LIST(OUT_ID) OUT_LABELS };
enum out_family_id { OUT_FAMILY_LIST(OUT_ID) OUT_FAMILIES };

enum out_metric_type {
	OUT_GAUGE,
	OUT_COUNTER,   /* its samples have _total behind the name */
	OUT_HISTOGRAM, /* _bucket, _sum and _count */
	OUT_INFO,      /* _info: the labels are all, the value is 1 */
};

struct out_family {
	const char *name; /* name without the type's suffix */
	enum out_metric_type type;
	const char *unit;    /* its last word, too; NULL: a number */
	unsigned int labels; /* labels that a sample can have: bits 1 << OUT_... */
	const char *help;
};

extern const struct out_family out_families[OUT_FAMILIES];
extern const char *const out_label_names[OUT_LABELS];
extern const char *const out_label_texts[OUT_LABELS]; /* Markdown */
/* Names of the types, and their suffixes of a sample's name. */
extern const char *const out_type_names[];
extern const char *const out_type_suffixes[];

/* Texts of labels; NULL or "": a sample does not have it. Any bytes. */
struct out_labels {
	const char *value[OUT_LABELS];
};

/* How often something took how long. Starts zeroed. */
#define OUT_BUCKETS 17 /* the last one is for all longer times */
struct out_histogram {
	uint64_t bucket[OUT_BUCKETS + 1];
	uint64_t sum_ns;
};
void out_histogram_add(struct out_histogram *h, uint64_t ns);

/* Samples are kept by family until they are printed. */
struct out_metrics {
	char hostname[256];
	char guard[64];
	bool counting; /* only count the added series */
	size_t series;
	bool failed; /* without memory */
	struct {
		FILE *f;
		char *text;
		size_t size;
	} family[OUT_FAMILIES];
};

enum out_format {
	OUT_PROMETHEUS, /* its text format, as for the textfile collector */
	OUT_OPENMETRICS,
};

void out_metrics_init(struct out_metrics *m);
/*
 * Add a sample. Those of labels that the family does not have are left out. A value
 * that is NAN is printed as it is: not known.
 */
void out_metric(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		double value);
/* Add a number that may be GPREEMPT_UNKNOWN: then there is no sample. */
void out_metric_known(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		      int64_t value);
void out_metric_times(struct out_metrics *m, enum out_family_id id, const struct out_labels *labels,
		      const struct out_histogram *h);
/* Print the added samples, and free them. 0 or -ENOMEM. */
int out_metrics_print(struct out_metrics *m, enum out_format format, FILE *out);

#endif
