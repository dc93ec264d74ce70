// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generations that the driver has code for: MI300 since it knows XCCs, and MES
 * since that has a ring for each pipe.  Numbers are those of the driver's own headers
 * and of the functions named beside them.
 */
#include "vgpu_mes_frame.h"
#include "vgpu_priv.h"

static char *profile = ""; /* the first that there is */
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "GPU: gfx942 (MI308X), gfx90a, gfx900, gfx1100, gfx1201");
static unsigned int cus;
module_param(cus, uint, 0444);
MODULE_PARM_DESC(cus, "CUs of a shader array, of those that the profile has (all)");

const struct vgpu_chip *vgpu_chip;

/* Bases of an MI308X, read from a real host's hqds (docs/vgpu.md) */
static const u32 mi300_gc_base[VGPU_MAX_XCCS] = {
	0x2000, 0x32000, 0x42000, 0x72000, 0x82000, 0xb2000, 0xc2000, 0xf2000,
};
static const u32 mi300_sdma_base[VGPU_SDMA_ENGINES] = {
	0x1260, 0x1860, 0x39400, 0x39800, 0x41260, 0x41860, 0x79400, 0x79800,
};

/* gc_9_0_offset.h, gc_9_4_2_offset.h and gc_9_4_3_offset.h have the same. */
static const struct vgpu_regs gfx9_regs = {
	.base = mi300_gc_base,
	.base1 = 0x8000,
	.mqd_base = 0x1245,
	.grbm = 0x22,
	.grbm_index = 0x8000 + 0x2200,
	.iq_wait2 = 0x10b0,
	.queue_reset = 0x11db,
	.active_status = 0x4db,
	.active_count = 0x4dc,
	.aql_shift = 25,
};

/* struct v9_sdma_mqd beside the registers from RLC0_RB_CNTL on */
static const struct vgpu_range v9_ranges[] = {
	{ 0, 0x00, 19 },
	{ 19, 0x28, 6 },
	{ 25, 0x2f, 7 },
	{ 32, 0x40, 12 },
};

#define V9_SDMA                                                                                 \
	.doorbell = 0x12, .doorbell_offset = 0x2b, .mqd_doorbell_offset = 22, .mqd_rptr_hi = 8, \
	.mqd_rptr_lo = 9, .nranges = ARRAY_SIZE(v9_ranges), .range = v9_ranges

#ifdef VGPU_HAS_XCC
/* Doorbells: aqua_vanjaram_doorbell_index_init() */
static const struct vgpu_sdma_chip sdma_4_4_2 = {
	V9_SDMA,
	.fw = 22, /* sdma_fw_version of an MI300X with MEC's 166, a public copy of sysfs */
	.engines = 8,
	.queues = 8,
	.xgmi = true, /* 2 SDMA engines for PCIe, the rest xGMI */
	.base = mi300_sdma_base,
	.first = 0x130,
	.stride = 0x58,
	.bell = AMDGPU_DOORBELL_LAYOUT1_sDMA_ENGINE_START,
	.bell_step = 10,
	.bell_last = AMDGPU_DOORBELL_LAYOUT1_LAST_NON_CP,
};
#endif

/* Registers: sdma0_4_2_2_offset.h; doorbells: vega20_doorbell_index_init() */
static const struct vgpu_sdma_chip sdma_4_4_0 = {
	V9_SDMA,
	.fw = 1, /* not known */
	.engines = 5,
	.queues = 8,
	.xgmi = true,
	.base = mi300_sdma_base,
	.first = 0x130,
	.stride = 0x58,
	.bell = AMDGPU_VEGA20_DOORBELL64_FIRST_NON_CP,
	.bell_step = 10,
	.bell_last = AMDGPU_VEGA20_DOORBELL64_LAST_NON_CP,
};

/* Registers: sdma0_4_0_offset.h; doorbells: vega10_doorbell_index_init() */
static const struct vgpu_sdma_chip sdma_4_0_0 = {
	V9_SDMA,
	.fw = 430, /* gem5's topology of this part */
	.engines = 2,
	.queues = 2,
	.base = mi300_sdma_base,
	.first = 0x140,
	.stride = 0x60,
	.bell = AMDGPU_DOORBELL64_sDMA_ENGINE0,
	.bell_step = 2,
	.bell_last = AMDGPU_DOORBELL64_LAST_NON_CP,
};

