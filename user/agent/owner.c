// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include <gpreempt/view.h>

#include "agent/owner.h"
#include "agent/pause-repair.h"

static void note_loss(void *data, const struct gpreempt_error *err)
{
	struct owner *o = data;

	if (o->lost)
		o->lost(o->data, err);
}

static int open_session(struct owner *o, struct gpreempt_error *err)
{
	int ret;

	o->session.keeper =
		(struct gpreempt_keeper){ .lost = note_loss, .data = o };
	ret = session_owner_open(&o->session, err);
	if (ret)
		session_owner_close(&o->session);
	return ret;
}

static int close_session(struct owner *o)
{
	session_owner_close(&o->session);
	return 0;
}

static int session_fd(const struct owner *o)
{
	return gpreempt_session_fd(o->session.keeper.session);
}

static int dispatch_session(struct owner *o)
{
	return gpreempt_keeper_dispatch(&o->session.keeper);
}

static int suspend_session(struct owner *o, const struct gpreempt_filter *which,
			   struct gpreempt_outcome *out)
{
	return gpreempt_keeper_suspend(&o->session.keeper, which, out);
}

static int resume_session(struct owner *o, const struct gpreempt_filter *which,
			  struct gpreempt_outcome *out)
{
	return gpreempt_keeper_resume(&o->session.keeper, which, out);
}

static bool session_is_stopped(const struct owner *o)
{
	return gpreempt_session_stopped(o->session.keeper.session);
}

static const struct gpreempt_error *session_error(const struct owner *o)
{
	return gpreempt_session_error(o->session.keeper.session);
}

static const struct owner_ops session_ops = {
	.open = open_session,
	.close = close_session,
	.fd = session_fd,
	.dispatch = dispatch_session,
	.suspend = suspend_session,
	.resume = resume_session,
	.is_stopped = session_is_stopped,
	.error = session_error,
};

static int open_by(struct owner *o, enum gpreempt_route route,
		   struct gpreempt_error *err)
{
	static const struct owner_ops *const ops[GPREEMPT_ROUTES] = {
		[GPREEMPT_ROUTE_DEBUG] = &session_ops,
		[GPREEMPT_ROUTE_PAUSE] = &owner_pause_ops,
	};
	int ret = ops[route]->open(o, err);

	o->route = route;
	o->ops = ret ? NULL : ops[route];
	return ret;
}

/* By the other way, when the first one cannot serve. */
static int open_instead(struct owner *o, const struct gpreempt_error *because,
			struct gpreempt_error *err)
{
	bool pause = o->route == GPREEMPT_ROUTE_DEBUG;

	o->changed = true;
	if (pause)
		o->why = *because;
	owner_close(o);
	return open_by(o, pause ? GPREEMPT_ROUTE_PAUSE : GPREEMPT_ROUTE_DEBUG,
		       err);
}

static bool may_change(const struct owner *o, const struct gpreempt_error *err)
{
	if (o->how != GPREEMPT_HOW_AUTO || o->changed)
		return false;
	return o->route == GPREEMPT_ROUTE_DEBUG ?
		       pause_can_serve(err->reason) :
		       session_can_serve(err->reason);
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

		costs |= (gfx >= 90000 && gfx < 90010) ||
			 (gfx >= 100000 && gfx < 110100);
	}
	gpreempt_nodes_free(nodes);
	return costs;
}

int owner_check(struct gpreempt *g, pid_t target, enum gpreempt_how how,
		struct gpreempt_error *err)
{
	int ret;

	if (how == GPREEMPT_HOW_PAUSE)
		return gpreempt_pause_check(g, target, err);
	ret = gpreempt_check(g, target, err);
	if (ret && how == GPREEMPT_HOW_AUTO && pause_can_serve(err->reason))
		ret = gpreempt_pause_check(g, target, err);
	return ret;
}

/* A process that is stopped is often one that a debugger wants to trace. */
static bool pauses_first(struct owner *o)
{
	if (o->how != GPREEMPT_HOW_AUTO)
		return o->how == GPREEMPT_HOW_PAUSE;
	if (o->as.role == HOLD_ROLE_FOLLOW)
		return true;
	/* guard has it open all the time. */
	return o->as.role == HOLD_ROLE_GUARD &&
	       !session_owner_new(&o->session) && session_costs(o->session.g);
}

int owner_open(struct owner *o, struct gpreempt_error *err)
{
	int ret;

	o->session.target = o->target;
	o->session.heartbeat = o->heartbeat;
	ret = open_by(o,
		      pauses_first(o) ? GPREEMPT_ROUTE_PAUSE :
					GPREEMPT_ROUTE_DEBUG,
		      err);
	if (ret && may_change(o, err))
		ret = open_instead(o, err, err);
	return ret;
}

int owner_close(struct owner *o)
{
	int ret = o->ops ? o->ops->close(o) : 0;

	o->ops = NULL;
	return ret;
}

int owner_fd(const struct owner *o)
{
	return o->ops ? o->ops->fd(o) : -1;
}

int owner_dispatch(struct owner *o)
{
	return o->ops ? o->ops->dispatch(o) : o->pause.error.code;
}

/*
 * The driver enables the runtime of no process that has a queue: one that has queues
 * and no runtime will never have it.
 */
static bool has_queues(const struct owner *o)
{
	struct gpreempt_view *view;
	size_t n;

	if (gpreempt_view_read(o->session.g, o->target, &view, NULL))
		return false;
	n = view->count;
	gpreempt_view_free(view);
	return n;
}

int owner_suspend(struct owner *o, const struct gpreempt_filter *which,
		  struct gpreempt_outcome *out)
{
	struct gpreempt_error err;
	int ret;

	if (!o->ops)
		return o->pause.error.code;
	ret = o->ops->suspend(o, which, out);
	if (!ret || !may_change(o, owner_error(o)) || !has_queues(o))
		return ret;
	err = *owner_error(o);
	ret = open_instead(o, &err, &o->pause.error);
	return ret ? ret : o->ops->suspend(o, which, out);
}

int owner_resume(struct owner *o, const struct gpreempt_filter *which,
		 struct gpreempt_outcome *out)
{
	return o->ops ? o->ops->resume(o, which, out) : o->pause.error.code;
}

bool owner_is_stopped(const struct owner *o)
{
	return o->ops && o->ops->is_stopped(o);
}

/* Also after a failed change of the way, with nothing open. */
const struct gpreempt_error *owner_error(const struct owner *o)
{
	return o->ops ? o->ops->error(o) : &o->pause.error;
}
