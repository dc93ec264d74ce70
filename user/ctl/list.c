// SPDX-License-Identifier: GPL-2.0-only
/* list: all GPU processes, a line each; and the record of a process that other commands print. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "cli/table.h"
#include "hold/holder.h"
#include "lib/core/internal.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "figures.h"

/* Identity, state and holder of the processes. */

static void take_description(const struct ctl_sampler *s, const struct ctl_described *from,
			     struct ctl_process *p)
{
	const struct gpreempt_description *who = &from->who;

	p->command = shr_must(strdup(*who->command ? who->command : who->comm));
	memcpy(p->comm, who->comm, sizeof(p->comm));
	if (who->ns_pid != p->pid)
		p->ns_pid = who->ns_pid;
	if (who->uid == (uid_t)-1)
		return;
	p->uid = who->uid;
	gp_user_text(s->g, who->uid, p->user, sizeof(p->user));
}

static void find_place(struct ctl_sampler *s, struct ctl_process *p)
{
	const struct gp_container *in = &p->place.in;

	gp_place(s->g, s->cgroups, p->pid, &p->place);
	if (*in->name)
		memcpy(p->container, in->name, sizeof(p->container));
	else
		snprintf(p->container, sizeof(p->container), "%.*s", CTL_ID_SHOWN, in->id);
	if (p->place.role < 0)
		p->role = "unknown";
	else if (p->place.role > GPREEMPT_ROLE_NONE)
		p->role = gp_role_name(p->place.role);
}

/* Only root can read the list of owners: for others, a holder is known by its name. */
static void identify(struct ctl_sampler *s, const struct ctl_described *from, struct ctl_process *p)
{
	p->known = true;
	if (from->code)
		return;
	take_description(s, from, p);
	find_place(s, p);
	p->holder = s->live && !geteuid() ? hold_skip_owner(&s->owners, p->pid) :
					    !strcmp(p->comm, HOLD_TITLE);
}

/* A child reads the command lines, as a process can let its reader wait for ever. */
static void identify_new(struct ctl_sampler *s)
{
	size_t i, j = 0, count = s->figures.processes.count;
	struct ctl_process *p = s->figures.processes.items;
	struct gpreempt_targets fresh = {
		.targets = shr_must(calloc(count + 1, sizeof(*fresh.targets))),
	};
	struct ctl_described *all;

	for (i = 0; i < count; i++)
		if (!p[i].known)
			fresh.targets[fresh.count++] = (struct gpreempt_target){ .pid = p[i].pid };
	all = ctl_describe_all(s->g, &fresh, s->live);
	hold_owners_free(&s->owners);
	for (i = 0; i < count; i++)
		if (!p[i].known)
			identify(s, &all[j++], &p[i]);
	ctl_described_free(all, &fresh);
	free(fresh.targets);
}

/* The state of a process: this is the only place that decides it. */
static const char *state_of(const struct ctl_process *p)
{
	bool busy = false;
	size_t i;

	if (p->holder)
		return "holder";
	if (p->ended)
		return "ended";
	if (p->paused == 1)
		return "paused";
	if (!p->queues)
		return "no-queues";
	if (p->suspended == GPREEMPT_UNKNOWN || p->queues == GPREEMPT_UNKNOWN)
		return NULL;
	if (p->suspended)
		return p->suspended == p->queues ? "suspended" : "partly-suspended";
	if (p->evicted == p->queues)
		return "evicted";
	for (i = 0; i < p->gpus.count; i++)
		busy |= p->gpus.items[i].share.busy;
	if (busy || p->active > 0)
		return "active";
	return p->active == GPREEMPT_UNKNOWN ? NULL : "unmapped";
}

/* May a process hold it? Two files say which, so they are read of such a one alone. */
static bool may_be_held(const struct ctl_process *p)
{
	return !p->holder && !p->ended && (p->debugged || p->paused || p->suspended);
}

