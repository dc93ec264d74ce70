// SPDX-License-Identifier: GPL-2.0-only
/* list: all GPU processes, a line each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hold/owner.h"
#include "doctor.h"
#include "cli/cli.h"
#include "cli/program.h"
#include "hold/holder.h"
#include "lib/see/words.h"
#include "cli/table.h"
#include "shared/util.h"

#define ID_SHOWN 12 /* characters of a container's id, as engines show it */

struct list_args {
	struct ctl_target_args targets; /* its queues: the GPUs of --gpu */
	enum out_mode mode;
	uint64_t quiet;
};

struct row {
	int64_t pid;
	const char *container;
	const char *container_id;
	const char *engine;
	int64_t ns_pid;
	const char *user;
	int64_t uid;
	char *gpus;
	int64_t queues;
	int64_t active;
	int64_t slots;
	int64_t waves;
	int64_t vram;
	const char *state;
	int64_t held_by;
	const char *held_as;
	const char *role;
	const char *command;
	/* Memory of the texts above: */
	const struct gpreempt_description *who;
	struct gp_place place;
	char shown[ID_SHOWN + 1];
	char user_name[64];
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	OUT_FIELD(struct row, container, "CONTAINER", OUT_TEXT, .spare = true),
	OUT_FIELD(struct row, container_id, NULL, OUT_TEXT),
	OUT_FIELD(struct row, engine, NULL, OUT_TEXT),
	OUT_FIELD(struct row, ns_pid, "NS-PID", OUT_DEC, .spare = true),
	OUT_FIELD(struct row, user, "USER", OUT_TEXT),
	OUT_FIELD(struct row, uid, NULL, OUT_DEC),
	OUT_FIELD(struct row, gpus, "GPUS", OUT_LIST),
	OUT_FIELD(struct row, queues, "QUEUES", OUT_DEC),
	OUT_FIELD(struct row, active, "ACTIVE", OUT_DEC),
	OUT_FIELD(struct row, slots, "SLOTS", OUT_DEC),
	OUT_FIELD(struct row, waves, "WAVES", OUT_DEC, .spare = true),
	OUT_FIELD(struct row, vram, "VRAM", OUT_SIZE, .spare = true),
	OUT_FIELD(struct row, state, "STATE", OUT_WORD),
	OUT_FIELD(struct row, held_by, "HELD-BY", OUT_DEC, .spare = true),
	OUT_FIELD(struct row, held_as, "AS", OUT_TEXT, .spare = true),
	OUT_FIELD(struct row, role, "ROLE", OUT_TEXT, .spare = true),
	OUT_FIELD(struct row, command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct row);

/* List each GPU once. For free(). */
static char *list_gpus(const struct gpreempt_view *view)
{
	char *list = calloc(view->count + 1, 24), *at = list;
	size_t i, j;

	for (i = 0; list && i < view->count; i++) {
		int64_t gpu = view->queues[i].gpu_id;

		for (j = 0; j < i; j++)
			if (view->queues[j].gpu_id == gpu)
				break;
		if (j == i && gpu != GPREEMPT_UNKNOWN)
			at += sprintf(at, "%s0x%llx", at == list ? "" : ",",
				      (unsigned long long)gpu);
	}
	return list;
}

static const char *state_of(const struct row *row, const struct gpreempt_view *view)
{
	size_t i, suspended = 0, evicted = 0;

	if (!view->count)
		return "no-queues";
	for (i = 0; i < view->count; i++) {
		if (view->queues[i].suspended == GPREEMPT_UNKNOWN)
			return NULL;
		suspended += view->queues[i].suspended == 1;
		evicted += view->queues[i].evicted == 1;
	}
	if (suspended)
		return suspended == view->count ? "suspended" : "partly-suspended";
	if (evicted == view->count)
		return "evicted";
	if (row->active == GPREEMPT_UNKNOWN)
		return NULL;
	return row->active ? "active" : "unmapped";
}

static void add_queues(struct row *row, const struct gpreempt_view *view)
{
	size_t i;

	row->queues = view->count;
	row->active = 0;
	row->slots = 0;
	row->waves = 0;
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		out_sum(&row->active, q->active);
		out_sum(&row->slots, q->slots);
		/* Waves are a matter of compute. */
		if (q->type != GPREEMPT_QUEUE_SDMA && q->type != GPREEMPT_QUEUE_SDMA_XGMI)
			out_sum(&row->waves, q->waves);
	}
	row->gpus = list_gpus(view);
	row->state = state_of(row, view);
}

