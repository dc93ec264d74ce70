// SPDX-License-Identifier: GPL-2.0-only
/* A single command, or a shell: its output here, its exit status ours. */
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

static int status_of(const struct outcome *o)
{
	switch (o->verdict) {
	case V_EXIT:
		return o->number;
	case V_SIGNAL:
		return 128 + o->number;
	case V_TIMEOUT:
		complain("not done after %d s", o->number);
		return 124;
	default:
		complain("%s", o->text);
		return 125;
	}
}

/* Judge a command that is a test: 1 when the kernel has something to report. */
static int judge(const struct bench *b, const struct vm *vm)
{
	static const struct test_case none;
	char path[PATH_MAX + 16], line[384];

	snprintf(path, sizeof(path), "%s/kernel.log", vm->dir);
	if (klog_dirty(path, &none, b->reports, line, sizeof(line))) {
		complain("dirty kernel log: %s", line);
		return 1;
	}
	reports_tell(b->reports);
	return 0;
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
		fputs("vm: exit or Ctrl-D ends the shell, Ctrl-] the machine\r\n", stderr);
	}
	snapshot_make(b, &job);
	guest_run(&vm, b, &job, &o);
	tty_restore();
	if (job.log)
		fclose(job.log);
	status = status_of(&o);
	if (!status && b->judge)
		status = judge(b, &vm);
	snprintf(kept, sizeof(kept), "%s/vm/command", b->build);
	remove_tree(kept);
	if (!rename(vm.dir, kept) && (o.verdict != V_EXIT || (status && b->judge)))
		complain("logs: %s", kept);
	return status;
}
