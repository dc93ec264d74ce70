// SPDX-License-Identifier: LGPL-2.1-or-later
/* Are the queues of a paused process out of the hardware? */
#include <gpreempt/pause.h>
#include <gpreempt/view.h>

#include "lib/core/internal.h"

enum gpreempt_verdict gpreempt_pause_verify(struct gpreempt *g, pid_t pid,
					    size_t *queues)
{
	enum gpreempt_verdict verdict = GPREEMPT_VERIFIED;
	struct gpreempt_view *view;
	size_t i;

	if (gpreempt_view_read(g, pid, &view, NULL))
		return GPREEMPT_NOT_CHECKED;
	if (queues)
		*queues = view->count;
	if (!view->count)
		verdict = GPREEMPT_NOT_CHECKED;
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		/* A view that is older than the pause says nothing of it. */
		if (q->active > 0 || q->evicted == 0) {
			verdict = q->age_ms > 0 ? GPREEMPT_NOT_CHECKED :
						  GPREEMPT_CONTRADICTED;
			break;
		}
		if (q->active == GPREEMPT_UNKNOWN || q->evicted != 1 ||
		    q->age_ms > 0)
			verdict = GPREEMPT_NOT_CHECKED;
	}
	gpreempt_view_free(view);
	return verdict;
}
