// SPDX-License-Identifier: GPL-2.0-only
/* Online before offline. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "agent/lossy-output.h"
#include "ctl/guard.h"
#include "ctl/guard-serve.h"
#include "ctl/notify.h"
#include "proto/guard.h"
#include "shared/clock.h"
#include "shared/parse.h"

/* A poller that is not scheduled for so long is dead. */
#define POLLER_SILENCE_NS (5 * NSEC_PER_SEC)
#define SILENCE_NS (10 * NSEC_PER_SEC)
#define LIVE_NS NSEC_PER_SEC
#define METRICS_NS (5 * NSEC_PER_SEC)
#define DUTY_PERIOD_NS (100 * NSEC_PER_MSEC)

static int fail_usage(const char *what)
{
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl guard --help",
			     "%s", what);
}

static int check_usage(const struct ctl_sched_args *args)
{
	if (!args->offline_words.n)
		return fail_usage("there is nothing to suspend: --offline TARGET "
				  "is needed");
	if (!args->duty && !args->online_words.n)
		return fail_usage("there is nothing to protect: --online "
				  "TARGET is needed, or --duty");
	if (args->duty && args->online_words.n)
		return fail_usage("--duty is for offline work alone, without "
				  "--online");
	if (args->share > 90)
		return fail_usage("--offline-share is 90% at most");
	if (!args->max_hold_ns)
		return fail_usage("--max-hold of no time makes no sense");
	return 0;
}

static int set_poll(struct guard *guard)
{
	const char *mode = guard->args->sched.poll;

	if (!mode || !strcmp(mode, "adaptive"))
		guard->poll = GUARD_POLL_ADAPTIVE;
	else if (!strcmp(mode, "busy"))
		guard->poll = GUARD_POLL_BUSY;
	else if (!shr_parse_duration(mode, &guard->poll_ns) &&
		 guard->poll_ns <= NSEC_PER_SEC)
		guard->poll = GUARD_POLL_TIMED;
	else
		return fail_usage("--poll is busy, adaptive, or a time up to "
				  "1s, as in 200us");
	return 0;
}

static int set_policy(struct guard *guard)
{
	const struct ctl_sched_args *args = &guard->args->sched;
	struct gpreempt_policy_options options = {
		.size = sizeof(options),
		.linger_ns = args->linger_ns,
		.max_hold_ns = args->max_hold_ns,
		.min_run_ns = args->min_run_ns,
		.share = args->share,
		.duty = args->duty,
		.period_ns = args->max_hold_ns < DUTY_PERIOD_NS ?
			     args->max_hold_ns : DUTY_PERIOD_NS,
	};

	if (gpreempt_policy_new(&options, shr_now_ns(), &guard->policy))
		return fail_usage("these times cannot be had together");
	return 0;
}

static int open_report(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Indices are in the view of the module, and nowhere else. */
static int check_module(struct guard *guard)
{
	struct gpreempt_process_list *list;
	struct gpreempt_error err;
	bool module;

	if (guard->args->sched.duty)
		return 0;
	if (gpreempt_processes_read(guard->g, &list, &err))
		return ctl_fail(&err);
	module = list->source == GPREEMPT_SOURCE_MODULE;
	gpreempt_processes_free(list);
	if (module)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
			     "modprobe gpreempt; --duty works without it",
			     "arrivals cannot be seen without gpreempt.ko, "
			     "which knows where the indices of a queue are");
}

static bool poller_well(struct guard *guard)
{
	return shr_now_ns() <=
	       atomic_load(&guard->common->beat_ns) + POLLER_SILENCE_NS;
}

/*
 * The kernel ends us if we do not say this in time. Long enough for a step on a
 * host without CPUs to spare: workers do not wait for it when the poller stops.
 */
void guard_well(struct guard *guard)
{
	if (poller_well(guard))
		watchdog_pet(&guard->watchdog, SILENCE_NS);
}

/* It could not be reported at the time. */
static void tell_gap(struct guard *guard)
{
	uint64_t ns = atomic_exchange(&guard->gap_ns, 0);

	if (ns)
		guard_event(guard, "late", 0, "the poller was not run for "
			    "%.1f s: offline processes were resumed meanwhile",
			    ns / 1e9);
}

