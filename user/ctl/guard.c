// SPDX-License-Identifier: GPL-2.0-only
/* Commands of guard: run it, and ask a running one. */
#include <errno.h>
#include <string.h>

#include <gpreempt/online.h>

#include "cli/cli.h"
#include "guard/guard.h"
#include "hold/escape.h"
#include "hold/pause-owner.h"
#include "hold/run-dir.h"
#include "lib/preempt/wire.h"
#include "shared/socket.h"
#include "shared/text.h"
#include "shared/util.h"

/* Ask the guard: online work begins or ends; release an offline process. */

/* How long the guard may take to release: it may wait for the hardware. */
#define RELEASE_NS (15 * NSEC_PER_SEC)
/* Patience with a running guard that has to answer. */
#define PATIENCE_NS (30 * NSEC_PER_SEC)
#define RETRY_NS    (5 * NSEC_PER_MSEC)

static int fail_guard(int code)
{
	if (code == -ENOENT || code == -ECONNREFUSED)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "start one: systemctl start gpreempt-guard@NAME, or "
				     "gpreempt-ctl guard; gpreempt-ctl status shows other holders",
				     "no guard runs here");
	if (code == -EACCES || code == -EPERM)
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "run it as root, or tell the guard: --allow-uid",
				     "the guard does not let us ask");
	if (code == -EUSERS)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY, "try again",
				     "the guard has too many connections");
	if (code == -EPROTO)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY,
				     "use the gpreempt-ctl of that version, or "
				     "start the guard again with this one",
				     "the guard is of another version of gpreempt");
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "does the guard run?",
			     "the guard did not answer: %s", strerror(-code));
}

static int report_work(bool begin)
{
	pid_t pid = getppid();
	struct gpreempt_online_options options = {
		.size = sizeof(options),
		.timeout_ns = PATIENCE_NS,
		.pid = pid,
	};
	struct gpreempt_online *online = NULL;
	int ret = gpreempt_online_open(&options, &online);

	if (!ret)
		ret = begin ? gpreempt_online_begin(online) : gpreempt_online_end(online);
	gpreempt_online_close(online);
	if (ret == -EINVAL)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-ctl guard begin",
				     "process %d has no request open", pid);
	if (ret < 0)
		return fail_guard(ret);
	printf("process %d: %d requests open\n", pid, ret);
	return 0;
}

static int run_begin(void *args)
{
	(void)args;
	return report_work(true);
}

static int run_end(void *args)
{
	(void)args;
	return report_work(false);
}

const struct ctl_command ctl_guard_begin = {
	.name = "guard begin",
	.run = run_begin,
	.summary = "Report to guard that online work begins.",
	.details = "It counts for the program that runs this command, such as a shell: when that\n"
		   "ends, so do its requests. Requests may be nested. Root only, unless guard has\n"
		   "--allow-uid: these users can hold back offline work, except for its share.\n",
};

const struct ctl_command ctl_guard_end = {
	.name = "guard end",
	.run = run_end,
	.summary = "Report to guard that online work ends.",
	.details = "It ends one request of \"guard begin\" of the same program.\n",
};

/* Ask once. The code of the reply, or a negative errno value. */
static int ask_guard(const struct guard_request *request, struct guard_reply *reply)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;
	int ret, fd = gp_ipc_connect(GUARD_SOCKET, deadline);

	*reply = (struct guard_reply){ 0 };
	if (fd < 0)
		return fd;
	ret = gp_guard_ask(fd, request, reply, deadline);
	close(fd);
	return ret ? ret : reply->code;
}

static bool is_guarded(pid_t pid)
{
	struct hold_owner owner;

	return !hold_read_owner(pid, &owner) && owner.role == HOLD_ROLE_GUARD;
}

struct release_args {
	struct ctl_target_args targets;
	uint64_t lease_ns; /* 0: for good */
};

