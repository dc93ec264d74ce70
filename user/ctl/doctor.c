// SPDX-License-Identifier: GPL-2.0-only
/* Does this host, or a process, have all that suspending takes? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hold/client.h"
#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "hold/places.h"
#include "doctor.h"
#include "figures.h"
#include "klog.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "lib/preempt/wire.h"
#include "lib/see/see.h"
#include "lib/see/words.h"
#include "shared/util.h"

struct row {
	const char *check;
	const char *result;
	const char *text;
	const char *next;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, result, "RESULT", OUT_WORD, .width = 7),
	OUT_FIELD(struct row, check, "CHECK", OUT_TEXT, .width = 14),
	OUT_FIELD(struct row, text, "FOUND", OUT_TEXT, .wrap = true),
	OUT_FIELD(struct row, next, NULL, OUT_TEXT),
};

static const struct out_table table = OUT_TABLE("checks", fields, struct row);

struct doctor_args {
	struct ctl_target_args targets;
	struct out_form form;
	const char *partition; /* a GPU; NULL: the checks */
};

struct report {
	struct gpreempt *g;
	const struct out_form *form;
	struct json_object *checks; /* OUT_JSON only */
	int status;
};

/* Steps that replace those of the library, which knows no commands. */
static const struct {
	const char *check;
	enum gp_health health;
	const char *step;
} remedies[] = {
	{ "module", GP_HEALTH_WARNING, "gpreempt-ctl module load" },
	{ "debuggers", GP_HEALTH_NOTE, "gpreempt-ctl resume, or end the debugger" },
	{ "address-spaces", GP_HEALTH_WARNING,
	  "gpreempt-ctl doctor PID says more; they are refused" },
};

static const char *remedy(const struct gp_finding *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(remedies); i++)
		if (remedies[i].health == f->health && !strcmp(remedies[i].check, f->name))
			return remedies[i].step;
	return f->next;
}

static void report(void *data, const struct gp_finding *f)
{
	struct report *r = data;
	struct row row = {
		.check = f->name,
		.result = gp_health_names[f->health],
		.text = f->text,
		.next = remedy(f),
	};
	char text[512];

	r->status = gp_finding_class(f, r->status);
	if (!*row.next)
		row.next = NULL;
	if (r->form->mode == OUT_JSON) {
		json_object_array_add(r->checks, out_json_row(&table, &row));
		return;
	}
	/* Print the next step behind the finding. */
	if (r->form->mode == OUT_TERMINAL && row.next && !r->form->columns) {
		snprintf(text, sizeof(text), "%s; %s", row.text, row.next);
		row.text = text;
	}
	out_row(r->form, &table, &row);
}

/* Check the directory of the holders' locks and sockets. */
static void check_dir(struct report *r)
{
	struct gp_finding f = { .name = "run-directory" };
	struct stat st;

	if (lstat(HOLD_DIR, &st) < 0) {
		if (errno == ENOENT)
			gp_find(&f, HOLD_DIR ": made when it is needed");
		else
			gp_find_bad(&f, GP_HEALTH_UNKNOWN, "", HOLD_DIR ": %s", strerror(errno));
	} else if (!S_ISDIR(st.st_mode) || st.st_uid) {
		gp_find_failed(&f, GPREEMPT_CLASS_PERMISSION, "remove it",
			       HOLD_DIR " is not root's directory");
	} else {
		gp_find(&f, HOLD_DIR " is there");
	}
	report(r, &f);
}

/*
 * Report an entry of the journal: a pause that waits for repair, a pause that is kept, or a file
 * that is no entry.
 */
static int check_pause(void *arg, pid_t target)
{
	struct gp_finding f = { .name = "paused" };
	struct report *to = arg;
	struct hold_state r;

	hold_look(to->g, target, &r);
	if (r.finding == PAUSE_WAITS)
		gp_find_bad(&f, GP_HEALTH_WARNING, "gpreempt-ctl repair",
			    "process %d was left paused by %s (%d), which has ended", target,
			    r.entry.comm, r.entry.by);
	else if (r.finding == PAUSE_DAMAGED)
		gp_find_bad(&f, GP_HEALTH_WARNING, NEXT_PAUSE_DAMAGED, TEXT_PAUSE_DAMAGED, target);
	else
		return 0;
	report(to, &f);
	return 0;
}

