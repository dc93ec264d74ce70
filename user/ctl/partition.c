// SPDX-License-Identifier: GPL-2.0-only
/* doctor --partition: obstacles to a partition of a GPU, and the processes behind them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "doctor.h"
#include "figures.h"

/*
 * doctor --partition: which processes block a repartition of a GPU?
 *
 * The driver refuses another partition mode with EBUSY while processes of KFD are there:
 * kgd2kfd_check_and_lock_kfd() of Linux 6.12 while there is any on the host, that of later
 * drivers while one has this GPU. A process of KFD begins when it opens /dev/kfd, and goes when
 * it has ended and all copies of its descriptor are closed, also those that its children have.
 */

struct row {
	int64_t pid;
	const char *blocks; /* yes, or maybe: by the driver's version */
	const char *keeps;
	const char *container;
	const char *container_id;
	const char *engine;
	const char *command;
	const char *next;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, blocks, "BLOCKS", OUT_WORD, .rank = 3),
	OUT_FIELD(struct row, keeps, "KEEPS", OUT_TEXT, .rank = 4),
	OUT_FIELD(struct row, container, "CONTAINER", OUT_TEXT, .spare = true, .rank = 2),
	OUT_FIELD(struct row, container_id, NULL, OUT_TEXT),
	OUT_FIELD(struct row, engine, NULL, OUT_TEXT),
	OUT_FIELD(struct row, next, "NEXT", OUT_TEXT, .rank = 1),
	OUT_FIELD(struct row, command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct row);

struct partition {
	struct gpreempt *g;
	const struct out_form *form;
	struct gp_gpus gpus;
	const struct gp_gpu *gpu;
	struct ctl_sampler who;
	size_t unseen; /* processes whose descriptors could not be read */
	int code;      /* -errno of the last of them */
	SHR_ARRAY(struct row, rows);
};

/* May the process use one of the nodes into which the device is divided now? */
static bool may_use(struct partition *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->gpus.count; i++) {
		const struct gp_gpu *gpu = &p->gpus.items[i];

		if ((gpu == p->gpu || (*gpu->device && !strcmp(gpu->device, p->gpu->device))) &&
		    gp_may_use_gpu(p->g, pid, gpu->gpu_id))
			return true;
	}
	return false;
}

static void fill_row(struct partition *p, const struct ctl_process *from, struct row *row)
{
	const struct gp_container *in = &from->place.in;

	*row = (struct row){
		.pid = from->pid,
		.blocks = !from->keeper && may_use(p, from->pid) ? "yes" : "maybe",
		.keeps = "process",
		.next = "end the process",
		.container = from->container,
		.container_id = in->id,
		.engine = in->engine,
		.command = from->command,
	};
	if (from->ended) {
		row->keeps = "ended";
		row->next = "end those that keep its descriptor";
	} else if (from->keeper) {
		row->keeps = "descriptor";
	} else if (from->holder) {
		row->keeps = "holder";
		row->next = "gpreempt-ctl resume, see status";
	}
	if (*in->id && !from->ended)
		row->next = "stop the container";
}

/* Processes that are there come first. */
static int add_rows(struct partition *p, bool ended)
{
	const struct gp_figures *f = &p->who.figures;
	struct row *row;
	size_t i;

	for (i = 0; i < f->processes.count; i++) {
		if (f->processes.items[i].ended != ended)
			continue;
		row = shr_add(&p->rows);
		if (!row)
			return -ENOMEM;
		fill_row(p, &f->processes.items[i], row);
	}
	return 0;
}

/* Returns the exit status. A process that we could not look at may block the partition. */
static int status_of(const struct partition *p)
{
	if (p->rows.count)
		return GPREEMPT_CLASS_BUSY;
	if (!p->unseen)
		return 0;
	return p->code == -EACCES || p->code == -EPERM ? GPREEMPT_CLASS_PERMISSION :
							 GPREEMPT_CLASS_FAILED;
}

static void print_json(const struct partition *p)
{
	struct json_object *object = json_object_new_object();
	char id[24];

	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)p->gpu->gpu_id);
	out_add(object, table.name, out_json_rows(&table, p->rows.items, p->rows.count));
	out_add(object, "gpu", out_json_number(p->gpu->index));
	out_add(object, "kfd_gpu_id", out_json_text(id));
	out_add(object, "pci", out_json_text(*p->gpu->device ? p->gpu->device : NULL));
	out_add(object, "unseen", json_object_new_int64(p->unseen));
	out_add(object, "status", json_object_new_int(status_of(p)));
	out_json_print(object);
}

static int print(const struct partition *p)
{
	char name[128];

	gp_gpu_text(p->gpu, name, sizeof(name));
	if (p->form->mode == OUT_JSON)
		print_json(p);
	else if (p->rows.count || p->form->mode == OUT_PIPE)
		out_print(p->form, &table, p->rows.items, p->rows.count);
	if (p->unseen && !p->rows.count)
		return ctl_fail_text(status_of(p),
				     status_of(p) == GPREEMPT_CLASS_PERMISSION ?
					     "run it as root, on the host" :
					     "try it again",
				     "cannot read the descriptors of %zu processes: %s", p->unseen,
				     strerror(-p->code));
	if (p->unseen)
		ctl_note("cannot read the descriptors of %zu processes: %s", p->unseen,
			 strerror(-p->code));
	if (p->form->mode != OUT_JSON && p->rows.count)
		ctl_note("while these are there, the driver refuses to repartition GPU %s", name);
	else if (p->form->mode != OUT_JSON)
		ctl_note("no process keeps KFD from repartitioning GPU %s", name);
	return status_of(p);
}

static int run(struct partition *p, const char *gpu)
{
	__cleanup_free bool *chosen = NULL;
	struct gpreempt_error err;
	int ret;

	if (gp_gpus_read(p->g, &p->gpus, &err))
		return ctl_fail(&err);
	chosen = shr_must(calloc(p->gpus.count + 1, sizeof(*chosen)));
	ret = ctl_find_gpu(&p->gpus, gpu, chosen);
	if (ret)
		return ret;
	for (p->gpu = p->gpus.items; !chosen[p->gpu - p->gpus.items];)
		p->gpu++;
	if (ctl_sampler_who(&p->who, &err))
		return ctl_fail(&err);
	ret = ctl_sampler_keepers(&p->who, &p->unseen, &p->code);
	if (!ret)
		ret = add_rows(p, false);
	if (!ret)
		ret = add_rows(p, true);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : print(p);
}

int ctl_partition(const char *gpu, const struct out_form *form)
{
	struct partition p = { .form = form };
	int ret = ctl_check_form(&ctl_doctor, form, &table);

	if (ret < 0)
		ret = ctl_open(NULL, &p.g);
	if (ret)
		return ret;
	ctl_sampler_init(&p.who, p.g, 0);
	ret = ctl_need_host(p.g);
	if (!ret)
		ret = run(&p, gpu);
	free(p.rows.items);
	ctl_sampler_clear(&p.who);
	gp_gpus_free(&p.gpus);
	gpreempt_free(p.g);
	return ret;
}
