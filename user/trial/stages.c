// SPDX-License-Identifier: GPL-2.0-only
/* The stages of a trial, mild ones first. Each runs programs of ours, and ends them. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/see/see.h"
#include "trial.h"
#include "witness.h"

#define READY_NS (60 * NSEC_PER_SEC) /* ROCm starts up in seconds, and slower on a busy host */
#define END_NS	 (15 * NSEC_PER_SEC) /* more than the load waits for its dispatches */
#define GUARD_NS (30 * NSEC_PER_SEC)

static uint64_t left_ns(const struct trial *t)
{
	uint64_t passed = shr_now_ns() - t->begin_ns;

	return passed < t->budget_ns ? t->budget_ns - passed : 0;
}

/* The load. */

/* Options of a load; 0 is gpreempt-load's own choice. */
struct trial_setup {
	const char *name; /* NULL: its size */
	uint64_t registers, lds, waves, part, time_ns, rate;
};

static const struct {
	const char *option;
	size_t at;
} options[] = {
	{ "--registers", offsetof(struct trial_setup, registers) },
	{ "--lds", offsetof(struct trial_setup, lds) },
	{ "--waves", offsetof(struct trial_setup, waves) },
	{ "--part", offsetof(struct trial_setup, part) },
	{ "--time_ns", offsetof(struct trial_setup, time_ns) },
	{ "--rate", offsetof(struct trial_setup, rate) },
};

/* Start it, and wait until it is at work. TRIAL_DONE, or why not. */
static enum trial_result start_work(struct trial *t, const struct trial_setup *s,
				    struct trial_work *w)
{
	char gpu[24], values[ARRAY_SIZE(options)][24];
	char *argv[6 + 2 * ARRAY_SIZE(options)] = { (char *)t->load, "--gpu", gpu, "--report_ns",
						    "1000000000" };
	uint64_t value, until = shr_now_ns() + READY_NS;
	struct json_object *now;
	size_t i, n = 5;

	*w = (struct trial_work){ .setup = s };
	snprintf(gpu, sizeof(gpu), "%zu", t->place);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		value = *(const uint64_t *)((const char *)s + options[i].at);
		if (!value)
			continue;
		snprintf(values[i], sizeof(values[i]), "%" PRIu64, value);
		argv[n++] = (char *)options[i].option;
		argv[n++] = values[i];
	}
	if (!trial_start(t, argv, &w->child))
		return TRIAL_FAILED;
	while (!(now = trial_last(&w->child))) {
		bool ended = trial_wait(t, &w->child, 20 * NSEC_PER_MSEC);

		if (!ended && !t->stopped && shr_now_ns() < until)
			continue;
		trial_note_why(t, t->load, w->child.err);
		trial_end(&w->child, SIGTERM, END_NS);
		if (t->stopped)
			return TRIAL_INTERRUPTED;
		return ended && (w->child.status == 3 || w->child.status == 127) ? TRIAL_LACKS :
										   TRIAL_FAILED;
	}
	w->ring = trial_int(now, "ring");
	w->waves = trial_int(now, "waves");
	w->registers = trial_int(now, "registers");
	w->lds = trial_int(now, "lds_bytes");
	snprintf(t->found->gfx, sizeof(t->found->gfx), "%s",
		 json_object_get_string(json_object_object_get(now, "gfx")));
	json_object_put(now);
	return TRIAL_DONE;
}

/* End it, and count what it says of its dispatches and waves. Returns all that it says. */
static struct json_object *end_work(struct trial *t, struct trial_work *w, enum trial_claim once)
{
	uint64_t until = shr_now_ns() + END_NS;
	int64_t completed, right, wrong;
	struct json_object *o;

	/* Ctrl-C does not make this wait shorter: it is for the last dispatches. */
	if (w->child.pid > 0) {
		kill(w->child.pid, SIGCONT);
		kill(w->child.pid, SIGTERM);
	}
	while (w->child.pid > 0 && shr_now_ns() < until && !shr_readable(w->child.pidfd, 100))
		;
	o = trial_last(&w->child);
	completed = trial_int(o, "completed");
	right = trial_int(o, "right");
	wrong = trial_int(o, "wrong");
	trial_count(t->found, once, completed, completed - trial_int(o, "lost"));
	trial_count(t->found, TRIAL_REGISTERS, right + wrong, right);
	trial_end(&w->child, SIGKILL, 0);
	return o;
}

/* gpreempt-ctl preempt beside it. */