static int check_places(void *arg, const struct places_left *left)
{
	struct gp_finding f = {
		.name = "places",
		.health = left->left ? GP_HEALTH_WARNING : GP_HEALTH_NOTE,
	};

	places_left_text(left, f.text, sizeof(f.text));
	snprintf(f.next, sizeof(f.next), "gpreempt-ctl status names them");
	report(arg, &f);
	return 0;
}

/* Report processes that have ended, and are on the GPUs still. */
static void check_ended(struct report *r, const struct ctl_sampler *s)
{
	struct gp_finding f = { .name = "ended-processes" };
	char next[sizeof(f.next)];
	size_t i;

	for (i = 0; i < s->figures.processes.count; i++) {
		const struct ctl_process *p = &s->figures.processes.items[i];

		/* KFD lists a process that ended just now for a moment, with nothing. */
		if (!p->ended || ctl_process_uses(p, NULL, 0) != 1)
			continue;
		snprintf(next, sizeof(next), *p->kept_by ? "end one of %.160s" : "%s",
			 *p->kept_by ? p->kept_by : "gpreempt-ctl list");
		gp_find_bad(&f, GP_HEALTH_WARNING, next,
			    "process %lld has ended, and its queues and memory stay on the GPUs",
			    (long long)p->pid);
		report(r, &f);
	}
}

/* Memory of a device that its processes need not account for: the driver's own is below that. */
#define UNOWNED_MEMORY (1ll << 30)

/* Report GPUs with memory in use that no process of KFD has. */
static void check_memory(struct report *r, const struct gp_figures *figures)
{
	struct gp_finding f = { .name = "unowned-memory" };
	size_t i, j;

	for (i = 0; i < figures->gpus.count; i++) {
		const struct gp_gpu *gpu = &figures->names.items[i];
		int64_t left = figures->gpus.items[i].vram_used, used = left;
		char name[128], next[sizeof(f.next)];

		for (j = 0; j < figures->gpus.count && used != GPREEMPT_UNKNOWN; j++)
			if (!strcmp(figures->names.items[j].device, gpu->device) &&
			    figures->gpus.items[j].vram != GPREEMPT_UNKNOWN)
				left -= figures->gpus.items[j].vram;
		if (used == GPREEMPT_UNKNOWN || left < UNOWNED_MEMORY)
			continue;
		gp_gpu_text(gpu, name, sizeof(name));
		snprintf(next, sizeof(next), "gpreempt-ctl doctor --partition %lld",
			 (long long)gpu->index);
		gp_find_bad(&f, GP_HEALTH_NOTE, next,
			    "GPU %s: %.1f of %.1f GiB in use belong to no process of KFD "
			    "(graphics, memory that was exported, or a leak)",
			    name, left / (double)UNOWNED_MEMORY, used / (double)UNOWNED_MEMORY);
		report(r, &f);
	}
}

/* Subtract the slots that queues of a process hold. 0, or -EIO: they are not known. */
static int subtract_slots(struct gpreempt *g, pid_t pid, struct gpreempt_nodes *nodes)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	struct gpreempt_error err;
	size_t i, j;

	if (gpreempt_view_read(g, pid, &view, &err))
		return gpreempt_error_class(&err) == GPREEMPT_CLASS_NO_TARGET ? 0 : -EIO;
	/* The module does not list a process that has ended; sysfs does. */
	for (i = 0; view->source != GPREEMPT_SOURCE_SYSFS && i < view->count; i++)
		for (j = 0; j < nodes->count; j++)
			if (gp_is_compute(&view->queues[i]) && view->queues[i].active &&
			    view->queues[i].gpu_id == nodes->nodes[j].gpu_id)
				nodes->nodes[j].slots_used--;
	return 0;
}

