// SPDX-License-Identifier: GPL-2.0-only
/* The stages of a trial, mild ones first. Each runs programs of ours, and ends them. */
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "lib/see/see.h"
#include "trial.h"
#include "witness.h"

#define SELF	 "/proc/self/exe"    /* gpreempt-ctl */
#define READY_NS (60 * NSEC_PER_SEC) /* ROCm starts up in seconds, and slower on a busy host */
#define ASK_NS	 (30 * NSEC_PER_SEC) /* a suspend that nothing answers takes the driver 9 s */
#define END_NS	 (15 * NSEC_PER_SEC) /* more than the load waits for its dispatches */
#define GUARD_NS (30 * NSEC_PER_SEC)
#define NO_SLOTS "no slots were read: is gpreempt.ko loaded?"

/* Programs: none outlives its stage, and each wait has a limit. */

/* Start a program; argv ends with NULL. False: the line of the stage says why not. */
static bool start_program(struct trial *t, char *const *argv, struct ctl_child *p)
{
	int ret;

	*p = (struct ctl_child){
		.argv = argv,
		.in = -1,
		.with_errors = true,
		/* A load may be stopped when we are killed; it holds nothing. */
		.end = argv[0] == t->load ? SIGKILL : SIGTERM,
	};
	ret = ctl_child_start(p);
	if (!ret)
		return true;
	snprintf(t->line->why, sizeof(t->line->why), "cannot start %s: %s", argv[0],
		 strerror(-ret));
	ctl_child_end(p, SIGKILL, 0);
	return false;
}

bool trial_wait_fd(struct trial *t, int fd, uint64_t ns)
{
	struct pollfd fds[] = { { .fd = t->stop, .events = POLLIN },
				{ .fd = fd, .events = POLLIN } };
	struct timespec ts = shr_timespec(ns);

	if (t->stopped || ppoll(fds, ARRAY_SIZE(fds), &ts, NULL) < 0)
		return false;
	t->stopped = fds[0].revents;
	return !t->stopped && fds[1].revents;
}

/* False: Ctrl-C came. */
static bool sleep_ns(struct trial *t, uint64_t ns)
{
	trial_wait_fd(t, -1, ns);
	return !t->stopped;
}

/* Wait for a program's end, up to ns. True: it is there; else t->stopped, or the time is over. */
static bool wait_for_end(struct trial *t, struct ctl_child *p, uint64_t ns)
{
	return !p->pid || (trial_wait_fd(t, p->pidfd, ns) && ctl_child_wait(p, 0));
}

struct json_object *trial_last(const struct ctl_child *p)
{
	__cleanup_free char *text = ctl_child_text(p->out);
	char *end = strrchr(text, '\n'), *line;

	if (!end)
		return NULL;
	*end = '\0';
	line = strrchr(text, '\n');
	return json_tokener_parse(line ? line + 1 : text);
}

int64_t trial_int(struct json_object *row, const char *key)
{
	struct json_object *value = json_object_object_get(row, key);

	if (!value)
		return GPREEMPT_UNKNOWN;
	return json_object_is_type(value, json_type_string) ?
		       strtoll(json_object_get_string(value), NULL, 0) :
		       json_object_get_int64(value);
}

/* Keep the last line of a program's errors before its next step; its name if there is none. */
static void note_why(struct trial *t, const char *name, int err)
{
	__cleanup_free char *text = ctl_child_text(err);
	char *line, *end;

	while ((end = strrchr(text, '\n')) && (!end[1] || !strncmp(end + 1, "next: ", 6)))
		*end = '\0';
	line = end ? end + 1 : text;
	snprintf(t->line->why, sizeof(t->line->why), "%s", *line ? line : name);
}

#define CUT (-1)

/*
 * Run a program to its end, and return the object that it prints, or NULL. After ns it gets SIGINT,
 * and the status is CUT if it ended then. The line of the stage says why the status is another one
 * than 0, or with status NULL, why there is no object.
 */
static struct json_object *ask(struct trial *t, char *const *argv, uint64_t ns, int *status)
{
	int own, *ret = status ? status : &own;
	struct json_object *found;
	struct ctl_child p;
	char *text;

