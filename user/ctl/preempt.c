// SPDX-License-Identifier: GPL-2.0-only
/* preempt: suspend and resume processes in cycles, and measure it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/program.h"
#include "hold/escape.h"
#include "hold/client.h"
#include "hold/holder.h"
#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "preempt.h"

/* Method by which each target is taken off its GPUs, and the needs of a pause. */

static int add_by_pause(struct preempt *p, struct preempt_target *t)
{
	struct hold_owner owner = { .role = HOLD_ROLE_PREEMPT, .pid = getpid() };
	struct gpreempt_error err;
	int ret = pause_owner_begin(&t->owner, &owner);

	if (ret) {
		struct hold_reply why;

		if (t->owner.is_alone)
			hold_no_guardian(&why, ret, t->pid);
		else
			hold_not_noted(&why, ret, t->pid);
		return hold_fail(&why);
	}
	if (gpreempt_gang_add(p->gang, t->pid, GPREEMPT_METHOD_PAUSE, &err))
		return ctl_fail(&err);
	t->method = GPREEMPT_METHOD_PAUSE;
	return 0;
}

static bool may_pause(const struct preempt *p, const struct gpreempt_error *err)
{
	return p->args->how == GPREEMPT_HOW_AUTO && pause_can_serve(err->reason) &&
	       gp_filter_is_all(&p->args->targets.queues);
}

static int pause_instead(struct preempt *p, struct preempt_target *t,
			 const struct gpreempt_error *err)
{
	gpreempt_error_text(err, t->why, sizeof(t->why));
	ctl_note("%s; so it is paused", t->why);
	return add_by_pause(p, t);
}

/*
 * Take a target into the gang, by the method that was asked for. 0, or the exit
 * status after saying why not.
 */
static int preempt_add_target(struct preempt *p, struct preempt_target *t)
{
	struct gpreempt_error err;

	if (p->args->how == GPREEMPT_HOW_PAUSE)
		return add_by_pause(p, t);
	if (!gpreempt_gang_add(p->gang, t->pid, GPREEMPT_METHOD_DEBUG, &err))
		return 0;
	return may_pause(p, &err) ? pause_instead(p, t, &err) : ctl_fail(&err);
}

struct preempt_target *preempt_find_target(struct preempt *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++)
		if (p->targets[i].pid == pid)
			return &p->targets[i];
	return NULL;
}

/* The driver refuses some only when it is asked to suspend. */
static bool preempt_change_method(struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (!m->code || m->method != GPREEMPT_METHOD_DEBUG || !may_pause(p, &m->error))
			continue;
		gpreempt_gang_resume(p->gang, NULL, NULL);
		gpreempt_gang_remove(p->gang, m->pid);
		return !pause_instead(p, preempt_find_target(p, m->pid), &m->error);
	}
	return false;
}

/* The end of all pauses of a target: it runs, and its lock is given back. */
static void preempt_end_pause(struct preempt *p, struct preempt_target *t)
{
	int ret, end;

	if (!t->owner.is_noted)
		return;
	ret = gpreempt_gang_remove(p->gang, t->pid);
	if (ret == -ESRCH)
		ret = 0;
	end = pause_owner_end(&t->owner, !ret);
	if (!ret)
		ret = end;
	if (!ret)
		hold_wait_for_end(t->pid, 0);
	else
		ctl_note("process %d could not be released: %s; its guardian tries "
			 "again: gpreempt-ctl status",
			 t->pid, strerror(-ret));
}

/* Wait while the targets are off the GPU: for a time, or for the online command. */

/* A command that is asked to end gets so long before it is killed. */
#define PATIENCE_NS (2 * NSEC_PER_SEC)

/* Has a target gone, or its session? */
static int check_events(struct preempt *p)
{
	size_t i;

	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (m->events & GPREEMPT_EVENT_ENDED) {
			p->err = m->error;
			return -ESRCH;
		}
		if (m->events & GPREEMPT_EVENT_LOST)
			return ctl_set_error(&p->err, -ENOTCONN, GPREEMPT_LOST, m->pid,
					     "watching the process");
	}
	return 0;
}