/*
 * Report slots that hold queues of no process in KFD's list. Queues come and go between two
 * reads, so the least of some looks counts, if the first finds any.
 */
static void check_slots(struct report *r, const struct gp_figures *figures)
{
	__cleanup_free int64_t *least = shr_must(calloc(figures->gpus.count + 1, sizeof(*least)));
	struct gp_finding f = { .name = "unowned-slots" };
	bool any = true;
	char name[128];
	size_t look, i;

	for (look = 0; any && look < 3; look++) {
		__cleanup_list struct gpreempt_nodes *nodes = NULL;

		if (gpreempt_nodes_read(r->g, &nodes, NULL) || nodes->count != figures->gpus.count)
			return;
		for (i = 0; i < figures->processes.count; i++)
			if (subtract_slots(r->g, figures->processes.items[i].pid, nodes))
				return;
		for (any = false, i = 0; i < nodes->count; i++) {
			if (!look || nodes->nodes[i].slots_used < least[i])
				least[i] = nodes->nodes[i].slots_used;
			any |= least[i] > 0;
		}
	}
	for (i = 0; i < figures->gpus.count; i++) {
		if (least[i] <= 0)
			continue;
		gp_gpu_text(&figures->names.items[i], name, sizeof(name));
		gp_find_bad(&f, GP_HEALTH_NOTE, "gpreempt-lab decode",
			    "GPU %s: %lld of %lld slots hold queues of no process of KFD that lives",
			    name, (long long)least[i],
			    (long long)figures->gpus.items[i].node.slots);
		report(r, &f);
	}
}

static void check_users(struct report *r, bool live)
{
	struct gpreempt_error err;
	bool ended = false;
	struct ctl_sampler s;
	size_t i, unseen;
	int code;

	/* In a container all processes of the host would seem to have ended. */
	if (live && !ctl_is_host(r->g, &err))
		return;
	ctl_sampler_init(&s, r->g, 0);
	s.live = live;
	if (!gp_figures_refresh(&s.figures, shr_now_ns(), &err)) {
		for (i = 0; i < s.figures.processes.count; i++)
			ended |= s.figures.processes.items[i].ended;
		/* This reads the descriptors of all processes. */
		if (ended && live)
			ctl_sampler_keepers(&s, &unseen, &code);
		check_ended(r, &s);
		check_memory(r, &s.figures);
		if (live)
			check_slots(r, &s.figures);
	}
	ctl_sampler_clear(&s);
}

/* Fill in what keeps a process from being held. */
static void find_error(struct gp_finding *f, enum gp_health health,
		       const struct gpreempt_error *err)
{
	f->health = health;
	f->failure = gpreempt_error_class(err);
	gpreempt_error_text(err, f->text, sizeof(f->text));
	ctl_next_step(err, f->next, sizeof(f->next));
}

/* Report which program holds a process: no method has to be found for it. */
static bool check_held(struct report *r, pid_t pid)
{
	struct gp_finding f = { .name = "target" };
	char by[HOLD_OWNER_TEXT];
	struct gpreempt_error err;
	struct hold_state s;
	bool ours;

	hold_look(r->g, pid, &s);
	ours = hold_method(&s);
	if (!ours && !pause_is_seen(r->g, pid))
		return false;
	ctl_set_error(&err, -EBUSY, GPREEMPT_PAUSED, pid, NULL);
	if (!ours)
		find_error(&f, GP_HEALTH_WARNING, &err);
	else if (s.finding == PAUSE_WAITS)
		gp_find(&f, "process %d is paused by gpreempt-ctl", pid);
	else
		gp_find(&f, "process %d is %s by %s", pid,
			s.finding == PAUSE_ANSWERED ? "paused" : "held",
			hold_owner_text(&s.owner, by));
	report(r, &f);
	return true;
}

