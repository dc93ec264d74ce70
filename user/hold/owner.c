// SPDX-License-Identifier: GPL-2.0-only
/* Owner of a target: opens it by a method, changes the method, and reports who it is. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "shared/cgroup.h"
#include "shared/util.h"
#include "owner.h"
#include "pause-owner.h"

/* Time between looks at a pause: another program can end it. */
#define LOOK_NS NSEC_PER_SEC

static void note_loss(void *data, const struct gpreempt_error *err)
{
	struct owner *o = data;

	if (o->lost)
		o->lost(o->data, err);
}

static int fail(struct owner *o, int code, const char *step)
{
	return ctl_set_error(&o->error, code, GPREEMPT_SYSTEM, o->target, step);
}

int owner_new(struct owner *o)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = heartbeat_busy,
		.data = o->heartbeat,
	};

	return o->g ? 0 : gpreempt_new(&options, &o->g);
}

/* Guard and follow suspend again: the next pause finds its helper process waiting. */
static void prepare(struct owner *o)
{
	struct gp_method_pause *p = &o->method.pause;

	if (!p->paused && o->as.role != HOLD_ROLE_HOLDER)
		gp_pause_ready(o->g, &p->ready);
}

/* Prepare the first pause: an entry in the journal, and a guardian. */
static int begin_pauses(struct owner *o)
{
	int ret;

	o->pause = (struct pause_owner){
		.target = o->target,
		.start = o->method.pause.start,
		.lock = o->lock,
		.guarded = o->guarded,
		.heartbeat = o->heartbeat,
	};
	ret = pause_owner_begin(&o->pause, &o->as);
	o->lock = o->pause.lock;
	if (!ret) {
		prepare(o);
		return 0;
	}
	o->method.ops->close(&o->method);
	return fail(o, ret,
		    o->pause.is_alone ? "starting the guardian of its pause" :
					"noting its pause in " HOLD_DIR);
}

static int try_open(struct owner *o, enum gpreempt_method method)
{
	int ret = owner_new(o);

	if (ret)
		return fail(o, ret, "setting up");
	o->in_use = method;
	o->method = (struct gp_method){
		.ops = gp_methods[method],
		.g = o->g,
		.pid = o->target,
		.keeper = { .lost = note_loss, .data = o },
	};
	ret = o->method.ops->open(&o->method);
	if (ret)
		o->error = o->method.error;
	return !ret && owner_is_paused(o) ? begin_pauses(o) : ret;
}

static int open_by(struct owner *o, enum gpreempt_method method, struct gpreempt_error *err)
{
	int ret = try_open(o, method);

	if (!ret)
		return 0;
	o->method.ops = NULL;
	gpreempt_free(o->g);
	o->g = NULL;
	*err = o->error;
	return ret;
}

/* Open by the other method, when the first one cannot serve. */
static int open_instead(struct owner *o, const struct gpreempt_error *because,
			struct gpreempt_error *err)
{
	bool paused = owner_is_paused(o);

	o->changed = true;
	if (!paused)
		o->why = *because;
	owner_close(o);
	return open_by(o, paused ? GPREEMPT_METHOD_DEBUG : GPREEMPT_METHOD_PAUSE, err);
}

/* Is that why a pause is refused on a process that can have a session? */
static bool session_can_serve(enum gpreempt_reason reason)
{
	switch (reason) {
	case GPREEMPT_KFD_CLOSED:
	case GPREEMPT_NO_PAUSE:
	case GPREEMPT_PAUSE_DENIED:
	case GPREEMPT_PAUSE_UNSAFE:
		return true;
	default:
		return false;
	}
}

static bool may_change(const struct owner *o, const struct gpreempt_error *err)
{
	if (o->how != GPREEMPT_HOW_AUTO || o->changed)
		return false;
	return owner_is_paused(o) ? session_can_serve(err->reason) : pause_can_serve(err->reason);
}

/*
 * Has this host a GPU on which a session costs the target something while it is open?
 * On gfx 11.0 the driver takes half of its compute units (kfd_dbg_has_cwsr_workaround()
 * in kfd_debug.h), and before gfx 11 all but 9.4.2 and later of gfx 9 can debug only
 * one process (kfd_dbg_is_per_vmid_supported()).
 */
static bool session_costs(struct gpreempt *g)
{
	struct gpreempt_nodes *nodes;
	bool costs = false;
	size_t i;

	if (gpreempt_nodes_read(g, &nodes, NULL))
		return false;
	for (i = 0; i < nodes->count; i++) {
		int64_t gfx = nodes->nodes[i].gfx;

		costs |= (gfx >= 90000 && gfx < 90010) || (gfx >= 100000 && gfx < 110100);
	}
	gpreempt_list_free(nodes);
	return costs;
}

