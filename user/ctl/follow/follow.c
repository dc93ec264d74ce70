// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU follows job control. A process of its own for each target: one that
 * hangs in the driver keeps no other waiting, and the driver resumes a
 * target when the process that suspended it ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "agent/capabilities.h"
#include "agent/cgroup.h"
#include "agent/find-targets.h"
#include "agent/foreground.h"
#include "agent/lossy-output.h"
#include "agent/pause-repair.h"
#include "agent/places.h"
#include "ctl/command/ctl.h"
#include "ctl/follow/follow.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/notify.h"

/* Processes that are followed at once: docs/clusters.md has what one costs. */
#ifndef FOLLOW_PLACES
#define FOLLOW_PLACES 1024
#endif
/* And of some that have given their place up, and are about to end. */
#define SPARE 64
/* How often to look for new targets. */
#define LOOK_NS (500 * NSEC_PER_MSEC)
#define NOTICE	"note: %zu lines were not read in time, and dropped\n"

/* When to try again what failed: it doubles each time. */
#define RETRY_NS      (2 * NSEC_PER_SEC)
#define RETRY_MOST_NS (300 * NSEC_PER_SEC)
#define NEVER	      UINT64_MAX

struct follow_args {
	struct ctl_target_args targets;
	enum gpreempt_how how;
	uint64_t stay;
};

struct follower {
	struct gpreempt_target target;
	pid_t child;	   /* 0: it has ended */
	uint64_t pause_ns; /* since the last end until then; 0: it has not failed */
	uint64_t retry_ns;
	bool leaves; /* another process has its place */
};

struct followers {
	struct find find;
	const struct follow_args *args;
	struct places places;
	struct follower list[FOLLOW_PLACES + SPARE];
	size_t count;
	size_t running;
	int status; /* of those that have ended; -1: none has */
	bool moved; /* to a cgroup of our own */
	int stop;
	uint64_t watchdog_ns; /* the service manager's, from READY=1 on; 0: it has none */
	uint64_t beat_ns;     /* no new beat before */
};

static struct follower *find_place(struct followers *f, const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (same_target(&f->list[i].target, target))
			return &f->list[i];
	return NULL;
}

/* A follower that stays tries again what failed: what was in the way may have ended. */
static void note_end(struct followers *f, struct follower *place, int status)
{
	f->status = f->status < 0 ? status : ctl_merge_status(f->status, status);
	place->retry_ns = NEVER;
	if (!status || !f->args->stay)
		return;
	place->pause_ns = place->pause_ns ? 2 * place->pause_ns : RETRY_NS;
	if (place->pause_ns > RETRY_MOST_NS)
		place->pause_ns = RETRY_MOST_NS;
	place->retry_ns = shr_now_ns() + place->pause_ns;
}

/* A place in the list: of one that has ended, when it is full. */
static struct follower *get_place(struct followers *f)
{
	size_t i;

	if (f->count < ARRAY_SIZE(f->list))
		return &f->list[f->count++];
	for (i = 0; i < f->count; i++)
		if (!f->list[i].child)
			return &f->list[i];
	return NULL;
}

static pid_t start_child(const struct followers *f, pid_t target)
{
	pid_t parent = getpid(), child;

	fflush(stdout);
	child = fork();
	if (child)
		return child;
	/* When the command that the user sees ends, its children end too. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(GPREEMPT_CLASS_FAILED);
	/* Stopped together with its target it could not follow it. */
	if (getpgid(target) == getpgrp())
		setpgid(0, 0);
	close(f->stop);
	exit(follow_process(target, f->args->how));
}

/* A late one would be the end of all holds, and each process can make a look longer. */
static void beat(void *data)
{
	struct followers *f = data;
	uint64_t now = shr_now_ns();

	if (!f->watchdog_ns || now < f->beat_ns)
		return;
	notify_manager("WATCHDOG=1");
	f->beat_ns = now + f->watchdog_ns / 8;
}

static void take_up(struct followers *f, const struct gpreempt_target *target)
{
	struct follower *place = find_place(f, target);
	int status;

	if (place && (place->child || shr_now_ns() < place->retry_ns))
		return;
	if (!place)
		place = get_place(f);
	/* The spare ones are taken, too: when one has ended. */
	if (!place)
		return;
	if (!same_target(&place->target, target))
		*place = (struct follower){ .target = *target };
	beat(f);
	status = follow_leave(target->pid, &f->moved);
	if (!status) {
		place->child = start_child(f, target->pid);
		f->running += place->child > 0;
		if (place->child > 0)
			return;
		place->child = 0;
		status = ctl_fail_reason(GPREEMPT_SYSTEM, -errno, target->pid);
	}
	note_end(f, place, status);
}