/* A cycle that our own SIGINT has cut off was not tried. */
static void count_preempt(struct trial *t, struct json_object *found, bool pause, bool cut)
{
	struct json_object *verified = json_object_object_get(found, "verified");
	int64_t yes = trial_int(verified, "yes"), seen = yes + trial_int(verified, "no");
	int64_t whole = seen + trial_int(verified, "not_checked");

	trial_count(t->found, pause ? TRIAL_PAUSES : TRIAL_SUSPENDS,
		    cut ? whole : trial_int(found, "cycles"), trial_int(found, "succeeded"));
	trial_count(t->found, TRIAL_OFF, seen, yes);
}

/* A trial has no more than one target, and nothing beside it. */
static void leave_out(struct json_object *found)
{
	static const char *const keys[] = { "online_us", "targets", "disturbed", "simulated" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_object_del(found, keys[i]);
}

/* Suspend and resume the load. After ns it gets SIGINT, and prints what it has. */
static enum trial_result preempt(struct trial *t, const struct trial_stage *stage,
				 const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	char pid[24], n[24];
	char *argv[] = {
		(char *)t->self, "preempt",    pid,   "--json", "--count",	    n,	 "--hold",
		"1ms",		 "--interval", "5ms", "--how",	(char *)stage->how, NULL
	};
	struct json_object *found;
	int status;

	snprintf(pid, sizeof(pid), "%d", w->child.pid);
	snprintf(n, sizeof(n), "%" PRIu64, stage->cycles);
	found = trial_ask(t, argv, ns, &status);
	if (found) {
		count_preempt(t, found, !strcmp(stage->how, "pause"), status == TRIAL_CUT);
		leave_out(found);
		out_add(run, "preempt", found);
	}
	/* A run that was cut off before its first cycle has no figures. */
	return status == TRIAL_CUT || (found && !status) ? TRIAL_DONE : TRIAL_FAILED;
}

/* 0, look. */

/* Versions of the GPU's firmware: files of amdgpu (amdgpu_ucode.c), and MEC's by KFD's topology. */
static struct json_object *firmware(struct trial *t)
{
	static const char *const files[] = { "mec", "mes", "rlc", "sdma", "smc" };
	struct json_object *o = json_object_new_object();
	uint64_t value;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		bool known = shr_read_start(text, sizeof(text),
					    "/sys/bus/pci/devices/%s/fw_version/%s_fw_version",
					    t->node.device, files[i]) > 0;

		text[strcspn(text, "\n")] = '\0';
		out_add(o, files[i], out_json_text(known ? text : NULL));
	}
	out_add(o, "kfd",
		gp_gpu_property(t->g, t->node.gpu_id, "fw_version", &value) ?
			NULL :
			out_json_number(value));
	return o;
}

static enum trial_result run_look(struct trial *t, struct json_object *runs)
{
	static const char *const asked[] = { "doctor", "gpus" };
	struct json_object *run = json_object_new_object(), *found;
	size_t i;
	int status;

	out_add(run, "name", out_json_text("host"));
	json_object_array_add(runs, run);
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		char *argv[] = { (char *)t->self, (char *)asked[i], "--json", NULL };

		found = trial_ask(t, argv, left_ns(t), &status);
		if (!found)
			return t->stopped ? TRIAL_INTERRUPTED : TRIAL_FAILED;
		*t->why = '\0';
		out_add(run, asked[i], found);
	}
	out_add(run, "firmware", firmware(t));
	trial_snapshot(t, "look");
	return TRIAL_DONE;
}

/* 5, others: a second process, while the first one is preempted. */

static enum trial_result preempt_beside(struct trial *t, const struct trial_stage *stage,
					const struct trial_work *w, uint64_t ns,
					struct json_object *run)
{
	static const struct trial_setup other = { .waves = 1, .time_ns = 200 * NSEC_PER_USEC };
	enum trial_result result;
	struct json_object *o;
	struct trial_work b;

	result = start_work(t, &other, &b);
	if (result != TRIAL_DONE)
		return result;
	result = preempt(t, stage, w, ns, run);
	o = end_work(t, &b, TRIAL_OTHERS);
	out_add(run, "gap_us", out_json_number(trial_int(o, "longest_gap_us")));
	out_add(run, "beside", o);
	return result;
}

/* 6, schedule: online work alone, beside offline work, and so with guard. */

#define ONLINE .waves = 4, .time_ns = 2 * NSEC_PER_MSEC, .rate = 20

static const struct trial_setup modes[] = {
	{ .name = "alone", ONLINE },
	{ .name = "unprotected", ONLINE },
	{ .name = "guarded", ONLINE },
};

