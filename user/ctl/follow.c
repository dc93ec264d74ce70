// SPDX-License-Identifier: GPL-2.0-only
/* A follower that is stopped or frozen with its target is of no use. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "guard/guard.h"
#include "hold/escape.h"
#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "hold/places.h"
#include "hold/targets.h"
#include "shared/cgroup.h"
#include "shared/util.h"

/* Are both in one cgroup, or below one, that can be frozen? */
static bool share(const char *a, const char *b)
{
	size_t len = strcspn(a + 1, "/");

	if (*a != '/' || *b != '/' || !len)
		return false;
	return len == strcspn(b + 1, "/") && !memcmp(a + 1, b + 1, len);
}

static int fail_cgroup(pid_t target, const struct shr_freezer *theirs, int ret)
{
	if (ret == -ENOTSUP)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1), "
				     "or use gpreempt-ctl suspend",
				     "process %d is in %s of the old freezer (cgroup v1), which "
				     "sends no event when it freezes",
				     target, theirs->path);
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, target);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "is cgroup v2 mounted, and are we in the host's cgroup namespace?",
			     "the cgroup %s of process %d cannot be watched: %s", theirs->path,
			     target, strerror(-ret));
}

static int leave_cgroup(pid_t target, bool *moved)
{
	char ours[SHR_CGROUP_PATH];
	struct shr_freezer theirs;
	int ret = shr_freezer_open(&theirs, target);

	shr_freezer_close(&theirs);
	if (ret)
		return fail_cgroup(target, &theirs, ret);
	/* Our own old cgroup is not the question. */
	ret = shr_cgroup_of(0, ours, sizeof(ours));
	if (ret == -ENOTSUP)
		ours[0] = '\0';
	else if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	/* A process whose path cannot be read can be anywhere. */
	if (theirs.lost ? *moved : !share(theirs.path, ours))
		return 0;
	/* systemd knows the writer to the journal by its cgroup. */
	if (!*moved && getenv("INVOCATION_ID"))
		ctl_note("leaving the cgroup %s, which is below /%.*s as the "
			 "target is: the journal has what follows without "
			 "the unit; a unit with Slice=gpreempt.slice stays",
			 ours, (int)strcspn(theirs.path + 1, "/"), theirs.path + 1);
	if (hold_cgroup_enter(getpid())) {
		*moved = true;
		return 0;
	}
	ret = strcspn(theirs.path + 1, "/");
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "start it from another cgroup, such as with "
			     "systemd-run --slice=gpreempt",
			     theirs.lost ? "we could be frozen together with process %d, whose "
					   "cgroup cannot be read, and we cannot leave ours" :
					   "we would be frozen together with process %d: both are "
					   "below the cgroup /%.*s, and we cannot leave it",
			     target, ret, theirs.path + 1);
}

static int leave_group(pid_t target)
{
	pid_t parent = getppid();

	if (getpgid(target) != getpgrp())
		return 0;
	/* A leader cannot leave its group: the process that follows does. */
	if (getpgrp() == getpid())
		return 0;
	if (setpgid(0, 0) < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "start it as a job of its own: setsid gpreempt-ctl follow",
				     "we would be stopped together with process %d: both are in "
				     "one process group, and we cannot leave it",
				     target);
	/* Ctrl-C in the terminal does not reach us any more; its end does. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
	return 0;
}

/*
 * Leave the cgroup and the process group by which job control would stop or freeze this process
 * together with the target. 0, or the exit status after a message. *moved is set when this
 * process is in a cgroup of its own now.
 */
static int follow_leave(pid_t target, bool *moved)
{
	int ret = leave_cgroup(target, moved);

	return ret ? ret : leave_group(target);
}

/*
 * Following one process: its queues are suspended while it is stopped or its
 * cgroup is frozen, and run while it does.
 */

struct follow {
	pid_t target;
	struct heartbeat heartbeat;
	struct owner owner;
	struct shr_freezer freezer;
	int stop;
	bool held;   /* we want it held */
	bool frozen; /* the printed reason: its cgroup is frozen */
	bool traced; /* a debugger is in the way, and the user knows */
	bool paused; /* paused without a session, and the user knows */
	size_t suspensions;
};

static void print_switch(const struct follow *f, const char *why,
			 const struct gpreempt_outcome *outcome)
{
	printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n", f->held ? "suspended" : "resumed",
	       f->target, why, outcome->done, outcome->requested, outcome->ioctl_ns / 1000.0);
	fflush(stdout);
}

static int change(struct follow *f, bool suspend, struct gpreempt_outcome *outcome)
{
	int ret = suspend ? owner_suspend(&f->owner, NULL, outcome) :
			    owner_resume(&f->owner, NULL, outcome);

	/* The process has no runtime yet. Its queues are suspended once it has one. */
	return ret == -EPERM && !owner_is_paused(&f->owner) ? 0 : ret;
}