/* One that has ended for good needs no place. */
static void claim(struct followers *f, const struct gpreempt_targets *targets)
{
	size_t i;

	for (i = 0; i < targets->count; i++) {
		const struct follower *place = find_place(f, &targets->targets[i]);

		if (!place || place->child || place->retry_ns != NEVER)
			places_claim(&f->places, &targets->targets[i], false);
	}
}

static void claim_held(struct followers *f)
{
	size_t i;

	places_begin(&f->places);
	for (i = 0; i < f->count; i++)
		if (f->list[i].child && !f->list[i].leaves)
			places_claim(&f->places, &f->list[i].target, true);
}

static void follow_claims(struct followers *f)
{
	char text[256];
	size_t i;

	if (places_share(&f->places)) {
		places_text(&f->places, text, sizeof(text));
		ctl_note("%s: gpreempt-ctl status", text);
	}
	for (i = 0; i < f->count; i++) {
		struct follower *place = &f->list[i];

		if (!place->child || place->leaves || places_given(&f->places, &place->target))
			continue;
		place->leaves = true;
		kill(place->child, SIGTERM);
	}
	for (i = 0; i < f->places.now.count; i++)
		if (f->places.now.items[i].given)
			take_up(f, &f->places.now.items[i].target);
}

/* A word that can name processes that come later. */
static bool can_grow(const char *word)
{
	return strchr(word, ':');
}

/*
 * Word by word: one that names no process now must not keep us from those that
 * another one names.
 */
static void look(struct followers *f)
{
	struct gpreempt_targets *targets;
	struct gpreempt_error err;
	size_t i;

	claim_held(f);
	for (i = 0; i < f->args->targets.words.n; i++) {
		const char *const *word = &f->args->targets.words.word[i];

		if (!can_grow(*word) || find_targets(&f->find, word, 1, &targets, &err))
			continue;
		claim(f, targets);
		gpreempt_targets_free(targets);
	}
	follow_claims(f);
}

/* A child that was killed has released its target by that. */
static int exit_status(pid_t target, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
			     "the follower of process %d was killed by signal "
			     "%d; the queues run",
			     target, WTERMSIG(status));
}

static void collect(struct followers *f)
{
	size_t i;

	for (i = 0; i < f->count; i++) {
		struct follower *place = &f->list[i];
		int status;

		if (!place->child || waitpid(place->child, &status, WNOHANG) <= 0)
			continue;
		place->child = 0;
		f->running--;
		if (place->leaves)
			*place = (struct follower){ .target = place->target };
		else
			note_end(f, place, exit_status(place->target.pid, status));
	}
}

static void end_all(struct followers *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->list[i].child)
			kill(f->list[i].child, SIGTERM);
	while (f->running) {
		shr_sleep_ns(NSEC_PER_MSEC);
		collect(f);
	}
}

