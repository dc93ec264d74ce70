// SPDX-License-Identifier: GPL-2.0-only
/* Which queues a holder is asked for. */
#include <string.h>

#include "ctl/command/hold-request.h"
#include "shared/list.h"

void ctl_hold_request(struct hold_request *request,
		      const struct ctl_queue_args *args)
{
	size_t i;

	if (args->ids.n)
		memcpy(request->ids, args->ids.id,
		       args->ids.n * sizeof(*args->ids.id));
	request->count = args->ids.n;
	/* A packet has no number twice. */
	for (i = 0; i < args->gpus.n; i++)
		if (request->n_gpus < HOLD_MAX_GPUS &&
		    !shr_has(request->gpus, request->n_gpus, args->gpus.id[i]))
			request->gpus[request->n_gpus++] = args->gpus.id[i];
	request->by_priority = args->priority.set;
	request->priority_min = args->priority.min;
	request->priority_max = args->priority.max;
}
