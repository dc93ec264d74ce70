// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "figures.h"

/* How long the GPUs are looked at. */
#define LOOK_NS (500 * NSEC_PER_MSEC)

struct row {
	int64_t gpu;		 /* first, for shr_compare_first() */
	struct gp_gpu_figures f; /* vram is what is used */
	const char *pci;
	char render[24];
	int64_t busy;
	int64_t power; /* tenths of a watt */
	char gfx[24];
	struct gp_device is;
};

#define FIELD(member, title, what, ...) OUT_FIELD(struct row, member, title, what, __VA_ARGS__)
#define NODE(member, title, ...) \
	OUT_NAMED(#member, struct row, f.node.member, title, OUT_DEC, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(gpu, "GPU", OUT_DEC),
	FIELD(pci, "PCI", OUT_TEXT),
	FIELD(render, "RENDER", OUT_TEXT, .array = true, .spare = true, .rank = 7),
	OUT_NAMED("kfd_gpu_id", struct row, f.node.gpu_id, "KFD-ID", OUT_HEX, .rank = 4),
	OUT_NAMED("model", struct row, is.model, "MODEL", OUT_TEXT, .array = true, .spare = true,
		  .rank = 6),
	FIELD(gfx, "GFX", OUT_TEXT, .array = true, .rank = 5),
	OUT_NAMED("mode", struct row, is.mode, "MODE", OUT_TEXT, .array = true, .spare = true,
		  .rank = 3),
	OUT_NAMED("busy_percent", struct row, busy, "BUSY%", OUT_SHARE),
	OUT_NAMED("vram_used", struct row, f.vram, "USED", OUT_SIZE),
	OUT_NAMED("vram_size", struct row, f.vram_size, "VRAM", OUT_SIZE),
	OUT_NAMED("power_watts", struct row, power, "WATT", OUT_TENTHS, .spare = true, .rank = 2),
	NODE(slots_used, "ACTIVE", .rank = 8),
	NODE(slots, "SLOTS", .rank = 8),
	NODE(queues, "QUEUES", .rank = 1),
	NODE(processes, "PROCS"),
	OUT_NAMED("firmware", struct row, is.firmware, NULL, OUT_LIST, .array = true),
};

static const struct out_table table = OUT_TABLE("gpus", fields, struct row);

/* Print the name that compilers and ROCm have for it: 90402 is gfx942. */
static void put_gfx(int64_t version, char *buf, size_t size)
{
	if (version > 0)
		snprintf(buf, size, "gfx%u%x%x", (unsigned int)version / 10000,
			 (unsigned int)version / 100 % 100, (unsigned int)version % 100);
}

static void fill_row(struct gpreempt *g, const struct gp_gpu_figures *from,
		     const struct gp_gpu *name, struct row *row)
{
	double percent = gp_share_percent(&from->share);

	*row = (struct row){
		.gpu = name->index,
		.f = *from,
		.pci = name->device,
		.busy = percent < 0 ? GPREEMPT_UNKNOWN : (int64_t)(10 * percent),
		.power = GPREEMPT_UNKNOWN,
	};
	gp_device_read(g, name, &row->is);
	if (name->render != GPREEMPT_UNKNOWN)
		snprintf(row->render, sizeof(row->render), "renderD%d", (int)name->render);
	put_gfx(from->node.gfx, row->gfx, sizeof(row->gfx));
	if (row->is.power_uw != GPREEMPT_UNKNOWN)
		row->power = row->is.power_uw / 100000;
	/* The memory of a device that is divided is known for all of its partitions together. */
	if (name->partitions == 1 && from->vram_used != GPREEMPT_UNKNOWN)
		row->f.vram = from->vram_used;
	if (from->vram_size == GPREEMPT_UNKNOWN)
		row->f.vram_size = row->is.vram_total;
}

struct gpus_args {
	struct ctl_target_args targets; /* its queues: the GPUs of --gpu */
	struct out_form form;
};

static int print_gpus(struct ctl_sampler *s, const struct gpus_args *args)
{
	const struct gpreempt_filter *which = &args->targets.queues;
	const struct gp_figures *f = &s->figures;
	struct row *rows = shr_must(calloc(f->gpus.count + 1, sizeof(*rows)));
	size_t i, n = 0;

	for (i = 0; i < f->gpus.count; i++) {
		const struct gp_gpu_figures *gpu = &f->gpus.items[i];

		if (!which->n_gpu_ids ||
		    shr_has(which->gpu_ids, which->n_gpu_ids, gpu->node.gpu_id))
			fill_row(s->g, gpu, &f->names.items[i], &rows[n++]);
	}
	qsort(rows, n, sizeof(*rows), shr_compare_first);
	out_print(&args->form, &table, rows, n);
	if (f->source == GPREEMPT_SOURCE_SYSFS)
		ctl_note_sysfs(args->targets.from);
	free(rows);
	return 0;
}

static int run_gpus(void *data)
{
	const struct gpus_args *args = data;
	struct gpreempt_error err;
	__cleanup_handle struct gpreempt *g = NULL;
	struct ctl_sampler s;
	int ret = ctl_open(args->targets.from, &g);

	if (!ret)
		ret = ctl_find_gpus(g, &args->targets);
	if (ret)
		return ret;
	ctl_sampler_init(&s, g, 0);
	ret = ctl_sampler_refresh(&s, &err);
	/* A snapshot is one look, which is no share of time. */
	if (!ret && !args->targets.from) {
		ctl_sampler_look(&s);
		ctl_sampler_wait(&s, s.blind ? 0 : shr_now_ns() + LOOK_NS, -1);
	}
	ret = ret ? ctl_fail(&err) : print_gpus(&s, args);
	ctl_sampler_clear(&s);
	return ret;
}

static const struct ctl_option options[] = {
	{ "gpu", CTL_GPUS, offsetof(struct gpus_args, targets), "LIST",
	  "only these GPUs (0: as amd-smi counts)" },
	CTL_TABLE_OPTIONS(struct gpus_args),
	CTL_FROM_OPTION(struct gpus_args),
	{ 0 },
};

const struct ctl_command ctl_gpus = {
	.name = "gpus",
	.run = run_gpus,
	.args_size = sizeof(struct gpus_args),
	.summary = "List the GPUs by all their names, and what they do.",
	.details =
		"GPU is AMD's index, as amd-smi and HIP have it. That, the PCI address, the\n"
		"render node and KFD's GPU-ID are all taken where a GPU is named. BUSY% is the\n"
		"share of half a second in which waves were in flight, and needs gpreempt.ko.\n"
		"USED of the VRAM is all that is in use, also by what is no process of KFD; of a\n"
		"partition it is what the processes of KFD have there. ACTIVE of the SLOTS of the\n"
		"first XCC hold a queue now. PROCS have the QUEUES.\n",
	.examples = "  gpreempt-ctl gpus -o gpu,pci,busy_percent --sort -busy_percent\n",
	.table = &table,
	.options = options,
};
