// SPDX-License-Identifier: GPL-2.0-only
/* The reader of the kernel's log. */
#include <stdlib.h>
#include <string.h>

#include "ctl/klog.h"
#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	struct klog *k = calloc(1, sizeof(*k));
	/* Its end is guarded. */
	char *text = malloc(in->len ? in->len : 1), advice[512];
	size_t i, sum = 0;
	bool taken;

	memcpy(text, in->data, in->len);
	klog_feed(k, text, in->len);
	klog_end(k);
	for (i = 0; i < k->events.count; i++)
		sum += k->events.items[i].count;
	if (k->driver_lines > k->lines || sum + k->left_out > (size_t)k->driver_lines)
		abort();
	for (i = 0; i <= k->n_gpus; i++)
		if (k->gpus[i].lost < 0 ||
		    (klog_text(&k->gpus[i], advice, sizeof(advice)) && strlen(advice) >= 256))
			abort();
	taken = k->events.count;
	klog_free(k);
	free(k);
	free(text);
	return taken;
}
