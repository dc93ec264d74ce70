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

/* Tables of the labels and of the metrics. "make docs" puts them into docs/metrics.md. */

#define NAME_OF(id, name, text) name,
#define TEXT_OF(id, name, text) text,
const char *const out_label_names[OUT_LABELS] = { OUT_LABEL_LIST(NAME_OF) };
const char *const out_label_texts[OUT_LABELS] = { OUT_LABEL_LIST(TEXT_OF) };

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

/* Sets of labels, in the list of metrics. */
#define BIT(label) (1u << OUT_##label)
enum {
	HOST = BIT(HOSTNAME),
	GUARD = HOST | BIT(GUARD),
	NODE = HOST | BIT(GPU_ID) | BIT(GPU_PARTITION_ID) | BIT(KFD_GPU_ID),
	GPU = NODE | BIT(PCI),
	PROCESS = HOST | BIT(PROCESS_ID) | BIT(POD_UUID) | BIT(POD) | BIT(NAMESPACE) |
		  BIT(CONTAINER) | BIT(CONTAINER_ID) | BIT(JOB_ID) | BIT(JOB_USER),
	BOTH = NODE | PROCESS,
};

#define ROW(id, name, type, unit, labels, help) \
	[OUT_##id] = { name, OUT_##type, unit, labels, help },
const struct out_family out_families[OUT_FAMILIES] = { OUT_FAMILY_LIST(ROW) };

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
	if (!m->family[id].f)
		m->family[id].f = open_memstream(&m->family[id].text, &m->family[id].size);
	f = m->family[id].f;
	m->failed |= !f;
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