/* Check the other method, for a process that the debug ioctl cannot hold. */
static void check_method(struct report *r, pid_t pid)
{
	struct gp_finding f = { .name = "pause" };
	struct gpreempt_error err;

	if (owner_check(r->g, pid, GPREEMPT_HOW_PAUSE, &err))
		find_error(&f, GP_HEALTH_NOTE, &err);
	else
		gp_find(&f, "process %d can be paused: suspend --how pause", pid);
	report(r, &f);
}

/* Check the target. suspend pauses it where a session cannot be had. */
static void check_target(struct report *r, pid_t pid)
{
	struct gp_finding f = { .name = "target" };
	struct gpreempt_error err;

	if (!gpreempt_check(r->g, pid, &err))
		gp_find(&f, "process %d can be suspended", pid);
	else if (pause_can_serve(err.reason) && !gp_pause_check(r->g, pid, NULL))
		find_error(&f, GP_HEALTH_WARNING, &err);
	else
		find_error(&f, GP_HEALTH_FAILED, &err);
	report(r, &f);
	if (!hold_is_evicted(r->g, pid))
		return;
	f.name = "evicted";
	gp_find_bad(&f, GP_HEALTH_WARNING, "free memory of its GPUs: gpreempt-ctl gpus, list",
		    TEXT_EVICTED, pid);
	report(r, &f);
}

/* Report each GPU on which a preemption failed before. */
static void check_log(struct report *r, bool live)
{
	struct gp_finding f = { .name = "preemptions" };
	__cleanup_free struct klog *k = shr_must(calloc(1, sizeof(*k)));
	__cleanup_free char *text = NULL;
	bool bad = false;
	size_t i, len;
	int ret = live ? klog_live(k) : gp_read_text(r->g, "/kernel-log", &text, &len);

	if (!ret && text) {
		klog_feed(k, text, len);
		klog_end(k);
	}
	for (i = 0; i <= k->n_gpus; i++) {
		if (!klog_text(&k->gpus[i], f.text, sizeof(f.text)))
			continue;
		f.health = k->gpus[i].lost || k->gpus[i].dead ? GP_HEALTH_WARNING : GP_HEALTH_NOTE;
		snprintf(f.next, sizeof(f.next), "gpreempt-lab klog shows the lines");
		report(r, &f);
		bad = true;
	}
	if (ret)
		gp_find_bad(&f, GP_HEALTH_UNKNOWN,
			    ret == -EACCES || ret == -EPERM ? "run it with sudo" : "",
			    "the kernel's log cannot be read: %s", strerror(-ret));
	else if (!k->driver_lines)
		gp_find_bad(&f, GP_HEALTH_UNKNOWN, "journalctl -k | gpreempt-lab klog -",
			    "no line of amdgpu is in the kernel's log");
	else
		gp_find(&f, "the kernel's log has no preemption that failed");
	if (!bad)
		report(r, &f);
	klog_free(k);
}

static int check_all(struct report *r, const struct doctor_args *args)
{
	__cleanup_list struct gpreempt_targets *list = NULL;
	int ret = 0;
	size_t i;

	if (args->targets.words.n)
		ret = ctl_targets(r->g, &args->targets, &list);
	if (ret)
		return ret;
	if (r->form->mode != OUT_JSON)
		out_heading(r->form, &table);
	check_users(r, !args->targets.from);
	gp_doctor(r->g, report, r);
	check_log(r, !args->targets.from);
	if (!args->targets.from) {
		check_dir(r);
		pause_journal_list(check_pause, r);
		if (places_left_list(r->g, check_places, r))
			report(r, &(struct gp_finding){ .name = "places",
							.health = GP_HEALTH_UNKNOWN,
							.text = HOLD_DIR " cannot be read" });
	}
	for (i = 0; list && i < list->count; i++) {
		if (!args->targets.from && check_held(r, list->targets[i].pid))
			continue;
		check_target(r, list->targets[i].pid);
		check_method(r, list->targets[i].pid);
	}
	return 0;
}

