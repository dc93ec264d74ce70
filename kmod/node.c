// SPDX-License-Identifier: GPL-2.0-only
/*
 * KFD nodes: from a process to the hardware it uses.
 * A node does not go away while it is loaded, although nothing here takes a reference to one: nodes
 * are freed by kgd2kfd_device_exit(), at the last reference to the DRM device
 * (amdgpu_amdkfd_device_fini_sw()), and at a change of partitions, which needs that no process has
 * the device. A process-device with a DRM file holds such a reference until
 * kfd_process_destroy_pdds(), which runs only after the process has left the table and the SRCU
 * readers of the table are through (kfd_process_notifier_release()). gp_table_walk() is such a
 * reader, and process-devices without a DRM file are not followed: they have no queues.
 * Process-devices are made before the process enters the table (create_process()) and never after,
 * so they can be read without the process's mutex. A driver without kfd_node frees the kfd_dev, the
 * node there, in kgd2kfd_device_exit() too (Linux 6.1).
 * The hardware is read after the walk, with a reference to the DRM device in its place, so that no
 * exit of a process waits for registers: the device then stays, and the hooks are constants of the
 * driver. The kfd_node and its queue manager may be gone, and are only looked at in ways that
 * survive any memory.
 * Locks taken by gp_node_get_hw(), in this order, and nothing of ours is taken inside of them:
 *	drm_dev_enter()		drm_dev_unplug() waits for it before amdgpu_pci_remove() lets
 *				the registers be unmapped
 *	runtime PM use count	not a lock; the device is not woken
 *	reset_domain->sem	for reading, tried only: a reset holds it for writing
 *				(amdgpu_device_lock_reset_domain())
 * The driver's register hooks take adev->srbm_mutex below them, which is a leaf.
 */

#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include <drm/drm_drv.h>

#include "compat.h"
#include "layout.h"
#include "node.h"

/* adev->virt.caps of a virtual function, AMDGPU_SRIOV_CAPS_IS_VF. */
#define CAPS_IS_VF 0x4

/* gfx_target_version from which on a part of gfx 9 is one of MI300's line. */
#define GFX_9_4 90400

u32 gp_node_count(void *p)
{
	u32 n;

	if (gp_get(p, kfd_process, n_pdds, &n))
		return 0;
	return min(n, gp_layout.kfd_process__pdds.at.len);
}

/* The slots of an XCC that the driver gave to KFD. */
static int load_slots(struct gp_node *n, void *kfd)
{
	void *res = gp_ptr(kfd, kfd_dev, shared_resources);
	u32 len = gp_layout.kgd2kfd_shared_resources__cp_queue_bitmap.at.len;
	unsigned long word;
	u32 pipes, i;

	if (gp_get(res, kgd2kfd_shared_resources, num_pipe_per_mec, &pipes) ||
	    gp_get(res, kgd2kfd_shared_resources, num_queue_per_pipe, &n->n_queues))
		return gp_broken("the shared resources can be read");
	n->n_slots = pipes * n->n_queues;
	if (pipes > GP_CP_SLOTS_MAX || n->n_queues > GP_CP_SLOTS_MAX || !n->n_slots ||
	    n->n_slots > GP_CP_SLOTS_MAX || n->n_slots > len * BITS_PER_LONG)
		return gp_broken("the CP slots fit into their bitmap");
	for (i = 0; i < BITS_TO_LONGS(n->n_slots); i++) {
		if (gp_get_at(res, kgd2kfd_shared_resources, cp_queue_bitmap, i, &word))
			return gp_broken("the bitmap of CP slots can be read");
		n->cp_slots[i] = word;
	}
	return 0;
}

/* A word out of one of the driver's tables is called only if it is code of its. */
static bool is_ours(const void *hook)
{
	return gp_is_code((unsigned long)hook, gp_symbols.amdgpu);
}

/* Load a hook that the driver may lack, which stays NULL then; false: not code. */
#define LOAD_HOOK(n, calls, hook, feature)                                                   \
	(!gp_has(feature) || gp_get(calls, kfd2kgd_calls, hook, &(n)->hook) || !(n)->hook || \
	 is_ours((n)->hook))

