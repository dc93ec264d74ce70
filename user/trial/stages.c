// SPDX-License-Identifier: GPL-2.0-only
/* The stages of a trial, mild ones first. Each runs programs of ours, and ends them. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/see/see.h"
#include "trial.h"
#include "witness.h"

#define READY_NS (60 * NSEC_PER_SEC) /* ROCm starts up in seconds, and slower on a busy host */
#define ASK_NS	 (30 * NSEC_PER_SEC) /* a suspend that nothing answers takes the driver 9 s */
#define END_NS	 (15 * NSEC_PER_SEC) /* more than the load waits for its dispatches */
#define GUARD_NS (30 * NSEC_PER_SEC)

/* Programs: none outlives its stage, and each wait has a limit. */

/* The child: Ctrl-C is for the trial alone, which ends its programs in order. */
static void become(char *const *argv, const struct trial_child *c, int signal, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* They choose GPUs by other numbers than ours. */
	unsetenv("ROCR_VISIBLE_DEVICES");
	unsetenv("HIP_VISIBLE_DEVICES");
	if (dup2(c->out, STDOUT_FILENO) < 0 || dup2(c->err, STDERR_FILENO) < 0)
		_exit(126);
	execv(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	fflush(stderr);
	_exit(127);
}

static bool reap(struct trial_child *c)
{
	int status;

	if (!shr_child_gone(&c->pid, &status))
		return false;
	c->status = ctl_program_status(status);
	return true;
}

/* End a program: the signal, then SIGKILL after ns. */
static void end_program(struct trial_child *c, int signal, uint64_t ns)
{
	if (c->pid > 0) {
		kill(c->pid, SIGCONT);
		kill(c->pid, signal);
		if (!shr_readable(c->pidfd, ns / NSEC_PER_MSEC))
			kill(c->pid, SIGKILL);
		/* Not even SIGKILL ends one that waits in the driver: init has it then. */
		if (shr_readable(c->pidfd, 5000))
			reap(c);
	}
	shr_close(&c->pidfd);
	shr_close(&c->out);
	shr_close(&c->err);
	c->pid = 0;
}

/* Start a program; argv ends with NULL. False: t->why says why not. */
static bool start_program(struct trial *t, char *const *argv, struct trial_child *c)
{
	/* A load may be stopped when we are killed; it holds nothing. */
	int signal = argv[0] == t->load ? SIGKILL : SIGTERM;
	pid_t parent = getpid();

	*c = (struct trial_child){ .pidfd = -1 };
	c->out = memfd_create("trial-out", MFD_CLOEXEC);
	c->err = memfd_create("trial-err", MFD_CLOEXEC);
	if (c->out >= 0 && c->err >= 0) {
		fflush(stdout);
		c->pid = fork();
		if (!c->pid)
			become(argv, c, signal, parent);
		if (c->pid > 0)
			c->pidfd = shr_pidfd_open(c->pid);
		if (c->pid > 0 && c->pidfd >= 0)
			return true;
	}
	snprintf(t->why, sizeof(t->why), "cannot start %s: %s", argv[0], strerror(errno));
	end_program(c, SIGKILL, 0);
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

bool trial_sleep(struct trial *t, uint64_t ns)
{
	trial_wait_fd(t, -1, ns);
	return !t->stopped;
}

/* Wait for a program's end, up to ns. True: it is there; else t->stopped, or the time is over. */
static bool wait_for_end(struct trial *t, struct trial_child *c, uint64_t ns)
{
	return !c->pid || (trial_wait_fd(t, c->pidfd, ns) && reap(c));
}

/* Returns all that a program has written to the file, for free(), or "". */
static char *output_of(int fd)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		return shr_must(strdup(""));
	text = shr_must(malloc(st.st_size + 1));
	n = pread(fd, text, st.st_size, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

struct json_object *trial_last(const struct trial_child *c)
{
	__cleanup_free char *text = output_of(c->out);
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

/* Keep the last line of a program's errors as the reason; its name if there is none. */
static void note_why(struct trial *t, const char *name, int err)
{
	__cleanup_free char *text = output_of(err);
	size_t len = strlen(text);
	const char *line;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	snprintf(t->why, sizeof(t->why), "%s", !len ? name : line ? line + 1 : text);
}

struct json_object *trial_ask(struct trial *t, char *const *argv, uint64_t ns, int *status)
{
	struct json_object *found;
	struct trial_child c;
	char *text;

	*status = GPREEMPT_CLASS_FAILED;
	if (!start_program(t, argv, &c))
		return NULL;
	if (wait_for_end(t, &c, ns)) {
		*status = c.status;
	} else {
		kill(c.pid, SIGINT);
		if (shr_readable(c.pidfd, ASK_NS / NSEC_PER_MSEC))
			*status = TRIAL_CUT;
	}
	text = output_of(c.out);
	found = json_tokener_parse(text);
	free(text);
	if (*status > 0 || (!found && !*status))
		note_why(t, argv[1], c.err);
	end_program(&c, SIGKILL, 0);
	return found;
}

void trial_snapshot(struct trial *t, const char *word)
{
	char tag[32], *argv[] = { (char *)t->lab, "snapshot", "-o", (char *)t->snapshot,
				  "--tag",	  tag,	      NULL };
	int status;

	if (!t->snapshot)
		return;
	snprintf(tag, sizeof(tag), "gpu%zu-%s", t->place, word);
	json_object_put(trial_ask(t, argv, ASK_NS, &status));
	if (!status)
		*t->why = '\0';
}

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
	if (!start_program(t, argv, &w->child))
		return TRIAL_FAILED;
	while (!(now = trial_last(&w->child))) {
		bool ended = wait_for_end(t, &w->child, 20 * NSEC_PER_MSEC);

		if (!ended && !t->stopped && shr_now_ns() < until)
			continue;
		note_why(t, t->load, w->child.err);
		end_program(&w->child, SIGTERM, END_NS);
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
	end_program(&w->child, SIGKILL, 0);
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
	if (result == TRIAL_DONE && w->setup > stage->setups + 1 && !start_program(t, argv, &guard))
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
	end_program(&guard, SIGINT, GUARD_NS);
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
	} else if (start_program(t, argv, &c)) {
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
		end_program(&c, SIGINT, GUARD_NS);
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
