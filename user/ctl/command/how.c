// SPDX-License-Identifier: GPL-2.0-only
/* --how: by which way a process is taken off the GPU. */
#include "ctl/command/ctl.h"

static const char *part_option(const struct ctl_queue_args *queues)
{
	return queues->ids.n	    ? "--queues" :
	       queues->priority.set ? "--priority" :
	       queues->gpus.n	    ? "--gpu" :
				      NULL;
}

bool ctl_is_part(const struct ctl_queue_args *queues)
{
	return part_option(queues);
}

int ctl_check_how(enum gpreempt_how how, const struct ctl_queue_args *queues)
{
	const char *option = part_option(queues);

	if (how != GPREEMPT_HOW_PAUSE || !option)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE,
			     "--how debug suspends a part of a process",
			     "%s: not with --how pause, which takes all "
			     "queues of a process off all its GPUs",
			     option);
}