/*
 * doctor --partition: which processes block a repartition of a GPU?
 *
 * The driver refuses another partition mode with EBUSY while processes of KFD are there:
 * kgd2kfd_check_and_lock_kfd() of Linux 6.12 while there is any on the host, that of later
 * drivers while one has this GPU. A process of KFD begins when it opens /dev/kfd, and goes when
 * it has ended and all copies of its descriptor are closed, also those that its children have.
 */

struct keeper {
	struct ctl_process is;
	const char *blocks; /* yes, or maybe: by the driver's version */
	const char *keeps;
	const char *next;
};

static const struct out_field keeper_fields[] = {
	OUT_NAMED("pid", struct keeper, is.pid, "PID", OUT_DEC),
	OUT_FIELD(struct keeper, blocks, "BLOCKS", OUT_WORD, .rank = 3),
	OUT_FIELD(struct keeper, keeps, "KEEPS", OUT_TEXT, .rank = 4),
	OUT_NAMED("container", struct keeper, is.container, "CONTAINER", OUT_TEXT, .array = true,
		  .spare = true, .rank = 2),
	OUT_NAMED("container_id", struct keeper, is.place.in.id, NULL, OUT_TEXT, .array = true),
	OUT_NAMED("engine", struct keeper, is.place.in.engine, NULL, OUT_TEXT, .array = true),
	OUT_FIELD(struct keeper, next, "NEXT", OUT_TEXT, .rank = 1),
	OUT_NAMED("command", struct keeper, is.command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table keeper_table = OUT_TABLE("processes", keeper_fields, struct keeper);

struct partition {
	struct gpreempt *g;
	const struct out_form *form;
	struct gp_gpus gpus;
	const struct gp_gpu *gpu;
	struct ctl_sampler who;
	size_t unseen; /* processes whose descriptors could not be read */
	int code;      /* -errno of the last of them */
	SHR_ARRAY(struct keeper, rows);
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

static void fill_keeper(struct partition *p, const struct ctl_process *from, struct keeper *row)
{
	*row = (struct keeper){
		.is = *from,
		.blocks = !from->keeper && may_use(p, from->pid) ? "yes" : "maybe",
		.keeps = "process",
		.next = "end the process",
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
	if (*from->place.in.id && !from->ended)
		row->next = "stop the container";
}

/* Processes that are there come first. */
static void add_keepers(struct partition *p, bool ended)
{
	const struct gp_figures *f = &p->who.figures;
	size_t i;

	for (i = 0; i < f->processes.count; i++)
		if (f->processes.items[i].ended == ended)
			fill_keeper(p, &f->processes.items[i], shr_must(shr_add(&p->rows)));
}

/* Returns the exit status. A process that we could not look at may block the partition. */
static int partition_status(const struct partition *p)
{
	if (p->rows.count)
		return GPREEMPT_CLASS_BUSY;
	if (!p->unseen)
		return 0;
	return p->code == -EACCES || p->code == -EPERM ? GPREEMPT_CLASS_PERMISSION :
							 GPREEMPT_CLASS_FAILED;
}

static void print_partition_json(const struct partition *p)
{
	struct json_object *object = json_object_new_object();
	char id[24];

	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)p->gpu->gpu_id);
	out_add(object, keeper_table.name,
		out_json_rows(&keeper_table, p->rows.items, p->rows.count));
	out_add(object, "gpu", out_json_number(p->gpu->index));
	out_add(object, "kfd_gpu_id", out_json_text(id));
	out_add(object, "pci", out_json_text(*p->gpu->device ? p->gpu->device : NULL));
	out_add(object, "unseen", json_object_new_int64(p->unseen));
	out_add(object, "status", json_object_new_int(partition_status(p)));
	out_json_print(object);
}

static int print_partition(const struct partition *p)
{
	char name[128];

	gp_gpu_text(p->gpu, name, sizeof(name));
	if (p->form->mode == OUT_JSON)
		print_partition_json(p);
	else if (p->rows.count || p->form->mode == OUT_PIPE)
		out_print(p->form, &keeper_table, p->rows.items, p->rows.count);
	if (p->unseen && !p->rows.count)
		return ctl_fail_text(partition_status(p),
				     partition_status(p) == GPREEMPT_CLASS_PERMISSION ?
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
	return partition_status(p);
}

static int find_keepers(struct partition *p, const char *gpu)
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
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	add_keepers(p, false);
	add_keepers(p, true);
	return print_partition(p);
}

/* No other check is made: that would open /dev/kfd. */
static int run_partition(const struct doctor_args *args)
{
	struct partition p = { .form = &args->form };
	int ret;

	if (args->targets.words.n || args->targets.from)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl doctor --help",
				     "--partition looks at all processes of this host: no TARGET, "
				     "and no --from");
	ret = ctl_check_form(&ctl_doctor, p.form, &keeper_table);
	if (ret < 0)
		ret = ctl_open(NULL, &p.g);
	if (ret)
		return ret;
	ctl_sampler_init(&p.who, p.g, 0);
	ret = ctl_need_host(p.g);
	if (!ret)
		ret = find_keepers(&p, args->partition);
	free(p.rows.items);
	ctl_sampler_clear(&p.who);
	gp_gpus_free(&p.gpus);
	gpreempt_free(p.g);
	return ret;
}

/* The command. */

static int run_doctor(void *data)
{
	const struct doctor_args *args = data;
	struct report r = { .form = &args->form };
	struct json_object *object;
	int ret;

	if (args->partition)
		return run_partition(args);
	ret = ctl_check_form(&ctl_doctor, &args->form, &table);
	if (ret >= 0)
		return ret;
	ret = ctl_open(args->targets.from, &r.g);
	if (ret)
		return ret;
	if (r.form->mode == OUT_JSON)
		r.checks = json_object_new_array();
	ret = check_all(&r, args);
	gpreempt_free(r.g);
	if (ret) {
		json_object_put(r.checks);
		return ret;
	}
	if (r.form->mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, table.name, r.checks);
		out_add(object, "status", json_object_new_int(r.status));
		out_json_print(object);
	}
	return r.status;
}

