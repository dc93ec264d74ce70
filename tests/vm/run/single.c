// SPDX-License-Identifier: GPL-2.0-only
/* One command, or a shell: its output here, its exit status ours. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

static FILE *log_file(const struct vm *vm)
{
	char path[PATH_MAX + 16];

	make_dirs(vm->dir);
	snprintf(path, sizeof(path), "%s/kernel.log", vm->dir);
	return fopen(path, "we");
}

static int status_of(const struct outcome *o, int timeout)
{
	switch (o->verdict) {
	case V_EXIT:
		return o->number;
	case V_SIGNAL:
		return 128 + o->number;
	case V_TIMEOUT:
		complain("not done after %d s", timeout);
		return 124;
	default:
		complain("%s", o->text);
		return 125;
	}
}

int single_run(struct bench *b, const struct job *wanted)
{
	char kept[PATH_MAX];
	struct vm vm = { .pid = 0 };
	struct job job = *wanted;
	struct outcome o;
	int status;

	snprintf(vm.dir, sizeof(vm.dir), "%s/command", b->run);
	job.log = log_file(&vm);
	if (job.tty) {
		if (tty_raw())
			die("a shell needs a terminal; CMD='...' runs a command");
		fputs("vm: exit or Ctrl-D ends the shell, Ctrl-] the machine\r\n",
		      stderr);
	}
	guest_run(&vm, b, &job, &o);
	tty_restore();
	if (job.log)
		fclose(job.log);
	status = status_of(&o, job.timeout);
	snprintf(kept, sizeof(kept), "%s/vm/command", b->build);
	remove_tree(kept);
	if (!rename(vm.dir, kept) && o.verdict != V_EXIT)
		complain("logs: %s", kept);
	return status;
}
