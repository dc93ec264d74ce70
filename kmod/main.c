// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt.ko: shows the compute queues of GPU processes and which of them the
 * hardware holds. It changes nothing.
 */

#include <linux/module.h>

#include "debugfs.h"
#include "layout.h"
#include "proc.h"
#include "symbols.h"

static int __init gp_init(void)
{
	int ret;

	ret = gp_symbols_load();
	if (ret)
		return ret;
	ret = gp_layout_load();
	if (ret)
		goto err_layout;
	ret = gp_proc_start(gp_debugfs_start(), gp_debugfs_add_proc);
	if (ret)
		goto err_proc;
	return 0;

err_proc:
	gp_debugfs_stop();
err_layout:
	gp_symbols_release();
	return ret;
}

static void __exit gp_exit(void)
{
	gp_proc_stop();
	gp_debugfs_stop();
	gp_symbols_release();
}

module_init(gp_init);
module_exit(gp_exit);

MODULE_DESCRIPTION("Shows the queues of GPU processes and the hardware that holds them");
MODULE_AUTHOR("The gpreempt authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(GP_VERSION);
MODULE_SOFTDEP("pre: amdgpu");