static void find_holder(struct ctl_sampler *s, struct ctl_process *p)
{
	struct gpreempt_description who = { .tracer = 0 };
	struct hold_state held = { .owned = false };
	const char *role;

	p->held_by = p->held_ns = p->held_uid = GPREEMPT_UNKNOWN;
	*p->held_as = '\0';
	p->how = p->paused == 1 ? "pause" : p->debugged == 1 || p->suspended > 0 ? "debug" : NULL;
	if (!may_be_held(p))
		return;
	/* /run/gpreempt is this system's. */
	if (s->live)
		hold_look(s->g, p->pid, &held);
	role = hold_role_of(&held);
	p->held_ns = hold_since(&held);
	p->held_uid = hold_uid(&held);
	if (role && held.owner.role != HOLD_ROLE_UNKNOWN) {
		if (held.owned)
			p->held_by = hold_command_of(&held.owner);
		snprintf(p->held_as, sizeof(p->held_as), "%s", role);
	} else if (!gp_identify(s->g, p->pid, &who) && who.tracer) {
		p->held_by = who.tracer;
		memcpy(p->held_as, who.tracer_comm, sizeof(p->held_as));
	}
}

static const struct gp_figure *find_figure(const struct ctl_process *p, int64_t gpu_id)
{
	return p->gpus.count ? bsearch(&gpu_id, p->gpus.items, p->gpus.count,
				       sizeof(*p->gpus.items), shr_compare_first) :
			       NULL;
}

/* Add a number to a list of them. */
static char *add_number(char *at, const char *begin, bool hex, uint64_t number)
{
	const char *comma = at == begin ? "" : ",";

	return at + (hex ? sprintf(at, "%s0x%" PRIx64, comma, number) :
			   sprintf(at, "%s%" PRIu64, comma, number));
}

/* List the GPUs on which it has a queue or memory, by their index. */
static void list_used(const struct gp_gpus *names, struct ctl_process *p)
{
	size_t i, k, size = 24 * (names->count + p->gpus.count + 1);
	bool known = names->count && names->items[0].index != GPREEMPT_UNKNOWN, all = known;
	char *at, *index;

	free(p->gpu_list);
	free(p->index_list);
	p->gpu_list = at = shr_must(calloc(1, size));
	p->index_list = index = shr_must(calloc(1, size));
	for (k = 0; known && k < names->count; k++) {
		for (i = 0; i < names->count - 1 && names->items[i].index != (int64_t)k;)
			i++;
		if (!gp_figure_is_used(find_figure(p, names->items[i].gpu_id)))
			continue;
		at = add_number(at, p->gpu_list, true, names->items[i].gpu_id);
		index = add_number(index, p->index_list, false, k);
	}
	/* Add the GPUs without an index. */
	for (i = 0; i < p->gpus.count; i++) {
		const struct gp_figure *gpu = &p->gpus.items[i];

		if (!gp_figure_is_used(gpu) || (known && gp_gpus_get(names, gpu->gpu_id)))
			continue;
		at = add_number(at, p->gpu_list, true, gpu->gpu_id);
		all = false;
	}
	if (all)
		return;
	free(p->index_list);
	p->index_list = NULL;
}

int64_t ctl_process_uses(const struct ctl_process *p, const uint32_t *gpu_ids, size_t n)
{
	int64_t unknown = p->placed && p->vram != GPREEMPT_UNKNOWN ? 0 : GPREEMPT_UNKNOWN;
	size_t i;

	for (i = 0; i < p->gpus.count; i++) {
		const struct gp_figure *gpu = &p->gpus.items[i];

		if (n && !shr_has(gpu_ids, n, gpu->gpu_id))
			continue;
		if (gp_figure_is_used(gpu))
			return 1;
	}
	return !n && p->queues > 0 ? 1 : unknown;
}

int ctl_sampler_who(struct ctl_sampler *s, struct gpreempt_error *err)
{
	int ret = gp_figures_list(&s->figures, err);

	if (!ret)
		identify_new(s);
	return ret;
}

int ctl_sampler_refresh(struct ctl_sampler *s, struct gpreempt_error *err)
{
	int ret = gp_figures_refresh(&s->figures, shr_now_ns(), err);
	size_t i;

	if (ret)
		return ret;
	identify_new(s);
	for (i = 0; i < s->figures.processes.count; i++) {
		struct ctl_process *p = &s->figures.processes.items[i];

		p->state = state_of(p);
		find_holder(s, p);
		list_used(&s->figures.names, p);
	}
	return 0;
}