static int release_one(pid_t pid, uint64_t ns)
{
	struct guard_request request = {
		.verb = GUARD_RELEASE,
		.pid = pid,
		.ns = ns ? ns : UINT64_MAX,
	};
	uint64_t deadline = shr_now_ns() + RELEASE_NS;
	struct guard_reply reply;
	int ret;

	/* -ESRCH: guard does not have it. */
	ret = ask_guard(&request, &reply);
	if (ret == -ESRCH)
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "gpreempt-ctl status shows who has it",
				     "process %d is not guarded", pid);
	if (ret)
		return fail_guard(ret);
	while (is_guarded(pid)) {
		if (shr_now_ns() > deadline)
			return ctl_fail_text(GPREEMPT_CLASS_FAILED, "try again; or end the guard",
					     "the guard has not released process %d", pid);
		shr_sleep_ns(RETRY_NS);
	}
	printf("released %d\n", pid);
	return 0;
}

static int run_release(void *data)
{
	const struct release_args *args = data;
	__cleanup_list struct gpreempt_targets *list = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	int ret, status = 0;
	size_t i;

	ret = ctl_need_root("suspend the queues of a process");
	if (!ret)
		ret = ctl_open(NULL, &g);
	if (ret)
		return ret;
	ret = ctl_targets_sure(g, &args->targets, &list);
	if (ret)
		return ret;
	for (i = 0; i < list->count; i++) {
		ret = release_one(list->targets[i].pid, args->lease_ns);
		status = i ? ctl_merge_status(status, ret) : ret;
	}
	return status;
}

static const struct ctl_option release_options[] = {
	{ "for", CTL_LEASE, offsetof(struct release_args, lease_ns), "TIME",
	  "the guard may take it back after that time (10m)" },
	{ 0 },
};

const struct ctl_command ctl_guard_release = {
	.name = "guard release",
	.run = run_release,
	CTL_TARGET_ARGS(struct release_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Make guard release a process and not take it back.",
	.details = "When it returns, the queues run and the process is not traced: for a\n"
		   "debugger or a checkpoint.\n",
	.examples = "  gpreempt-ctl guard release comm:train --for 10m\n",
	.options = release_options,
};

/* Online before offline. */

#define DUTY_PERIOD_NS (100 * NSEC_PER_MSEC)
/* Time between two looks of a poller for which the user gave none. */
#define SLEEP_NS	 (150 * NSEC_PER_USEC)
#define ADAPTIVE_SPIN_NS (2 * NSEC_PER_MSEC)

static int fail_usage(const char *what)
{
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl guard --help", "%s", what);
}

/* Is one of the options given in whose place a file stands? */
static bool has_figures(const struct guard_options *args)
{
	const struct guard_options *none = ctl_guard.defaults;

	return args->linger_ns != none->linger_ns || args->max_hold_ns != none->max_hold_ns ||
	       args->slice_ns != none->slice_ns || args->share != none->share || args->duty ||
	       args->slots || args->order || args->gang;
}

static int check_usage(const struct guard_options *args)
{
	if ((args->config || args->sim) && (args->online_words.n || args->offline_words.n))
		return fail_usage("the file names the tenants: --online and --offline cannot "
				  "be given, too");
	if ((args->config || args->sim) && has_figures(args))
		return fail_usage("the file has the figures: no option from --linger to --gang can "
				  "be given, too");
	if (args->sim && args->config)
		return fail_usage("--simulate has a file of its own, without --config");
	if (args->config || args->sim)
		return 0;
	if (!args->offline_words.n)
		return fail_usage("there is nothing to suspend: --offline TARGET is needed");
	if (!args->duty && !args->online_words.n)
		return fail_usage("there is nothing to protect: --online "
				  "TARGET is needed, or --duty");
	if (args->duty && args->online_words.n)
		return fail_usage("--duty is for offline work alone, without --online");
	if (args->share > 90)
		return fail_usage("--offline-share is 90% at most");
	if (!args->max_hold_ns)
		return fail_usage("--max-hold of no time makes no sense");
	return 0;
}

static int fail_config(const char *path, const struct guard_config_error *err)
{
	const char *next = "man gpreempt-ctl has the form of the file";

	if (!err->line)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s: %s", path, err->text);
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s, line %d: %s", path, err->line,
			     err->text);
}

struct check_args {
	struct ctl_words words;
};