/* Wait in short pieces, so that the heart beats. */
static int preempt_wait(struct preempt *p, uint64_t ns, int fd)
{
	uint64_t start = shr_now_ns();
	struct pollfd fds[] = {
		{ .fd = p->stop, .events = POLLIN },
		{ .fd = gpreempt_gang_fd(p->gang), .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	for (;;) {
		uint64_t passed = shr_now_ns() - start;
		uint64_t left = passed < ns ? ns - passed : 0;
		struct timespec ts = { 0 };
		int ret;

		heartbeat_beat(&p->heartbeat);
		if (left > HEARTBEAT_TICK_NS)
			left = HEARTBEAT_TICK_NS;
		ts.tv_nsec = left;
		ret = ppoll(fds, ARRAY_SIZE(fds), &ts, NULL);
		if (ret < 0 && errno != EINTR)
			return ctl_set_error(&p->err, -errno, GPREEMPT_SYSTEM, 0, "waiting");
		if (ret > 0 && fds[0].revents) {
			p->interrupted = true;
			return -EINTR;
		}
		if (ret > 0 && fds[1].revents) {
			ret = check_events(p);
			if (ret)
				return ret;
		} else if (ret > 0 && fds[2].revents) {
			return 0;
		}
		if (passed >= ns)
			return 0;
	}
}

/* Undo our own settings in the child: a command expects the defaults. */
static void become_command(const struct preempt *p, pid_t parent, int error)
{
	static const int ours[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM, SIGPIPE };
	sigset_t none;
	size_t i;
	int code;

	for (i = 0; i < ARRAY_SIZE(ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The command must end when we are killed. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	/* stdout is for the JSON. */
	if (p->args->mode == OUT_JSON)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(p->args->command[0], p->args->command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int fail_online(struct preempt *p, int code)
{
	return ctl_set_error(&p->err, code, GPREEMPT_SYSTEM, p->targets[0].pid,
			     "waiting for the online command");
}

/* Start the command. Returns when the child has become it. 0 or -errno. */
static int start(const struct preempt *p, pid_t *out)
{
	pid_t pid, parent = getpid();
	int code = 0, error[2];

	if (pipe2(error, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become_command(p, parent, error[1]);
	if (pid < 0)
		code = errno;
	close(error[1]);
	/* The pipe stays empty if the command could be executed. */
	while (!code && read(error[0], &code, sizeof(code)) < 0 && errno == EINTR)
		;
	close(error[0]);
	if (code && pid > 0)
		waitpid(pid, NULL, 0);
	*out = pid;
	return -code;
}

/* End the command when we stop before it. We do not wait for it with a target held. */
static void end_command(struct preempt *p, pid_t pid, int fd)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;

	gpreempt_gang_free(p->gang);
	p->gang = NULL;
	heartbeat_stop(&p->heartbeat);
	p->beating = false;
	shr_pidfd_send_signal(fd, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (shr_now_ns() > deadline)
			shr_pidfd_send_signal(fd, SIGKILL);
		shr_sleep_ns(10 * NSEC_PER_MSEC);
	}
}

static int preempt_online(struct preempt *p)
{
	uint64_t began = shr_now_ns();
	__cleanup_fd int fd = -1;
	pid_t pid = 0;
	int ret;

	ret = start(p, &pid);
	if (ret) {
		p->unstarted = -ret;
		return ret;
	}
	fd = shr_pidfd_open(pid);
	if (fd < 0) {
		ret = fail_online(p, -errno);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return ret;
	}
	ret = preempt_wait(p, UINT64_MAX, fd);
	if (ret) {
		end_command(p, pid, fd);
		return ret;
	}
	while (waitpid(pid, &p->online_status, 0) < 0)
		if (errno != EINTR)
			return fail_online(p, -errno);
	preempt_add_sample(&p->online, shr_now_ns() - began);
	return p->online_status ? -ECHILD : 0;
}

/* A cycle: suspend, hold, resume, wait. */

/* Note when the last slot of all members was seen empty; unknown if one member is. */
static void note_slots(struct preempt_cycle *all, const struct gpreempt_member *m, bool first)
{
	const struct gpreempt_outcome *o = &m->outcome;

	if (o->slots_ns == GPREEMPT_UNKNOWN || (!first && all->slots_ns == GPREEMPT_UNKNOWN)) {
		all->slots_ns = GPREEMPT_UNKNOWN;
		all->resolution_ns = GPREEMPT_UNKNOWN;
		return;
	}
	if (first || all->slots_ns < o->slots_ns + (int64_t)m->start_ns)
		all->slots_ns = o->slots_ns + m->start_ns;
	if (first || all->resolution_ns < o->resolution_ns)
		all->resolution_ns = o->resolution_ns;
}

static void note_suspend(struct preempt *p, const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now = (struct preempt_cycle){
		.requested = out->requested,
		.done = out->done,
		.suspend_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns,
	};
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		preempt_find_target(p, m->pid)->now = (struct preempt_cycle){
			.requested = m->outcome.requested,
			.done = m->outcome.done,
			.suspend_ns = m->outcome.ioctl_ns,
			.slots_ns = m->outcome.slots_ns,
			.resolution_ns = m->outcome.resolution_ns,
		};
		note_slots(&p->now, m, i == 0);
	}
}

/*
 * Note queues that ran after the slots were empty: the verdict is no "yes" then, and a "no" when
 * they ran a tenth of the time.
 */
static void note_released(struct preempt_cycle *c, uint64_t ns)
{
	if (ns > c->released_ns)
		c->released_ns = ns;
	if (ns && c->verdict == GPREEMPT_VERIFIED) {
		c->verdict = GPREEMPT_NOT_CHECKED;
		c->by = GPREEMPT_BY_NOTHING;
	}
	if (ns > c->held_ns / 10)
		c->verdict = GPREEMPT_CONTRADICTED;
}

static void note_resume(struct preempt *p, uint64_t held_ns,
			const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now.held_ns = held_ns;
	p->now.resume_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns;
	for (i = 0; i < p->n_targets; i++) {
		struct preempt_target *t = preempt_find_target(p, p->members[i].pid);

		t->now.resume_ns = p->members[i].outcome.ioctl_ns;
		t->now.held_ns = held_ns;
		note_released(&t->now, p->members[i].outcome.released_ns);
		note_released(&p->now, p->members[i].outcome.released_ns);
	}
}

/* Fail a call on all targets, by the reason of the first target that failed. */
static int fail_members(struct preempt *p, int code)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		if (!p->members[i].code)
			continue;
		p->err = p->members[i].error;
		if (p->err.reason)
			return code;
	}
	return ctl_set_error(&p->err, code, GPREEMPT_SYSTEM, p->targets[0].pid, "measuring");
}

/* Call the gang. 0, or the first error; p->members has the result of each. */
static int ask(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	const struct gpreempt_filter *which = &p->args->targets.queues;
	int ret;

	disturb_begin(p->disturb, op);
	ret = op == DISTURB_SUSPEND ? gpreempt_gang_suspend(p->gang, which, out) :
				      gpreempt_gang_resume(p->gang, which, out);
	disturb_end(p->disturb);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	return ret;
}

static int call(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	int ret = ask(p, op, out);

	while (ret && op == DISTURB_SUSPEND && preempt_change_method(p))
		ret = ask(p, op, out);
	return ret ? fail_members(p, ret) : 0;
}

/* Check that the suspended queues are out of their slots. */
static void verify_all(struct preempt *p)
{
	static const int weight[] = {
		[GPREEMPT_VERIFIED] = 0,
		[GPREEMPT_NOT_CHECKED] = 1,
		[GPREEMPT_CONTRADICTED] = 2,
	};
	size_t i;

	gpreempt_gang_verify(p->gang);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];
		struct preempt_cycle *c = &preempt_find_target(p, m->pid)->now;
		int more = weight[m->verdict] - weight[p->now.verdict];

		c->verdict = m->verdict;
		c->by = m->verified_by;
		/* Take the verdict with less evidence of two equal ones. */
		if (!i || more > 0 || (!more && c->by < p->now.by)) {
			p->now.verdict = c->verdict;
			p->now.by = c->by;
		}
	}
}

static void keep(struct preempt_figures *f, struct preempt_cycle *now, bool first)
{
	now->succeeded = now->requested && now->done == now->requested &&
			 now->verdict != GPREEMPT_CONTRADICTED;
	f->succeeded += now->succeeded;
	f->verdicts[now->verdict]++;
	f->by_waves += now->by == GPREEMPT_BY_SLOTS_WAVES;
	if (!now->requested)
		return;
	if (first)
		f->first_ns = now->suspend_ns;
	else
		preempt_add_sample(&f->suspend, now->suspend_ns);
	if (!first && now->slots_ns != GPREEMPT_UNKNOWN) {
		preempt_add_sample(&f->slots, now->slots_ns);
		preempt_add_sample(&f->resolution, now->resolution_ns);
	}
	preempt_add_sample(&f->resume, now->resume_ns);
}

static void keep_all(struct preempt *p)
{
	size_t i;

	keep(&p->all, &p->now, p->cycles == 1);
	for (i = 0; i < p->n_targets; i++)
		keep(&p->targets[i].figures, &p->targets[i].now, p->cycles == 1);
}

static void preempt_print_cycle(const struct preempt *p)
{
	const struct preempt_cycle *c = &p->now;

	if (p->args->mode == OUT_JSON || (!p->args->verbose && !isatty(STDOUT_FILENO)))
		return;
	printf("cycle %zu: %zu of %zu queues, suspend %.1f us, ", p->cycles, c->done, c->requested,
	       c->suspend_ns / 1000.0);
	if (c->slots_ns != GPREEMPT_UNKNOWN)
		printf("slots %.1f us, ", c->slots_ns / 1000.0);
	printf("resume %.1f us, verified: %s", c->resume_ns / 1000.0, ctl_verdict_name(c->verdict));
	if (c->by == GPREEMPT_BY_WAVES)
		printf(" (waves in flight)");
	if (c->released_ns)
		printf(", queues ran %.1f us while held", c->released_ns / 1000.0);
	putchar('\n');
	fflush(stdout);
}

static int preempt_cycle(struct preempt *p)
{
	struct gpreempt_gang_outcome out;
	int ret, online = 0;
	uint64_t start;

	p->cycles++;
	ret = call(p, DISTURB_SUSPEND, &out);
	if (ret)
		return ret;
	start = shr_now_ns();
	note_suspend(p, &out);
	verify_all(p);
	if (p->args->command)
		online = preempt_online(p);
	else
		ret = preempt_wait(p, p->args->hold_ns, -1);
	if (online && online != -ECHILD)
		ret = online;
	if (ret)
		return ret;
	start = shr_now_ns() - start;
	ret = call(p, DISTURB_RESUME, &out);
	if (ret)
		return ret;
	note_resume(p, start, &out);
	keep_all(p);
	preempt_put_samples(p);
	preempt_print_cycle(p);
	if (online)
		return online;
	return preempt_wait(p, p->args->interval_ns, -1);
}

/* The command. */

static int fail_system(const struct preempt *p, const char *step, int code)
{
	struct gpreempt_error err;

	ctl_set_error(&err, code, GPREEMPT_SYSTEM, p->n_targets ? p->targets[0].pid : 0, step);
	return ctl_fail(&err);
}

/* Lock the targets against other holders. 0, or the exit status. */
static int lock_targets(struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		struct preempt_target *t = &p->targets[i];

		t->owner.lock = foreground_take(t->pid, HOLD_ROLE_PREEMPT);
		if (t->owner.lock < 0)
			return -t->owner.lock;
	}
	return 0;
}

static void unlock_targets(struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		const struct preempt_target *t = &p->targets[i];

		if (t->owner.lock >= 0)
			hold_drop(t->pid, t->owner.lock);
	}
}