	*ret = GPREEMPT_CLASS_FAILED;
	if (!start_program(t, argv, &p))
		return NULL;
	if (wait_for_end(t, &p, ns)) {
		*ret = p.status;
	} else {
		kill(p.pid, SIGINT);
		if (ctl_child_wait(&p, ASK_NS))
			*ret = CUT;
	}
	text = ctl_child_text(p.out);
	found = json_tokener_parse(text);
	free(text);
	if (status ? *status > 0 : !found)
		note_why(t, argv[1], p.err);
	ctl_child_end(&p, SIGKILL, 0);
	return found;
}

/* Take a snapshot for another host, if the user wants any; its name has that word. */
static void snapshot(struct trial *t, const char *word)
{
	char tag[32], *argv[] = { (char *)t->lab, "snapshot", "-o", (char *)t->snapshot,
				  "--tag",	  tag,	      NULL };
	int status;

	if (!t->snapshot)
		return;
	snprintf(tag, sizeof(tag), "gpu%zu-%s", t->place, word);
	json_object_put(ask(t, argv, ASK_NS, &status));
}

static uint64_t left_ns(const struct trial *t)
{
	uint64_t passed = shr_now_ns() - t->begin_ns;

	return passed < t->budget_ns ? t->budget_ns - passed : 0;
}

/* The load. */

/* A load: its name on the page, and its options. */
struct trial_setup {
	const char *name, *options;
};

/* A load that is at work. */
struct trial_work {
	struct ctl_child child;
	char pid[24]; /* the child's, for other programs */
	const struct trial_setup *setup;
	int64_t ring; /* address */
	int64_t waves;
	int64_t state; /* bytes that a suspend has to save */
};

/* Start it, and wait until it is at work. TRIAL_DONE, or why not. */
static enum trial_result start_work(struct trial *t, const struct trial_setup *s,
				    struct trial_work *w)
{
	char words[128], *word, *rest, *argv[24] = { (char *)t->load };
	uint64_t until = shr_now_ns() + READY_NS;
	struct json_object *now;
	size_t n = 1;

	*w = (struct trial_work){ .setup = s };
	snprintf(words, sizeof(words), "%s", s->options);
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[n++] = word;
	if (!start_program(t, argv, &w->child))
		return TRIAL_FAILED;
	snprintf(w->pid, sizeof(w->pid), "%d", w->child.pid);
	while (!(now = trial_last(&w->child))) {
		bool ended = wait_for_end(t, &w->child, 20 * NSEC_PER_MSEC);

		if (!ended && !t->stopped && shr_now_ns() < until)
			continue;
		note_why(t, t->load, w->child.err);
		ctl_child_end(&w->child, SIGTERM, END_NS);
		if (t->stopped)
			return TRIAL_INTERRUPTED;
		return ended && (w->child.status == 3 || w->child.status == 127) ? TRIAL_LACKS :
										   TRIAL_FAILED;
	}
	w->ring = trial_int(now, "ring");
	w->waves = trial_int(now, "waves");
	/*
	 * A wave keeps 4 bytes in each vector register of each of its lanes, and its LDS. Scalar
	 * and hardware registers, 640 bytes a wave (kfd_queue.c), are left out.
	 */
	w->state = w->waves *
		   (trial_int(now, "registers") * 4 * WITNESS_LANES + trial_int(now, "lds_bytes"));
	snprintf(t->found->gfx, sizeof(t->found->gfx), "%s",
		 json_object_get_string(json_object_object_get(now, "gfx")));
	json_object_put(now);
	return TRIAL_DONE;
}

/* End it, and count what it says of its dispatches and waves. Returns all that it says. */
static struct json_object *end_work(struct trial *t, struct trial_work *w, enum trial_claim once)
{
	int64_t completed, right, wrong;
	struct json_object *o;

	/* Ctrl-C does not make this wait shorter: it is for the last dispatches. */
	if (w->child.pid > 0) {
		kill(w->child.pid, SIGCONT);
		kill(w->child.pid, SIGTERM);
	}
	ctl_child_wait(&w->child, END_NS);
	o = trial_last(&w->child);
	completed = trial_int(o, "completed");
	right = trial_int(o, "right");
	wrong = trial_int(o, "wrong");
	trial_count(t->found, once, completed, completed - trial_int(o, "lost"));
	trial_count(t->found, TRIAL_REGISTERS, right + wrong, right);
	ctl_child_end(&w->child, SIGKILL, 0);
	return o;
}

