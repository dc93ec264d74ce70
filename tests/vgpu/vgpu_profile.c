// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identity of the device: a row of vgpu_chip.c, in the driver's own fields. Only those that the
 * driver reads on our paths are set.
 */
#include "amd_pcie.h"
#include "gc/gc_9_0_sh_mask.h"
#include "vgpu_priv.h"

#define VGPU_ENGINE_CLOCK 210000 /* 10 kHz */
#define VGPU_MEMORY_CLOCK 130000
#define VGPU_WAIT_TIMES	  0x40400140 /* SCH_WAVE, bits 15:8: a grace period of 1 */

static u64 vgpu_clock_counter(struct amdgpu_device *adev)
{
	return ktime_get_ns() / VGPU_CLOCK_NS;
}

static void gc_write(struct amdgpu_device *adev, int xcc, u32 reg, u32 val)
{
	vgpu_wreg(adev, (vgpu_chip->regs->base[xcc] + reg) * 4, val);
}

/* The driver's own for this chip stand in an IP block, which is not started. */
static void vgpu_select_se_sh(VGPU_AND_XCC(struct amdgpu_device *adev, u32 se, u32 sh,
					   u32 instance))
{
	u32 all = ~0, val = 0;

	val |= se == all ? GRBM_GFX_INDEX__SE_BROADCAST_WRITES_MASK :
			   se << GRBM_GFX_INDEX__SE_INDEX__SHIFT;
	val |= sh == all ? GRBM_GFX_INDEX__SH_BROADCAST_WRITES_MASK :
			   sh << GRBM_GFX_INDEX__SH_INDEX__SHIFT;
	val |= instance == all ? GRBM_GFX_INDEX__INSTANCE_BROADCAST_WRITES_MASK : instance;
	gc_write(adev, VGPU_THIS_XCC(xcc), vgpu_chip->regs->grbm_index, val);
}

static void vgpu_select_queue(VGPU_AND_INST(struct amdgpu_device *adev, u32 me, u32 pipe, u32 queue,
					    u32 vmid))
{
	u32 val = pipe << GRBM_GFX_CNTL__PIPEID__SHIFT | me << GRBM_GFX_CNTL__MEID__SHIFT |
		  vmid << GRBM_GFX_CNTL__VMID__SHIFT | queue << GRBM_GFX_CNTL__QUEUEID__SHIFT;

	gc_write(adev, VGPU_THIS_XCC(inst), vgpu_chip->regs->grbm, val);
}

static const struct amdgpu_gfx_funcs gfx_funcs = {
	.get_gpu_clock_counter = vgpu_clock_counter,
	.select_se_sh = vgpu_select_se_sh,
	.select_me_pipe_q = vgpu_select_queue,
};

static bool vgpu_rlc_enabled(struct amdgpu_device *adev)
{
	return false; /* no safe mode to enter */
}

static const struct amdgpu_rlc_funcs rlc_funcs = {
	.is_rlc_enabled = vgpu_rlc_enabled,
};

static void vgpu_flush_hdp(struct amdgpu_device *adev, struct amdgpu_ring *ring)
{
}

static u32 vgpu_xclk(struct amdgpu_device *adev)
{
	return 10000; /* 100 MHz */
}

/* GB_ADDR_CONFIG and its like: an MI300 says 0 to user space's questions */
static int vgpu_read_register(struct amdgpu_device *adev, u32 se, u32 sh, u32 reg, u32 *value)
{
	*value = 0;
	return 0;
}

static const struct amdgpu_asic_funcs asic_funcs = {
	.read_register = vgpu_read_register,
	.flush_hdp = vgpu_flush_hdp,
	.get_xclk = vgpu_xclk,
};

/* Clocks that the power management would tell, 10 kHz */
static u32 vgpu_sclk(void *handle, bool low)
{
	return VGPU_ENGINE_CLOCK;
}

static u32 vgpu_mclk(void *handle, bool low)
{
	return VGPU_MEMORY_CLOCK;
}