#ifdef VGPU_HAS_MES_RINGS
/* gc_11_0_0_offset.h and gc_12_0_0_offset.h have the same; GRBM_GFX_CNTL is 0x900. */
static const u32 gfx11_gc_base[VGPU_MAX_XCCS] = { 0x1260 };
static const struct vgpu_regs gfx11_regs = {
	.base = gfx11_gc_base,
	.base1 = 0x8da0,
	.mqd_base = 0x1fa9,
	.grbm = 0x8da0 + 0x900,
	.grbm_index = 0x8da0 + 0x2200,
	.iq_wait2 = 0x1e50,
	.queue_reset = 0x1f73,
	.active_status = 0x127b,
	.active_count = 0x127c,
	.aql_shift = 18,
};

/*
 * struct v11_sdma_mqd beside the registers from SDMA0_QUEUE0_RB_CNTL on. Engine 1
 * has its own numbers, 0x600 further on, above the same base.
 */
static const u32 gfx11_sdma_base[VGPU_SDMA_ENGINES] = { 0x1260, 0x1860 };
static const struct vgpu_range v11_ranges[] = {
	{ 0, 0x00, 7 }, { 7, 0x08, 11 }, { 18, 0x29, 1 }, { 19, 0x2b, 12 }, { 31, 0x40, 12 },
};

/* Doorbells: soc21_init_doorbell_index(), soc24_init_doorbell_index() */
#define NAVI_SDMA                                                                                \
	.engines = 2, .queues = 8, .base = gfx11_sdma_base, .first = 0x80, .numbered_on = 0x600, \
	.stride = 0x58, .bell = AMDGPU_NAVI10_DOORBELL64_FIRST_NON_CP, .bell_step = 10,          \
	.bell_last = AMDGPU_NAVI10_DOORBELL64_LAST_NON_CP

static const struct vgpu_sdma_chip sdma_6_0_0 = {
	NAVI_SDMA,
	.fw = 21, /* sdma_fw_version of an RX 7900 XTX with MEC's 2150, likewise */
	.doorbell = 0x12,
	.doorbell_offset = 0x2b,
	.mqd_doorbell_offset = 19,
	.mqd_rptr_hi = 7,
	.mqd_rptr_lo = 8,
	.nranges = ARRAY_SIZE(v11_ranges),
	.range = v11_ranges,
};

/* API 14, revision 0x64: with debugging, and with suspending all gangs */
static const struct vgpu_mes_chip mes_v11 = {
	.funcs = "mes_v11_0_funcs",
	.ring_funcs = "mes_v11_0_ring_funcs",
	.set_hw_resources = "mes_v11_0_set_hw_resources",
	.decode = vgpu_mes_decode_v11,
	.version = 14 << AMDGPU_MES_API_VERSION_SHIFT | 0x64,
	.rings = 1,
};

/* struct v12_sdma_mqd is as the registers, of which each has its own place. */
static const struct vgpu_range v12_ranges[] = { { 0, 0x00, 47 } };

static const struct vgpu_sdma_chip sdma_7_0_0 = {
	NAVI_SDMA,
	.fw = 1, /* not known */
	.doorbell = 0x0f,
	.doorbell_offset = 0x11,
	.mqd_doorbell_offset = 17,
	.mqd_rptr_hi = 8,
	.mqd_rptr_lo = 7,
	.nranges = ARRAY_SIZE(v12_ranges),
	.range = v12_ranges,
};

/* API 0x14; KFD asks for no revision. Unified: the KIQ's pipe is a ring of MES, too. */
static const struct vgpu_mes_chip mes_v12 = {
	.funcs = "mes_v12_0_funcs",
	.ring_funcs = "mes_v12_0_ring_funcs",
	.set_hw_resources = "mes_v12_0_set_hw_resources",
	.decode = vgpu_mes_decode_v12,
	.version = 0x14 << AMDGPU_MES_API_VERSION_SHIFT | 0x8b,
	.rings = 2,
};
#endif /* VGPU_HAS_MES_RINGS */