/* gpreempt-ctl preempt beside it. */

/* Suspend and resume the load. After ns it gets SIGINT, and prints what it has. */
static enum trial_result preempt(struct trial *t, const struct trial_stage *stage,
				 const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	/* A trial has no more than one target, and nothing beside it. */
	static const char *const left_out[] = { "online_us", "targets", "disturbed", "simulated" };
	bool pause = !strcmp(stage->how, "pause");
	char n[24], *argv[] = { SELF,	      "preempt", (char *)w->pid, "--json",
				"--count",    n,	 "--hold",	 "1ms",
				"--interval", "5ms",	 "--how",	 (char *)stage->how,
				NULL };
	struct json_object *found, *verified;
	int64_t yes, seen;
	int status;
	size_t i;

	snprintf(n, sizeof(n), "%" PRIu64, stage->cycles);
	found = ask(t, argv, ns, &status);
	if (found) {
		verified = json_object_object_get(found, "verified");
		yes = trial_int(verified, "yes");
		seen = yes + trial_int(verified, "no");
		/* A cycle that our own SIGINT has cut off was not tried. */
		trial_count(t->found, pause ? TRIAL_PAUSES : TRIAL_SUSPENDS,
			    status == CUT ? seen + trial_int(verified, "not_checked") :
					    trial_int(found, "cycles"),
			    trial_int(found, "succeeded"));
		trial_count(t->found, TRIAL_OFF, seen, yes);
		for (i = 0; i < ARRAY_SIZE(left_out); i++)
			json_object_object_del(found, left_out[i]);
		out_add(run, "preempt", found);
	}
	/* A run that was cut off before its first cycle has no figures. */
	return status == CUT || (found && !status) ? TRIAL_DONE : TRIAL_FAILED;
}

/* 0, look. */

static enum trial_result run_look(struct trial *t)
{
	static const char *const asked[] = { "doctor", "gpus" };
	struct json_object *run = json_object_new_object(), *found;
	size_t i;

	out_add(run, "name", out_json_text("host"));
	json_object_array_add(t->line->runs, run);
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		char *argv[] = { SELF, (char *)asked[i], "--json", NULL };

		found = ask(t, argv, left_ns(t), NULL);
		if (!found)
			return t->stopped ? TRIAL_INTERRUPTED : TRIAL_FAILED;
		out_add(run, asked[i], found);
	}
	snapshot(t, "look");
	return TRIAL_DONE;
}

/*
 * 1, view: the view beside a queue that is known by its ring; and gpreempt-lab decode compares it
 * with the driver's own text (mqds and hqds), which prints the registers themselves.
 */

/* Reads of the view, and those in which something was so. */
struct reads {
	uint64_t *ns;
	size_t n;
	int64_t ring, slots, all_slots, waves, few, most;
	int64_t hardware; /* the last word for it */
};

static const struct gpreempt_queue *find_queue(const struct gpreempt_view *view, int64_t ring)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].ring == ring)
			return &view->queues[i];
	return NULL;
}

/* Registers that the module has read so far, for all who read its files. */
static double registers_read(struct trial *t)
{
	__cleanup_list struct gpreempt_facts *stats = NULL;
	const struct gpreempt_fact *fact = NULL;

	if (!gpreempt_module_stats(t->g, &stats, NULL))
		fact = gp_facts_find(stats, "registers");
	return fact ? fact->number : NAN; /* null in JSON */
}

