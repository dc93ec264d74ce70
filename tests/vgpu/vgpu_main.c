// SPDX-License-Identifier: GPL-2.0-only
/* Parameters, start and end of the virtual GPU. */
#include "vgpu_priv.h"

static unsigned int gpus = 1;
module_param(gpus, uint, 0444);
MODULE_PARM_DESC(gpus, "GPUs, 1 to 8 (1)");

unsigned int vgpu_xccs;
module_param_named(xccs, vgpu_xccs, uint, 0444);
MODULE_PARM_DESC(xccs, "XCCs of a GPU, 1 to 8 (as the profile has; 4)");

unsigned int vgpu_parts = 1;
module_param_named(partitions, vgpu_parts, uint, 0444);
MODULE_PARM_DESC(partitions, "KFD nodes that a GPU is divided into: 1, 2, 4 or 8 (1)");

struct vgpu_times vgpu_default_times = {
#define VGPU_TIME_DEFAULT(name, def, what) .name = def,
	VGPU_TIMES(VGPU_TIME_DEFAULT)
};

#define VGPU_TIME_PARAM(name, def, what)                                 \
	module_param_named(name, vgpu_default_times.name, ullong, 0444); \
	MODULE_PARM_DESC(name, what ", ns (" #def ")");
VGPU_TIMES(VGPU_TIME_PARAM)

struct vgpu *vgpu_devices[VGPU_MAX_GPUS];
DEFINE_MUTEX(vgpu_devices_lock); /* the array, not what it points to */

static int __init vgpu_init(void)
{
	int ret = vgpu_chip_init();

	if (ret)
		return ret;
	if (!vgpu_xccs)
		vgpu_xccs = vgpu_chip->shaders.xccs;
	if (!gpus || gpus > VGPU_MAX_GPUS || vgpu_xccs > VGPU_MAX_XCCS) {
		pr_err("vgpu: gpus and xccs are 1 to 8\n");
		return -EINVAL;
	}
	if (vgpu_xccs > 1 && vgpu_chip->shaders.xccs == 1) {
		pr_err("vgpu: this profile has one XCC\n");
		return -EINVAL;
	}
	if (!is_power_of_2(vgpu_parts) || vgpu_parts > VGPU_MAX_PARTS || vgpu_xccs % vgpu_parts) {
		pr_err("vgpu: partitions is 1, 2, 4 or 8 and divides xccs\n");
		return -EINVAL;
	}
	ret = vgpu_sym_init();
	if (ret)
		return ret;
	ret = vgpu_hook_init();
	if (ret)
		goto err_sym;
	ret = vgpu_shader_init();
	if (ret)
		goto err_hook;
	ret = vgpu_cp_init();
	if (ret)
		goto err_shader;
	vgpu_debugfs_init();
	ret = vgpu_pci_init(gpus);
	if (ret)
		goto err_cp;
	ret = vgpu_chaos_start();
	if (ret)
		goto err_pci;
	return 0;

err_pci:
	vgpu_pci_exit();
err_cp:
	vgpu_debugfs_exit();
	vgpu_cp_exit();
err_shader:
	vgpu_shader_exit();
err_hook:
	vgpu_hook_exit();
err_sym:
	vgpu_sym_exit();
	return ret;
}

static void __exit vgpu_exit(void)
{
	vgpu_chaos_exit();
	vgpu_pci_exit();
	vgpu_debugfs_exit();
	vgpu_cp_exit();
	vgpu_shader_exit();
	vgpu_hook_exit();
	vgpu_sym_exit();
}

module_init(vgpu_init);
module_exit(vgpu_exit);
MODULE_DESCRIPTION("Simulated MI300-class GPU below the real amdgpu driver");
MODULE_LICENSE("GPL");