static int run_check(void *data)
{
	const struct check_args *args = data;
	const char *path = args->words.word[0];
	struct guard_config_error err;
	struct guard_config c;

	if (guard_config_read(path, &c, &err))
		return fail_config(path, &err);
	guard_config_print(&c, stdout);
	guard_config_free(&c);
	return 0;
}

const struct ctl_command ctl_guard_check = {
	.name = "guard check",
	.run = run_check,
	.args_size = sizeof(struct check_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct check_args, words),
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE",
	.summary = "Check a configuration of guard, and print what it means.",
	.details = "Nothing is changed. Each figure that the file does not name has its default.\n",
	.examples = "  gpreempt-ctl guard check /etc/gpreempt/shares\n",
};

/* Ask a running guard for its configuration, or change a line of it. */
static int ask_config(struct guard_request *request, struct guard_reply *reply)
{
	int ret = ctl_need_root("ask guard for its configuration");

	if (ret)
		return ret;
	ret = ask_guard(request, reply);
	if (reply->code == -EINVAL)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl guard get", "%s",
				     reply->text);
	return ret ? fail_guard(ret) : 0;
}

static int run_get(void *data)
{
	struct guard_request request = { .verb = GUARD_GET };
	struct guard_reply reply;
	int ret;

	(void)data;
	do {
		ret = ask_config(&request, &reply);
		if (!ret)
			fputs(reply.text, stdout);
		request.count++;
	} while (!ret && reply.value);
	return ret;
}

const struct ctl_command ctl_guard_get = {
	.name = "guard get",
	.run = run_get,
	.summary = "Print the configuration that guard has now.",
	.details = "It has the form of a file for guard --config.\n",
};

static int run_set(void *data)
{
	const struct check_args *args = data;
	struct guard_request request = { .verb = GUARD_SET };
	struct guard_reply reply;
	size_t i, used = 0;

	for (i = 0; i < args->words.n; i++) {
		used += snprintf(request.line + used, sizeof(request.line) - used, "%s%s",
				 i ? " " : "", args->words.word[i]);
		if (used >= sizeof(request.line))
			return fail_usage("that line is too long");
	}
	return ask_config(&request, &reply);
}

const struct ctl_command ctl_guard_set = {
	.name = "guard set",
	.run = run_set,
	.args_size = sizeof(struct check_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct check_args, words),
	.min_words = 2,
	.max_words = 16,
	.usage = "LINE",
	.summary = "Change the figures of guard, or a tenant that it has.",
	.details = "LINE is as in a file for guard --config, and counts until guard ends or reads\n"
		   "its file again. What is suspended before and after stays suspended.\n",
	.examples = "  gpreempt-ctl guard set policy slots=2\n"
		    "  gpreempt-ctl guard set tenant role:offline weight=300 max=50%\n",
};

static int set_poll(struct guard *guard)
{
	const char *mode = guard->options->poll;

	guard->poll_ns = SLEEP_NS;
	if (!mode || !strcmp(mode, "adaptive"))
		guard->spin_ns = ADAPTIVE_SPIN_NS;
	else if (!strcmp(mode, "busy"))
		guard->spin_ns = UINT64_MAX;
	else if (shr_parse_duration(mode, &guard->poll_ns) || guard->poll_ns > NSEC_PER_SEC)
		return fail_usage("--poll is busy, adaptive, or a time up to 1s, as in 200us");
	return 0;
}

/* A minimum is counted over so many periods. */
#define PERIODS_OF_WINDOW 10