static void read_view(struct trial *t, const struct trial_work *w, struct reads *r, size_t count,
		      uint64_t until, struct json_object *run)
{
	double registers = registers_read(t);
	struct gpreempt_error err;
	struct shr_stats stats;
	struct json_object *o;

	while (r->n < count && shr_now_ns() < until && sleep_ns(t, NSEC_PER_MSEC)) {
		__cleanup_list struct gpreempt_view *view = NULL;
		uint64_t begin = shr_now_ns();
		const struct gpreempt_queue *q;

		if (gpreempt_view_read(t->g, w->child.pid, &view, &err)) {
			gpreempt_error_text(&err, t->line->why, sizeof(t->line->why));
			break;
		}
		r->ns[r->n++] = shr_now_ns() - begin;
		q = find_queue(view, w->ring);
		if (!q)
			continue;
		r->ring++;
		r->hardware = q->hardware;
		r->slots += q->active != GPREEMPT_UNKNOWN;
		r->all_slots += q->active != GPREEMPT_UNKNOWN && q->active == q->slots;
		r->waves += q->waves > 0;
		r->few += q->waves > 0 && q->waves <= w->waves;
		if (q->waves > r->most)
			r->most = q->waves;
	}
	if (!r->n)
		return;
	shr_stats(r->ns, r->n, &stats);
	o = out_json_stats(&stats);
	out_add(o, "register_reads", out_json_double((registers_read(t) - registers) / r->n));
	out_add(o, "ring_found", out_json_number(r->ring));
	out_add(o, "slots_read", out_json_number(r->slots));
	out_add(o, "in_all_slots", out_json_number(r->all_slots));
	out_add(o, "with_waves", out_json_number(r->waves));
	out_add(o, "most_waves", out_json_number(r->most));
	out_add(run, "reads", o);
	trial_count(t->found, TRIAL_SLOTS, r->slots, r->all_slots);
	trial_count(t->found, TRIAL_WAVES, r->waves, r->few);
}

/* Looks while the load is at work: was it seen to be, and does the text agree? */
struct looks {
	int64_t n, busy, on_first, on_all;
	int64_t texts, compared, agree;
	struct json_object *differs; /* the first register that does not */
};

static void look(struct trial *t, const struct trial_work *w, struct looks *l)
{
	__cleanup_list struct gpreempt_usages *usage = NULL;
	__cleanup_list struct gpreempt_view *view = NULL;
	__cleanup_list struct gpreempt_hqds *hqds = NULL;
	const struct gpreempt_queue *q = NULL;
	int64_t n = 0, with = 0;
	size_t i;

	if (!gpreempt_view_read(t->g, w->child.pid, &view, NULL) &&
	    !gpreempt_hqds_read(t->g, w->child.pid, &hqds, NULL) &&
	    !gpreempt_usage_read(t->g, w->child.pid, &usage, NULL))
		q = find_queue(view, w->ring);
	for (i = 0; q && i < hqds->count; i++) {
		if (hqds->hqds[i].qid != q->qid || hqds->hqds[i].active != 1)
			continue;
		with += hqds->hqds[i].waves > 0;
		l->on_first += !n++ && with;
	}
	for (i = 0; q && i < usage->count; i++)
		if (usage->usages[i].gpu_id == q->gpu_id)
			l->busy += usage->usages[i].busy == 1;
	l->on_all += n && with == n;
	l->n += !!q;
}

static void compare_text(struct trial *t, const struct trial_work *w, uint64_t until,
			 struct json_object *run)
{
	char *argv[] = {
		(char *)t->lab, "decode", "--json", "--view", "--pid", (char *)w->pid, NULL
	};
	struct json_object *o = json_object_new_object();
	struct looks l = { 0 };
	int i;

	for (i = 0; i < 10 && shr_now_ns() < until && !t->stopped; i++) {
		struct json_object *text = ask(t, argv, 10 * NSEC_PER_SEC, NULL);
		struct json_object *view = json_object_object_get(text, "view");

		if (view) {
			l.texts++;
			l.compared += trial_int(view, "compared");
			l.agree += trial_int(view, "agree");
		}
		if (!l.differs)
			l.differs = json_object_get(json_object_object_get(view, "differs"));
		json_object_put(text);
		look(t, w, &l);
	}
	out_add(o, "looks", out_json_number(l.n));
	out_add(o, "busy", out_json_number(l.busy));
	out_add(o, "on_first_xcc", out_json_number(l.on_first));
	out_add(o, "on_all_xccs", out_json_number(l.on_all));
	out_add(o, "texts", out_json_number(l.texts));
	out_add(o, "compared", out_json_number(l.compared));
	out_add(o, "agree", out_json_number(l.agree));
	out_add(o, "differs", l.differs);
	out_add(run, "looks", o);
	trial_count(t->found, TRIAL_TEXT, l.compared, l.agree);
}