static const struct vgpu_chip chips[] = {
#ifdef VGPU_HAS_XCC
	{
		/* MI308X; the shader array is that of a real host's topology */
		.name = "gfx942",
		.gc = IP_VERSION(9, 4, 3),
		.sdma_ip = IP_VERSION(4, 4, 2),
		.asic = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_AI,
		.device = 0x74a2,
		.mec_fw = 200,
		.first_vmid = 3,
		.pipes = 4,
		.queues_per_pipe = 8,
		.bus_width = 8192,
		.vram_type = AMDGPU_VRAM_TYPE_HBM,
		.vram = 192ull << 30,
		.shaders = { 4, 4, 1, 10, 0x1f, 4, 8, 64 },
		.regs = &gfx9_regs,
		.sdma = &sdma_4_4_2,
	},
#endif
	{
		/* MI210; kfd_topology_set_dbg_firmware_support() wants 51 */
		.name = "gfx90a",
		.gc = IP_VERSION(9, 4, 2),
		.sdma_ip = IP_VERSION(4, 4, 0),
		.asic = CHIP_ALDEBARAN,
		.family = AMDGPU_FAMILY_AI,
		.device = 0x740f,
		.mec_fw = 78,
		.first_vmid = 3,
		.pipes = 4,
		.queues_per_pipe = 8,
		.bus_width = 4096,
		.vram_type = AMDGPU_VRAM_TYPE_HBM,
		.vram = 64ull << 30,
		.shaders = { 1, 8, 1, 16, 0x1fff, 4, 8, 64 },
		.regs = &gfx9_regs,
		.sdma = &sdma_4_4_0,
	},
	{
		/* Vega 10, MI25; wants 459 + 32768 */
		.name = "gfx900",
		.gc = IP_VERSION(9, 0, 1),
		.sdma_ip = IP_VERSION(4, 0, 0),
		.asic = CHIP_VEGA10,
		.family = AMDGPU_FAMILY_AI,
		.device = 0x6860,
		.mec_fw = 469 + 32768,
		.first_vmid = 8,
		.pipes = 4,
		.queues_per_pipe = 8,
		.bus_width = 2048,
		.vram_type = AMDGPU_VRAM_TYPE_HBM,
		.vram = 16ull << 30,
		.shaders = { 1, 4, 1, 16, 0xffff, 4, 10, 64 },
		.regs = &gfx9_regs,
		.sdma = &sdma_4_0_0,
	},
#ifdef VGPU_HAS_MES_RINGS
	{
		/* RX 7900 XTX; pipes and queues: gfx_v11_0_sw_init() */
		.name = "gfx1100",
		.gc = IP_VERSION(11, 0, 0),
		.sdma_ip = IP_VERSION(6, 0, 0),
		.asic = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_GC_11_0_0,
		.device = 0x744c,
		.mec_fw = 550,
		.first_vmid = 8,
		.pipes = 4,
		.queues_per_pipe = 4,
		.bus_width = 384,
		.vram_type = AMDGPU_VRAM_TYPE_GDDR6,
		.vram = 24ull << 30,
		.shaders = { 1, 6, 2, 8, 0xff, 2, 16, 32 },
		.regs = &gfx11_regs,
		.sdma = &sdma_6_0_0,
		.mes = &mes_v11,
	},
	{
		/* RX 9070 XT; pipes and queues: gfx_v12_0_sw_init() */
		.name = "gfx1201",
		.gc = IP_VERSION(12, 0, 1),
		.sdma_ip = IP_VERSION(7, 0, 1),
		.asic = CHIP_IP_DISCOVERY,
		.family = AMDGPU_FAMILY_GC_12_0_0,
		.device = 0x7550,
		.mec_fw = 550,
		.first_vmid = 8,
		.pipes = 2,
		.queues_per_pipe = 4,
		.bus_width = 256,
		.vram_type = AMDGPU_VRAM_TYPE_GDDR6,
		.vram = 16ull << 30,
		.shaders = { 1, 4, 2, 8, 0xff, 2, 16, 32 },
		.regs = &gfx11_regs,
		.sdma = &sdma_7_0_0,
		.mes = &mes_v12,
	},
#endif
};

int vgpu_chip_init(void)
{
	static struct vgpu_chip chosen;
	u16 *bitmap = &chosen.shaders.cu_bitmap;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(chips); i++)
		if (!strcmp(profile, chips[i].name) || (!*profile && !i)) {
			chosen = chips[i];
			vgpu_chip = &chosen;
		}
	while (cus && hweight16(*bitmap) > cus)
		*bitmap &= *bitmap - 1;
	if (!vgpu_chip) {
		pr_err("vgpu: there is no profile '%s'\n", profile);
		return -EINVAL;
	}
	return 0;
}