static void answer_signal(struct guard *guard)
{
	struct signalfd_siginfo info;

	while (read(guard->report, &info, sizeof(info)) == sizeof(info)) {
		guard_summary(guard);
		guard_files_put(guard, GUARD_TIMELINE);
	}
}

/* Until a signal ends it. */
static void watch(struct guard *guard)
{
	struct timespec tick = { .tv_nsec = GUARD_TICK_NS };
	uint64_t live_ns = 0, metrics_ns = 0;
	struct pollfd fds[] = {
		{ .fd = guard->stop, .events = POLLIN },
		{ .fd = guard->report, .events = POLLIN },
	};

	for (;;) {
		uint64_t now = shr_now_ns();

		guard_well(guard);
		if (poller_well(guard))
			notify_manager("WATCHDOG=1");
		guard_targets_look(guard);
		guard_take_results(guard);
		tell_gap(guard);
		guard_poll_tend(guard);
		guard_files_poll(guard);
		if (now > live_ns + LIVE_NS) {
			guard_live(guard);
			live_ns = now;
		}
		if (now > metrics_ns + METRICS_NS) {
			guard_files_put(guard, GUARD_METRICS);
			metrics_ns = now;
		}
		if (ppoll(fds, ARRAY_SIZE(fds), &tick, NULL) <= 0)
			continue;
		if (fds[0].revents)
			return;
		answer_signal(guard);
	}
}

/* Words whose processes a child looks for. */
static int start_finder(struct guard *guard)
{
	const struct ctl_sched_args *args = &guard->args->sched;
	const struct ctl_role_words *roles[] = {
		&args->online_words, &args->offline_words,
	};
	struct guard_finder *f = &guard->finder;
	size_t role, i;

	for (role = 0; role < ARRAY_SIZE(roles); role++)
		for (i = 0; i < roles[role]->n; i++)
			if (guard_word_is_slow(roles[role]->word[i]))
				f->word[f->n++] = roles[role]->word[i];
	return guard_finder_start(f, guard->g);
}

/* One guard at a time listens; the others do without. */
static struct guard_server *listen_to_servers(struct guard *guard)
{
	struct guard_server *server;
	int ret;

	if (guard->args->sched.duty)
		return NULL;
	ret = guard_serve_start(guard, GUARD_SOCKET, &server);
	if (!ret && !guard_serve_private(server))
		ctl_note("%s: no access control lists there; all users can "
			 "connect, and those who are not allowed cost time",
			 GUARD_SOCKET);
	if (!ret)
		return server;
	ctl_note("%s: %s; this guard cannot receive \"online begin\"",
		 GUARD_SOCKET, strerror(-ret));
	return NULL;
}

/* The main thread has to beat: no output may block it. */
static void start_output(const struct guard *guard)
{
	static const char notice[] =
		"note: %zu lines were not read in time, and dropped\n";

	lossy_output_start(&stdout, guard->args->json ?
			   "{\"event\":\"dropped\",\"lines\":%zu}\n" : notice);
	lossy_output_start(&stderr, notice);
}

static int protect(struct guard *guard)
{
	struct guard_text texts[GUARD_FILES];
	struct guard_server *server;
	int ret;

	start_output(guard);
	guard->stop = foreground_signals();
	guard->report = open_report();
	ret = watchdog_start(&guard->watchdog);
	if (ret || guard->stop < 0 || guard->report < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret ? ret : -EMFILE, 0);
	guard->figures.start_ns = shr_now_ns();
	guard->common = guard_channel_map(sizeof(*guard->common));
	if (!guard->common)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = guard_wake_open(&guard->wakes);
	if (!ret)
		ret = start_finder(guard);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	ret = guard_poll_start(guard);
	if (ret)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "is there such a CPU?",
				     "the poller cannot be started: %s",
				     strerror(-ret));
	server = listen_to_servers(guard);
	notify_manager("READY=1");
	watch(guard);
	notify_manager("STOPPING=1");
	guard_serve_stop(server);
	guard_poll_stop(guard);
	guard_take_results(guard);
	guard_summary(guard);
	guard_files_last(guard, texts);
	guard->ending = true;
	/* First: a slow disk is no reason to keep a process suspended. */
	guard_targets_drop(guard);
	return guard_files_finish(guard, texts);
}