static int load_hooks(struct gp_node *n, void *calls)
{
	if (gp_get(calls, kfd2kgd_calls, hqd_dump, &n->hqd_dump) || !is_ours(n->hqd_dump))
		return gp_broken("the hook hqd_dump is code of amdgpu's");
	if (!LOAD_HOOK(n, calls, hqd_is_occupied, occupied))
		return gp_broken("the hook hqd_is_occupied is code of amdgpu's");
	if (!LOAD_HOOK(n, calls, hqd_sdma_dump, sdma))
		return gp_broken("the hook hqd_sdma_dump is code of amdgpu's");
	if (!LOAD_HOOK(n, calls, get_iq_wait_times, answers))
		return gp_broken("the hook get_iq_wait_times is code of amdgpu's");
	if (!LOAD_HOOK(n, calls, get_cu_occupancy, waves))
		return gp_broken("the hook get_cu_occupancy is code of amdgpu's");
	return 0;
}

/* How many waves fit in: KFD's topology has the same. Its nodes share the CUs. */
static void load_waves(struct gp_node *n)
{
	void *gfx = gp_ptr(n->adev, amdgpu_device, gfx);
	void *config = gp_ptr(gfx, amdgpu_gfx, config);
	void *cus = gp_ptr(gfx, amdgpu_gfx, cu_info);
	u32 cu, simds, waves;

	if (!gp_has(waves) || gp_get(config, amdgpu_gfx_config, max_shader_engines, &n->engines) ||
	    gp_get(cus, amdgpu_cu_info, number, &cu) ||
	    gp_get(cus, amdgpu_cu_info, simd_per_cu, &simds) ||
	    gp_get(cus, amdgpu_cu_info, max_waves_per_simd, &waves))
		return;
	n->waves_max = cu / n->n_nodes * simds * waves;
}

/*
 * Load the facts for SDMA queues; without them the queues have no active slots. The driver gives
 * the hardware scheduler the engine and RLC of a queue; MES chooses them and does not report
 * them, so a queue is looked for in all of its node's slots; in doubt, too.
 */
static void load_sdma(struct gp_node *n, u32 index)
{
	void *res = gp_ptr(n->kfd, kfd_dev, shared_resources);
	void *info = gp_ptr(n->kfd, kfd_dev, device_info);
	void *sdma = gp_ptr(n->adev, amdgpu_device, sdma);
	u32 engines;

	n->sdma_by_doorbell = gp_get_flag(res, kgd2kfd_shared_resources, enable_mes, nodes) != 0;
	if (!gp_has(sdma) || gp_get(sdma, amdgpu_sdma, num_instances, &engines) ||
	    gp_get(info, kfd_device_info, num_sdma_queues_per_engine, &n->sdma_rlcs))
		return;
	/* The nodes share the engines evenly, as in dqm_debugfs_hqds(). */
	n->sdma_engines = engines / n->n_nodes;
	n->sdma_first = n->sdma_engines * index;
}

/* The manager of the MQDs of compute queues. */
static int load_manager(struct gp_node *n)
{
	u32 type = gp_layout.KFD_MQD_TYPE_CP;
	void *dev;

	if (type >= gp_layout.device_queue_manager__mqd_mgrs.at.len ||
	    gp_get_at(n->dqm, device_queue_manager, mqd_mgrs, type, &n->mqd_mgr) ||
	    gp_get(n->mqd_mgr, mqd_manager, dev, &dev) || dev != n->node)
		return gp_broken("mqd_manager.dev is its node");
	if (!gp_layout.has_nodes)
		return 0;
	if (gp_get(n->mqd_mgr, mqd_manager, mqd_stride, &n->mqd_stride) || !is_ours(n->mqd_stride))
		return gp_broken("the hook mqd_stride is code of amdgpu's");
	return 0;
}

/* A driver without kfd_node: the last statement of kgd2kfd_device_init() makes its node whole. */
static bool is_only_node(struct gp_node *n)
{
	void *adev, *back;
	bool whole;

	n->kfd = n->node;
	return !gp_get(n->kfd, kfd_dev, init_complete, &whole) && whole &&
	       !gp_get(n->kfd, kfd_dev, adev, &adev) &&
	       !gp_get(gp_ptr(adev, amdgpu_device, kfd), amdgpu_kfd_dev, dev, &back) &&
	       back == n->node;
}

/* The device of a node knows it, and as which of its nodes. */
static bool find_device(struct gp_node *n, u32 *index)
{
	void *back;

	*index = 0;
	if (!gp_layout.has_nodes)
		return is_only_node(n);
	return !gp_get(n->node, kfd_node, kfd, &n->kfd) &&
	       !gp_get(n->node, kfd_node, node_id, index) &&
	       *index < gp_layout.kfd_dev__nodes.at.len &&
	       !gp_get_at(n->kfd, kfd_dev, nodes, *index, &back) && back == n->node;
}

