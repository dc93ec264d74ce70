// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-ctl trial's readers: its state file, and --stages. */
#include <stdlib.h>
#include <string.h>

#include "trial/trial.h"

#include "fuzz.h"

bool fuzz_one(const struct fuzz_input *in)
{
	unsigned int open = 0, stages = 0;
	bool taken = !trial_state_parse((const char *)in->data, in->len, &open);
	char *text = malloc(in->len + 1); /* its end is guarded */

	memcpy(text, in->data, in->len);
	text[in->len] = '\0';
	if (!trial_parse_stages(text, &stages) && !stages)
		abort();
	if ((open | stages) >> TRIAL_STAGES)
		abort();
	free(text);
	return taken;
}
