// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpreempt/select.h>

#include "shared/util.h"
#include "experiment.h"
#include "snapshot.h"

#define RUNS	   5
#define CONCURRENT 3

/* Values of the command line. */
struct exp_args {
	const char *model_a; /* commands for the shell */
	const char *model_b;
	uint64_t runs;
	uint64_t concurrent;
	uint64_t duration_ns;
	uint64_t amd_log;   /* AMD_LOG_LEVEL; 0: as it is */
	const char *output; /* directories */
	const char *resume;
	const char *report_only;
	enum out_mode mode;
};

void exp_run_name(enum exp_kind kind, uint64_t nth, char *name)
{
	static const char *const kinds[] = { "a", "b", "both" };

	snprintf(name, EXP_NAME, "%s-%" PRIu64, kinds[kind], nth + 1);
}

uint64_t exp_runs_of(const struct exp_plan *plan, enum exp_kind kind)
{
	if (kind != EXP_A && !plan->command[1])
		return 0;
	return kind == EXP_BOTH ? plan->concurrent : plan->runs;
}

/* Write the plan into its directory, which has none. 0, or the exit status. */
static int write_plan(const struct exp_plan *plan)
{
	const char *b = plan->command[1];
	char path[4096];
	int fd, bad;

	/* Private: it gets the output of the models, and files that only root may read. */
	if (mkdir(plan->dir, 0700) && errno != EEXIST)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", plan->dir,
				     strerror(errno));
	snprintf(path, sizeof(path), "%s/" EXP_PLAN, plan->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "--resume goes on with one, --report-only reads it", "%s: %s",
				     path, strerror(errno));
	bad = dprintf(fd,
		      "gpreempt-experiment - version: 1.0\n"
		      "runs %" PRIu64 "\nconcurrent %" PRIu64 "\namd_log %" PRIu64
		      "\nduration_ns %" PRIu64 "\na %s\n%s%s%s",
		      plan->runs, plan->concurrent, plan->amd_log, plan->duration_ns,
		      plan->command[0], b ? "b " : "", b ? b : "", b ? "\n" : "") < 0;
	if (!close(fd) && !bad)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "is the disk full?", "%s: %s", path,
			     strerror(errno));
}

/* The plan of a command line. 0, or the exit status. */
static int new_plan(const struct exp_args *args, struct exp_plan *plan)
{
	const char *const models[] = { args->model_a, args->model_b };
	time_t now = time(NULL);
	struct tm tm;
	size_t i;

	*plan = (struct exp_plan){
		.runs = args->runs ? args->runs : RUNS,
		.concurrent = args->concurrent ? args->concurrent : CONCURRENT,
		.amd_log = args->amd_log,
		.duration_ns = args->duration_ns,
	};
	for (i = 0; i < EXP_MODELS; i++) {
		if (models[i] && strchr(models[i], '\n'))
			return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
					     "a command of one line is needed");
		plan->command[i] = models[i] ? shr_must(strdup(models[i])) : NULL;
	}
	if (!plan->command[0] || !*plan->command[0])
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "--a: a command is needed");
	if (plan->runs > EXP_RUNS_MAX || plan->concurrent > EXP_RUNS_MAX)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "more than %d runs", EXP_RUNS_MAX);
	if (args->output)
		snprintf(plan->dir, sizeof(plan->dir), "%s", args->output);
	else
		strftime(plan->dir, sizeof(plan->dir), "gpreempt-experiment-%Y%m%d-%H%M%S",
			 localtime_r(&now, &tm));
	return write_plan(plan);
}

#define NEXT_DIRECTORY "name a directory that gpreempt-lab experiment has made"

static int load_plan(const char *dir, struct exp_plan *plan)
{
	char *all, *line, *rest = NULL;
	size_t len;

	*plan = (struct exp_plan){ 0 };
	snprintf(plan->dir, sizeof(plan->dir), "%s", dir);
	all = text_read_in(dir, EXP_PLAN, &len);
	if (!all)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NEXT_DIRECTORY,
				     "%s is no experiment: %s", dir, text_open_error(-errno));
	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		sscanf(line, "runs %" SCNu64, &plan->runs);
		sscanf(line, "concurrent %" SCNu64, &plan->concurrent);
		sscanf(line, "amd_log %" SCNu64, &plan->amd_log);
		sscanf(line, "duration_ns %" SCNu64, &plan->duration_ns);
		if (!strncmp(line, "a ", 2) && !plan->command[0])
			plan->command[0] = shr_must(strdup(line + 2));
		if (!strncmp(line, "b ", 2) && !plan->command[1])
			plan->command[1] = shr_must(strdup(line + 2));
	}
	free(all);
	if (!plan->command[0] || !plan->runs || plan->runs > EXP_RUNS_MAX ||
	    plan->concurrent > EXP_RUNS_MAX)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NEXT_DIRECTORY,
				     "%s/" EXP_PLAN " is damaged", dir);
	return 0;
}

