// SPDX-License-Identifier: GPL-2.0-only
#include "agent/session-owner.h"

int session_owner_new(struct session_owner *o)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = heartbeat_busy,
		.data = o->heartbeat,
	};

	return o->g ? 0 : gpreempt_new(&options, &o->g);
}

int session_owner_open(struct session_owner *o, struct gpreempt_error *err)
{
	int ret = session_owner_new(o);

	if (!ret)
		return gpreempt_session_open(o->g, o->target,
					     &o->keeper.session, err);
	*err = (struct gpreempt_error){
		.code = ret,
		.reason = GPREEMPT_SYSTEM,
		.pid = o->target,
		.step = "setting up",
	};
	return ret;
}

void session_owner_close(struct session_owner *o)
{
	gpreempt_session_close(o->keeper.session);
	o->keeper.session = NULL;
	gpreempt_free(o->g);
	o->g = NULL;
}