/* Read the memory on all GPUs together. */
static int64_t read_vram(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_process_gpus *list;
	int64_t sum = 0;
	size_t i;

	if (gp_process_gpus_read(g, pid, GPREEMPT_FIGURE_VRAM, &list, NULL))
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < list->count; i++)
		out_sum(&sum, list->gpus[i].vram);
	gpreempt_list_free(list);
	return sum;
}

/* Add the owner. live: /run/gpreempt is of the same system. */
static void add_owner(struct row *row, bool live)
{
	struct hold_owner owner;

	if (!row->who->tracer)
		return;
	row->held_by = row->who->tracer;
	row->held_as = row->who->tracer_comm;
	if (live && !hold_read_owner(row->pid, &owner) && owner.pid == (uint64_t)row->held_by)
		row->held_as = hold_role_name(owner.role);
}

static void add_place(struct gpreempt *g, int cgroups, struct row *row)
{
	const struct gp_container *in = &row->place.in;
	int role;

	gp_place(g, cgroups, row->pid, &row->place);
	role = row->place.role;
	if (role == GP_DOUBT)
		row->role = "unknown";
	else if (role > GPREEMPT_ROLE_NONE)
		row->role = gp_role_name(role);
	if (!*in->id)
		return;
	row->engine = in->engine;
	row->container_id = in->id;
	snprintf(row->shown, sizeof(row->shown), "%.*s", ID_SHOWN, in->id);
	row->container = *in->name ? in->name : row->shown;
}

/* Add the user's name, or its number. Most rows have the user of the row before (or NULL). */
static void add_user(struct gpreempt *g, struct row *row, const struct row *before)
{
	uid_t uid = row->who->uid;

	if (uid == (uid_t)-1)
		return;
	row->uid = uid;
	row->user = row->user_name;
	if (before && before->uid == row->uid)
		row->user = before->user;
	else if (gp_user_name(g, uid, row->user_name, sizeof(row->user_name)))
		snprintf(row->user_name, sizeof(row->user_name), "%u", uid);
}

/*
 * owners: NULL, they cannot be known. before: the row before, or NULL. cgroups: their root,
 * or -errno.
 */
static void fill_row(struct gpreempt *g, pid_t pid, int cgroups,
		     const struct gpreempt_description *who, bool live, struct hold_owners *owners,
		     struct row *row, const struct row *before, bool *sysfs)
{
	struct gpreempt_view *view;

	*row = (struct row){
		.pid = pid,
		.queues = GPREEMPT_UNKNOWN,
		.active = GPREEMPT_UNKNOWN,
		.slots = GPREEMPT_UNKNOWN,
		.waves = GPREEMPT_UNKNOWN,
		.vram = read_vram(g, pid),
		.held_by = GPREEMPT_UNKNOWN,
		.ns_pid = GPREEMPT_UNKNOWN,
		.uid = GPREEMPT_UNKNOWN,
		.who = who,
	};
	if (who->ns_pid != pid)
		row->ns_pid = who->ns_pid;
	row->command = *who->command ? who->command : who->comm;
	add_user(g, row, before);
	add_place(g, cgroups, row);
	add_owner(row, live);
	/* Without the list of owners, a holder is known by its name. */
	if (owners ? hold_skip_owner(owners, pid) : !strcmp(who->comm, HOLD_TITLE)) {
		row->state = "holder";
		row->queues = 0;
		return;
	}
	if (!gpreempt_view_read(g, pid, &view, NULL)) {
		*sysfs |= view->source == GPREEMPT_SOURCE_SYSFS;
		add_queues(row, view);
		gpreempt_list_free(view);
	}
}