/* Each word of the command line is a tenant. */
static int config_of_words(const struct guard_options *args, struct guard_config *c)
{
	const struct gpreempt_policy_tenant online = {
		.size = sizeof(online),
		.role = GPREEMPT_ROLE_ONLINE,
	};
	const struct gpreempt_policy_tenant offline = {
		.size = sizeof(offline),
		.role = GPREEMPT_ROLE_OFFLINE,
		.min = args->duty ? 0 : args->share,
		.max = args->duty,
		.gang = args->gang,
	};
	uint64_t period = args->duty && args->max_hold_ns > DUTY_PERIOD_NS ? DUTY_PERIOD_NS :
									     args->max_hold_ns;
	struct guard_config_error err;
	size_t i;

	guard_config_start(c);
	c->figures.linger_ns = args->linger_ns;
	c->figures.slice_ns = args->slice_ns;
	c->figures.period_ns = period;
	c->figures.window_ns = PERIODS_OF_WINDOW * period;
	c->figures.slots = args->slots;
	if (args->order && guard_config_order(c, args->order, &err))
		return fail_usage(err.text);
	for (i = 0; i < args->online_words.n; i++)
		guard_config_add(c, args->online_words.word[i], &online);
	for (i = 0; i < args->offline_words.n; i++)
		guard_config_add(c, args->offline_words.word[i], &offline);
	return 0;
}

static int set_policy(struct guard *guard)
{
	const struct guard_options *args = guard->options;
	static struct guard_config none;
	const char *file = args->sim ? args->sim : args->config;
	struct guard_config_error err;
	int ret;

	if (!file)
		ret = config_of_words(args, &guard->config);
	else if (guard_config_read(file, &guard->config, &err))
		ret = fail_config(file, &err);
	else
		ret = 0;
	if (ret)
		return ret;
	if (args->policy && !guard->config.figures.slots)
		return fail_usage("--policy orders tenants that wait for a slot: give a number of "
				  "slots, too");
	if (gpreempt_policy_new(&guard->config.figures, guard_now(guard), &guard->policy) ||
	    guard_config_use(guard->policy, &none, &guard->config))
		return fail_usage("these times cannot be had together");
	return 0;
}

/* Check the module: the indices are in its view, and nowhere else. */
static int check_module(struct guard *guard)
{
	__cleanup_list struct gpreempt_process_list *list = NULL;
	struct gpreempt_error err;
	bool module;

	if (!guard->config.n[1])
		return 0;
	if (gpreempt_processes_read(guard->g, &list, &err))
		return ctl_fail(&err);
	module = list->source == GPREEMPT_SOURCE_MODULE;
	if (module)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
			     "modprobe gpreempt; --duty works without it",
			     "arrivals cannot be seen without gpreempt.ko, "
			     "which knows where the indices of a queue are");
}

/* Give up rights before the files are tried: a file that can be written then can be later. */
static int give_up_rights(const struct guard_options *options)
{
	bool writes = options->metrics || options->samples;

	return foreground_capabilities(writes ? CAPABILITIES_WRITER : CAPABILITIES_FINDER);
}

static int run_guard(void *args)
{
	/* Static, to live as long as the process: a thread may come back late from a read. */
	static struct guard_options options;
	static struct guard guard;
	static struct guard_sim sim = { .now = NSEC_PER_SEC };
	int ret;

	options = *(const struct guard_options *)args;
	guard.options = &options;
	guard.sim = options.sim ? &sim : NULL;
	pthread_mutex_init(&guard.lock, NULL);
	ret = check_usage(&options);
	if (!ret)
		ret = set_poll(&guard);
	if (!ret)
		ret = set_policy(&guard);
	if (!ret && options.sim) {
		ret = guard_simulate(&guard);
		goto out;
	}
	if (!ret)
		ret = ctl_need_root("suspend the queues of a process");
	if (!ret)
		ret = foreground_dir();
	if (!ret)
		ret = foreground_freezer();
	if (!ret) {
		pause_repair_early();
		ret = give_up_rights(&options);
	}
	if (!ret)
		ret = ctl_open(NULL, &guard.g);
	if (ret)
		return ret;
	ret = check_module(&guard);
	if (!ret)
		ret = guard_files_check(&guard);
	if (!ret)
		ret = guard_work_open(&guard);
	if (!ret)
		ret = guard_run(&guard);
out:
	free(guard.work);
	gpreempt_free(guard.g);
	gpreempt_policy_free(guard.policy);
	guard_config_free(&guard.config);
	free(guard.figures.sample);
	return ret;
}

#define IN_GUARD(member) offsetof(struct guard_options, member)