/* Wait: a pause has to trace the process for a moment. */
static int wait_for_debugger(struct follow *f)
{
	if (!f->traced)
		ctl_note("process %d is being traced by another process; its "
			 "queues are %s when that ends",
			 f->target, f->held ? "resumed" : "suspended");
	f->traced = true;
	return 0;
}

static void tell_pause(struct follow *f)
{
	char text[512];

	if (f->paused || !f->owner.why.reason)
		return;
	f->paused = true;
	gpreempt_error_text(&f->owner.why, text, sizeof(text));
	ctl_note("%s; so it is paused", text);
}

/* Suspend or resume, as the process stops or runs. 0 or -errno. */
static int follow_state(struct follow *f)
{
	bool stopped = owner_is_stopped(&f->owner);
	bool want = stopped || f->freezer.frozen;
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	if (want == f->held)
		return 0;
	ret = change(f, want, &outcome);
	if (ret && owner_error(&f->owner)->reason == GPREEMPT_TRACED)
		return wait_for_debugger(f);
	if (ret)
		return ret;
	tell_pause(f);
	f->traced = false;
	f->held = want;
	if (want)
		f->frozen = f->freezer.frozen;
	f->suspensions += want;
	print_switch(f,
		     want      ? stopped ? "it is stopped" : "it is frozen" :
		     f->frozen ? "it is thawed" :
				 "it is continued",
		     &outcome);
	return 0;
}

static void tell_loss(void *data, const struct gpreempt_error *err)
{
	char text[512];

	(void)data;
	if (err->reason == GPREEMPT_PAUSE_OFF) {
		gpreempt_error_text(err, text, sizeof(text));
		ctl_note("%s", text);
		return;
	}
	ctl_note(err->reason == GPREEMPT_UNPAUSED ?
			 "process %d: another program ended our pause" :
			 "process %d: another process ended our debug session; opening it again",
		 err->pid);
}

/* Handle an event. 0, 1: the process has ended, or -errno. */
static int dispatch(struct follow *f)
{
	int ret = owner_dispatch(&f->owner);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_ENDED)
		return 1;
	ret = shr_freezer_read(&f->freezer);
	/* The owner reports its end, in order. */
	if (ret && ret != -ESRCH)
		return ret;
	ret = follow_state(f);
	/* The kernel thaws a frozen process that is killed, before it ends. */
	return ret && owner_error(&f->owner)->reason == GPREEMPT_ENDED ? 1 : ret;
}

static int serve(struct follow *f)
{
	struct pollfd fds[] = { [OWNER_OTHERS] = { .fd = f->stop, .events = POLLIN } };
	int ret;

	for (;;) {
		heartbeat_beat(&f->heartbeat);
		ret = dispatch(f);
		if (ret)
			return ret;
		if (owner_wait(&f->owner, &f->freezer, fds, ARRAY_SIZE(fds), HEARTBEAT_TICK_NS) >
			    0 &&
		    fds[OWNER_OTHERS].revents)
			return 0;
	}
}

/* Release the target. Returns 0, or the exit status of resume. */
static int release(struct follow *f)
{
	int ret = owner_close(&f->owner);

	if (ret && f->owner.error.reason == GPREEMPT_PAUSE_OFF)
		return ctl_fail(&f->owner.error);
	if (ret)
		ctl_note("process %d could not be released: %s; its guardian tries "
			 "again: gpreempt-ctl status",
			 f->target, strerror(-ret));
	return 0;
}

static int finish(struct follow *f, int ret)
{
	struct gpreempt_error err = *owner_error(&f->owner);
	int status = release(f);

	if (ret == -ENOTSUP)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, NULL,
				     "process %d has moved to %s of the old freezer (cgroup v1)",
				     f->target, f->freezer.path);
	if (ret < 0 && !err.reason)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (ret < 0)
		return ctl_fail(&err);
	if (ret && err.reason == GPREEMPT_EXECED)
		return ctl_fail(&err);
	if (status)
		return status;
	printf("%s %d: %zu suspensions\n", ret ? "ended" : "released", f->target, f->suspensions);
	return 0;
}

static int open_and_live(struct follow *f)
{
	struct gpreempt_error err;
	int ret;

	heartbeat_beat(&f->heartbeat);
	ret = shr_freezer_open(&f->freezer, f->target);
	if (ret)
		return ctl_fail_reason(ret == -ESRCH ? GPREEMPT_NO_PROCESS : GPREEMPT_SYSTEM, ret,
				       f->target);
	if (owner_open(&f->owner, &err)) {
		shr_freezer_close(&f->freezer);
		return ctl_fail(&err);
	}
	tell_pause(f);
	ctl_say("following %d: its signals%s%s", f->target,
		f->freezer.lost	      ? " and its cgroup, whose path cannot be read" :
		f->freezer.events < 0 ? "" :
					" and its cgroup ",
		f->freezer.events < 0 ? "" : f->freezer.path);
	ret = finish(f, serve(f));
	shr_freezer_close(&f->freezer);
	return ret;
}

