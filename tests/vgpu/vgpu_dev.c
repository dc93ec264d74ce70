// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a GPU: made when its PCI function binds, handed to the driver's own device start,
 * taken down when the function goes.
 */
#include <drm/drm_drv.h>
#include <linux/delay.h>
#include "vgpu_drift_kfd.h"
#include "vgpu_priv.h"

#define VGPU_SDMA_REGS (VGPU_SDMA_ENGINES * VGPU_SDMA_QUEUES)
#define VGPU_HQDS      (VGPU_MAX_XCCS * VGPU_MECS * VGPU_PIPES * VGPU_QUEUES_PER_PIPE)

/* Interrupts are drained for a process that leaves the debugger */
static int vgpu_drain_irq(struct amdgpu_device *adev, u32 *payload)
{
	struct vgpu *v = vgpu_of(adev);
	u32 mode = READ_ONCE(v->faults.drain);

	if (!mode)
		return -ENODEV; /* the driver's answer, with no interrupt ring running */
	if (mode > 1)
		payload[0] |= adev->vm_manager.first_kfd_vmid << 24;
	vgpu_count(v, drain_irqs);
	vgpu_syms.amdgpu_amdkfd_interrupt(adev, payload);
	return 0;
}

/* No engine can be reset alone: the driver then resets the GPU */
static int vgpu_no_engine_reset(struct amdgpu_device *adev, u32 engine)
{
	return -EOPNOTSUPP;
}

/* clang-format off */
struct vgpu_hook vgpu_dev_hooks[] = {
	VGPU_DRAIN_HOOK(vgpu_drain_irq)
	VGPU_SDMA_RESET_HOOK(vgpu_no_engine_reset)
	{}
};
/* clang-format on */

/* Set idle registers to the values of a real host */
static void regs_init(struct vgpu *v)
{
	int i;

	for (i = 0; i < VGPU_SDMA_REGS; i++) {
		v->sdma[i][0x00] = 0x00040000;
		v->sdma[i][0x07] = 0x00403000;
		v->sdma[i][0x09] = 0x00000001;
		v->sdma[i][0x0a] = 0x00000100;
		v->sdma[i][0x11] = 0x00000004;
		v->sdma[i][0x31] = 0x0000000f;
		v->sdma[i][0x34] = 0x00004000;
	}
	for (i = 0; i < VGPU_HQDS; i++) {
		v->hqd[i][4] = 0x0be05301;
		v->hqd[i][HQD_PQ_CONTROL] = 0x00308509;
		v->hqd[i][21] = 0x00300000;
	}
}

static void vgpu_mem_free(struct vgpu *v)
{
	kvfree(v->hqd);
	kvfree(v->sdma);
	vgpu_usage_fini(v);
	vgpu_kiq_fini(v);
	if (vgpu_chip->mes)
		vgpu_mes_fini(v);
	vgpu_parts_fini(v);
	if (v->adev.reset_domain &&
	    kref_put(&v->adev.reset_domain->refcount, vgpu_syms.amdgpu_reset_destroy_reset_domain))
		v->adev.reset_domain = NULL;
	if (v->bar)
		vgpu_bar_fini(v);
	vgpu_gtt_fini(v);
}

static int vgpu_mem_init(struct vgpu *v)
{
	int ret = -ENOMEM;

	mutex_init(&v->lock);
	vgpu_usage_init(v);
	INIT_LIST_HEAD(&v->queues);
	vgpu_gtt_init(v);
	v->times = vgpu_default_times;
	v->hqd = kvcalloc(VGPU_HQDS, sizeof(*v->hqd), GFP_KERNEL);
	v->sdma = kvcalloc(VGPU_SDMA_REGS, sizeof(*v->sdma), GFP_KERNEL);
	if (!v->hqd || !v->sdma)
		goto err;
	regs_init(v);
	ret = vgpu_profile(v) ?: vgpu_kiq_init(v) ?: vgpu_bar_init(v);
	if (!ret && vgpu_chip->mes)
		ret = vgpu_mes_init(v);
	if (!ret)
		return 0;
err:
	vgpu_mem_free(v);
	return ret;
}

static void vgpu_publish(struct vgpu *v, bool there)
{
	mutex_lock(&vgpu_devices_lock);
	WRITE_ONCE(vgpu_devices[v->id], there ? v : NULL);
	mutex_unlock(&vgpu_devices_lock);
	synchronize_rcu(); /* hooks look without a lock */
}

int vgpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct amdgpu_device *adev;
	struct vgpu *v;
	int ret;

	v = devm_drm_dev_alloc(&pdev->dev, &vgpu_drm_driver, struct vgpu, adev.ddev);
	if (IS_ERR(v))
		return PTR_ERR(v);
	adev = &v->adev;
	adev->dev = &pdev->dev;
	adev->pdev = pdev;
	v->id = PCI_SLOT(pdev->devfn);
	pci_set_drvdata(pdev, &adev->ddev);
	ret = vgpu_mem_init(v);
	if (ret)
		return ret;
	vgpu_publish(v, true);

	ret = vgpu_chip->mes ? vgpu_mes_start(v) : 0;
	if (ret)
		goto err_publish;
	ret = -ENODEV;
	vgpu_syms.amdgpu_amdkfd_device_probe(adev);
	if (!adev->kfd.dev)
		goto err_publish;
	vgpu_syms.amdgpu_amdkfd_device_init(adev);
	if (!adev->kfd.init_complete)
		goto err_kfd;
	INIT_WORK(&adev->kfd.reset_work, vgpu_reset_work);
	ret = drm_dev_register(&adev->ddev, 0);
	if (ret)
		goto err_kfd;
	vgpu_fault_init(v);
	dev_info(&pdev->dev, "vgpu: GPU %d, %d XCCs, gpu_id %#x, renderD%d\n", v->id,
		 vgpu_num_xcc(v), vgpu_gpu_id(adev->kfd.dev), adev->ddev.render->index);
	return 0;

err_kfd:
	vgpu_syms.amdgpu_amdkfd_device_fini_sw(adev);
err_publish:
	vgpu_publish(v, false);
	vgpu_mem_free(v);
	return ret;
}

/*
 * KFD processes hold pointers to the device until they are gone.  The files
 * of /sys/kernel/debug/vgpu refuse to remove a GPU in use; who pulls it through
 * PCI waits here for the users to end.
 */
static void wait_unused(struct vgpu *v)
{
	bool said = false;

	while (vgpu_kfd_used()) {
		if (!said)
			dev_warn(v->adev.dev, "vgpu: waiting for GPU processes to end\n");
		said = true;
		msleep(20);
	}
}

void vgpu_remove(struct pci_dev *pdev)
{
	struct drm_device *ddev = pci_get_drvdata(pdev);
	struct amdgpu_device *adev = drm_to_adev(ddev);
	struct vgpu *v = vgpu_of(adev);

	vgpu_fault_fini(v);
	drm_dev_unplug(ddev);
	wait_unused(v);
	cancel_work_sync(&adev->kfd.reset_work);
	vgpu_syms.amdgpu_amdkfd_device_fini_sw(adev);
	vgpu_publish(v, false);
	mutex_lock(&v->lock);
	vgpu_cp_drop_all(v);
	mutex_unlock(&v->lock);
	vgpu_mem_free(v);
}