static const struct ctl_option rows[] = {
	{ "online", CTL_ROLE, IN_GUARD(online_words), "TARGET",
	  "processes with deadlines; more targets may follow" },
	{ "offline", CTL_ROLE, IN_GUARD(offline_words), "TARGET",
	  "processes that make way; more targets may follow" },
	{ "config", CTL_FILE, IN_GUARD(config), "FILE",
	  "tenants and figures, in place of the options up to --gang" },
	{ "linger", CTL_DURATION, IN_GUARD(linger_ns), "TIME",
	  "online counts as busy for so long after its work (2ms)" },
	{ "max-hold", CTL_DURATION, IN_GUARD(max_hold_ns), "TIME",
	  "period in which offline gets its share (1s)" },
	{ "offline-share", CTL_PERCENT, IN_GUARD(share), "PERCENT",
	  "of the time, for each --offline TARGET (10%)" },
	{ "duty", CTL_PERCENT, IN_GUARD(duty), "PERCENT",
	  "without --online: part of the time that offline runs" },
	{ "slots", CTL_COUNT, IN_GUARD(slots), "N",
	  "so many offline processes run on a GPU at once (any number)" },
	{ "slice", CTL_DURATION, IN_GUARD(slice_ns), "TIME",
	  "with --slots: how long one keeps its slot (50ms)" },
	{ "order", CTL_NAME, IN_GUARD(order), "ORDER",
	  "with --slots: fair (default), or fifo; --config knows more" },
	{ "gang", CTL_FLAG, IN_GUARD(gang), NULL,
	  "suspend all processes of one --offline TARGET together" },
	{ "policy", CTL_NAME, IN_GUARD(policy), "COMMAND",
	  "with slots: a program that decides whose turn it is" },
	{ "simulate", CTL_FILE, IN_GUARD(sim), "FILE",
	  "tenants and loads, on a GPU that is made up" },
	{ "follow", CTL_FLAG, IN_GUARD(follow), NULL,
	  "suspend offline also while job control stops or freezes it" },
	CTL_HOW_OPTION(struct guard_options),
	{ "poll", CTL_NAME, IN_GUARD(poll), "MODE",
	  "busy, adaptive (default), or a time such as 200us" },
	{ "cpu", CTL_CPU, IN_GUARD(cpu), "CPU", "poll on that CPU" },
	{ "allow-uid", CTL_UIDS, IN_GUARD(uids), "LIST",
	  "these users may send \"guard begin\" too" },
	{ "samples", CTL_FILE, IN_GUARD(samples), "FILE",
	  "write all latencies to a file at the end" },
	{ "metrics", CTL_FILE, IN_GUARD(metrics), "FILE",
	  "for Prometheus's textfile collector, each 5 s" },
	{ "json", CTL_FLAG, IN_GUARD(json), NULL, "print events, one JSON object a line" },
	{ "verbose", CTL_FLAG, IN_GUARD(verbose), NULL,
	  "print each switch; with --json also what online does" },
	{ 0 },
};

const struct ctl_command ctl_guard = {
	.name = "guard",
	.run = run_guard,
	.args_size = sizeof(struct guard_options),
	.summary = "Suspend offline processes while online ones have work.",
	.details = "An offline process is suspended on the GPUs that it has in common with an\n"
		   "online one. Processes may start and end at any time. Nothing is attached to\n"
		   "online processes: guard sees their work in their AQL queues. SIGUSR1 prints\n"
		   "the figures so far. When guard ends, for any reason, all queues run.\n"
		   "Suspending frees no memory on the GPU.\n"
		   "It has 64 places for each role, which are shared as those of follow; the exit\n"
		   "status is 6 if a process with queues had none.\n",
	.examples = "  gpreempt-ctl guard --online comm:serve --offline comm:train\n"
		    "  gpreempt-ctl guard --online role:online --offline role:offline --follow\n",
	.options = rows,
	.defaults =
		&(const struct guard_options){
			.linger_ns = 2 * NSEC_PER_MSEC,
			.max_hold_ns = NSEC_PER_SEC,
			.slice_ns = 50 * NSEC_PER_MSEC,
			.share = 10,
		},
};
