// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions that a process takes in user space, for the bench: an emulated CPU
 * has no counter of its own, and a debugger that is asked at each step takes minutes. The
 * debugger makes the first step; we then take what each step raises, so that the process goes
 * on, still stepping. What is left for the debugger is a stop at the end of each system call.
 */
#include <linux/debugfs.h>
#include <linux/kdebug.h>
#include <linux/ptrace.h>
#include <asm/debugreg.h>
#include "vgpu_priv.h"

static pid_t counted; /* 0: none */
static atomic64_t steps;

static int on_debug(struct notifier_block *nb, unsigned long action, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6;

	if (action != DIE_DEBUG || READ_ONCE(counted) != current->pid || !user_mode(args->regs))
		return NOTIFY_DONE;
	dr6 = (unsigned long *)args->err;
	if ((*dr6 & (DR_STEP | DR_TRAP_BITS)) != DR_STEP)
		return NOTIFY_DONE;
	atomic64_inc(&steps);
	return NOTIFY_STOP;
}

static struct notifier_block debug_block = { .notifier_call = on_debug };

/* A PID to count, from 0; 0: none any more. What was counted stays. */
static int steps_set(void *data, u64 pid)
{
	if (pid)
		atomic64_set(&steps, 0);
	WRITE_ONCE(counted, pid);
	return 0;
}

static int steps_get(void *data, u64 *count)
{
	*count = atomic64_read(&steps);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(steps_fops, steps_get, steps_set, "%llu\n");

void vgpu_steps_init(struct dentry *root)
{
	if (!register_die_notifier(&debug_block))
		debugfs_create_file_unsafe("steps", 0600, root, NULL, &steps_fops);
}

void vgpu_steps_exit(void)
{
	unregister_die_notifier(&debug_block);
}