static void print_rows(const struct list_args *args, const struct row *rows, size_t count,
		       bool sysfs)
{
	enum out_mode mode = args->mode;
	struct json_object *object;

	if (mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, table.name, out_json_rows(&table, rows, count));
		out_add(object, "source", out_json_text(sysfs ? "sysfs" : "module"));
		out_json_print(object);
	} else if (count || mode == OUT_PIPE) {
		out_rows(mode, &table, rows, count);
	}
	if (!count && mode != OUT_JSON)
		ctl_note("no process uses the GPU");
	if (sysfs)
		ctl_note_sysfs(args->targets.from);
}

static int print_list(struct gpreempt *g, const struct list_args *args,
		      const struct gpreempt_targets *list)
{
	struct row *rows = malloc((list->count + 1) * sizeof(*rows));
	bool sysfs = false, live = !args->targets.from;
	struct ctl_described *all = ctl_describe_all(g, list, live);
	struct hold_owners owners = { 0 };
	__cleanup_fd int cgroups = gp_role_root(g);
	size_t i, count = 0;
	int ret = rows && all ? 0 : -ENOMEM;

	for (i = 0; !ret && i < list->count; i++) {
		/* The process has ended meanwhile. */
		if (all[i].code)
			continue;
		fill_row(g, list->targets[i].pid, cgroups, &all[i].who, live,
			 live && !geteuid() ? &owners : NULL, &rows[count],
			 count ? &rows[count - 1] : NULL, &sysfs);
		count++;
	}
	if (ret)
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	else
		print_rows(args, rows, count, sysfs);
	for (i = 0; i < count; i++)
		free(rows[i].gpus);
	hold_owners_free(&owners);
	ctl_described_free(all, list);
	free(rows);
	return ret;
}

/* Processes that use a GPU: --gpu and --quiet of list. */

static bool has_gpu(const struct gpreempt_nodes *nodes, uint32_t gpu_id)
{
	size_t i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->nodes[i].gpu_id == gpu_id)
			return true;
	return false;
}

/* Check that the GPUs of the filter exist. 0, or the exit status after a message. */
static int ctl_check_gpus(struct gpreempt *g, const struct gpreempt_filter *which)
{
	struct gpreempt_nodes *nodes;
	struct gpreempt_error err;
	size_t i;

	if (!which->n_gpu_ids)
		return 0;
	if (gpreempt_nodes_read(g, &nodes, &err))
		return ctl_fail(&err);
	for (i = 0; i < which->n_gpu_ids; i++)
		if (!has_gpu(nodes, which->gpu_ids[i]))
			break;
	gpreempt_list_free(nodes);
	return i == which->n_gpu_ids ?
		       0 :
		       ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "gpreempt-ctl doctor shows the GPUs",
				     "there is no GPU 0x%x", which->gpu_ids[i]);
}

static int64_t uses(struct gpreempt *g, const struct gpreempt_filter *which, pid_t pid)
{
	return gp_uses_gpus(g, pid, which->gpu_ids, which->n_gpu_ids);
}

/* Keep the processes that use the GPUs, or may; without GPUs, all. */
static void ctl_keep_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
			       struct gpreempt_targets *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (!which->n_gpu_ids || uses(g, which, list->targets[i].pid))
			list->targets[kept++] = list->targets[i];
	list->count = kept;
}

/* Does the process use the GPUs? *open gets one for which that is not known. */
static bool is_user(struct gpreempt *g, const struct gpreempt_filter *which, pid_t pid, pid_t *open)
{
	int64_t answer = uses(g, which, pid);

	if (answer == GPREEMPT_UNKNOWN)
		*open = pid;
	return answer == 1;
}

static int end(bool found, pid_t open)
{
	if (found)
		return GPREEMPT_CLASS_BUSY;
	if (!open)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "run it with sudo; gpreempt-ctl list shows more",
			     "whether process %d uses the GPU is not known", open);
}