int owner_check(struct gpreempt *g, pid_t target, enum gpreempt_how how, struct gpreempt_error *err)
{
	int ret;

	ret = how == GPREEMPT_HOW_PAUSE ? gp_method_pause_check(g, target, err) :
					  gpreempt_check(g, target, err);
	if (ret && how == GPREEMPT_HOW_AUTO && pause_can_serve(err->reason))
		ret = gp_method_pause_check(g, target, err);
	/* A session works on a paused process, but does not let it run at its end. */
	if (!ret && pause_is_seen(g, target))
		ret = ctl_set_error(err, -EBUSY, GPREEMPT_PAUSED, target, "looking at its queues");
	return ret;
}

/* A process that is stopped is often one that a debugger wants to trace. */
static bool pauses_first(struct owner *o)
{
	if (o->how != GPREEMPT_HOW_AUTO)
		return o->how == GPREEMPT_HOW_PAUSE;
	if (o->as.role == HOLD_ROLE_FOLLOW)
		return true;
	/* guard has its session open all the time. */
	return o->as.role == HOLD_ROLE_GUARD && !owner_new(o) && session_costs(o->g);
}

int owner_open(struct owner *o, struct gpreempt_error *err)
{
	int ret = open_by(o, pauses_first(o) ? GPREEMPT_METHOD_PAUSE : GPREEMPT_METHOD_DEBUG, err);

	return ret && may_change(o, err) ? open_instead(o, err, err) : ret;
}

static int find_off(struct owner *o, struct gpreempt_error *err)
{
	int ret = pause_find_off(o->g, o->target, err);

	o->was_off |= ret;
	return ret;
}

/* Another program, as criu dump, may have ended our pause and left the process off the GPU. */
static int judge_resume(struct owner *o, int ret)
{
	if (ret != -ENOTCONN || o->method.error.reason != GPREEMPT_UNPAUSED)
		return ret;
	ret = find_off(o, &o->method.error);
	if (!ret)
		note_loss(o, &o->method.error);
	return ret;
}

static int end_pauses(struct owner *o)
{
	struct gp_method_pause *p = &o->method.pause;
	int ret = p->paused ? owner_resume(o, NULL, NULL) : 0, end;

	end = pause_owner_end(&o->pause, !p->paused);
	o->lock = o->pause.lock;
	/* The guardian goes on with it. */
	p->paused = false;
	return ret && ret != -ESRCH ? ret : end;
}

int owner_close(struct owner *o)
{
	int ret = 0;

	if (!owner_is_open(o))
		return 0;
	if (owner_is_paused(o))
		ret = end_pauses(o);
	o->error = *owner_error(o);
	if (!ret && o->was_off)
		ret = find_off(o, &o->error);
	o->method.ops->close(&o->method);
	o->method.ops = NULL;
	o->method.keeper.session = NULL;
	gpreempt_free(o->g);
	o->g = NULL;
	return ret;
}

/* Time between looks for a stop of a paused target. */
#define STOP_LOOK_NS (50 * NSEC_PER_MSEC)

int owner_wait(const struct owner *o, const struct shr_freezer *freezer, struct pollfd *fds,
	       size_t n, uint64_t ns)
{
	struct timespec timeout = shr_timespec(freezer && owner_is_paused(o) ? STOP_LOOK_NS : ns);

	/* A session that cannot suspend becomes a pause, which has another descriptor. */
	fds[OWNER_TARGET] = (struct pollfd){
		.fd = owner_is_open(o) ? gp_method_fd(&o->method) : -1,
		.events = POLLIN,
	};
	fds[OWNER_FREEZER] = (struct pollfd){
		.fd = freezer ? freezer->events : -1,
		.events = POLLPRI,
	};
	return ppoll(fds, n, &timeout, NULL);
}

/*
 * Make a pause again that another program, such as criu dump, has ended; only gpreempt.ko sees
 * this. A session that another process ends is opened again in the same manner; while that
 * program traces the target, at the next look. Where the driver counts pauses, the target is off
 * the GPU for good then, and is left alone: one more would only be counted.
 */