static enum trial_result run_view(struct trial *t, const struct trial_stage *stage,
				  const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	struct reads r = { .ns = shr_must(calloc(stage->cycles, sizeof(*r.ns))) };
	uint64_t begin = shr_now_ns();
	char word[32];

	read_view(t, w, &r, stage->cycles, begin + ns / 2, run);
	free(r.ns);
	if (!r.slots) {
		if (r.ring && r.hardware != GPREEMPT_UNKNOWN)
			snprintf(t->line->why, sizeof(t->line->why),
				 "no slots were read: the hardware is \"%s\"",
				 gpreempt_word(GPREEMPT_WORD_HARDWARE, r.hardware));
		else if (!*t->line->why)
			snprintf(t->line->why, sizeof(t->line->why), NO_SLOTS);
		return r.n ? TRIAL_LACKS : TRIAL_FAILED;
	}
	compare_text(t, w, begin + ns, run);
	snprintf(word, sizeof(word), "%" PRId64 "-waves", w->waves);
	snapshot(t, word);
	return TRIAL_DONE;
}

/* 5, others: a second process, while the first one is preempted. */

static enum trial_result preempt_beside(struct trial *t, const struct trial_stage *stage,
					const struct trial_work *w, uint64_t ns,
					struct json_object *run)
{
	static const struct trial_setup other = { NULL, "--waves 1 --time 200us" };
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

#define ONLINE "--waves 4 --time 2ms --rate 20"

static const struct trial_setup modes[] = {
	{ "alone", ONLINE },
	{ "unprotected", ONLINE },
	{ "guarded", ONLINE },
};

static enum trial_result schedule(struct trial *t, const struct trial_stage *stage,
				  const struct trial_work *w, uint64_t ns, struct json_object *run)
{
	static const struct trial_setup offline = { NULL, "--time 5ms" };
	struct trial_work b = { 0 };
	char *argv[] = { SELF, "guard", "--online", (char *)w->pid, "--offline", b.pid, NULL };
	struct ctl_child guard = { .pidfd = -1, .out = -1, .err = -1 };
	enum trial_result result = TRIAL_DONE;

	if (w->setup > stage->setups)
		result = start_work(t, &offline, &b);
	if (result == TRIAL_DONE && w->setup > stage->setups + 1 && !start_program(t, argv, &guard))
		result = TRIAL_FAILED;
	if (result == TRIAL_DONE)
		sleep_ns(t, ns);
	if (guard.pid && ctl_child_wait(&guard, 0)) {
		snprintf(t->line->why, sizeof(t->line->why), "gpreempt-ctl guard ended by itself");
		result = TRIAL_FAILED;
	}
	/* Its requests end before guard does. */
	kill(w->child.pid, SIGTERM);
	shr_readable(w->child.pidfd, END_NS / NSEC_PER_MSEC);
	ctl_child_end(&guard, SIGINT, GUARD_NS);
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
		size_t active = 0, known = 0, i;

		if (gpreempt_view_read(t->g, pid, &view, NULL))
			return false;
		for (i = 0; i < view->count; i++) {
			known += view->queues[i].active != GPREEMPT_UNKNOWN;
			active += view->queues[i].active > 0;
		}
		if (wanted ? active : !active && known && known == view->count)
			return true;
	} while (sleep_ns(t, 5 * NSEC_PER_MSEC) && shr_now_ns() < until);
	return false;
}

static enum trial_result stop_and_go(struct trial *t, const struct trial_stage *stage,
				     const struct trial_work *w, uint64_t ns,
				     struct json_object *run)
{
	char *argv[] = { SELF, "follow", (char *)w->pid, NULL };
	uint64_t tried = 0, held = 0, until = shr_now_ns() + ns;
	enum trial_result result = TRIAL_DONE;
	struct ctl_child follow;