/* Give back the lock. A pause gives it back with its guardian. */
static void give_lock_back(const struct follow *f)
{
	if (f->owner.lock >= 0)
		hold_drop(f->target, f->owner.lock);
	else
		hold_wait_for_end(f->target, 0);
}

/* Follow one process until it ends. Returns the exit status. */
static int follow_process(pid_t target, enum gpreempt_how how)
{
	struct follow f = {
		.target = target,
		.owner = {
			.target = target,
			.heartbeat = &f.heartbeat,
			.how = how,
			.as = { .role = HOLD_ROLE_FOLLOW, .pid = getpid() },
			.lost = tell_loss,
		},
	};
	int ret;

	/* The parent looks for targets; this child has its own. */
	ret = foreground_capabilities(CAPABILITIES_HOLDER);
	if (ret)
		return ret;
	f.owner.lock = foreground_take(target, HOLD_ROLE_FOLLOW);
	if (f.owner.lock < 0)
		return -f.owner.lock;
	f.stop = foreground_signals();
	ret = f.stop < 0 ? f.stop : heartbeat_start(&f.heartbeat);
	if (ret)
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, target);
	else
		ret = open_and_live(&f);
	give_lock_back(&f);
	return ret;
}

/*
 * The GPU follows job control. A process of its own for each target: one that hangs in the driver
 * keeps no other waiting, and the driver resumes a target when the process that suspended it ends.
 */

/* Number of processes that are followed at once: docs/clusters.md has the cost of one. */
#ifndef FOLLOW_PLACES
#define FOLLOW_PLACES 1024
#endif
/* Number of processes that have given their place up, and are about to end. */
#define SPARE 64
/* How often to look for new targets. */
#define LOOK_NS (500 * NSEC_PER_MSEC)
#define NOTICE	"note: %zu lines were not read in time, and dropped\n"

/* Time before another try after a failure; it doubles each time. */
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
	int status; /* worst exit status of the processes that have ended; -1: none has */
	bool moved; /* moved to a cgroup of our own */
	int stop;
	uint64_t watchdog_ns; /* the service manager's, from READY=1 on; 0: it has none */
	uint64_t beat_ns;     /* no new beat before this time */
};

static struct follower *find_place(struct followers *f, const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (same_target(&f->list[i].target, target))
			return &f->list[i];
	return NULL;
}

/* Note the end of a child. A follower that stays tries again: the obstacle may have gone. */
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
	/* The children end with the command that the user sees. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(GPREEMPT_CLASS_FAILED);
	/* A follower that is stopped together with its target could not follow it. */
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

/* Claim places for the targets. A target that has ended for good needs none. */
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

/* Can the word name processes that come later? */
static bool can_grow(const char *word)
{
	return strchr(word, ':');
}

/* Look word by word: one that names no process now must not keep us from the others. */
static void look(struct followers *f)
{
	struct gpreempt_error err;
	size_t i;

	claim_held(f);
	for (i = 0; i < f->args->targets.words.n; i++) {
		const char *const *word = &f->args->targets.words.word[i];
		__cleanup_list struct gpreempt_targets *targets = NULL;

		if (can_grow(*word) && !find_targets(&f->find, word, 1, &targets, &err))
			claim(f, targets);
	}
	follow_claims(f);
}

/* Returns the exit status. A child that was killed has released its target by its end. */
static int exit_status(pid_t target, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
			     "the follower of process %d was killed by signal %d; the queues run",
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

/* Open a descriptor that is readable at a stop, and when a child has ended. */
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

/* Returns the longest time without an event before we look and report that we are alive. */
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
	struct gpreempt_error err;
	size_t i;

	for (i = 0; i < words->n; i++) {
		__cleanup_list struct gpreempt_targets *targets = NULL;

		if (!can_grow(words->word[i]))
			return ctl_fail_text(GPREEMPT_CLASS_USAGE,
					     "leave out --stay, or name its cgroup",
					     "--stay: process %s ends once and for all",
					     words->word[i]);
		if (find_targets(&f->find, &words->word[i], 1, &targets, &err) &&
		    gpreempt_error_class(&err) != GPREEMPT_CLASS_NO_TARGET)
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
	__cleanup_list struct gpreempt_targets *targets = NULL;
	int ret;

	ret = ctl_need_root("suspend the queues of a process");
	if (ret)
		return ret;
	/* Errors here are reported where the cgroup is needed. */
	hold_cgroup_prepare();
	pause_repair_early();
	ret = foreground_capabilities(CAPABILITIES_FINDER);
	if (ret)
		return ret;
	/* The output stays as it is without memory. */
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
		/* A failure was tried again, so it is no result with --stay. */
		ret = f.places.ever ? GPREEMPT_CLASS_PARTIAL : args->stay ? 0 : f.status;
		close(f.stop);
	}
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
	.examples = "  gpreempt-ctl follow comm:train\n"
		    "  gpreempt-ctl follow role:offline --stay   # all jobs of a node\n",
	.options = options,
};