bool gp_node_is_whole(void *node)
{
	struct gp_node n = { .node = node };
	u32 index;

	return find_device(&n, &index);
}

/* Its XCCs and the nodes of its device: one each without kfd_node. */
static int load_shares(struct gp_node *n)
{
	n->xcc_mask = 1;
	n->n_nodes = 1;
	if (!gp_layout.has_nodes)
		return 0;
	if (gp_get(n->node, kfd_node, xcc_mask, &n->xcc_mask) ||
	    gp_get(n->kfd, kfd_dev, num_nodes, &n->n_nodes))
		return -EFAULT;
	return n->n_nodes ? 0 : -EUCLEAN;
}

/* Follow the pointers of a node, each after a look that it leads back. */
int gp_node_follow(void *node, struct gp_node *n)
{
	void *calls, *back, *domain;
	u32 index;
	int ret;

	memset(n, 0, sizeof(*n));
	n->node = node;
	if (!find_device(n, &index))
		return gp_broken(gp_layout.has_nodes ? "kfd_dev.nodes has the node" :
						       "amdgpu_kfd_dev.dev is the node");
	if (gp_get(n->node, kfd_node, adev, &n->adev) || gp_get(n->kfd, kfd_dev, adev, &back) ||
	    back != n->adev)
		return gp_broken("kfd_node.adev is kfd_dev.adev");
	if (gp_get(n->node, kfd_node, dqm, &n->dqm) || gp_get(n->node, kfd_node, kfd2kgd, &calls) ||
	    gp_get(n->node, kfd_node, id, &n->gpu_id) || load_shares(n) ||
	    gp_get(n->adev, amdgpu_device, reset_domain, &domain) || !domain)
		return gp_broken("the node can be read");
	n->ddev = gp_ptr(n->adev, amdgpu_device, ddev);
	n->reset_sem = gp_ptr(domain, amdgpu_reset_domain, sem);

	if (!gp_has(nodes) || gp_get(gp_ptr(n->kfd, kfd_dev, device_info), kfd_device_info,
				     gfx_target_version, &n->gfx))
		n->gfx = 0;
	load_sdma(n, index);
	load_waves(n);
	ret = load_hooks(n, calls);
	return ret ?: load_slots(n, n->kfd);
}

int gp_node_load(void *node, struct gp_node *n)
{
	int ret = gp_node_follow(node, n);
	void *back;

	if (ret)
		return ret;
	if (gp_get(n->dqm, device_queue_manager, dev, &back) || back != n->node)
		return gp_broken("device_queue_manager.dev is its node");
	return load_manager(n);
}

int gp_node_find(void *p, u32 i, void **pdd, void **node)
{
	void *process, *file;

	if (gp_get_at(p, kfd_process, pdds, i, pdd) ||
	    gp_get(*pdd, kfd_process_device, process, &process) || process != p)
		return gp_broken("kfd_process_device.process is its process");
	if (gp_get(*pdd, kfd_process_device, drm_file, &file) ||
	    gp_get(*pdd, kfd_process_device, dev, node))
		return gp_broken("the process-device can be read");
	if (!file)
		*node = NULL;
	return 0;
}

bool gp_node_hold(struct gp_node *n)
{
	return kref_get_unless_zero(&n->ddev->ref);
}

void gp_node_drop(struct gp_node *n)
{
	drm_dev_put(n->ddev);
}

/*
 * The core can be off, or off 100 ms from now, when the part has GFXOFF and no request keeps it on
 * (amdgpu_gfx_off_ctrl()). On APUs of gfx 9 newer drivers do not wait 100 ms.
 */
static bool may_be_off(const struct gp_node *n)
{
	void *gfx = gp_ptr(n->adev, amdgpu_device, gfx);
	void *pm = gp_ptr(n->adev, amdgpu_device, pm);
	unsigned long flags;
	u32 features, requests;
	bool off;

	if (gp_get(pm, amdgpu_pm, pp_feature, &features) ||
	    gp_get(gfx, amdgpu_gfx, gfx_off_state, &off) ||
	    gp_get(gfx, amdgpu_gfx, gfx_off_req_count, &requests) ||
	    gp_get(n->adev, amdgpu_device, flags, &flags))
		return true;
	if (!(features & gp_layout.PP_GFXOFF_MASK))
		return false;
	return off || !requests || ((flags & gp_layout.AMD_IS_APU) && n->gfx < GFX_9_4);
}

