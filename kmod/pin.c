// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may open a file, and what keeps the module meanwhile.
 *
 * The files show addresses of other users' processes and what these do, and
 * debugfs may be mounted where more than root reaches it, in containers too. So
 * open() asks for a capability in the first user namespace: CAP_SYS_PTRACE,
 * which who suspends a process needs anyway, or CAP_PERFMON or CAP_SYS_ADMIN for
 * who only looks.
 *
 * An open file keeps the module, but not as the owner of its operations:
 * debugfs warns when it meets an owner whose last reference is just gone and
 * that is not marked as going yet (kernel/module/main.c:703-710). So each open
 * file holds a second, hidden one whose owner is the module.
 * (Lines are those of Linux 6.12.)
 */

#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>

#include "pin.h"

static const struct file_operations pin_fops = {
	.owner = THIS_MODULE,
};

static bool may_read(void)
{
	return capable(CAP_SYS_PTRACE) || perfmon_capable();
}

struct file *gp_pin_open(void)
{
	struct file *pin;

	if (!may_read())
		return ERR_PTR(-EPERM);
	pin = anon_inode_getfile("[gpreempt]", &pin_fops, NULL, O_RDONLY);
	return pin == ERR_PTR(-ENOENT) ? ERR_PTR(-ENXIO) : pin;
}