/* Does the process have the queues that are to be measured? 0, or the exit status. */
static int check_queues(const struct preempt *p, pid_t pid)
{
	const struct gpreempt_filter *which = &p->args->targets.queues;
	struct gpreempt_error err;
	__cleanup_list struct gpreempt_view *view = NULL;
	size_t i, chosen = 0;
	int ret = 0;

	if (gpreempt_view_read(p->g, pid, &view, &err))
		return ctl_fail(&err);
	for (i = 0; i < view->count; i++)
		chosen += gp_filter_matches(which, view->queues[i].qid, view->queues[i].gpu_id,
					    view->queues[i].priority);
	for (i = 0; i < which->n_ids && !ret; i++)
		if (!gp_view_find(view, which->ids[i]))
			ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-ctl queues shows them",
					    "process %d has no queue %u", pid, which->ids[i]);
	if (!ret && !chosen)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED,
				    view->count ? "gpreempt-ctl queues shows its queues" :
						  "try again when it uses the GPU",
				    "process %d has no %squeues", pid, view->count ? "such " : "");
	return ret;
}

static int open_target(struct preempt *p, struct preempt_target *t)
{
	uint64_t born = 0;
	int ret = preempt_add_target(p, t);

	if (ret)
		return ret;
	if (gpreempt_start_time(p->g, t->pid, &born) || born != t->owner.start)
		return ctl_fail_reason(GPREEMPT_ENDED, -ESRCH, t->pid);
	return check_queues(p, t->pid);
}