/* Processes that keep a descriptor of /dev/kfd. */

/* Work of the children, in memory that they share. */
struct scan {
	struct shr_apart work; /* the first one: both have one address */
	struct gpreempt *g;
	struct {
		pid_t pid;
		int open; /* result of gp_has_kfd_open() */
	} of[];
};

static void ask(struct shr_apart *work, size_t i)
{
	struct scan *scan = (void *)work;

	scan->of[i].open = gp_has_kfd_open(scan->g, scan->of[i].pid);
}

static void be_silent(struct shr_apart *work, size_t i)
{
	((struct scan *)work)->of[i].open = -ETIMEDOUT;
}

/* Ask all processes that are not in KFD's list. */
static void ask_others(struct ctl_sampler *s, struct scan *scan, const struct gp_pids *all)
{
	const struct gp_figures *f = &s->figures;
	size_t i;

	scan->g = s->g;
	scan->work.ask = ask;
	scan->work.silent = be_silent;
	for (i = 0; i < all->count; i++) {
		int64_t pid = all->items[i];

		if (!f->processes.count || !bsearch(&pid, f->processes.items, f->processes.count,
						    sizeof(struct ctl_process), shr_compare_first))
			scan->of[scan->work.count++].pid = pid;
	}
	shr_ask_apart(&scan->work);
}

static void add_keepers(struct ctl_sampler *s, const struct scan *scan, size_t *unseen, int *code)
{
	size_t i;

	for (i = 0; i < scan->work.count; i++) {
		if (scan->of[i].open < 0) {
			++*unseen;
			*code = scan->of[i].open;
		}
		if (scan->of[i].open == 1)
			gp_figures_process(&s->figures, scan->of[i].pid)->keeper = true;
	}
}

/* Name the keepers in each process that has ended: which descriptor one has cannot be seen. */
static void name_keepers(struct gp_figures *f)
{
	char text[sizeof(((struct ctl_process *)0)->kept_by)] = "";
	size_t i, len = 0;

	for (i = 0; i < f->processes.count; i++) {
		const struct ctl_process *p = &f->processes.items[i];

		if (p->keeper && len < sizeof(text) - 1)
			len += snprintf(text + len, sizeof(text) - len, "%s%lld (%.15s)",
					len ? ", " : "", (long long)p->pid, p->comm);
	}
	for (i = 0; i < f->processes.count; i++)
		if (f->processes.items[i].ended)
			memcpy(f->processes.items[i].kept_by, text, sizeof(text));
}

int ctl_sampler_keepers(struct ctl_sampler *s, size_t *unseen, int *code)
{
	struct gp_pids all;
	int ret = gp_all_pids(s->g, &all);
	size_t size = sizeof(struct scan) + all.count * sizeof(((struct scan *)0)->of[0]);
	struct scan *scan;

	*unseen = 0;
	if (ret)
		return ret;
	scan = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shr_must(scan == MAP_FAILED ? NULL : scan);
	ask_others(s, scan, &all);
	add_keepers(s, scan, unseen, code);
	identify_new(s);
	name_keepers(&s->figures);
	free(all.items);
	munmap(scan, size);
	return 0;
}

/* The command. */

struct list_args {
	struct ctl_target_args targets; /* its queues: the GPUs of --gpu */
	struct out_form form;
	uint64_t quiet;
};

