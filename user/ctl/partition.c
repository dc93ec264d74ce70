// SPDX-License-Identifier: GPL-2.0-only
/* doctor --partition: obstacles to a partition of a GPU, and the processes behind them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "cli/program.h"
#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "doctor.h"

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
	/* Memory of the texts above: */
	struct gp_container in;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, blocks, "BLOCKS", OUT_WORD),
	OUT_FIELD(struct row, keeps, "KEEPS", OUT_TEXT),
	OUT_FIELD(struct row, container, "CONTAINER", OUT_TEXT, .spare = true),
	OUT_FIELD(struct row, container_id, NULL, OUT_TEXT),
	OUT_FIELD(struct row, engine, NULL, OUT_TEXT),
	OUT_FIELD(struct row, next, "NEXT", OUT_TEXT),
	OUT_FIELD(struct row, command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct row);

struct client {
	pid_t pid;
	bool listed; /* KFD lists it */
	int open;    /* result of gp_has_kfd_open() */
};

/* Work of the children, in memory that they share. */
struct scan {
	struct ctl_apart work; /* the first one: both have one address */
	struct gpreempt *g;
	size_t size; /* size of the whole, in bytes */
	struct client clients[];
};

struct partition {
	struct gpreempt *g;
	enum out_mode mode;
	struct gpreempt_nodes *nodes;
	const struct gpreempt_node *gpu;
	struct scan *scan;
	size_t unseen; /* processes whose descriptors could not be read */
	int code;      /* -errno of the last of them */
	struct hold_owners owners;
	SHR_ARRAY(struct row, rows);
	struct gpreempt_targets alive; /* the first of them, in the same order */
	struct ctl_described *who;
};

static void ask(struct ctl_apart *work, size_t i)
{
	struct scan *scan = (void *)work;

	scan->clients[i].open = gp_has_kfd_open(scan->g, scan->clients[i].pid);
}

static void be_silent(struct ctl_apart *work, size_t i)
{
	((struct scan *)work)->clients[i].open = -ETIMEDOUT;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static bool has_pid(const struct gp_pids *pids, pid_t pid)
{
	return pids->count && bsearch(&pid, pids->items, pids->count, sizeof(pid), compare_pids);
}

static struct scan *new_scan(struct gpreempt *g, size_t count)
{
	size_t size = sizeof(struct scan) + count * sizeof(struct client);
	struct scan *scan =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (scan == MAP_FAILED)
		return NULL;
	scan->g = g;
	scan->size = size;
	scan->work.ask = ask;
	scan->work.silent = be_silent;
	return scan;
}

static void add_client(struct scan *scan, pid_t pid, bool listed)
{
	scan->clients[scan->work.count++] = (struct client){ .pid = pid, .listed = listed };
}

/* Find KFD's processes, also those that have ended, and all others. */
static int find_clients(struct partition *p)
{
	struct gp_pids kfd = { 0 }, all = { 0 };
	struct gpreempt_error err;
	size_t i;
	int ret;

	if (gp_kfd_pids(p->g, &kfd, &err))
		return ctl_fail(&err);
	ret = gp_all_pids(p->g, &all);
	if (!ret)
		p->scan = new_scan(p->g, kfd.count + all.count);
	if (p->scan) {
		if (kfd.count)
			qsort(kfd.items, kfd.count, sizeof(pid_t), compare_pids);
		for (i = 0; i < kfd.count; i++)
			add_client(p->scan, kfd.items[i], true);
		for (i = 0; i < all.count; i++)
			if (!has_pid(&kfd, all.items[i]))
				add_client(p->scan, all.items[i], false);
		ctl_ask_apart(&p->scan->work);
	}
	free(kfd.items);
	free(all.items);
	return p->scan ? 0 : ctl_fail_reason(GPREEMPT_SYSTEM, ret ? ret : -ENOMEM, 0);
}

/* May the process use one of the nodes into which the device is divided now? */
static bool may_use(struct partition *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->nodes->count; i++) {
		const struct gpreempt_node *node = &p->nodes->nodes[i];

		if ((node == p->gpu || (*node->device && !strcmp(node->device, p->gpu->device))) &&
		    gp_may_use_gpu(p->g, pid, node->gpu_id))
			return true;
	}
	return false;
}

static void fill_row(struct partition *p, const struct client *client, bool alive, struct row *row)
{
	row->pid = client->pid;
	row->blocks = client->listed && may_use(p, client->pid) ? "yes" : "maybe";
	if (!alive) {
		row->keeps = "ended";
		row->next = "end those that keep its descriptor";
	} else if (!client->listed) {
		row->keeps = "descriptor";
		row->next = "end the process";
	} else if (!geteuid() && hold_skip_owner(&p->owners, client->pid)) {
		row->keeps = "holder";
		row->next = "gpreempt-ctl resume, see status";
	} else {
		row->keeps = "process";
		row->next = "end the process";
	}
	if (alive && !gp_container(p->g, client->pid, &row->in))
		row->next = "stop the container";
}