/* Close the sessions: all queues run, and no watchdog waits for us any more. */
static void close_sessions(struct preempt *p)
{
	size_t i;

	disturb_stop(p->disturb);
	for (i = 0; i < p->n_targets; i++)
		preempt_end_pause(p, &p->targets[i]);
	gpreempt_gang_free(p->gang);
	p->gang = NULL;
	if (p->beating)
		heartbeat_stop(&p->heartbeat);
	p->beating = false;
}

/* Find how the run ended, if not well. code is of preempt_cycle(). */
static void find_end(const struct preempt *p, int code, struct hold_reply *end)
{
	if (p->interrupted) {
		hold_refuse(end, GPREEMPT_CLASS_FAILED, "",
			    "interrupted in cycle %zu; the queues run", p->cycles);
	} else if (code == -ECHILD) {
		hold_refuse(end, GPREEMPT_CLASS_FAILED, "see what it printed; the queues run",
			    "the online command ended with status %d in cycle %zu",
			    ctl_program_status(p->online_status), p->cycles);
	} else if (p->unstarted) {
		hold_refuse(end, GPREEMPT_CLASS_FAILED, CTL_NO_PROGRAM, "cannot run %s: %s",
			    p->args->command[0], strerror(p->unstarted));
	} else if (code) {
		hold_reply_error(end, &p->err);
	} else if (p->all.succeeded != p->cycles) {
		hold_refuse(end, p->all.succeeded ? GPREEMPT_CLASS_PARTIAL : GPREEMPT_CLASS_FAILED,
			    "gpreempt-ctl preempt --verbose shows each cycle",
			    "%zu of %zu cycles did not succeed", p->cycles - p->all.succeeded,
			    p->cycles);
	}
}

