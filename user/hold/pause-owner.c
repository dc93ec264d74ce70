// SPDX-License-Identifier: GPL-2.0-only
/* Owner of a pause: entry, guardian, and repair of a pause that was left over. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpreempt/gpreempt.h>

#include "cli/message.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "escape.h"
#include "pause-owner.h"
#include "run-dir.h"

/* Close the guardian's descriptor: it sees that and ends; until then it has the lock. */
static void close_guardian(struct pause_owner *o)
{
	if (o->guardian > 0)
		close(o->guardian);
	o->guardian = 0;
	hold_drop(o->target, o->lock);
	o->lock = -1;
}

static int start_guardian(struct pause_owner *o)
{
	int ret =
		pause_guardian_start(o->lock, o->target, o->start, o->heartbeat, &o->guardian_pid);

	o->is_alone = ret < 0;
	if (ret < 0)
		return ret;
	o->guardian = ret;
	return 0;
}

int pause_owner_renew(struct pause_owner *o)
{
	if (!o->is_noted || o->guarded || !shr_readable(o->guardian, 0))
		return 0;
	close(o->guardian);
	o->guardian = 0;
	return start_guardian(o);
}

/* Begin with the guardian: without one, the entry of an owner that is killed would stay. */
int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as)
{
	struct pause_entry entry;
	int ret = 0;

	if (!o->guarded) {
		ret = start_guardian(o);
		if (!ret)
			ret = hold_write_owner(o->lock, as);
	}
	pause_entry_init(&entry, o->target, o->start);
	if (!ret)
		ret = pause_journal_write(&entry);
	o->is_noted = !ret;
	if (ret && !o->guarded)
		close_guardian(o);
	return ret;
}

int pause_owner_end(struct pause_owner *o, bool runs)
{
	int ret = 0;

	if (!o->is_noted)
		return 0;
	o->is_noted = false;
	if (runs)
		ret = pause_journal_remove(o->target);
	if (!o->guarded)
		close_guardian(o);
	return ret;
}

#define TITLE "gpreempt-pause"
/* Longest time until the guardian is there. */
#define START_NS (20 * NSEC_PER_SEC)

struct guardian {
	pid_t target;
	uint64_t start;
	int lock;
	int process; /* pidfd of the target */
	int owner;   /* pidfd of the process that pauses it */
	int fd;	     /* to that process */
	struct watchdog watchdog;
	struct gpreempt *g;
};