	if (!has_slots(t, w->child.pid, true, 10 * NSEC_PER_SEC)) {
		snprintf(t->line->why, sizeof(t->line->why), NO_SLOTS);
		result = TRIAL_LACKS;
	} else if (start_program(t, argv, &follow)) {
		sleep_ns(t, NSEC_PER_SEC);
		while (tried < stage->cycles && shr_now_ns() < until && !t->stopped) {
			bool off, on;

			kill(w->child.pid, SIGSTOP);
			off = has_slots(t, w->child.pid, false, 5 * NSEC_PER_SEC);
			kill(w->child.pid, SIGCONT);
			on = has_slots(t, w->child.pid, true, 5 * NSEC_PER_SEC);
			/* A cycle that Ctrl-C has cut off was not tried. */
			tried += !t->stopped;
			held += off && on && !t->stopped;
		}
		ctl_child_end(&follow, SIGINT, GUARD_NS);
	} else {
		result = TRIAL_FAILED;
	}
	out_add(run, "cycles", out_json_number(tried));
	out_add(run, "succeeded", out_json_number(held));
	trial_count(t->found, TRIAL_FOLLOWS, tried, held);
	return result;
}

/* The stages. */

/* Add the size of what a suspend has to save, and the time that the memory needs at the least. */
static void add_limit(struct trial *t, const struct trial_work *w, struct json_object *run)
{
	uint64_t width = 0, mhz = 0, speed;
	char bank[32];

	snprintf(bank, sizeof(bank), "%" PRId64 "/mem_banks/0", t->node.node);
	gp_node_property(t->g, bank, "width", &width);
	gp_node_property(t->g, bank, "mem_clk_max", &mhz);
	speed = trial_bandwidth(t->found->gfx, width, mhz);
	out_add(run, "state_bytes", out_json_number(w->state));
	out_add(run, "limit_us", speed ? out_json_double(w->state * 1e6 / speed) : NULL);
}

static enum trial_result act_on(struct trial *t, const struct trial_stage *stage,
				const struct trial_setup *setup, uint64_t ns)
{
	enum trial_result result;
	struct json_object *run;
	struct trial_work w;

	result = start_work(t, setup, &w);
	if (result != TRIAL_DONE)
		return result;
	run = json_object_new_object();
	out_add(run, "name", out_json_text(setup->name));
	json_object_array_add(t->line->runs, run);
	if (stage->act == preempt)
		add_limit(t, &w, run);
	result = stage->act(t, stage, &w, ns, run);
	out_add(run, "load", end_work(t, &w, TRIAL_ONCE));
	return t->stopped ? TRIAL_INTERRUPTED : result;
}

enum trial_result trial_run(struct trial *t, const struct trial_stage *stage)
{
	/* Sizes of which this GPU has no witness are left out. */
	enum trial_result result, lacks = TRIAL_LACKS;
	size_t i;

	if (!stage->act)
		return run_look(t);
	for (i = 0; i < stage->n && (!i || left_ns(t) > NSEC_PER_SEC); i++) {
		result = act_on(t, stage, &stage->setups[i], left_ns(t) / (stage->n - i));
		if (result == TRIAL_DONE)
			lacks = result;
		else if (result != TRIAL_LACKS)
			return result;
	}
	return lacks;
}

static const struct trial_setup known[] = { { "4 waves", "--waves 4" }, { "full", "" } };
static const struct trial_setup idle = { "idle", "--waves 1 --time 100us --rate 1" };
static const struct trial_setup first = { "preempted", "" };
static const struct trial_setup job = { "stopped and continued", "" };

#define PART(name, part, r, l)                                                              \
	{                                                                                   \
		name ", " #r " registers, " #l " KiB", part " --registers " #r " --lds " #l \
	}
/* Parts of the waves that a GPU holds, of one size. */
#define PARTS(r, l)                                                           \
	PART("1 wave", "--waves 1", r, l), PART("quarter", "--part 4", r, l), \
		PART("half", "--part 2", r, l), PART("full", "--part 1", r, l)

/* Small waves; and all registers and all LDS of a GPU, by two waves or by one on a SIMD. */
static const struct trial_setup sizes[] = { PARTS(32, 1), PARTS(256, 8), PARTS(512, 16) };
static const struct trial_setup large = PART("full", "--part 1", 256, 8);

#define SIZES sizes, ARRAY_SIZE(sizes)

const struct trial_stage trial_stages[TRIAL_STAGES] = {
	{ .name = "look", .what = "doctor, GPUs, firmware, the kernel's log", .limit_s = 60 },
	{ "view", "1,000 reads of the view beside a known queue, and the driver's text", false, 180,
	  known, ARRAY_SIZE(known), run_view, NULL, 1000 },
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