/* Is the path only ours? The commands are run as the caller's user, which is root. */
static bool only_ours(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT; /* then there is nothing to run */
	return (st.st_uid == geteuid() || !st.st_uid) && !(st.st_mode & 0022) &&
	       !S_ISLNK(st.st_mode);
}

/* May others have written the plan's commands? 0: no, or the exit status after a message. */
static int check_owner(const char *dir)
{
	char path[4096];
	const char *bad = path;

	snprintf(path, sizeof(path), "%s/.", dir);
	if (only_ours(path)) {
		snprintf(path, sizeof(path), "%s/" EXP_PLAN, dir);
		if (only_ours(path))
			bad = NULL;
	}
	if (!bad)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
			     "read its commands; if they are yours: chown -R "
			     "and chmod go-w",
			     "%s: another user owns it or can write it, and "
			     "its commands would be run",
			     bad);
}

/* No other process makes runs there until free_plan(). */
static int lock_plan(struct exp_plan *plan)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" EXP_PLAN, plan->dir);
	plan->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (plan->lock < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", path, strerror(errno));
	if (!flock(plan->lock, LOCK_EX | LOCK_NB))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_BUSY, "wait for it, or take another directory",
			     "%s: another gpreempt-lab experiment is at work there", plan->dir);
}

static void free_plan(struct exp_plan *plan)
{
	if (plan->lock > 0)
		close(plan->lock);
	free(plan->command[0]);
	free(plan->command[1]);
}

/* The runs: each with snapshots before, during and after. */

#define LOOK_NS (20 * NSEC_PER_MSEC)
/* Time between looks at a model that has queues: reading the view is work, too. */
#define LOOK_AGAIN_NS (200 * NSEC_PER_MSEC)
/* A model makes its queues one after the other: so long without a new one. */
#define SETTLE_NS (500 * NSEC_PER_MSEC)
/* Longest wait for the first queue of a model. */
#define START_NS (300 * NSEC_PER_SEC)
#define GONE_NS	 (60 * NSEC_PER_SEC)
/* Time that models get to end after an interrupt. */
#define END_NS (10 * NSEC_PER_SEC)

/* The signal that came for us, and how many came. */
static volatile sig_atomic_t stop_signal, stops;

static void on_stop(int signal)
{
	stop_signal = signal;
	stops++;
}

struct model {
	pid_t leader; /* leader of its session; 0: none */
	int64_t pid;  /* process that has the queues */
	int status;
	bool ended;
};

struct run {
	const struct exp_plan *plan;
	char dir[3200];
	struct gpreempt *g;
	int log; /* descriptor of the kernel's; below 0: none */
	struct model of[EXP_MODELS];
	size_t shown;	/* number of queues when "during" was taken */
	size_t last;	/* number of queues at the last count */
	uint64_t since; /* time since which the number is the same */
};

static int snap(struct run *run, const char *tag)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", run->dir, tag);
	return snapshot_take(path, tag, run->log);
}

/* stdout and stderr of a model go to files: ROCm logs on stderr. */
static void redirect(const struct run *run, size_t m, int fd, const char *what)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%c.%s", run->dir, (int)('a' + m), what);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		_exit(126);
	close(file);
}

static void start(struct run *run, size_t m)
{
	char level[24];
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid) {
		run->of[m] = (struct model){ .leader = pid };
		return;
	}
	/* Make a session of its own, by which its processes are found. */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	redirect(run, m, STDOUT_FILENO, "out");
	redirect(run, m, STDERR_FILENO, "err");
	if (run->plan->amd_log) {
		snprintf(level, sizeof(level), "%" PRIu64, run->plan->amd_log);
		setenv("AMD_LOG_LEVEL", level, 1);
	}
	execl("/bin/sh", "sh", "-c", run->plan->command[m], NULL);
	_exit(127);
}