#define FIELD(member, title, what, ...) \
	OUT_FIELD(struct ctl_process, member, title, what, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(pid, "PID", OUT_DEC),
	FIELD(container, "CONTAINER", OUT_TEXT, .array = true, .spare = true, .rank = 3),
	OUT_NAMED("container_id", struct ctl_process, place.in.id, NULL, OUT_TEXT, .array = true),
	OUT_NAMED("engine", struct ctl_process, place.in.engine, NULL, OUT_TEXT, .array = true),
	FIELD(ns_pid, "NS-PID", OUT_DEC, .spare = true, .rank = 14),
	FIELD(user, "USER", OUT_TEXT, .array = true, .rank = 10),
	FIELD(uid, NULL, OUT_DEC),
	OUT_NAMED("gpu", struct ctl_process, index_list, "GPUS", OUT_NUMBERS, .many = "GPUs",
		  .rank = 1),
	OUT_NAMED("kfd_gpu_id", struct ctl_process, gpu_list, NULL, OUT_LIST),
	FIELD(queues, "QUEUES", OUT_DEC, .rank = 6),
	FIELD(active, "ACTIVE", OUT_DEC, .rank = 11),
	FIELD(slots, "SLOTS", OUT_DEC, .rank = 12),
	FIELD(waves, "WAVES", OUT_DEC, .spare = true, .rank = 13),
	FIELD(vram, "VRAM", OUT_SIZE, .spare = true, .rank = 7),
	FIELD(state, "STATE", OUT_WORD),
	FIELD(held_by, "HELD-BY", OUT_DEC, .spare = true, .rank = 2),
	FIELD(held_as, "AS", OUT_TEXT, .array = true, .spare = true, .rank = 4),
	FIELD(how, "HOW", OUT_TEXT, .spare = true, .rank = 9),
	OUT_NAMED("held_us", struct ctl_process, held_ns, NULL, OUT_US),
	FIELD(held_uid, NULL, OUT_DEC),
	FIELD(role, "ROLE", OUT_TEXT, .spare = true, .rank = 8),
	FIELD(kept_by, "KEPT-BY", OUT_TEXT, .array = true, .spare = true, .rank = 5),
	FIELD(command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct ctl_process);

static void print_rows(const struct list_args *args, const struct ctl_process *rows, size_t count,
		       bool sysfs)
{
	enum out_mode mode = args->form.mode;
	struct json_object *object;

	if (mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, table.name, out_json_rows(&table, rows, count));
		out_add(object, "source", out_json_text(sysfs ? "sysfs" : "module"));
		out_json_print(object);
	} else if (count || mode == OUT_PIPE) {
		out_print(&args->form, &table, rows, count);
	}
	if (!count && mode != OUT_JSON)
		ctl_note("no process uses the GPU");
	if (sysfs)
		ctl_note_sysfs(args->targets.from);
}

/* Is the process meant by the words (NULL: all)? */
static bool is_meant(const struct gpreempt_targets *chosen, const struct ctl_process *p)
{
	size_t i;

	for (i = 0; chosen && i < chosen->count; i++)
		if (chosen->targets[i].pid == p->pid)
			return true;
	return !chosen;
}

/* List the processes that use the GPUs, or may. 0, or the exit status. */
static int print_list(struct ctl_sampler *s, const struct list_args *args,
		      const struct gpreempt_targets *chosen)
{
	const struct gpreempt_filter *which = &args->targets.queues;
	size_t i, n = 0, unseen, count;
	struct ctl_process *rows;
	struct gpreempt_error err;
	bool ended = false, sysfs = false;
	int code;

	if (ctl_sampler_refresh(s, &err))
		return ctl_fail(&err);
	for (i = 0; i < s->figures.processes.count; i++)
		ended |= s->figures.processes.items[i].ended;
	if (ended && s->live && ctl_sampler_keepers(s, &unseen, &code))
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	count = s->figures.processes.count;
	rows = shr_must(calloc(count + 1, sizeof(*rows)));
	for (i = 0; i < count; i++) {
		const struct ctl_process *p = &s->figures.processes.items[i];

		if (p->keeper || !is_meant(chosen, p) ||
		    (which->n_gpu_ids && !ctl_process_uses(p, which->gpu_ids, which->n_gpu_ids)))
			continue;
		rows[n++] = *p;
		sysfs |= p->partial && !p->ended;
	}
	print_rows(args, rows, n, sysfs);
	free(rows);
	return 0;
}

/* Answer scripts by the exit status: does one of the chosen (NULL: any) use the GPUs? */
static int answer(struct ctl_sampler *s, const struct gpreempt_filter *which,
		  const struct gpreempt_targets *chosen)
{
	struct gpreempt_error err;
	int64_t open = 0;
	size_t i;

	if (gp_figures_refresh(&s->figures, shr_now_ns(), &err))
		return ctl_fail(&err);
	for (i = 0; i < s->figures.processes.count; i++) {
		const struct ctl_process *p = &s->figures.processes.items[i];
		int64_t uses = is_meant(chosen, p) ?
				       ctl_process_uses(p, which->gpu_ids, which->n_gpu_ids) :
				       0;

		if (uses == 1)
			return GPREEMPT_CLASS_BUSY;
		if (uses == GPREEMPT_UNKNOWN)
			open = p->pid;
	}
	if (!open)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "run it with sudo; gpreempt-ctl list shows more",
			     "whether process %lld uses the GPU is not known", (long long)open);
}