static int finish(struct preempt *p, int code)
{
	struct hold_reply end = { 0 };
	int ret;

	close_sessions(p);
	find_end(p, code, &end);
	preempt_print_result(p, *end.text ? end.text : NULL);
	ret = preempt_close_samples(p);
	if (*end.text)
		return hold_fail(&end);
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     ret == -ENOSPC ? "make room on that disk, or give another file" :
					      "give another file",
			     "cannot write the samples: %s", strerror(-ret));
}

static void note_open_times(struct preempt *p)
{
	size_t i;

	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		p->all.open_ns += m->open_ns;
		preempt_find_target(p, m->pid)->figures.open_ns = m->open_ns;
	}
}

static int measure(struct preempt *p)
{
	int ret = heartbeat_start(&p->heartbeat);
	size_t i;

	if (ret)
		return fail_system(p, "setting up", ret);
	p->beating = true;
	for (i = 0; i < p->n_targets; i++) {
		heartbeat_beat(&p->heartbeat);
		ret = open_target(p, &p->targets[i]);
		if (ret)
			return ret;
	}
	note_open_times(p);
	p->disturb = disturb_start(p);
	while (!ret && p->cycles < p->args->count)
		ret = preempt_cycle(p);
	return finish(p, ret);
}

static int get_memory(struct preempt *p, const struct gpreempt_targets *list)
{
	size_t i;
	int ret;

	p->targets = shr_must(calloc(list->count, sizeof(*p->targets)));
	p->members = shr_must(calloc(list->count, sizeof(*p->members)));
	p->all.first_ns = GPREEMPT_UNKNOWN;
	p->n_targets = list->count;
	for (i = 0; i < list->count; i++)
		p->targets[i] = (struct preempt_target){
			.pid = list->targets[i].pid,
			.owner = {
				.target = list->targets[i].pid,
				.start = list->targets[i].start,
				.lock = -1,
				.heartbeat = &p->heartbeat,
			},
			.figures.first_ns = GPREEMPT_UNKNOWN,
		};
	ret = gpreempt_gang_new(p->g, &p->gang);
	if (!ret)
		gpreempt_gang_sample_slots(p->gang, true);
	return ret;
}

static void free_figures(struct preempt_figures *f)
{
	free(f->suspend.v);
	free(f->slots.v);
	free(f->resolution.v);
	free(f->resume.v);
}

static void free_memory(struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++)
		free_figures(&p->targets[i].figures);
	free_figures(&p->all);
	free(p->online.v);
	disturb_free(p->disturb);
	free(p->targets);
	free(p->members);
}

