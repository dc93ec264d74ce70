// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/top/gather.h"
#include "ctl/top/top.h"
#include "output/message.h"

int top_refresh(struct top *t, struct gpreempt_error *err)
{
	int ret = ctl_sampler_refresh(&t->sampler, err);

	if (ret)
		return ret;
	ret = top_gather(&t->model, &t->sampler);
	if (!ret && t->view.mode == TOP_MODE_DETAILS)
		ret = top_gather_queues(&t->model, t->sampler.g, t->view.pid);
	if (!ret)
		ret = top_view_settle(&t->view, &t->model);
	return ret ? ctl_set_error(err, ret, GPREEMPT_SYSTEM, 0, "keeping what was seen") : 0;
}