static int run_guard(const struct ctl_command *cmd, struct ctl_args *args)
{
	/* As long as the process: a thread may come back late from a read. */
	static struct guard guard;
	int ret;

	(void)cmd;
	guard.args = args;
	pthread_mutex_init(&guard.lock, NULL);
	ret = check_usage(&args->sched);
	if (!ret)
		ret = set_poll(&guard);
	if (!ret)
		ret = set_policy(&guard);
	if (!ret)
		ret = ctl_need_root(0);
	if (!ret)
		ret = foreground_dir();
	if (!ret)
		ret = foreground_freezer();
	if (!ret)
		ret = ctl_open(args, &guard.g);
	if (ret)
		return ret;
	ret = check_module(&guard);
	if (!ret)
		ret = guard_files_check(&guard);
	if (!ret)
		ret = guard_draw_open(&guard);
	if (!ret)
		ret = protect(&guard);
	guard_draw_free(&guard);
	gpreempt_free(guard.g);
	gpreempt_policy_free(guard.policy);
	free(guard.figures.sample);
	return ret;
}

#define SCHED(member) offsetof(struct ctl_args, sched.member)

static const struct ctl_option options[] = {
	{ "online", CTL_ROLE, SCHED(online_words), "TARGET",
	  "processes with deadlines; more targets may follow" },
	{ "offline", CTL_ROLE, SCHED(offline_words), "TARGET",
	  "processes that make way; more targets may follow" },
	{ "linger", CTL_DURATION, SCHED(linger_ns), "TIME",
	  "online counts as busy for so long after its work (2ms)" },
	{ "max-hold", CTL_DURATION, SCHED(max_hold_ns), "TIME",
	  "then offline gets its share, whatever online does (1s)" },
	{ "offline-share", CTL_PERCENT, SCHED(share), "PERCENT",
	  "of the time, for each offline process (10%)" },
	{ "min-run", CTL_DURATION, SCHED(min_run_ns), "TIME",
	  "at least that long in place of its share" },
	{ "duty", CTL_PERCENT, SCHED(duty), "PERCENT",
	  "without --online: offline runs for that part of the time" },
	{ "gang", CTL_FLAG, SCHED(gang), NULL,
	  "all processes of one --offline TARGET go together" },
	{ "poll", CTL_NAME, SCHED(poll), "MODE",
	  "busy, adaptive (when not said), or each time, as in 200us" },
	{ "cpu", CTL_CPU, SCHED(cpu), "CPU",
	  "poll on that CPU" },
	{ "allow-uid", CTL_UIDS, 0, "LIST",
	  "these users may say \"online begin\", too" },
	{ "samples", CTL_FILE, SCHED(samples), "FILE",
	  "write all latencies to a file at the end" },
	{ "metrics", CTL_FILE, SCHED(metrics), "FILE",
	  "for Prometheus's textfile collector, each 5 s" },
	{ "timeline", CTL_FILE, SCHED(timeline), "FILE",
	  "draw the last 10 s as SVG, at the end and on SIGUSR1" },
	{ "json", CTL_FLAG, offsetof(struct ctl_args, json), NULL,
	  "print events, one JSON object a line" },
	{ "verbose", CTL_FLAG, offsetof(struct ctl_args, verbose), NULL,
	  "print a line for each switch" },
	{ 0 },
};

const struct ctl_command ctl_guard = {
	.name = "guard",
	.run = run_guard,
	.not_recorded =
	"what it does depends on the clock, and would not come again; "
	"preempt makes the same calls and can be recorded",
	.summary = "Suspend offline processes while online ones have work.",
	.details =
	"An offline process is preempted on the GPUs that it has in common with\n"
	"an online one. Processes may come and go. Nothing is attached to online\n"
	"processes: their work is seen in their AQL queues. SIGUSR1 prints the\n"
	"figures so far. When guard ends, however that may be, all queues run.\n"
	"Memory on the GPU is not freed by a preemption.\n",
	.options = options,
	.defaults = {
		.sched = {
			.linger_ns = 2 * NSEC_PER_MSEC,
			.max_hold_ns = NSEC_PER_SEC,
			.share = 10,
		},
	},
};