static enum trial_result schedule(struct trial *t, const struct trial_stage *stage,
				  const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	static const struct trial_setup offline = { .time_ns = 5 * NSEC_PER_MSEC };
	char online_pid[24], offline_pid[24];
	char *argv[] = { (char *)t->self, "guard",     "--online", online_pid,
			 "--offline",	  offline_pid, NULL };
	struct trial_child guard = { .pidfd = -1, .out = -1, .err = -1 };
	enum trial_result result = TRIAL_DONE;
	struct trial_work b = { 0 };

	if (w->setup > stage->setups)
		result = start_work(t, &offline, &b);
	snprintf(online_pid, sizeof(online_pid), "%d", w->child.pid);
	snprintf(offline_pid, sizeof(offline_pid), "%d", b.child.pid);
	if (result == TRIAL_DONE && w->setup > stage->setups + 1 && !trial_start(t, argv, &guard))
		result = TRIAL_FAILED;
	if (result == TRIAL_DONE)
		trial_sleep(t, ns);
	if (guard.pid && shr_readable(guard.pidfd, 0)) {
		snprintf(t->why, sizeof(t->why), "gpreempt-ctl guard ended by itself");
		result = TRIAL_FAILED;
	}
	/* Its requests end before guard does. */
	kill(w->child.pid, SIGTERM);
	shr_readable(w->child.pidfd, END_NS / NSEC_PER_MSEC);
	trial_end(&guard, SIGINT, GUARD_NS);
	if (b.child.pid)
		out_add(run, "beside", end_work(t, &b, TRIAL_ONCE));
	return result;
}

/* 7, job control: follow sees a stop, and takes the queues off. */

/* Wait until the process has slots, or none; by either method of follow. */
static bool has_slots(struct trial *t, pid_t pid, bool wanted, uint64_t ns)
{
	uint64_t until = shr_now_ns() + ns;

	do {
		__cleanup_list struct gpreempt_view *view = NULL;
		size_t active = 0, known = 0;
		size_t i;

		if (gpreempt_view_read(t->g, pid, &view, NULL))
			return false;
		for (i = 0; i < view->count; i++) {
			known += view->queues[i].active != GPREEMPT_UNKNOWN;
			active += view->queues[i].active > 0;
		}
		if (wanted ? active : !active && known && known == view->count)
			return true;
	} while (trial_sleep(t, 5 * NSEC_PER_MSEC) && shr_now_ns() < until);
	return false;
}

static enum trial_result stop_and_go(struct trial *t, const struct trial_stage *stage,
				     const struct trial_work *w, uint64_t ns,
				     struct json_object *run)
{
	char pid[24], *argv[] = { (char *)t->self, "follow", pid, NULL };
	uint64_t tried = 0, held = 0, until = shr_now_ns() + ns;
	enum trial_result result = TRIAL_DONE;
	struct trial_child c;

	snprintf(pid, sizeof(pid), "%d", w->child.pid);
	if (!has_slots(t, w->child.pid, true, 10 * NSEC_PER_SEC)) {
		snprintf(t->why, sizeof(t->why), TRIAL_NO_SLOTS);
		result = TRIAL_LACKS;
	} else if (trial_start(t, argv, &c)) {
		trial_sleep(t, NSEC_PER_SEC);
		while (tried < stage->cycles && shr_now_ns() < until && !t->stopped) {
			bool off;

			kill(w->child.pid, SIGSTOP);
			off = has_slots(t, w->child.pid, false, 5 * NSEC_PER_SEC);
			kill(w->child.pid, SIGCONT);
			if (!t->stopped)
				tried++;
			held += has_slots(t, w->child.pid, true, 5 * NSEC_PER_SEC) && off;
		}
		trial_end(&c, SIGINT, GUARD_NS);
	} else {
		result = TRIAL_FAILED;
	}
	out_add(run, "cycles", out_json_number(tried));
	out_add(run, "succeeded", out_json_number(held));
	trial_count(t->found, TRIAL_FOLLOWS, tried, held < tried ? held : tried);
	return result;
}

/* The stages. */

/* The name of a load: its own, or its size. */
static struct json_object *name_json(const struct trial_setup *s)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, %" PRIu64 " registers, %" PRIu64 " KiB",
		 s->waves == 1 ? "1 wave" :
		 s->part == 4  ? "quarter" :
		 s->part == 2  ? "half" :
				 "full",
		 s->registers, s->lds);
	return out_json_text(s->name ? s->name : name);
}

/*
 * Add the size of what a suspend has to save, and the time that the memory needs for it. A wave
 * keeps 4 bytes in each vector register of each of its lanes, and its LDS. Scalar and hardware
 * registers, 640 bytes a wave (kfd_queue.c), are left out: the limit is a lower bound.
 */