static int run_list(void *data)
{
	const struct list_args *args = data;
	__cleanup_list struct gpreempt_targets *chosen = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	struct ctl_sampler s;
	int ret = ctl_open(args->targets.from, &g);

	/* --quiet asks KFD alone, which answers in a container, too. */
	if (!ret && !args->quiet && !args->targets.from)
		ret = ctl_need_host(g);
	if (!ret)
		ret = ctl_find_gpus(g, &args->targets);
	if (!ret && args->targets.words.n)
		ret = ctl_targets(g, &args->targets, &chosen);
	if (!ret) {
		ctl_sampler_init(&s, g, 0);
		s.live = !args->targets.from;
		s.cgroups = gp_role_root(g);
		ctl_sampler_look(&s);
		ret = args->quiet ? answer(&s, &args->targets.queues, chosen) :
				    print_list(&s, args, chosen);
		ctl_sampler_clear(&s);
	}
	return ret;
}

static const struct ctl_option options[] = {
	{ "gpu", CTL_GPUS, offsetof(struct list_args, targets), "LIST",
	  "only processes that use these GPUs (0: as amd-smi counts)" },
	{ "quiet", CTL_FLAG, offsetof(struct list_args, quiet), NULL,
	  "print nothing; exit status 7 if a process uses the GPU" },
	CTL_WAIT_OPTION(struct list_args),
	CTL_TABLE_OPTIONS(struct list_args),
	CTL_FROM_OPTION(struct list_args),
	{ 0 },
};

const struct ctl_command ctl_list = {
	.name = "list",
	.run = run_list,
	CTL_TARGET_ARGS(struct list_args),
	.usage = "[TARGET]",
	.summary = "List the GPU processes (the default command).",
	.details = "SLOTS are the hardware slots that its queues need, and ACTIVE those that hold\n"
		   "them now. A queue in a slot may be idle: WAVES execute now, where gpreempt.ko\n"
		   "and the driver can count them. VRAM is the GPU memory that the process has\n"
		   "allocated. STATE is one of\n"
		   "  active             a queue of it is in a hardware slot\n"
		   "  suspended          all its queues are, through the debug interface\n"
		   "  partly-suspended   some are\n"
		   "  paused             the whole process is, by our pause or CRIU's\n"
		   "  evicted            the driver has taken its queues off for a while\n"
		   "  unmapped           none of its queues is in a slot now\n"
		   "  no-queues          it has opened the GPU, and has no queue\n"
		   "  holder             of gpreempt-ctl: it holds another process\n"
		   "  ended              it has ended, and a process that has a copy of its\n"
		   "                     descriptor of /dev/kfd keeps its memory, and its queues\n"
		   "                     on the GPU: end one of those in KEPT-BY\n"
		   "USER is the real user, as the kernel has it. COMMAND and the name of a\n"
		   "container are chosen by the process or its user.\n"
		   "HELD-BY is the process that holds or debugs it, and HOW its method: pause or\n"
		   "debug. NS-PID is the PID of a process in its container. Without gpreempt.ko,\n"
		   "or without root, slots and state are unknown.\n"
		   "\n"
		   "A process uses a GPU if it has a queue or memory there; a holder has neither.\n"
		   "\"list --gpu ID --quiet\" is for scripts. Exit status 0: no process uses that\n"
		   "GPU; 7: one does; 5: there is no such GPU; 3: there is no AMD GPU or driver;\n"
		   "1: it cannot be known. Processes that use the GPU only for graphics do\n"
		   "not use KFD and are not listed.\n",
	.examples = "  gpreempt-ctl list --gpu 0 --sort -vram\n"
		    "  gpreempt-ctl list user:ann -o pid,state,command\n"
		    "  gpreempt-ctl list --gpu 0 --quiet && echo 'nothing uses GPU 0'\n",
	.table = &table,
	.options = options,
};
