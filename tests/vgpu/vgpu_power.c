// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runtime power management, for a test that asks for it: as the driver's own on a part
 * that has it, with nothing behind it that could be switched off.  KFD takes a reference
 * for each process.
 */
#include <linux/debugfs.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include "vgpu_priv.h"

static struct vgpu *vgpu_of_dev(struct device *dev)
{
	return vgpu_of(drm_to_adev(dev_get_drvdata(dev)));
}

static int vgpu_runtime_suspend(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	/* PCI's core leaves the state of a function alone that its driver has saved. */
	pci_save_state(pdev);
	vgpu_count(vgpu_of_dev(dev), power_offs);
	return 0;
}

static int vgpu_runtime_resume(struct device *dev)
{
	vgpu_count(vgpu_of_dev(dev), power_ons);
	return 0;
}

/* The last user is gone: as amdgpu_pmops_runtime_idle(), this counts as a use. */
static int vgpu_runtime_idle(struct device *dev)
{
	if (!vgpu_of_dev(dev)->faults.autosuspend)
		return -EBUSY;
	pm_runtime_mark_last_busy(dev);
	pm_runtime_autosuspend(dev);
	return 0;
}

const struct dev_pm_ops vgpu_pm_ops = {
	.runtime_suspend = vgpu_runtime_suspend,
	.runtime_resume = vgpu_runtime_resume,
	.runtime_idle = vgpu_runtime_idle,
};

/*
 * PCI's core made the device with a reference for its driver, which amdgpu gives up at
 * the end of its start, and with runtime PM forbidden.  Both come back for 0.
 */
static void autosuspend_change(struct vgpu *v, u32 ms)
{
	struct device *dev = v->adev.dev;
	bool was = v->faults.autosuspend;

	if (ms) {
		v->faults.autosuspend = ms;
		pm_runtime_set_autosuspend_delay(dev, ms);
	}
	if (ms && !was) {
		pm_runtime_use_autosuspend(dev);
		pm_runtime_allow(dev);
		pm_runtime_mark_last_busy(dev);
		pm_runtime_put_autosuspend(dev);
	} else if (!ms && was) {
		pm_runtime_get_sync(dev);
		pm_runtime_forbid(dev);
		pm_runtime_dont_use_autosuspend(dev);
		v->faults.autosuspend = 0;
	}
}

static int autosuspend_get(void *data, u64 *val)
{
	*val = ((struct vgpu *)data)->faults.autosuspend;
	return 0;
}

static int autosuspend_set(void *data, u64 val)
{
	if (val > INT_MAX)
		return -EINVAL;
	autosuspend_change(data, val);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(autosuspend_fops, autosuspend_get, autosuspend_set, "%llu\n");

void vgpu_power_files(struct vgpu *v)
{
	debugfs_create_file_unsafe("autosuspend", 0644, v->debugfs, v, &autosuspend_fops);
}

/* The files are gone. */
void vgpu_power_fini(struct vgpu *v)
{
	autosuspend_change(v, 0);
}