static void add_limit(struct trial *t, const struct trial_work *w, struct json_object *run)
{
	int64_t state = w->waves * (w->registers * 4 * WITNESS_LANES + w->lds);
	uint64_t width = 0, mhz = 0, speed;
	char bank[32];

	snprintf(bank, sizeof(bank), "%" PRId64 "/mem_banks/0", t->node.node);
	gp_node_property(t->g, bank, "width", &width);
	gp_node_property(t->g, bank, "mem_clk_max", &mhz);
	speed = trial_bandwidth(t->found->gfx, width, mhz);
	out_add(run, "state_bytes", out_json_number(state));
	out_add(run, "limit_us", speed ? out_json_double(state * 1e6 / speed) : NULL);
}

static enum trial_result act_on(struct trial *t, const struct trial_stage *stage,
				const struct trial_setup *setup, uint64_t ns,
				struct json_object *runs)
{
	enum trial_result result;
	struct json_object *run;
	struct trial_work w;

	result = start_work(t, setup, &w);
	if (result != TRIAL_DONE)
		return result;
	run = json_object_new_object();
	out_add(run, "name", name_json(setup));
	json_object_array_add(runs, run);
	if (stage->act == preempt)
		add_limit(t, &w, run);
	result = stage->act(t, stage, &w, ns, run);
	out_add(run, "load", end_work(t, &w, TRIAL_ONCE));
	return t->stopped ? TRIAL_INTERRUPTED : result;
}

enum trial_result trial_run(struct trial *t, const struct trial_stage *stage,
			    struct json_object *runs)
{
	/* Sizes of which this GPU has no witness are left out. */
	enum trial_result result, lacks = TRIAL_LACKS;
	size_t i;

	if (!stage->act)
		return run_look(t, runs);
	for (i = 0; i < stage->n && (!i || left_ns(t) > NSEC_PER_SEC); i++) {
		result = act_on(t, stage, &stage->setups[i], left_ns(t) / (stage->n - i), runs);
		if (result == TRIAL_DONE)
			lacks = result;
		else if (result != TRIAL_LACKS)
			return result;
	}
	return lacks;
}

static const struct trial_setup known[] = {
	{ .name = "4 waves", .waves = 4 },
	{ .name = "full" },
};
static const struct trial_setup idle = {
	.name = "idle", .waves = 1, .time_ns = 100 * NSEC_PER_USEC, .rate = 1
};
static const struct trial_setup first = { .name = "preempted" };
static const struct trial_setup job = { .name = "stopped and continued" };
static const struct trial_setup large = { .registers = 256, .lds = 8 };

/* Parts of the waves that a GPU holds, of one size. */
/* clang-format off */
#define PARTS(r, l) \
	{ .registers = r, .lds = l, .waves = 1 }, { .registers = r, .lds = l, .part = 4 }, \
	{ .registers = r, .lds = l, .part = 2 }, { .registers = r, .lds = l }
/* clang-format on */

/* Small waves; and all registers and all LDS of a GPU, by two waves or by one on a SIMD. */
static const struct trial_setup sizes[] = { PARTS(32, 1), PARTS(256, 8), PARTS(512, 16) };

#define SIZES sizes, ARRAY_SIZE(sizes)

const struct trial_stage trial_stages[TRIAL_STAGES] = {
	{ .name = "look", .what = "doctor, GPUs, firmware, the kernel's log", .limit_s = 60 },
	{ "view", "1,000 reads of the view beside a known queue, and the driver's text", false, 180,
	  known, ARRAY_SIZE(known), trial_view, NULL, 1000 },
	{ "idle", "suspend and resume a process without waves, 100 times", true, 120, &idle, 1,
	  preempt, "debug", 100 },
	{ "waves", "the same with waves: one, a part and all, small and large", true, 600, SIZES,
	  preempt, "debug", 100 },
	{ "pause", "the same by a pause", true, 300, SIZES, preempt, "pause", 50 },
	{ "others", "what a second process feels meanwhile", true, 300, &first, 1, preempt_beside,
	  "debug", 200 },
	{ "schedule", "online work alone, beside offline work, and with guard", true, 600, modes,
	  ARRAY_SIZE(modes), schedule, NULL, 0 },
	{ "jobs", "stop and continue a job that gpreempt-ctl follow watches", true, 120, &job, 1,
	  stop_and_go, NULL, 20 },
	{ "endurance", "10,000 preemptions of one process", true, 900, &large, 1, preempt, "debug",
	  10000 },
};
