// SPDX-License-Identifier: GPL-2.0-only
/* The main thread of guard. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "agent/lossy-output.h"
#include "guard/guard.h"
#include "output/message.h"
#include "proto/guard.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/notify.h"
#include "shared/signals.h"

#define LIVE_NS	   NSEC_PER_SEC
#define METRICS_NS (5 * NSEC_PER_SEC)

/* For what ends it, and what asks for the figures. 0 or -errno. */
static int open_signals(struct guard *guard)
{
	static const int report[] = { SIGUSR1, 0 };

	guard->stop = foreground_signals();
	if (guard->stop < 0)
		return guard->stop;
	guard->report = shr_signals_open(report);
	return guard->report < 0 ? guard->report : 0;
}

/* It could not be reported at the time. */
static void tell_gap(struct guard *guard)
{
	uint64_t ns = atomic_exchange(&guard->gap_ns, 0);

	if (ns)
		guard_event(guard, "late", 0,
			    "the poller was not run for "
			    "%.1f s: offline processes were resumed meanwhile",
			    ns / 1e9);
}

static void answer_signal(struct guard *guard)
{
	struct signalfd_siginfo info;

	while (read(guard->report, &info, sizeof(info)) == sizeof(info)) {
		guard_work_tell(guard);
		guard_summary(guard);
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

		if (guard_poller_runs(guard))
			notify_manager("WATCHDOG=1");
		guard_targets_look(guard);
		guard_take_results(guard);
		guard_work_tell(guard);
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

/* How often a child looks for words that may hang; for others, as often as guard. */
#define PACE_NS (200 * NSEC_PER_MSEC)

static void leave_to_children(struct guard *guard, const struct guard_words *words, bool online)
{
	size_t i;

	for (i = 0; i < words->n; i++) {
		enum guard_word_kind kind = guard_word_kind(words->word[i]);
		struct guard_finder *f = &guard->finders[kind];

		if (kind == GUARD_WORD_QUICK)
			continue;
		f->sought[f->n++] = (struct guard_sought){
			.word = words->word[i],
			.online = online,
		};
	}
}

static int start_children(struct guard *guard)
{
	int ret = 0;
	size_t i;

	leave_to_children(guard, &guard->options->online_words, true);
	leave_to_children(guard, &guard->options->offline_words, false);
	guard->finders[GUARD_WORD_HANGS].pace_ns = PACE_NS;
	for (i = 0; !ret && i < GUARD_FINDERS; i++)
		ret = guard_finder_start(&guard->finders[i], guard->g);
	return ret;
}

/* One guard at a time listens; the others do without. */
static struct guard_server *listen_to_servers(struct guard *guard)
{
	struct guard_server *server;
	int ret;

	if (guard->options->duty)
		return NULL;
	ret = guard_serve_start(guard, &server);
	if (!ret)
		return server;
	ctl_note("%s: %s; this guard cannot receive \"guard begin\"", GUARD_SOCKET, strerror(-ret));
	return NULL;
}

/* The main thread has to beat: no output may block it. */
static void start_output(const struct guard *guard)
{
	static const char notice[] = "note: %zu lines were not read in time, and dropped\n";

	lossy_output_start_both(guard->options->json ? "{\"event\":\"dropped\",\"lines\":%zu}\n" :
						       notice,
				notice);
}

int guard_run(struct guard *guard)
{
	struct guard_server *server;
	int ret;

	start_output(guard);
	ret = open_signals(guard);
	if (!ret)
		ret = watchdog_start(&guard->watchdog);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	guard->figures.start_ns = shr_now_ns();
	guard_targets_start(guard);
	guard->common = guard_channel_map(sizeof(*guard->common));
	if (!guard->common)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = guard_wake_open(&guard->wakes);
	if (!ret)
		ret = start_children(guard);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	ret = guard_poll_start(guard);
	if (ret)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "is there such a CPU?",
				     "the poller cannot be started: %s", strerror(-ret));
	server = listen_to_servers(guard);
	notify_manager("READY=1");
	watch(guard);
	notify_manager("STOPPING=1");
	guard_serve_stop(server);
	guard_poll_stop(guard);
	guard_take_results(guard);
	guard_work_tell(guard);
	guard_summary(guard);
	guard_files_last(guard);
	guard->ending = true;
	/* First: a slow disk is no reason to keep a process suspended. */
	guard_targets_drop(guard);
	ret = guard_files_finish(guard);
	if (!ret)
		ret = guard->status;
	if (!ret && (guard->places[0].ever || guard->places[1].ever))
		ret = GPREEMPT_CLASS_PARTIAL;
	return ret;
}