static int run_on(struct preempt *p, const struct gpreempt_targets *list)
{
	int ret = get_memory(p, list);

	if (ret)
		return fail_system(p, "setting up", ret);
	ret = preempt_open_samples(p);
	if (ret)
		return fail_system(p, "opening the file of samples", ret);
	ret = lock_targets(p);
	if (ret)
		return ret;
	p->stop = foreground_signals();
	if (p->stop < 0)
		return fail_system(p, "setting up", p->stop);
	return measure(p);
}

static int run_preempt(void *data)
{
	const struct preempt_args *args = data;
	struct preempt p = { .args = args, .stop = -1 };
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = heartbeat_busy,
		.data = &p.heartbeat,
	};
	struct gpreempt_targets *list;
	int ret;

	ret = ctl_check_how(args->how, &args->targets.queues);
	if (!ret)
		ret = ctl_need_root("suspend the queues of a process");
	if (ret)
		return ret;
	ret = gpreempt_new(&options, &p.g);
	if (ret)
		return fail_system(&p, "setting up", ret);
	pause_repair_all(p.g);
	ret = ctl_targets(p.g, &args->targets, &list);
	if (!ret) {
		ret = run_on(&p, list);
		gpreempt_list_free(list);
		close_sessions(&p);
		unlock_targets(&p);
		preempt_close_samples(&p);
	}
	if (p.stop >= 0)
		close(p.stop);
	free_memory(&p);
	gpreempt_free(p.g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "count", CTL_COUNT, offsetof(struct preempt_args, count), "N", "number of cycles (100)" },
	{ "hold", CTL_DURATION, offsetof(struct preempt_args, hold_ns), "TIME",
	  "hold the queues for that time in each cycle (100ms)" },
	{ "interval", CTL_DURATION, offsetof(struct preempt_args, interval_ns), "TIME",
	  "let them run for that time in between (500ms)" },
	CTL_HOW_OPTION(struct preempt_args),
	{ "samples", CTL_FILE, offsetof(struct preempt_args, samples), "FILE",
	  "write the figures of each cycle to a file" },
	{ "verbose", CTL_FLAG, offsetof(struct preempt_args, verbose), NULL,
	  "a line for each cycle, as on a terminal" },
	CTL_QUEUE_OPTIONS(struct preempt_args),
	CTL_WAIT_OPTION(struct preempt_args),
	CTL_JSON_OPTION(struct preempt_args),
	{ 0 },
};

const struct ctl_command ctl_preempt = {
	.name = "preempt",
	.run = run_preempt,
	CTL_TARGET_ARGS(struct preempt_args),
	.min_words = 1,
	.usage = "TARGET",
	.command = "ONLINE-COMMAND...",
	.command_at = offsetof(struct preempt_args, command),
	.summary = "Suspend and resume a process repeatedly, and measure it.",
	.details = "Several targets are suspended and resumed together, each by its own thread.\n"
		   "There are figures for each target, and for all: from the release of the\n"
		   "threads to the return of the last call. Percentiles are nearest-rank, of all\n"
		   "samples. The first suspend is shown separately.\n"
		   "\n"
		   "With a command after \"--\" the queues are held until it ends, instead of\n"
		   "--hold. If its exit status is not 0, the run ends after that cycle with exit\n"
		   "status 1.\n"
		   "\n"
		   "Other processes on the same GPUs lose their slots for a moment. preempt\n"
		   "measures that by reading their slots all the time (needs gpreempt.ko).\n"
		   "\n"
		   "--how pause takes the whole process off all its GPUs by the driver's pause\n"
		   "for checkpoints, which needs no debug session; its ioctl_us is of two calls.\n"
		   "Two small processes (gpreempt-pause) undo it if the command is killed.\n"
		   "\n"
		   "Nothing stays behind: the queues run when the command ends, also after\n"
		   "Ctrl-C or with its terminal. It prints what it has measured until then.\n",
	.examples = "  gpreempt-ctl preempt comm:train --count 10 --hold 50ms\n"
		    "  gpreempt-ctl preempt comm:train --samples cycles.txt -- ./serve\n",
	.options = options,
	.defaults =
		&(const struct preempt_args){
			.count = 100,
			.hold_ns = 100 * NSEC_PER_MSEC,
			.interval_ns = 500 * NSEC_PER_MSEC,
		},
};