/* How many queues a model has, and in which process. */
static size_t count_queues(struct run *run, struct model *model)
{
	struct gpreempt_targets *targets;
	struct gpreempt_view *view;
	size_t i, most = 0;

	if (gpreempt_processes(run->g, &targets, NULL))
		return 0;
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;

		if (getsid(pid) != model->leader || gpreempt_view_read(run->g, pid, &view, NULL))
			continue;
		if (view->count > most) {
			most = view->count;
			model->pid = pid;
		}
		gpreempt_list_free(view);
	}
	gpreempt_list_free(targets);
	return most;
}

static bool has_ended(struct model *model)
{
	if (!model->ended && waitpid(model->leader, &model->status, WNOHANG) == model->leader)
		model->ended = true;
	return model->ended;
}

static int fail_model(const struct run *run, size_t m, const char *what)
{
	char next[sizeof(run->dir) + 64];

	snprintf(next, sizeof(next), "%s/%c.err has what it wrote", run->dir, (int)('a' + m));
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, next, "model %c %s", (int)('A' + m), what);
}

/* Wait until it has queues, and no more come. */
static int wait_for_queues(struct run *run, size_t m)
{
	uint64_t begin = shr_now_ns(), since = begin;
	struct model *model = &run->of[m];
	size_t last = 0, now;

	for (;;) {
		now = count_queues(run, model);
		if (now != last)
			since = shr_now_ns();
		last = now;
		if (now && shr_now_ns() - since >= SETTLE_NS)
			return 0;
		if (stops)
			return 128 + stop_signal;
		if (has_ended(model))
			return fail_model(run, m, "ended before its queues were seen");
		if (shr_now_ns() - begin > START_NS)
			return fail_model(run, m, "has no queue after 5 minutes");
		shr_sleep_ns(LOOK_NS);
	}
}

static void end_models(struct run *run, int signal)
{
	size_t m;

	for (m = 0; m < EXP_MODELS; m++)
		if (run->of[m].leader && !has_ended(&run->of[m]))
			kill(-run->of[m].leader, signal);
}

static bool all_ended(struct run *run)
{
	size_t m, running = 0;

	for (m = 0; m < EXP_MODELS; m++)
		running += run->of[m].leader && !has_ended(&run->of[m]);
	return !running;
}

/* Count the queues of all models; 0 if a model has none. */
static size_t count_all(struct run *run)
{
	size_t m, n, sum = 0;

	for (m = 0; m < EXP_MODELS; m++) {
		if (!run->of[m].leader)
			continue;
		n = count_queues(run, &run->of[m]);
		if (!n)
			return 0;
		sum += n;
	}
	return sum;
}

/*
 * The driver's text and the ids are read one after the other: if a model ended
 * in between, they do not have the same queues. How many, or 0.
 */
static size_t count_shown(const struct run *run, const char *dir)
{
	struct ctl_text text;
	size_t m, i, sum = 0;

	if (ctl_text_files(&dir, 1, &text))
		return 0;
	for (m = 0; m < EXP_MODELS; m++) {
		int64_t pid = run->of[m].pid;
		size_t queues = 0, ids = 0;

		for (i = 0; i < text.data->n_queues; i++)
			queues += text.data->queues[i].pid == pid;
		for (i = 0; i < text.n_ids; i++)
			ids += text.ids[i].pid == pid;
		if (!run->of[m].leader)
			continue;
		sum += queues;
		if (queues == ids)
			continue;
		sum = 0;
		break;
	}
	ctl_text_free(&text);
	return sum;
}

/* Take "during" with so many queues; it replaces one with fewer. */
static int take_during(struct run *run, size_t now)
{
	size_t shown;
	char path[4096], next[4096];
	int ret;

	snprintf(path, sizeof(path), "%s/during", run->dir);
	snprintf(next, sizeof(next), "%s/during.next", run->dir);
	ret = snapshot_take(next, "during", run->log);
	shown = ret ? 0 : count_shown(run, next);
	if (!ret && !run->shown && !shown && now)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "the models need to run longer",
				    "%s: a model ended while its queues were "
				    "looked at",
				    run->dir);
	if (ret || (run->shown && shown <= run->shown)) {
		snapshot_remove(next);
		return ret;
	}
	snapshot_remove(path);
	if (rename(next, path))
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", path, strerror(errno));
	run->shown = shown;
	return 0;
}