/* Ask for all in KFD's own list, which has processes that /proc hides from us, too. */
static int has_any(struct gpreempt *g, const struct gpreempt_filter *which)
{
	struct gpreempt_error err;
	struct gp_pids pids;
	bool found = false;
	pid_t open = 0;
	size_t i;

	if (gp_kfd_pids(g, &pids, &err))
		return ctl_fail(&err);
	for (i = 0; i < pids.count && !found; i++)
		found = is_user(g, which, pids.items[i], &open);
	free(pids.items);
	return end(found, open);
}

/* Answer scripts by the exit status: does one of @list, or (NULL) any process, use the GPUs? */
static int ctl_has_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
			     const struct gpreempt_targets *list)
{
	bool found = false;
	pid_t open = 0;
	size_t i;

	if (!list)
		return has_any(g, which);
	for (i = 0; i < list->count && !found; i++)
		found = is_user(g, which, list->targets[i].pid, &open);
	return end(found, open);
}

static int run_list(void *data)
{
	const struct list_args *args = data;
	const struct gpreempt_filter *which = &args->targets.queues;
	struct gpreempt_targets *list = NULL;
	struct gpreempt_error err;
	struct gpreempt *g = NULL;
	int ret = ctl_open(args->targets.from, &g);

	if (!ret)
		ret = ctl_check_gpus(g, which);
	if (!ret && args->targets.words.n)
		ret = ctl_targets(g, &args->targets, &list);
	else if (!ret && !args->quiet && gpreempt_processes(g, &list, &err))
		ret = ctl_fail(&err);
	if (!ret && args->quiet) {
		ret = ctl_has_gpu_users(g, which, list);
	} else if (!ret) {
		ctl_keep_gpu_users(g, which, list);
		ret = print_list(g, args, list);
	}
	gpreempt_list_free(list);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "gpu", CTL_GPUS, offsetof(struct list_args, targets.queues), "LIST",
	  "only processes that use these GPUs (f7bc: the gpu_id)" },
	{ "quiet", CTL_FLAG, offsetof(struct list_args, quiet), NULL,
	  "print nothing; exit status 7 if a process uses the GPU" },
	CTL_WAIT_OPTION(struct list_args),
	CTL_JSON_OPTION(struct list_args),
	CTL_FROM_OPTION(struct list_args),
	{ 0 },
};

const struct ctl_command ctl_list = {
	.name = "list",
	.run = run_list,
	CTL_TARGET_ARGS(struct list_args),
	.usage = "[TARGET]",
	.summary = "List the GPU processes (the default command).",
	.details = "ACTIVE of the SLOTS hold a queue of the process now; such a queue need not\n"
		   "execute anything: WAVES of it do, with a gpreempt.ko and a driver that can\n"
		   "count them. VRAM is the memory of its GPUs that it has. STATE is one of\n"
		   "  active             a queue of it is in a hardware slot\n"
		   "  suspended          all its queues are, through the debug interface\n"
		   "  partly-suspended   some are\n"
		   "  evicted            the driver has taken its queues off for a while\n"
		   "  unmapped           none of its queues is in a slot now\n"
		   "  no-queues          it has opened the GPU, and has no queue\n"
		   "  holder             of gpreempt-ctl: it holds another process\n"
		   "USER is the real user, as the kernel has it. COMMAND and the name of a\n"
		   "container are chosen by the process or its user.\n"
		   "HELD-BY is the process that holds or debugs it. NS-PID is the PID of a\n"
		   "process in its container. Without gpreempt.ko, or without root, slots and\n"
		   "state are unknown.\n"
		   "\n"
		   "A process uses a GPU if it has a queue or memory there; a holder has neither.\n"
		   "\"list --gpu ID --quiet\" is for scripts. Exit status 0: no process uses that\n"
		   "GPU; 7: one does; 5: there is no such GPU; 3: there is no AMD GPU or driver;\n"
		   "1: it cannot be known. What uses a GPU for graphics alone is no process of\n"
		   "KFD, and is not seen.\n",
	.options = options,
};