static const struct amd_pm_funcs pm_funcs = {
	.get_sclk = vgpu_sclk,
	.get_mclk = vgpu_mclk,
};

/* Package type, for which the topology asks an MI300 */
#ifdef VGPU_HAS_XCC
static enum amdgpu_pkg_type vgpu_pkg_type(struct amdgpu_device *adev)
{
	return AMDGPU_PKG_TYPE_OAM;
}

static const struct amdgpu_smuio_funcs smuio_funcs = {
	.get_pkg_type = vgpu_pkg_type,
};

static enum amdgpu_memory_partition vgpu_mem_partition(struct amdgpu_device *adev)
{
	return AMDGPU_NPS1_PARTITION_MODE;
}
#else
static const struct amdgpu_smuio_funcs smuio_funcs;
#endif

static void vgpu_flush_tlb(struct amdgpu_device *adev, u32 vmid, u32 hub, u32 type)
{
}

#ifdef VGPU_HAS_XCC
static void vgpu_flush_tlb_pasid(struct amdgpu_device *adev, u16 pasid, u32 type, bool all_hub,
				 u32 inst)
{
}
#else
static int vgpu_flush_tlb_pasid(struct amdgpu_device *adev, u16 pasid, u32 type, bool all_hub)
{
	return 0;
}
#endif

static const struct amdgpu_gmc_funcs gmc_funcs = {
#ifdef VGPU_HAS_XCC
	.query_mem_partition_mode = vgpu_mem_partition,
#endif
	.flush_gpu_tlb = vgpu_flush_tlb,
	.flush_gpu_tlb_pasid = vgpu_flush_tlb_pasid,
};

static void profile_locks(struct amdgpu_device *adev)
{
	mutex_init(&adev->srbm_mutex);
	mutex_init(&adev->grbm_idx_mutex);
	mutex_init(&adev->pm.mutex);
	mutex_init(&adev->gfx.gfx_off_mutex);
	vgpu_init_kfd_lock(adev);
	vgpu_init_partition_lock(adev);
	mutex_init(&adev->notifier_lock);
	vgpu_init_wb_lock(adev);
	spin_lock_init(&adev->mman.bdev.lru_lock);
	vgpu_init_pasids(adev);
}

static void profile_gfx(struct amdgpu_device *adev, int xccs)
{
	const struct vgpu_shaders *s = &vgpu_chip->shaders;
	struct amdgpu_gfx *gfx = &adev->gfx;
	int i, j, k;

	gfx->funcs = &gfx_funcs;
	gfx->rlc.funcs = &rlc_funcs;
	vgpu_init_rlc(adev);
	gfx->mec_fw_version = vgpu_chip->mec_fw;
	gfx->mec2_fw_version = vgpu_chip->mec_fw;
	vgpu_set_xccs(gfx, xccs, xccs / vgpu_parts);
	gfx->mec.num_mec = vgpu_chip->mes ? 1 : VGPU_MECS;
	gfx->mec.num_pipe_per_mec = vgpu_chip->pipes;
	gfx->mec.num_queue_per_pipe = vgpu_chip->queues_per_pipe;
	/* the first queues of each pipe are the kernel's own rings */
	for (i = 0; i < vgpu_chip->pipes; i++)
		for (j = 0; j < VGPU_KGD_QUEUES; j++)
			set_bit(i * vgpu_chip->queues_per_pipe + j, vgpu_mec_bitmap(gfx));
	gfx->config.max_shader_engines = s->engines;
	gfx->config.max_sh_per_se = s->arrays;
	gfx->config.max_cu_per_sh = s->cu_places;
	gfx->config.gc_l1_instruction_cache_size_per_sqc = 64;
	gfx->config.gc_l1_data_cache_size_per_sqc = 16;
	gfx->config.gc_num_sqc_per_wgp = 1; /* gfx 10 and later */
	vgpu_set_caches(&gfx->config);
	gfx->cu_info.simd_per_cu = s->simds;
	gfx->cu_info.max_waves_per_simd = s->waves;
	gfx->cu_info.wave_front_size = s->wave_size;
	gfx->cu_info.max_scratch_slots_per_cu = 32;
	gfx->cu_info.lds_size = 64;
	gfx->cu_info.number = xccs * s->engines * s->arrays * hweight16(s->cu_bitmap);
	/* Four rows: the engines after the fourth stand behind the first ones' arrays. */
	for (i = 0; i < xccs; i++) {
		u32(*map)[4] = vgpu_cu_bitmap(gfx, i);

		for (j = 0; j < s->engines; j++)
			for (k = 0; k < s->arrays; k++)
				map[j % 4][j / 4 * s->arrays + k] = s->cu_bitmap;
	}
}