bool gp_node_is_lost(const struct gp_node *n)
{
	struct device *dev = n->ddev->dev;
	bool cut;

	return gp_get(n->adev, amdgpu_device, no_hw_access, &cut) || cut ||
	       (dev_is_pci(dev) && pci_channel_offline(to_pci_dev(dev)));
}

int gp_node_lose(struct gp_node *n)
{
	n->lost = true;
	return -GP_VIEW_HARDWARE_LOST;
}

void gp_node_add_reads(struct gp_node *n, u32 registers)
{
	n->reads += registers;
	gp_stat_add(GP_STAT_registers, registers);
}

int gp_node_check(struct gp_node *n, u32 inst)
{
	u32 wait = GP_NO_ANSWER;
	int i;

	for (i = 0; i < 2 && n->get_iq_wait_times && wait == GP_NO_ANSWER; i++) {
		gp_node_add_reads(n, 1);
		n->get_iq_wait_times(n->adev, &wait, inst);
	}
	if ((i == 2 && wait == GP_NO_ANSWER) || gp_node_is_lost(n))
		return gp_node_lose(n);
	n->answered = true;
	return 0;
}

/* Is this a part whose registers are better left alone at all times? */
static enum gp_view_hardware look_at_part(const struct gp_node *n)
{
	void *virt = gp_ptr(n->adev, amdgpu_device, virt);
	u32 caps;

	if (gp_get(virt, amdgpu_virt, caps, &caps) || (caps & CAPS_IS_VF))
		return GP_VIEW_HARDWARE_SRIOV;
	return may_be_off(n) ? GP_VIEW_HARDWARE_GFXOFF : GP_VIEW_HARDWARE_READ;
}

/* The scheduler runs; the queue manager may have been freed. */
static bool is_running(const struct gp_node *n)
{
	bool running;
	void *back;

	return !gp_peek(n->dqm, device_queue_manager, dev, &back) && back == n->node &&
	       !gp_peek(n->dqm, device_queue_manager, sched_running, &running) && running;
}

enum gp_view_hardware gp_node_get_hw(struct gp_node *n)
{
	enum gp_view_hardware why = look_at_part(n);
	int ret;

	if (why != GP_VIEW_HARDWARE_READ)
		return why;
	if (!drm_dev_enter(n->ddev, &n->drm_idx))
		return GP_VIEW_HARDWARE_REMOVED;
	/*
	 * A count that goes from 0 to 1 and back starts the time again after which the device falls
	 * asleep (amdgpu_pmops_runtime_idle()): so only a count above 0 is raised. An error means
	 * that runtime PM is off, and that nothing changes.
	 */
	ret = pm_runtime_get_if_in_use(n->ddev->dev);
	n->pm_held = ret > 0;
	why = GP_VIEW_HARDWARE_ASLEEP;
	if (ret <= 0 && pm_runtime_status_suspended(n->ddev->dev))
		goto err_drm;
	why = GP_VIEW_HARDWARE_UNUSED;
	if (!ret)
		goto err_drm;
	/*
	 * A reset waits for this, and MES code, which tries for the same lock, gives up meanwhile.
	 */
	why = GP_VIEW_HARDWARE_RESET;
	if (!down_read_trylock(n->reset_sem))
		goto err_pm;
	n->reset_since = ktime_get();
	n->reads = 0;
	why = GP_VIEW_HARDWARE_STOPPED;
	if (!is_running(n))
		goto err_sem;
	why = GP_VIEW_HARDWARE_LOST;
	if (gp_node_is_lost(n) || n->lost ||
	    (!n->answered && gp_node_check(n, gp_node_first_xcc(n))))
		goto err_sem;
	n->awake = true;
	return GP_VIEW_HARDWARE_READ;

err_sem:
	up_read(n->reset_sem);
	gp_stat_locked(GP_STAT_LOCK(reset), n->reset_since);
err_pm:
	if (n->pm_held)
		pm_runtime_put(n->ddev->dev);
err_drm:
	drm_dev_exit(n->drm_idx);
	return why;
}

void gp_node_put_hw(struct gp_node *n)
{
	if (!n->awake)
		return;
	n->awake = false;
	up_read(n->reset_sem);
	gp_stat_locked(GP_STAT_LOCK(reset), n->reset_since);
	if (n->pm_held)
		pm_runtime_put(n->ddev->dev);
	drm_dev_exit(n->drm_idx);
}

int gp_node_rest(struct gp_node *n)
{
	if (n->reads < GP_HOLD_READS)
		return 0;
	gp_node_put_hw(n);
	cond_resched();
	return -gp_node_get_hw(n);
}