static const struct ctl_option options[] = {
	{ "partition", CTL_NAME, offsetof(struct doctor_args, partition), "GPU",
	  "list the processes that block a repartition of this GPU" },
	CTL_WAIT_OPTION(struct doctor_args),
	CTL_ROW_OPTIONS(struct doctor_args),
	CTL_FROM_OPTION(struct doctor_args),
	{ 0 },
};

const struct ctl_command ctl_doctor = {
	.name = "doctor",
	.run = run_doctor,
	CTL_TARGET_ARGS(struct doctor_args),
	.usage = "[TARGET]",
	.summary = "Check whether suspending can work here, or for a process.",
	.details =
		"Each line is a check: ok; note, useful to know; warning, something is missing\n"
		"that suspending does not need; failed, suspending cannot work; unknown, the\n"
		"check was not possible. The end of the line is what to do. The exit status is\n"
		"0 when suspending should work, 3 when the host cannot do it and 4 when only\n"
		"rights are missing; with a target, that of suspending it. With --from, what\n"
		"the driver would have to answer is unknown.\n"
		"\n"
		"--partition GPU checks nothing, and lists each process that has /dev/kfd open\n"
		"or had, with what to end: while they are there, the driver refuses to change\n"
		"the partition mode. GPU is an index as amd-smi has it, a PCI address,\n"
		"renderD128 or a gpu_id (0xf7bc). BLOCKS is yes, or maybe: of a process that may\n"
		"not use this GPU, and of a descriptor that came from another process, it\n"
		"depends on the driver and on that process. KEEPS is process; holder, of\n"
		"gpreempt-ctl; descriptor, only that of another process; ended, a process that\n"
		"has ended, of which another one has the descriptor. Exit status 7: there are\n"
		"such processes; 0: there are none; 4 or 1: not all processes could be looked at.\n",
	.examples = "  gpreempt-ctl doctor\n"
		    "  gpreempt-ctl doctor comm:train   # can it be suspended?\n"
		    "  gpreempt-ctl doctor --partition 0 -o pid,next\n",
	.options = options,
};