static int prepare(struct guardian *gd)
{
	int ret = gpreempt_new(NULL, &gd->g);

	if (!ret)
		ret = watchdog_start(&gd->watchdog);
	/* Memory that is paged out could block the end of a pause. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	return ret;
}

/*
 * Watch until the owner or the target has ended, or the entry is gone. An owner that closes the
 * descriptor has removed the entry, or makes no more ioctl.
 */
static void watch(const struct guardian *gd)
{
	struct pollfd fds[] = {
		{ .fd = gd->process, .events = POLLIN },
		{ .fd = gd->fd, .events = POLLIN },
	};
	struct pause_entry e;

	do {
		watchdog_pet(&gd->watchdog, HEARTBEAT_WATCH_NS);
	} while (poll(fds, 2, HEARTBEAT_TICK_NS / NSEC_PER_MSEC) <= 0);
	/* The ioctls of the owner end with the last of its threads. */
	while (pause_journal_read(gd->target, &e) != -ENOENT && !shr_readable(gd->owner, 0) &&
	       !shr_readable(gd->process, 0)) {
		watchdog_pet(&gd->watchdog, HEARTBEAT_WATCH_NS);
		shr_sleep_ns(HEARTBEAT_TICK_NS);
	}
}

__attribute__((noreturn)) static void become(struct guardian *gd)
{
	int *const kept[] = { &gd->lock, &gd->fd, &gd->process, &gd->owner };
	const char *step;
	bool cgroup;
	pid_t self;

	/* A child of init: the owner has no child that it could wait for. */
	if (fork())
		_exit(0);
	self = getpid();
	if (hold_become(kept, ARRAY_SIZE(kept), &cgroup, &step) || prepare(gd) ||
	    send(gd->fd, &self, sizeof(self), MSG_NOSIGNAL) < 0)
		_exit(1);
	shr_title_set(TITLE, TITLE ": guardian of %d", gd->target);
	watch(gd);
	guardian_end(gd->g, gd->target, gd->start, gd->lock, &gd->watchdog);
}

/* The caller's watchdog must not end it meanwhile. */
static int wait_for_start(int fd, struct heartbeat *heartbeat, pid_t *pid)
{
	uint64_t end = shr_now_ns() + START_NS;
	bool ready;

	do {
		if (heartbeat)
			heartbeat_beat(heartbeat);
		ready = shr_readable(fd, HEARTBEAT_TICK_NS / NSEC_PER_MSEC);
	} while (!ready && shr_now_ns() < end);
	if (!ready || recv(fd, pid, sizeof(*pid), 0) != sizeof(*pid))
		return -ECHILD;
	return 0;
}

static int start(struct guardian *gd)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		become(gd);
	if (child < 0)
		return -errno;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int pause_guardian_start(int lock, pid_t target, uint64_t since, struct heartbeat *heartbeat,
			 pid_t *pid)
{
	__cleanup_fd int process = shr_pidfd_open(target);
	__cleanup_fd int owner = process < 0 ? -1 : shr_pidfd_open(getpid());
	struct guardian gd = {
		.target = target,
		.start = since,
		.lock = lock,
		.process = process,
		.owner = owner,
	};
	int fds[2], ret;

	if (owner < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	gd.fd = fds[1];
	ret = start(&gd);
	close(fds[1]);
	if (!ret)
		ret = wait_for_start(fds[0], heartbeat, pid);
	if (!ret)
		return fds[0];
	close(fds[0]);
	return ret;
}

/* Time between two tries to undo a pause that was left over. */
#define RETRY_NS (100 * NSEC_PER_MSEC)

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
	seen = gp_view_paused(view);
	gpreempt_list_free(view);
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
		seen = gp_view_paused(view) ? PAUSE_SEEN_PAUSED :
		       evicted		    ? PAUSE_SEEN_OFF :
					      PAUSE_SEEN_RUNS;
	gpreempt_list_free(view);
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

	/* gp_unpause() takes a process that was never paused as success. */
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

/* Undo the pause. False: try again. The watchdog is set for as long as an ioctl can take. */
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
	 * Try again while a debugger traces the target. After an error of the driver the user
	 * has to look first: the entry stays for repair.
	 */
	return !ret || err.reason == GPREEMPT_PAUSE_FAILED;
}

void guardian_end(struct gpreempt *g, pid_t target, uint64_t start, int lock,
		  const struct watchdog *w)
{
	while ((g || !gpreempt_new(NULL, &g)) && !undo_now(g, target, start, w)) {
		watchdog_pet(w, HEARTBEAT_WATCH_NS);
		shr_sleep_ns(RETRY_NS);
	}
	hold_drop(target, lock);
	hold_cgroup_leave();
	_exit(0);
}

/* The caller has just taken the lock; the entry may have changed. */
static void repair_locked(struct gpreempt *g, struct pause_report *r)
{
	pid_t target = r->found.pid;

	hold_look_locked(g, target, &r->found);
	r->code = r->found.code;
	if (r->found.finding == PAUSE_WAITS)
		r->code = pause_undo(g, &r->found.entry, NULL, &r->err);
	else if (r->found.finding == PAUSE_STALE)
		r->code = pause_journal_remove(target);
	else
		return;
	r->repaired = !r->code;
}

void pause_repair(struct gpreempt *g, pid_t target, bool look_only, struct pause_report *out)
{
	struct hold_owner owner = { .pid = getpid() };
	int lock;

	*out = (struct pause_report){ 0 };
	hold_look(g, target, &out->found);
	out->code = out->found.code;
	if (look_only || (out->found.finding != PAUSE_WAITS && out->found.finding != PAUSE_STALE))
		return;
	lock = hold_take(target, &owner);
	if (lock == -EWOULDBLOCK) {
		/* A stale entry is no harm; the next repair removes it. */
		out->found.finding = PAUSE_ANSWERED;
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
	const struct pause_entry *entry;
	struct pause_report r;
	char text[512];

	pause_repair(g, target, false, &r);
	entry = &r.found.entry;
	if (r.found.finding == PAUSE_WAITS && r.repaired) {
		ctl_note("process %d was left paused by %s (%d), which has "
			 "ended; its queues run again",
			 target, entry->comm, entry->by);
	} else if (r.found.finding == PAUSE_WAITS) {
		gpreempt_error_text(&r.err, text, sizeof(text));
		ctl_note("process %d was left paused by %s (%d), which has "
			 "ended; it cannot be repaired now: %s; see: gpreempt-ctl repair",
			 target, entry->comm, entry->by, r.err.code ? text : strerror(-r.code));
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

/* Check a target whose lock we have. 0, or the reason why it is not free. */
static int check_free(pid_t target)
{
	struct hold_state r;
	struct gpreempt *g;
	int ret;

	if (pause_journal_read(target, &r.entry) == -ENOENT)
		return 0;
	ret = gpreempt_new(NULL, &g);
	if (ret)
		return ret;
	hold_look_locked(g, target, &r);
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
	uint64_t deadline = 0;
	int lock;

	do {
		lock = hold_take(target, &owner);
	} while (lock == -EWOULDBLOCK && is_passing(target) && hold_retry(&deadline));
	return lock;
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
