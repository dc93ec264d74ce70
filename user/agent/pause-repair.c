// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/heartbeat.h"
#include "agent/holder-lock.h"
#include "agent/pause-repair.h"
#include "output/message.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* How long another command may have the lock that undoes or makes a pause. */
#define LOCK_NS	      (5 * NSEC_PER_SEC)
#define LOCK_PAUSE_NS (5 * NSEC_PER_MSEC)
/* How often what is left of an owner tries to undo its pause. */
#define UNDO_AGAIN_NS (100 * NSEC_PER_MSEC)

/* All but the lock: one without a lease is never said to wait. */
static enum pause_finding judge(struct gpreempt *g, pid_t target, struct pause_report *r)
{
	struct gpreempt_error err;
	uint64_t start;
	int ret;

	r->pid = target;
	ret = pause_journal_read(target, &r->entry);
	if (ret == -ENOENT)
		return PAUSE_NONE;
	if (ret == -ESTALE)
		return PAUSE_STALE;
	if (ret == -EPROTO)
		return PAUSE_DAMAGED;
	if (!ret)
		ret = gpreempt_start_time(g, target, &start);
	/* The number is another process's by now. */
	if (!ret && start != r->entry.start)
		ret = -ESRCH;
	/* In a container, numbers and start times of processes are others. */
	if (ret == -ESRCH && ctl_is_host(g, &err))
		return PAUSE_STALE;
	if (ret == -ESRCH)
		ret = -EXDEV;
	if (ret) {
		r->code = ret;
		return PAUSE_UNREAD;
	}
	return r->entry.state == PAUSE_KEPT ? PAUSE_IS_KEPT : PAUSE_WAITS;
}

void pause_look_locked(struct gpreempt *g, pid_t target, struct pause_report *out)
{
	*out = (struct pause_report){ 0 };
	out->finding = judge(g, target, out);
}

void pause_look(struct gpreempt *g, pid_t target, struct pause_report *out)
{
	struct hold_owner owner;

	pause_look_locked(g, target, out);
	/* A lock lasts as long as the last process that has it. */
	if (out->finding == PAUSE_WAITS && hold_read_owner(target, &owner) != -ENOENT)
		out->finding = PAUSE_ANSWERED;
}

bool pause_can_serve(enum gpreempt_reason reason)
{
	switch (reason) {
	case GPREEMPT_KFD_VERSION:
	case GPREEMPT_NO_HWS:
	case GPREEMPT_GPU_OLD:
	case GPREEMPT_RUNTIME_OFF:
	case GPREEMPT_RUNTIME_BUSY:
	case GPREEMPT_NO_ADDRESS_SPACE: /* a pause checks it where it matters */
	case GPREEMPT_CONTEXTS:
		return true;
	default:
		return false;
	}
}

bool pause_is_seen(struct gpreempt *g, pid_t target)
{
	struct gpreempt_view *view;
	bool seen;

	if (gpreempt_view_read(g, target, &view, NULL))
		return false;
	seen = gpreempt_view_paused(view);
	gpreempt_view_free(view);
	return seen;
}

enum pause_seen pause_see(struct gpreempt *g, pid_t target)
{
	enum pause_seen seen = PAUSE_SEEN_UNKNOWN;
	struct gpreempt_view *view;
	bool evicted = false;
	size_t i;

	if (gpreempt_view_read(g, target, &view, NULL))
		return seen;
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		if (q->evicted == GPREEMPT_UNKNOWN || q->state == GPREEMPT_UNKNOWN || q->age_ms > 0)
			break;
		evicted |= q->evicted > 0;
	}
	if (view->count && i == view->count)
		seen = gpreempt_view_paused(view) ? PAUSE_SEEN_PAUSED :
		       evicted			  ? PAUSE_SEEN_OFF :
						    PAUSE_SEEN_RUNS;
	gpreempt_view_free(view);
	return seen;
}

int pause_find_off(struct gpreempt *g, pid_t target, struct gpreempt_error *err)
{
	if (pause_see(g, target) != PAUSE_SEEN_OFF)
		return 0;
	ctl_set_error(err, -EIO, GPREEMPT_PAUSE_OFF, target, "looking at its queues");
	gp_pause_name_left(g, target, err);
	return -EIO;
}

int pause_undo(struct gpreempt *g, const struct pause_entry *e, struct gp_pause_report *report,
	       struct gpreempt_error *err)
{
	int ret;

	/* One that was never paused is no error. */
	ret = gp_unpause(g, e->pid, e->start, report, err);
	if (ret && gpreempt_error_class(err) != GPREEMPT_CLASS_NO_TARGET &&
	    (err->reason != GPREEMPT_PAUSE_FAILED || pause_see(g, e->pid) != PAUSE_SEEN_RUNS))
		return ret;
	ret = pause_journal_remove(e->pid);
	if (ret)
		return ctl_set_error(err, ret, GPREEMPT_SYSTEM, e->pid,
				     "removing its entry in " HOLD_DIR);
	return pause_find_off(g, e->pid, err);
}

