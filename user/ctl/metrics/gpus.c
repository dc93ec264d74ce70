// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of GPUs, and what AMD's exporter calls each of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/metrics/metrics.h"
#include "shared/macro.h"

/* PCI addresses; a longer one has a higher domain. */
static int compare_devices(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x != y ? (x > y) - (x < y) : strcmp(a, b);
}

/* But for the function, where KFD's sysfs has the number of a partition. */
static bool are_near(const char *a, const char *b)
{
	size_t len = strcspn(a, ".");

	return len == strcspn(b, ".") && !strncmp(a, b, len);
}

/*
 * AMD's libraries sort GPUs by PCI address, and partitions of one as the kernel has
 * made them. A GPU has the partition "NA" if it is not partitioned. What sysfs has in
 * place of the module can be partitions, or functions of a device.
 */
static void name_gpu(const struct gp_figures *f, size_t i, struct metrics_gpu *out)
{
	const char *device = f->gpus.items[i].node.device;
	size_t j, index = 0, partition = 0, partitions = 0, near = 0;

	for (j = 0; j < f->gpus.count; j++) {
		const char *other = f->gpus.items[j].node.device;
		int order = compare_devices(other, device);

		index += order < 0 || (!order && j < i);
		partition += !order && j < i;
		partitions += !order;
		near += are_near(other, device);
	}
	snprintf(out->index, sizeof(out->index), "%zu", index);
	if (partitions > 1)
		snprintf(out->partition, sizeof(out->partition), "%zu", partition);
	else if (near == 1 || f->source == GPREEMPT_SOURCE_MODULE)
		strcpy(out->partition, "NA");
}

int metrics_name_gpus(const struct gp_figures *f, struct metrics_gpus *out)
{
	bool known = true;
	size_t i;

	*out = (struct metrics_gpus){
		.gpus = calloc(f->gpus.count + 1, sizeof(*out->gpus)),
		.count = f->gpus.count,
	};
	if (!out->gpus)
		return -ENOMEM;
	for (i = 0; i < f->gpus.count; i++)
		known &= *f->gpus.items[i].node.device != '\0';
	for (i = 0; i < f->gpus.count; i++) {
		struct metrics_gpu *gpu = &out->gpus[i];

		gpu->gpu_id = f->gpus.items[i].node.gpu_id;
		gpu->device = f->gpus.items[i].node.device;
		snprintf(gpu->kfd, sizeof(gpu->kfd), "0x%llx", (unsigned long long)gpu->gpu_id);
		/* One that has no address makes the order unknown. */
		if (known)
			name_gpu(f, i, gpu);
	}
	return 0;
}

void metrics_set_gpu(const struct metrics_gpus *gpus, int64_t gpu_id, struct out_labels *labels)
{
	size_t i;

	for (i = 0; i < gpus->count; i++) {
		const struct metrics_gpu *gpu = &gpus->gpus[i];

		if (gpu->gpu_id != gpu_id)
			continue;
		labels->value[OUT_GPU_ID] = gpu->index;
		labels->value[OUT_GPU_PARTITION_ID] = gpu->partition;
		labels->value[OUT_KFD_GPU_ID] = gpu->kfd;
		labels->value[OUT_DEVICE] = gpu->device;
	}
}

void metrics_add_share(struct out_metrics *m, enum out_family_id id, struct out_labels *labels,
		       const struct gp_share *share)
{
	enum gp_method method = share->looks ? share->method : GP_METHOD_NONE;
	double percent = gp_share_percent(share);

	labels->value[OUT_METHOD] = gp_method_names[method];
	out_metric(m, id, labels, percent < 0 ? NAN : percent / 100);
	labels->value[OUT_METHOD] = NULL;
}

void metrics_add_gpus(struct out_metrics *m, const struct gp_figures *f,
		      const struct metrics_gpus *gpus)
{
	struct out_labels labels = { 0 };
	size_t i;

	for (i = 0; i < f->gpus.count; i++) {
		const struct gp_gpu_figures *gpu = &f->gpus.items[i];

		metrics_set_gpu(gpus, gpu->node.gpu_id, &labels);
		metrics_add_share(m, OUT_GPU_BUSY, &labels, &gpu->share);
		out_metric_known(m, OUT_GPU_WAVES, &labels, gpu->waves);
		out_metric_known(m, OUT_GPU_WAVES_MAX, &labels, gpu->waves_max);
		out_metric_known(m, OUT_GPU_SLOTS_USED, &labels, gpu->node.slots_used);
		out_metric_known(m, OUT_GPU_SLOTS, &labels, gpu->node.slots);
		out_metric_known(m, OUT_GPU_VRAM, &labels, gpu->vram);
		out_metric_known(m, OUT_GPU_VRAM_SIZE, &labels, gpu->vram_size);
		out_metric_known(m, OUT_GPU_PROCESSES, &labels, gpu->node.processes);
		out_metric_known(m, OUT_GPU_QUEUES, &labels, gpu->node.queues);
	}
}