/* A program may make its queues in several steps, seconds apart. */
static int look_again(struct run *run)
{
	size_t now = count_all(run);

	if (now != run->last)
		run->since = shr_now_ns();
	run->last = now;
	if (now <= run->shown || shr_now_ns() - run->since < SETTLE_NS)
		return 0;
	return take_during(run, now);
}

static int wait_for_models(struct run *run, bool told)
{
	uint64_t begin = shr_now_ns(), limit = run->plan->duration_ns;
	uint64_t looked = begin;
	int ret = 0;

	while (!all_ended(run)) {
		uint64_t past = shr_now_ns() - begin;

		if (!told && (stops || (limit && past >= limit))) {
			end_models(run, SIGTERM);
			told = true;
			begin = shr_now_ns();
		} else if (stops > 1 || (stops && told && past >= END_NS)) {
			end_models(run, SIGKILL);
		} else if (!told && !ret && shr_now_ns() - looked >= LOOK_AGAIN_NS) {
			ret = look_again(run);
			looked = shr_now_ns();
		}
		shr_sleep_ns(LOOK_NS);
	}
	return ret;
}

/* Wait until the models are gone, and their queues with them. */
static int wait_for_end(struct run *run, bool told)
{
	uint64_t begin;
	size_t m;
	int ret = wait_for_models(run, told);

	begin = shr_now_ns();
	for (m = 0; m < EXP_MODELS; m++)
		while (run->of[m].leader && count_queues(run, &run->of[m]) &&
		       shr_now_ns() - begin < GONE_NS)
			shr_sleep_ns(LOOK_NS);
	return ret;
}

