// SPDX-License-Identifier: GPL-2.0-only
/* Names of containers and pods, from the files of container engines. */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "fuzz.h"
#include "lib/select/select.h"

#define FIRST_PID 77
#define LAST_PID  80

bool fuzz_one(const struct fuzz_input *in)
{
	char *text = malloc(in->len ? in->len : 1); /* its end is guarded */
	struct gp_container container;
	struct gpreempt *g;
	bool named = false;
	pid_t pid;

	memcpy(text, in->data, in->len);
	fuzz_files_take(text, in->len);
	if (fuzz_files_open(NULL, &g))
		abort();
	for (pid = FIRST_PID; pid <= LAST_PID; pid++) {
		if (gp_container(g, pid, &container))
			continue;
		if (strlen(container.name) >= sizeof(container.name) ||
		    !*container.pod != !*container.pod_namespace)
			abort();
		named |= *container.name;
	}
	gpreempt_free(g);
	free(text);
	return named;
}
