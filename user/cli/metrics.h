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

/*
 * Labels in the order in which they are printed. Those that AMD's device metrics
 * exporter has, too, have its names and its values, so that both can be joined.
 */
enum out_label {
	OUT_HOSTNAME, /* a label of each sample, set by out_metric() */
	OUT_GUARD,    /* a label of each sample of a guard, as the hostname */
	OUT_GPU_ID,
	OUT_GPU_PARTITION_ID,
	OUT_KFD_GPU_ID,
	OUT_PCI,
	OUT_PROCESS_ID,
	OUT_COMM,
	OUT_USER,
	OUT_POD_UUID,
	OUT_POD,
	OUT_NAMESPACE,
	OUT_CONTAINER,
	OUT_CONTAINER_ID,
	OUT_JOB_ID,
	OUT_JOB_USER,
	OUT_CGROUP,
	OUT_METHOD,
	OUT_BY,
	OUT_ROLE,
	OUT_STATE,
	OUT_VERSION,
	OUT_MODULE,
	OUT_LABELS,
};

/* Metrics in the order of the text and of the rows in metrics.c. */
enum out_family_id {
	OUT_GPREEMPT,
	OUT_SIMULATED,
	OUT_SAMPLE_SECONDS,
	OUT_SAMPLE_LOOKS,
	OUT_SCRAPE_CPU,
	OUT_SERIES_DROPPED,
	OUT_LEFT_ALONE,
	OUT_GPU_BUSY,
	OUT_GPU_WAVES,
	OUT_GPU_WAVES_MAX,
	OUT_GPU_SLOTS_USED,
	OUT_GPU_SLOTS,
	OUT_GPU_VRAM,
	OUT_GPU_VRAM_USED,
	OUT_GPU_VRAM_SIZE,
	OUT_GPU_PROCESSES,
	OUT_GPU_QUEUES,
	OUT_PROCESS,
	OUT_PROCESS_SLOTS,
	OUT_PROCESS_HELD,
	OUT_PROCESS_STATE,
	OUT_PROCESS_BUSY,
	OUT_PROCESS_WAVES,
	OUT_PROCESS_QUEUES,
	OUT_PROCESS_VRAM,
	OUT_PROCESS_EVICTED,
	OUT_PROCESS_SUSPENDED,
	OUT_GUARD_SIMULATED,
	OUT_GUARD_TARGETS,
	OUT_GUARD_PREEMPTIONS,
	OUT_GUARD_FAILURES,
	OUT_GUARD_HELD,
	OUT_GUARD_RELEASED,
	OUT_GUARD_OFFLINE_SHARE,
	OUT_GUARD_POLL_CPU,
	OUT_GUARD_TO_IOCTL,
	OUT_GUARD_TO_SUSPENDED,
	OUT_GUARD_TO_SLOTS,
	OUT_FAMILIES,
};

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
/* Markdown, for docs/metrics.md. */
extern const char *const out_label_texts[OUT_LABELS];
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