static int write_result(const struct run *run)
{
	char text[128] = "", path[4096];
	size_t m;
	int ret;

	for (m = 0; m < EXP_MODELS; m++) {
		int status = run->of[m].status;

		if (run->of[m].leader)
			sprintf(text + strlen(text), "%c pid %" PRId64 " status %d\n",
				(int)('a' + m), run->of[m].pid,
				WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
	/* A run is complete when it is there: never a part of it. */
	snprintf(path, sizeof(path), "%s/" EXP_RESULT, run->dir);
	ret = shr_file_replace(path, 0600, text, strlen(text));
	return ret ? ctl_fail_file("result", path, "cannot be written", ret) : 0;
}

static int do_models(struct run *run, enum exp_kind kind)
{
	size_t first = kind == EXP_B;
	int ret;

	start(run, first);
	ret = wait_for_queues(run, first);
	if (ret || kind != EXP_BOTH)
		return ret ? ret : take_during(run, count_all(run));
	ret = snap(run, EXP_ALONE);
	if (ret)
		return ret;
	start(run, 1);
	ret = wait_for_queues(run, 1);
	return ret ? ret : take_during(run, count_all(run));
}

static int do_run(struct run *run, enum exp_kind kind)
{
	int ret = snap(run, "before"), end;

	if (ret)
		return ret;
	ret = do_models(run, kind);
	if (ret)
		end_models(run, SIGTERM);
	end = wait_for_end(run, ret);
	if (!ret)
		ret = end;
	if (!ret && stops)
		ret = 128 + stop_signal;
	if (!ret)
		ret = snap(run, "after");
	return ret ? ret : write_result(run);
}

/* Is the run complete? One that was begun and not ended is repeated. */
static bool is_done(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" EXP_RESULT, dir);
	if (!access(path, F_OK))
		return true;
	snapshot_remove(dir);
	return false;
}

static int execute_one(const struct exp_plan *plan, enum exp_kind kind, const char *name)
{
	struct run run = { .plan = plan };
	int ret;

	snprintf(run.dir, sizeof(run.dir), "%s/%s", plan->dir, name);
	if (is_done(run.dir))
		return 0;
	if (mkdir(run.dir, 0700))
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "--resume goes on with the experiment",
				     "%s: %s", run.dir, strerror(errno));
	fprintf(stderr, "run %s\n", name);
	if (gpreempt_new(NULL, &run.g))
		abort();
	run.log = snapshot_log_open(false);
	ret = do_run(&run, kind);
	shr_close(&run.log);
	gpreempt_free(run.g);
	return ret;
}

/* Make the runs that are not finished. 0, or the exit status. */
static int exp_execute(const struct exp_plan *plan)
{
	static const struct sigaction action = { .sa_handler = on_stop };
	char name[EXP_NAME], next[sizeof(plan->dir) + 64];
	enum exp_kind kind;
	uint64_t i;
	int ret = ctl_need_root("read the driver's text");

	/* The models are in sessions of their own: a Ctrl-C is not for them. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	for (kind = EXP_A; kind < EXP_KINDS; kind++)
		for (i = 0; i < exp_runs_of(plan, kind) && !ret; i++) {
			exp_run_name(kind, i, name);
			ret = execute_one(plan, kind, name);
		}
	if (stops) {
		snprintf(next, sizeof(next), "gpreempt-lab experiment --resume %s goes on",
			 plan->dir);
		ctl_fail_text(GPREEMPT_CLASS_FAILED, next, "interrupted");
	}
	return ret;
}

/* The command: plan, runs, report. */

static int run_experiment(void *data)
{
	const struct exp_args *args = data;
	const char *dir = args->resume ? args->resume : args->report_only;
	struct exp_plan plan = { 0 };
	int ret;

	if (!!args->model_a + !!args->resume + !!args->report_only != 1)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab experiment --help",
				     "one of --a, --resume and --report-only "
				     "is needed");
	ret = args->resume ? check_owner(dir) : 0;
	if (!ret)
		ret = dir ? load_plan(dir, &plan) : ctl_need_root("read the driver's text");
	if (!ret && !dir)
		ret = new_plan(args, &plan);
	if (!ret && !args->report_only)
		ret = lock_plan(&plan);
	if (!ret && !args->report_only)
		ret = exp_execute(&plan);
	if (!ret)
		ret = exp_report(&plan, args->mode, !args->report_only);
	free_plan(&plan);
	return ret;
}

static const struct ctl_option options[] = {
	{ "a", CTL_NAME, offsetof(struct exp_args, model_a), "COMMAND", "model A, for the shell" },
	{ "b", CTL_NAME, offsetof(struct exp_args, model_b), "COMMAND",
	  "model B; both are then also run at once" },
	{ "runs", CTL_COUNT, offsetof(struct exp_args, runs), "N", "runs of each alone (5)" },
	{ "concurrent", CTL_COUNT, offsetof(struct exp_args, concurrent), "N",
	  "runs of both at once (3)" },
	{ "for", CTL_DURATION, offsetof(struct exp_args, duration_ns), "TIME",
	  "end the models after that time; default: wait for them" },
	{ "amd-log", CTL_COUNT, offsetof(struct exp_args, amd_log), "LEVEL",
	  "run them with AMD_LOG_LEVEL (5), and report what it has" },
	{ "output", CTL_FILE, offsetof(struct exp_args, output), "DIR",
	  "directory (-o DIR); default: a new one" },
	{ "resume", CTL_FILE, offsetof(struct exp_args, resume), "DIR",
	  "continue one: runs the commands that are in it" },
	{ "report-only", CTL_FILE, offsetof(struct exp_args, report_only), "DIR",
	  "report on one again" },
	CTL_JSON_OPTION(struct exp_args),
	{ 0 },
};

const struct ctl_command ctl_experiment = {
	.name = "experiment",
	.run = run_experiment,
	.args_size = sizeof(struct exp_args),
	.words = CTL_NO_WORDS,
	.examples = "  gpreempt-lab experiment --a ./train --b ./serve --runs 3 -o exp\n"
		    "  gpreempt-lab experiment --report-only exp\n",
	.options = options,
	.summary = "Test whether models use the same queues each time.",
	.details =
		"Each run has snapshots before, during and after it. \"during\" is taken when the\n"
		"model has queues and made no new one for half a second, and again if it makes\n"
		"more later. The next run begins when the queues are gone. DIR has the\n"
		"snapshots, the output of the models (a.out, a.err), report.md and report.json.\n"
		"A run is consistent if more than 80 % of its queue ids are those of the first\n"
		"run, and partly consistent above 50 %.\n"
		"With --amd-log 5 the report compares both models: dispatches, hardware queues,\n"
		"time, highest number of waiting packets; the median of the runs.\n"
		"Ctrl-C ends the models too, and --resume continues with the interrupted run.\n"
		"It runs the commands in DIR/experiment, as the user who calls it, and refuses\n"
		"a DIR or a file that another user owns or can write.\n"
		"Exit status 7: another experiment uses DIR.\n",
};