/* Also readable when a child has ended. */
static int open_stop(void)
{
	sigset_t set;
	int fd = foreground_signals();

	if (fd < 0)
		return fd;
	sigprocmask(SIG_BLOCK, NULL, &set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(fd, &set, SFD_CLOEXEC | SFD_NONBLOCK) < 0 ? -errno : fd;
}

static bool stop_asked(const struct followers *f)
{
	struct signalfd_siginfo info;

	while (read(f->stop, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			return true;
	return false;
}

static bool any_grows(const struct follow_args *args)
{
	size_t i;

	for (i = 0; i < args->targets.words.n; i++)
		if (can_grow(args->targets.words.word[i]))
			return true;
	return false;
}

/* How long nothing may happen before we look and say that we are well. */
static uint64_t longest_pause(bool grows, uint64_t watchdog_ns)
{
	uint64_t ns = grows || watchdog_ns ? LOOK_NS : UINT64_MAX;

	/* Half of its time would be too late on a busy host. */
	return watchdog_ns && watchdog_ns / 4 < ns ? watchdog_ns / 4 : ns;
}

static void follow_all(struct followers *f)
{
	struct pollfd fd = { .fd = f->stop, .events = POLLIN };
	bool grows = any_grows(f->args), stop = false, stay = f->args->stay;
	uint64_t watchdog_ns = notify_watchdog_ns();
	uint64_t ns = longest_pause(grows, watchdog_ns);
	struct timespec pause = shr_timespec(ns);

	if (!f->running && !stay)
		return;
	notify_manager("READY=1");
	f->watchdog_ns = watchdog_ns;
	while ((f->running || stay) && !stop) {
		ppoll(&fd, 1, ns == UINT64_MAX ? NULL : &pause, NULL);
		beat(f);
		stop = stop_asked(f);
		collect(f);
		if (grows && (f->running || stay) && !stop)
			look(f);
	}
	notify_manager("STOPPING=1");
	end_all(f);
}

/* Words that name no process yet, but can. 0, or the exit status after saying why. */
static int check_stay(struct followers *f)
{
	const struct ctl_words *words = &f->args->targets.words;
	struct gpreempt_targets *targets;
	struct gpreempt_error err;
	size_t i;

	for (i = 0; i < words->n; i++) {
		if (!can_grow(words->word[i]))
			return ctl_fail_text(GPREEMPT_CLASS_USAGE,
					     "leave out --stay, or name its cgroup",
					     "--stay: process %s ends once and for all",
					     words->word[i]);
		if (!find_targets(&f->find, &words->word[i], 1, &targets, &err))
			gpreempt_targets_free(targets);
		else if (gpreempt_error_class(&err) != GPREEMPT_CLASS_NO_TARGET)
			return ctl_fail(&err);
	}
	ctl_say("looking for processes of %s%s", words->word[0], words->n > 1 ? " and others" : "");
	return 0;
}

static int run_follow(void *data)
{
	const struct follow_args *args = data;
	struct followers f = {
		.find = { .beat = beat, .data = &f },
		.args = args,
		.status = -1,
	};
	struct gpreempt_targets *targets = NULL;
	int ret;

	ret = ctl_need_root(0);
	if (ret)
		return ret;
	/* What fails here is reported where the cgroup is needed. */
	hold_cgroup_prepare();
	pause_repair_early();
	ret = foreground_capabilities(CAPABILITIES_HOLDER);
	if (ret)
		return ret;
	/* Without memory it is as it was. */
	lossy_output_start_both(NOTICE, NOTICE);
	ret = ctl_open(NULL, &f.find.g);
	if (ret)
		return ret;
	f.places = (struct places){
		.g = f.find.g,
		.most = FOLLOW_PLACES,
		.role = HOLD_ROLE_FOLLOW,
	};
	ret = args->stay ? check_stay(&f) : ctl_targets(f.find.g, &args->targets, &targets);
	if (ret)
		goto out;
	f.stop = open_stop();
	if (f.stop < 0) {
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, f.stop, 0);
	} else {
		if (targets) {
			claim_held(&f);
			claim(&f, targets);
			follow_claims(&f);
		}
		follow_all(&f);
		/* What failed was tried again. */
		ret = f.places.ever ? GPREEMPT_CLASS_PARTIAL : args->stay ? 0 : f.status;
		close(f.stop);
	}
	gpreempt_targets_free(targets);
	if (f.moved)
		hold_cgroup_leave();
out:
	places_end(&f.places);
	gpreempt_free(f.find.g);
	find_free(&f.find);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_HOW_OPTION(struct follow_args),
	CTL_WAIT_OPTION(struct follow_args),
	{ "stay", CTL_FLAG, offsetof(struct follow_args, stay), NULL,
	  "do not end with the last process, and try again what fails" },
	{ 0 },
};

const struct ctl_command ctl_follow = {
	.name = "follow",
	.run = run_follow,
	CTL_TARGET_ARGS(struct follow_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Suspend processes when job control stops or freezes them.",
	.details =
		"While a process is stopped (SIGSTOP, Ctrl-Z, a batch system's suspend)\n"
		"or its cgroup is frozen (docker pause, systemctl freeze), its queues are\n"
		"suspended; when it continues, they are resumed. Each TARGET must match a\n"
		"process at the start; --wait waits for all of them. A TARGET that is no PID\n"
		"also matches later processes, within a second. follow ends when the last\n"
		"process has ended, after Ctrl-C, or with its terminal; then all queues run.\n"
		"With --stay it waits for processes to come, and does not end before Ctrl-C: a\n"
		"container or job that starts again is followed again. What cannot be followed,\n"
		"or whose follower was killed, is tried again: after 2 s, 4 s, up to 5 min.\n"
		"It has 1024 places. When they are taken, a process without queues gives its\n"
		"place up, then one of the user or container that has most; status, doctor and\n"
		"metrics show who has none, and the exit status is 6 if one of these had queues.\n"
		"It drops output that is not read in time, and prints the number of lines.\n"
		"It needs cgroup v2: the old freezer sends no event when it freezes.\n"
		"With --how auto follow pauses a process, so that debuggers can attach to it\n"
		"while it is stopped, and uses a debug session where it cannot be paused. A\n"
		"process that is paused has no event for a stop: follow looks every 50 ms. A\n"
		"guardian ends the pause if follow is killed.\n",
	.options = options,
};