static void keep_paused(struct owner *o)
{
	struct gp_method_pause *p = &o->method.pause;
	uint64_t now = shr_now_ns();
	struct gpreempt_error err;
	enum pause_seen seen;

	if (!p->paused || now < o->looked_ns + LOOK_NS)
		return;
	o->looked_ns = now;
	seen = pause_see(o->g, o->target);
	if (seen == PAUSE_SEEN_OFF && !o->off && find_off(o, &err))
		note_loss(o, &err);
	o->off = seen == PAUSE_SEEN_OFF;
	if (seen != PAUSE_SEEN_RUNS) {
		o->unpaused = false;
		return;
	}
	ctl_set_error(&err, -ENOTCONN, GPREEMPT_UNPAUSED, o->target, "looking at its queues");
	if (!o->unpaused)
		note_loss(o, &err);
	o->unpaused = true;
	p->paused = false;
	o->method.ops->suspend(&o->method, NULL, &(struct gpreempt_outcome){ 0 });
	/* This stands until a resume or a look finds otherwise. */
	p->paused = true;
}

int owner_dispatch(struct owner *o)
{
	int ret;

	if (!owner_is_open(o))
		return o->error.code;
	/* Forget the error of a call that the caller tries again. */
	if (owner_is_paused(o))
		o->method.error = (struct gpreempt_error){ 0 };
	ret = o->method.ops->dispatch(&o->method);
	if (ret || !owner_is_paused(o))
		return ret;
	keep_paused(o);
	ret = pause_owner_renew(&o->pause);
	if (ret) {
		fail(o, ret, "starting the guardian of its pause");
		o->method.error = o->error;
	}
	return ret;
}

size_t queues_of(struct gpreempt *g, pid_t target)
{
	struct gpreempt_view *view;
	size_t n;

	if (gpreempt_view_read(g, target, &view, NULL))
		return 0;
	n = view->count;
	gpreempt_list_free(view);
	return n;
}

/* Suspend or resume: queues of a session, or the whole process by a pause. */
static int change(struct owner *o, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out, bool suspend)
{
	const struct gp_method_ops *ops = o->method.ops;
	struct gpreempt_outcome unused = { 0 };
	int ret;

	if (owner_is_paused(o) && o->method.pause.paused == suspend)
		return 0;
	if (owner_is_paused(o))
		which = NULL;
	if (!out)
		out = &unused;
	ret = suspend ? ops->suspend(&o->method, which, out) : ops->resume(&o->method, which, out);
	if (!owner_is_paused(o))
		return ret;
	/* The driver may have restored the queues after its error, or not. */
	if (suspend && ret)
		find_off(o, &o->method.error);
	if (!suspend) {
		ret = judge_resume(o, ret);
		prepare(o);
	}
	/* Count the queues after the call, so that online work does not wait for it. */
	if (!ret && out != &unused)
		out->requested = out->done = queues_of(o->g, o->target);
	return ret;
}

int owner_suspend(struct owner *o, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	struct gpreempt_error err;
	int ret;

	if (!owner_is_open(o))
		return o->error.code;
	ret = change(o, which, out, true);
	/*
	 * The driver enables the runtime of no process that has a queue: one that has
	 * queues and no runtime will never have it.
	 */
	if (!ret || !may_change(o, owner_error(o)) || !queues_of(o->g, o->target))
		return ret;
	err = *owner_error(o);
	ret = open_instead(o, &err, &err);
	return ret ? ret : change(o, which, out, true);
}

int owner_resume(struct owner *o, const struct gpreempt_filter *which, struct gpreempt_outcome *out)
{
	return owner_is_open(o) ? change(o, which, out, false) : o->error.code;
}

/*
 * Has job control stopped that process? The states of its threads in /proc show it: one that has
 * ended shows nothing. False if they cannot be read.
 */
static bool process_is_stopped(pid_t pid)
{
	const struct dirent *entry;
	char path[32], text[128];
	const char *state = NULL;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	/* Look at one thread that lives: job control stops all of them, or none. */
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		shr_read_start(text, sizeof(text), "%s/%.16s/stat", path, entry->d_name);
		state = shr_stat_state(text);
		if (state && !strchr("ZX", *state))
			break;
	}
	closedir(dir);
	return state && *state == 'T';
}

bool owner_is_stopped(const struct owner *o)
{
	if (!owner_is_open(o))
		return false;
	return owner_is_paused(o) ? process_is_stopped(o->target) :
				    o->method.keeper.session->stopped;
}

/* Returns the error, also after a failed change of the method, with nothing open. */
const struct gpreempt_error *owner_error(const struct owner *o)
{
	return owner_is_open(o) ? gp_method_error(&o->method) : &o->error;
}
