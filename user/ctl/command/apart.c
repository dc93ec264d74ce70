// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <unistd.h>

#include "ctl/command/apart.h"
#include "shared/child.h"
#include "shared/syscall.h"

/* So many may hang; the others are not asked then. */
#define MAX_STUCK 8

/* The reader. If it hangs, it must not keep a pipe of ours open. */
static int ask_rest(void *arg)
{
	struct ctl_apart *work = arg;
	size_t i;

	shr_close_range(STDIN_FILENO, STDERR_FILENO);
	for (i = work->begun; i < work->count; i++) {
		atomic_store(&work->begun, i + 1);
		work->ask(work, i);
	}
	return EXIT_SUCCESS;
}

/* Behind one that hangs another reader goes on. */
void ctl_ask_apart(struct ctl_apart *work)
{
	size_t stuck, first;

	for (stuck = 0; stuck < MAX_STUCK && work->begun < work->count; stuck++) {
		first = work->begun;
		if (!shr_child_run(ask_rest, work, &work->begun, NULL, NULL))
			return;
		if (work->begun == first)
			break;
		work->silent(work, work->begun - 1);
	}
	while (work->begun < work->count)
		work->silent(work, work->begun++);
}