/* False: try again. The watchdog is set for as long as an ioctl can take. */
static bool undo_now(struct gpreempt *g, pid_t target, uint64_t start, const struct watchdog *w)
{
	struct gpreempt_error err;
	struct pause_entry e;
	int ret = pause_journal_read(target, &e);

	if (ret == -ENOENT || ret == -ESTALE)
		return true;
	if (ret) /* no descriptor is free just now, for one */
		return false;
	if (e.start != start)
		return true;
	watchdog_pet(w, HEARTBEAT_BUSY_NS);
	ret = pause_undo(g, &e, NULL, &err);
	/*
	 * While a debugger traces the target, try again. After an error of the driver
	 * the user has to look first: the entry stays for repair.
	 */
	return !ret || err.reason == GPREEMPT_PAUSE_FAILED;
}

void pause_undo_left(struct gpreempt *g, pid_t target, uint64_t start, const struct watchdog *w)
{
	while (!undo_now(g, target, start, w)) {
		watchdog_pet(w, HEARTBEAT_WATCH_NS);
		shr_sleep_ns(UNDO_AGAIN_NS);
	}
}

/* The caller has just taken the lock; the entry may have changed. */
static void repair_locked(struct gpreempt *g, struct pause_report *r)
{
	r->finding = judge(g, r->pid, r);
	if (r->finding == PAUSE_WAITS)
		r->code = pause_undo(g, &r->entry, NULL, &r->err);
	else if (r->finding == PAUSE_STALE)
		r->code = pause_journal_remove(r->pid);
	else
		return;
	r->repaired = !r->code;
}

void pause_repair(struct gpreempt *g, pid_t target, struct pause_report *out)
{
	struct hold_owner owner = { .pid = getpid() };
	int lock;

	pause_look(g, target, out);
	if (out->finding != PAUSE_WAITS && out->finding != PAUSE_STALE)
		return;
	lock = hold_take(target, &owner);
	if (lock == -EWOULDBLOCK) {
		/* A stale one is no harm; the next repair removes it. */
		out->finding = PAUSE_ANSWERED;
		return;
	}
	if (lock < 0) {
		out->code = lock;
		return;
	}
	repair_locked(g, out);
	hold_drop(target, lock);
}

int pause_repair_target(void *g, pid_t target)
{
	struct pause_report r;
	char text[512];

	pause_repair(g, target, &r);
	if (r.finding == PAUSE_WAITS && r.repaired) {
		ctl_note("process %d was left paused by %s (%d), which has "
			 "ended; its queues run again",
			 target, r.entry.comm, r.entry.by);
	} else if (r.finding == PAUSE_WAITS) {
		gpreempt_error_text(&r.err, text, sizeof(text));
		ctl_note("process %d was left paused by %s (%d), which has "
			 "ended; it cannot be repaired now: %s; see: "
			 "gpreempt-ctl repair",
			 target, r.entry.comm, r.entry.by, r.err.code ? text : strerror(-r.code));
	}
	return 0;
}

void pause_repair_all(struct gpreempt *g)
{
	pause_journal_list(pause_repair_target, g);
}

void pause_repair_early(void)
{
	struct gpreempt *g;

	if (gpreempt_new(NULL, &g))
		return;
	pause_repair_all(g);
	gpreempt_free(g);
}

/* Of a target whose lock we have. 0, or why it is not free. */
static int check_free(pid_t target)
{
	struct pause_report r;
	struct gpreempt *g;
	int ret;

	if (pause_journal_read(target, &r.entry) == -ENOENT)
		return 0;
	ret = gpreempt_new(NULL, &g);
	if (ret)
		return ret;
	pause_look_locked(g, target, &r);
	gpreempt_free(g);
	switch (r.finding) {
	case PAUSE_NONE:
	case PAUSE_STALE:
		return 0;
	case PAUSE_UNREAD:
		return r.code;
	case PAUSE_DAMAGED:
		return -EPROTO;
	default:
		return -EALREADY;
	}
}

/* Has it a command that is about to end, or no process any more? */
static bool is_passing(pid_t target)
{
	struct hold_owner owner;
	int ret = hold_read_owner(target, &owner);

	return ret == -ENOENT || (!ret && owner.role == HOLD_ROLE_NONE);
}

int pause_lock(pid_t target)
{
	struct hold_owner owner = { .pid = getpid() };
	uint64_t deadline = shr_now_ns() + LOCK_NS;
	int lock;

	for (;;) {
		lock = hold_take(target, &owner);
		if (lock != -EWOULDBLOCK || shr_now_ns() > deadline || !is_passing(target))
			return lock;
		shr_sleep_ns(LOCK_PAUSE_NS);
	}
}

int pause_take(pid_t target, const struct hold_owner *owner)
{
	int lock, ret;

	lock = owner->role == HOLD_ROLE_NONE ? pause_lock(target) : hold_take(target, owner);
	if (lock < 0)
		return lock;
	ret = check_free(target);
	if (!ret)
		return lock;
	hold_drop(target, lock);
	return ret;
}