static void profile_memory(struct amdgpu_device *adev)
{
	adev->gmc.real_vram_size = vgpu_chip->vram;
	adev->gmc.visible_vram_size = vgpu_chip->vram;
	adev->gmc.vram_width = vgpu_chip->bus_width;
	adev->gmc.vram_type = vgpu_chip->vram_type;
	adev->gmc.gmc_funcs = &gmc_funcs;
	adev->gmc.xgmi.supported = vgpu_chip->sdma->xgmi;
	adev->gds.gws_size = 64;
	adev->vm_manager.max_pfn = 1ull << 36;
	adev->vm_manager.first_kfd_vmid = vgpu_chip->first_vmid;
}

/* Doorbell ranges of the driver's own layout for this chip */
static void profile_doorbells(struct amdgpu_device *adev)
{
	const struct vgpu_sdma_chip *s = vgpu_chip->sdma;
	int i;

	adev->sdma.num_instances = s->engines;
	for (i = 0; i < s->engines; i++) {
		adev->sdma.instance[i].fw_version = s->fw;
		adev->doorbell_index.sdma_engine[i] = s->bell + i * s->bell_step;
	}
	adev->doorbell_index.first_non_cp = s->bell;
	adev->doorbell_index.last_non_cp = s->bell_last;
}

int vgpu_profile(struct vgpu *v)
{
	struct amdgpu_device *adev = &v->adev;

	adev->asic_type = vgpu_chip->asic;
	adev->family = vgpu_chip->family;
	adev->rev_id = 1;
	adev->external_rev_id = 1;
	adev->ip_versions[GC_HWIP][0] = vgpu_chip->gc;
	adev->ip_versions[SDMA0_HWIP][0] = vgpu_chip->sdma_ip;
	adev->accel_working = true;
	adev->clock.default_sclk = VGPU_ENGINE_CLOCK;
	adev->clock.default_mclk = VGPU_MEMORY_CLOCK;
	adev->powerplay.pp_funcs = &pm_funcs;
	adev->pm.dpm_enabled = true;
	adev->asic_funcs = &asic_funcs;
	adev->smuio.funcs = &smuio_funcs;
	adev->have_atomics_support = true;
	adev->pm.pcie_gen_mask = CAIL_PCIE_LINK_SPEED_SUPPORT_GEN5 |
				 CAIL_ASIC_PCIE_LINK_SPEED_SUPPORT_GEN5;
	adev->pm.pcie_mlw_mask = CAIL_PCIE_LINK_WIDTH_SUPPORT_X16;
	vgpu_set_pcie(adev, vgpu_rreg, vgpu_wreg);
	v->wait_times = VGPU_WAIT_TIMES;
	profile_locks(adev);
	profile_gfx(adev, vgpu_xccs);
	profile_memory(adev);
	profile_doorbells(adev);
	vgpu_reg_tables(v);
	adev->reset_domain =
		vgpu_syms.amdgpu_reset_create_reset_domain(SINGLE_DEVICE, "vgpu-reset");
	return adev->reset_domain ? vgpu_parts_init(v) : -ENOMEM;
}