/* Processes that are there come first, so that a row has the place of its description. */
static int add_rows(struct partition *p, bool alive)
{
	size_t i;

	for (i = 0; i < p->scan->work.count; i++) {
		const struct client *client = &p->scan->clients[i];
		struct gpreempt_target target = { .pid = client->pid };
		bool there = !gpreempt_start_time(p->g, client->pid, &target.start);
		struct gpreempt_target *place;
		struct row *row;

		if (there != alive || (!client->listed && client->open != 1))
			continue;
		row = shr_add(&p->rows);
		if (!row)
			return -ENOMEM;
		fill_row(p, client, alive, row);
		if (!alive)
			continue;
		place = shr_array_add(&p->alive.targets, &p->alive.count, sizeof(*place));
		if (!place)
			return -ENOMEM;
		*place = target;
	}
	return 0;
}

/* The rows are where they stay. */
static int describe(struct partition *p)
{
	size_t i;

	p->who = ctl_describe_all(p->g, &p->alive, true);
	if (!p->who)
		return -ENOMEM;
	for (i = 0; i < p->rows.count; i++) {
		struct row *row = &p->rows.items[i];

		if (*row->in.engine) {
			row->engine = row->in.engine;
			row->container_id = row->in.id;
			row->container = *row->in.name ? row->in.name : row->in.id;
		}
		if (i < p->alive.count && !p->who[i].code)
			row->command = *p->who[i].who.command ? p->who[i].who.command :
								p->who[i].who.comm;
	}
	return 0;
}

static void count_unseen(struct partition *p)
{
	size_t i;

	for (i = 0; i < p->scan->work.count; i++) {
		if (p->scan->clients[i].listed || p->scan->clients[i].open >= 0)
			continue;
		p->unseen++;
		p->code = p->scan->clients[i].open;
	}
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
	out_add(object, "gpu_id", out_json_text(id));
	out_add(object, "device", out_json_text(*p->gpu->device ? p->gpu->device : NULL));
	out_add(object, "unseen", json_object_new_int64(p->unseen));
	out_add(object, "status", json_object_new_int(status_of(p)));
	out_json_print(object);
}

static int print(const struct partition *p)
{
	unsigned long long id = p->gpu->gpu_id;

	if (p->mode == OUT_JSON)
		print_json(p);
	else if (p->rows.count || p->mode == OUT_PIPE)
		out_rows(p->mode, &table, p->rows.items, p->rows.count);
	if (p->unseen && !p->rows.count)
		return ctl_fail_text(status_of(p),
				     status_of(p) == GPREEMPT_CLASS_PERMISSION ?
					     "run it as root, on the host" :
					     "try it again",
				     "the descriptors of %zu processes cannot be looked at: "
				     "%s",
				     p->unseen, strerror(-p->code));
	if (p->unseen)
		ctl_note("the descriptors of %zu processes cannot be looked "
			 "at: %s",
			 p->unseen, strerror(-p->code));
	if (p->mode != OUT_JSON && p->rows.count)
		ctl_note("while these are there, the driver refuses to "
			 "repartition GPU 0x%llx",
			 id);
	else if (p->mode != OUT_JSON)
		ctl_note("no process keeps KFD from repartitioning GPU 0x%llx", id);
	return status_of(p);
}

static int run(struct partition *p, const char *gpu)
{
	struct gpreempt_error err;
	int ret;

	if (gpreempt_nodes_read(p->g, &p->nodes, &err))
		return ctl_fail(&err);
	p->gpu = gp_find_gpu(p->nodes, gpu);
	if (!p->gpu)
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "gpreempt-ctl doctor shows the GPUs",
				     "--partition \"%s\": there is no such GPU", gpu);
	ret = find_clients(p);
	if (ret)
		return ret;
	count_unseen(p);
	ret = add_rows(p, true);
	if (!ret)
		ret = add_rows(p, false);
	if (!ret)
		ret = describe(p);
	return ret ? ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0) : print(p);
}

int ctl_partition(const char *gpu, enum out_mode mode)
{
	struct partition p = { .mode = mode };
	int ret = ctl_open(NULL, &p.g);

	if (ret)
		return ret;
	ret = run(&p, gpu);
	ctl_described_free(p.who, &p.alive);
	free(p.alive.targets);
	free(p.rows.items);
	if (p.scan)
		munmap(p.scan, p.scan->size);
	hold_owners_free(&p.owners);
	gpreempt_list_free(p.nodes);
	gpreempt_free(p.g);
	return ret;
}
