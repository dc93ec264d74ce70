// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a process to the hardware that it uses (kmod/node.c): a pointer that does not
 * lead back is refused, and so is a hook that is not the driver's code. The registers
 * are read with all that this needs or not at all, and all of it is given back.
 */
#include "fake-kernel.h"

/* The kernel's name for the test of a module's code, in both kinds of kernels. */
#define CONFIG_KALLSYMS 1
#define gp_is_code	gp_is_code_before
#include "compat.h"
#undef gp_is_code
#undef GP_COMPAT_H
#define GP_HAS_MEM_TYPE

enum { MOD_TEXT = 3 };
static bool within_module_mem_type(unsigned long addr, const struct module *mod, int type)
{
	return type == MOD_TEXT && addr - (unsigned long)mod->text < sizeof(mod->text);
}

static struct module amdgpu;
static struct device device;
static int drm, pm, sem, pm_result;
static bool is_present, is_suspended, is_reset, is_pci, is_offline, is_gone;

static bool kref_get_unless_zero(struct kref *ref)
{
	return ref->x && ref->x++;
}

static void drm_dev_put(struct drm_device *ddev)
{
	ddev->ref.x--;
}

static bool drm_dev_enter(struct drm_device *ddev, int *idx)
{
	*idx = 42;
	drm += is_present;
	return is_present;
}

static void drm_dev_exit(int idx)
{
	want(idx == 42 && !pm && !sem);
	drm--;
}

static int pm_runtime_get_if_in_use(struct device *dev)
{
	want(drm == 1 && dev == &device);
	pm += pm_result > 0;
	return pm_result;
}

static bool pm_runtime_status_suspended(struct device *dev)
{
	return dev == &device && is_suspended;
}

static void pm_runtime_put(struct device *dev)
{
	want(dev == &device && !sem);
	pm--;
}

static bool down_read_trylock(struct rw_semaphore *s)
{
	want(drm == 1);
	sem += !is_reset;
	return !is_reset;
}

static void up_read(struct rw_semaphore *s)
{
	sem--;
}

#define dev_is_pci(dev)		 ((dev) == &device && is_pci)
#define to_pci_dev(dev)		 (dev)
#define pci_channel_offline(dev) (is_offline)

#include "../../kmod/node.c"

/* Two devices, each with a process that has it. */
enum { PROCESS, PDD, NODE, KFD, ADEV, DQM, MGR, CALLS, DOMAIN, OTHER };
#define OBJECT(i) ((void *)fake_memory[i])

static struct gp_node n;

static bool mapped(const void *src, size_t size)
{
	return fake_is_object(src, size);
}

/* The node and its manager may be gone when registers are read. */
static void kasan_check_read(const void *src, size_t size)
{
	want(!is_gone || !fake_is_object(src, size) || (src >= OBJECT(ADEV) && src < OBJECT(DQM)));
}

/* The first node of a process. */
static int load(void *p)
{
	void *pdd, *node;
	int ret = gp_node_find(p, 0, &pdd, &node);

	return ret ?: node ? gp_node_load(node, &n) : -ENOENT;
}

static void make_device(int i)
{
	void *adev = OBJECT(i + ADEV), *kfd = OBJECT(i + KFD);
	void *res = gp_ptr(kfd, kfd_dev, shared_resources);
	void *info = gp_ptr(kfd, kfd_dev, device_info);
	void *gfx = gp_ptr(adev, amdgpu_device, gfx);
	void *config = gp_ptr(gfx, amdgpu_gfx, config);
	void *cus = gp_ptr(gfx, amdgpu_gfx, cu_info);
	struct drm_device *ddev = gp_ptr(adev, amdgpu_device, ddev);

	*ddev = (struct drm_device){ &device, { 1 } };
	FIELD(adev, amdgpu_device, reset_domain) = OBJECT(i + DOMAIN);
	FIELD(gp_ptr(adev, amdgpu_device, sdma), amdgpu_sdma, num_instances) = 8;
	FIELD(gp_ptr(adev, amdgpu_device, kfd), amdgpu_kfd_dev, dev) = kfd;
	FIELD(config, amdgpu_gfx_config, max_shader_engines) = 4;
	FIELD(cus, amdgpu_cu_info, number) = 80;
	FIELD(cus, amdgpu_cu_info, simd_per_cu) = 4;
	FIELD(cus, amdgpu_cu_info, max_waves_per_simd) = 8;
	FIELD(kfd, kfd_dev, adev) = adev;
	FIELD(kfd, kfd_dev, init_complete) = true;
	FIELD(kfd, kfd_dev, num_nodes) = 2;
	FIELD(info, kfd_device_info, gfx_target_version) = 90402;
	FIELD(info, kfd_device_info, num_sdma_queues_per_engine) = 8;
	FIELD(res, kgd2kfd_shared_resources, num_pipe_per_mec) = 4;
	FIELD(res, kgd2kfd_shared_resources, num_queue_per_pipe) = 32;
	FIELD(res, kgd2kfd_shared_resources, cp_queue_bitmap) = 0xfe;
	FIELD_AT(res, kgd2kfd_shared_resources, cp_queue_bitmap, 1) = 0xfd;
}

static void make_node(int i, bool has_nodes)
{
	void *node = OBJECT(i + (has_nodes ? NODE : KFD));
	void *calls = OBJECT(i + CALLS), *dqm = OBJECT(i + DQM);

	FIELD(OBJECT(i + PROCESS), kfd_process, n_pdds) = 1;
	FIELD(OBJECT(i + PROCESS), kfd_process, pdds) = OBJECT(i + PDD);
	FIELD(OBJECT(i + PDD), kfd_process_device, process) = OBJECT(i + PROCESS);
	FIELD(OBJECT(i + PDD), kfd_process_device, drm_file) = &device;
	FIELD(OBJECT(i + PDD), kfd_process_device, dev) = node;
	FIELD(node, kfd_node, kfd) = OBJECT(i + KFD);
	FIELD(node, kfd_node, node_id) = 1;
	FIELD_AT(OBJECT(i + KFD), kfd_dev, nodes, 1) = node;
	FIELD_AT(OBJECT(i + KFD), kfd_dev, nodes, FAKE_LEN) = node;
	FIELD(node, kfd_node, adev) = OBJECT(i + ADEV);
	FIELD(node, kfd_node, dqm) = dqm;
	FIELD(node, kfd_node, kfd2kgd) = calls;
	FIELD(node, kfd_node, id) = 0xabc;
	FIELD(node, kfd_node, xcc_mask) = 0xf0;
	FIELD(dqm, device_queue_manager, dev) = node;
	FIELD(dqm, device_queue_manager, sched_running) = true;
	FIELD_AT(dqm, device_queue_manager, mqd_mgrs, 2) = OBJECT(i + MGR);
	FIELD_AT(dqm, device_queue_manager, mqd_mgrs, FAKE_LEN) = OBJECT(i + MGR);
	FIELD(OBJECT(i + MGR), mqd_manager, dev) = node;
	FIELD(OBJECT(i + MGR), mqd_manager, mqd_stride) = amdgpu.text;
	FIELD(calls, kfd2kgd_calls, hqd_dump) = amdgpu.text;
	FIELD(calls, kfd2kgd_calls, hqd_is_occupied) = amdgpu.text + 1;
	FIELD(calls, kfd2kgd_calls, hqd_sdma_dump) = amdgpu.text + 2;
	FIELD(calls, kfd2kgd_calls, get_iq_wait_times) = amdgpu.text + 3;
	FIELD(calls, kfd2kgd_calls, get_cu_occupancy) = amdgpu.text + 15;
}

static void make(bool has_nodes)
{
	memset(fake_memory, 0, (size_t)2 * OTHER * FAKE_SIZE);
	gp_layout.has_nodes = has_nodes;
	make_device(0);
	make_device(OTHER);
	make_node(0, has_nodes);
	make_node(OTHER, has_nodes);
}

/* A word of the driver's that is wrong, and the rule that it breaks. */
struct wrong {
	void *at;
	size_t size;
	u64 value;
	const char *rule;
};

#define WRONG(i, s, f, value, rule) WRONG_IN(OBJECT(i), s, f, value, rule)
#define WRONG_IN(base, s, f, value, rule)                                                \
	{                                                                                \
		gp_ptr(base, s, f), sizeof(*gp_layout.s##__##f.type), (u64)(value), rule \
	}

static void refuse(const struct wrong *w, u64 value, const char *rule)
{
	u64 right = 0;

	snprintf(fake_case, sizeof(fake_case), "(%s, offset %td, %#llx)", rule ? rule : "",
		 ((char *)w->at - fake_memory[0]) % FAKE_SIZE, (unsigned long long)value);
	memcpy(&right, w->at, w->size);
	memcpy(w->at, &value, w->size);
	fake_broken = NULL;
	want(load(OBJECT(PROCESS)) == -EUCLEAN);
	want(fake_broken && (!rule || !strcmp(fake_broken, rule)));
	memcpy(w->at, &right, w->size);
	want(!load(OBJECT(PROCESS)));
}

/* Each of them, and each pointer of them that leads to no memory. */
static void refuse_all(const struct wrong *w, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		refuse(&w[i], w[i].value, w[i].rule);
		if (w[i].size < 8 || w[i].value < 4096)
			continue;
		refuse(&w[i], 8, NULL);
		refuse(&w[i], -8, NULL);
	}
}

#define BACK_NODE "kfd_dev.nodes has the node"
#define BACK_DEV  "amdgpu_kfd_dev.dev is the node"
#define BACK_ADEV "kfd_node.adev is kfd_dev.adev"
#define BACK_MGR  "mqd_manager.dev is its node"
#define BACK_DQM  "device_queue_manager.dev is its node"
#define BACK_PDD  "kfd_process_device.process is its process"
#define READABLE  "the node can be read"
#define SLOTS_FIT "the CP slots fit into their bitmap"
#define HOOK(h)	  "the hook " #h " is code of amdgpu's"

static void check_refused(void)
{
	void *res = gp_ptr(OBJECT(KFD), kfd_dev, shared_resources);
	/* clang-format off */
	const struct wrong all[] = {
		WRONG(PROCESS, kfd_process, pdds, OBJECT(OTHER + PDD), BACK_PDD),
		WRONG(PDD, kfd_process_device, process, OBJECT(OTHER), BACK_PDD),
		WRONG(NODE, kfd_node, kfd, OBJECT(OTHER + KFD), BACK_NODE),
		WRONG(NODE, kfd_node, node_id, 0, BACK_NODE),
		WRONG(NODE, kfd_node, node_id, FAKE_LEN, BACK_NODE),
		WRONG(NODE, kfd_node, adev, OBJECT(OTHER + ADEV), BACK_ADEV),
		WRONG(KFD, kfd_dev, adev, OBJECT(OTHER + ADEV), BACK_ADEV),
		WRONG(KFD, kfd_dev, num_nodes, 0, READABLE),
		WRONG(ADEV, amdgpu_device, reset_domain, 0, READABLE),
		WRONG(NODE, kfd_node, dqm, OBJECT(OTHER + DQM), BACK_DQM),
		WRONG(DQM, device_queue_manager, dev, OBJECT(OTHER + NODE), BACK_DQM),
		WRONG(MGR, mqd_manager, dev, OBJECT(OTHER + NODE), BACK_MGR),
		WRONG(MGR, mqd_manager, mqd_stride, amdgpu.data, HOOK(mqd_stride)),
		WRONG(NODE, kfd_node, kfd2kgd, OBJECT(OTHER), HOOK(hqd_dump)),
		WRONG(CALLS, kfd2kgd_calls, hqd_dump, amdgpu.data, HOOK(hqd_dump)),
		WRONG(CALLS, kfd2kgd_calls, hqd_dump, 0, HOOK(hqd_dump)),
		WRONG(CALLS, kfd2kgd_calls, hqd_is_occupied, amdgpu.text + 16,
		      HOOK(hqd_is_occupied)),
		WRONG(CALLS, kfd2kgd_calls, hqd_sdma_dump, (unsigned long)amdgpu.text - 1,
		      HOOK(hqd_sdma_dump)),
		WRONG(CALLS, kfd2kgd_calls, get_iq_wait_times, amdgpu.data,
		      HOOK(get_iq_wait_times)),
		WRONG(CALLS, kfd2kgd_calls, get_cu_occupancy, &n, HOOK(get_cu_occupancy)),
		WRONG_IN(res, kgd2kfd_shared_resources, num_pipe_per_mec, 0, SLOTS_FIT),
		WRONG_IN(res, kgd2kfd_shared_resources, num_pipe_per_mec, 9, SLOTS_FIT),
		WRONG_IN(res, kgd2kfd_shared_resources, num_pipe_per_mec,
			 0x08000001, SLOTS_FIT),
		WRONG_IN(res, kgd2kfd_shared_resources, num_queue_per_pipe,
			 0x40000001, SLOTS_FIT),
	};
	/* clang-format on */
	u32 *bits = &gp_layout.kgd2kfd_shared_resources__cp_queue_bitmap.at.len;
	u32 type = gp_layout.KFD_MQD_TYPE_CP;

	make(true);
	*bits = 8;
	refuse_all(all, sizeof(all) / sizeof(all[0]));
	gp_layout.KFD_MQD_TYPE_CP = FAKE_LEN;
	want(load(OBJECT(PROCESS)) == -EUCLEAN);
	gp_layout.KFD_MQD_TYPE_CP = type;
	*bits = 1;
	want(load(OBJECT(PROCESS)) == -EUCLEAN);
	*bits = 8;
	FIELD(OBJECT(PDD), kfd_process_device, drm_file) = NULL;
	want(load(OBJECT(PROCESS)) == -ENOENT);
}

/* A driver without kfd_node, where the kfd_dev is the node. */
static void check_refused_before(void)
{
	/* clang-format off */
	const struct wrong all[] = {
		WRONG(PDD, kfd_process_device, dev, OBJECT(NODE), BACK_DEV),
		WRONG(KFD, kfd_dev, init_complete, false, BACK_DEV),
		WRONG_IN(gp_ptr(OBJECT(ADEV), amdgpu_device, kfd), amdgpu_kfd_dev, dev,
			 OBJECT(OTHER + KFD), BACK_DEV),
		WRONG(KFD, kfd_dev, adev, OBJECT(OTHER + ADEV), BACK_DEV),
		WRONG(KFD, kfd_node, adev, OBJECT(OTHER + ADEV), BACK_ADEV),
		WRONG(MGR, mqd_manager, dev, OBJECT(OTHER + KFD), BACK_MGR),
	};
	/* clang-format on */

	make(false);
	refuse_all(all, sizeof(all) / sizeof(all[0]));
	want(n.xcc_mask == 1 && n.n_nodes == 1 && !n.mqd_stride);
	want(n.kfd == OBJECT(KFD) && gp_node_is_whole(OBJECT(KFD)));
	FIELD(OBJECT(KFD), kfd_dev, init_complete) = false;
	want(!gp_node_is_whole(OBJECT(KFD)));
}

static void check_loaded(void)
{
	void *res = gp_ptr(OBJECT(KFD), kfd_dev, shared_resources);

	make(true);
	fake_case[0] = '\0';
	want(gp_node_count(OBJECT(PROCESS)) == 1);
	want(!load(OBJECT(PROCESS)));
	want(n.node == OBJECT(NODE) && n.adev == OBJECT(ADEV));
	want(n.gpu_id == 0xabc && n.xcc_mask == 0xf0 && n.gfx == 90402);
	want(n.n_slots == 128 && n.n_queues == 32 && n.n_nodes == 2);
	want(n.cp_slots[0] == 0xfe && n.cp_slots[1] == 0xfd);
	want(n.sdma_first == 4 && n.sdma_engines == 4 && n.sdma_rlcs == 8);
	want(n.engines == 4 && n.waves_max == 80 / 2 * 4 * 8);
	want(!n.sdma_by_doorbell && n.get_cu_occupancy && n.mqd_stride);
	FIELD(res, kgd2kfd_shared_resources, enable_mes) = true;
	FIELD(OBJECT(CALLS), kfd2kgd_calls, hqd_sdma_dump) = NULL;
	FIELD(OBJECT(CALLS), kfd2kgd_calls, get_cu_occupancy) = amdgpu.data;
	gp_features[GP_FEATURE_waves] = "get_cu_occupancy";
	FIELD(OBJECT(DQM), device_queue_manager, dev) = NULL;
	want(!gp_node_follow(OBJECT(NODE), &n) && n.sdma_by_doorbell);
	want(!n.hqd_sdma_dump && !n.get_cu_occupancy && !n.waves_max);
	gp_features[GP_FEATURE_waves] = NULL;
	want(gp_node_hold(&n) && n.ddev->ref.x == 2);
	gp_node_drop(&n);
	gp_node_drop(&n);
	want(!gp_node_hold(&n) && !n.ddev->ref.x);
	FIELD(OBJECT(PROCESS), kfd_process, n_pdds) = 1000;
	want(gp_node_count(OBJECT(PROCESS)) == FAKE_LEN);
	want(gp_is_code_before((unsigned long)amdgpu.text + 15, &amdgpu));
	want(!gp_is_code_before((unsigned long)amdgpu.data, &amdgpu));
}

/* Check the word for the hardware, and the references meanwhile and afterwards. */
#define hw(word) hw_from(GP_VIEW_HARDWARE_##word, __LINE__)
static void hw_from(enum gp_view_hardware why, int line)
{
	const int taken = gp_stats[GP_STAT_LOCK(reset)].counter;

	snprintf(fake_case, sizeof(fake_case), "(line %d)", line);
	is_gone = true;
	want(gp_node_get_hw(&n) == why);
	if (why == GP_VIEW_HARDWARE_READ) {
		want(drm == 1 && sem == 1 && pm == (pm_result > 0));
		gp_node_put_hw(&n);
	}
	is_gone = false;
	want(!drm && !sem && !pm);
	want(gp_stats[GP_STAT_LOCK(reset)].counter ==
	     taken + (why == GP_VIEW_HARDWARE_READ || why == GP_VIEW_HARDWARE_STOPPED ||
		      why == GP_VIEW_HARDWARE_LOST));
}

/* A value for one look. */
#define with(place, value, word)                     \
	do {                                         \
		__typeof__(place) before_ = (place); \
		(place) = (value);                   \
		hw(word);                            \
		(place) = before_;                   \
	} while (0)

static void start_hw(void)
{
	make(true);
	want(!load(OBJECT(PROCESS)));
	n.get_iq_wait_times = NULL;
	is_present = true;
	is_suspended = is_reset = is_pci = is_offline = false;
	pm_result = 1;
}

static void check_hw(void)
{
	void *virt = gp_ptr(OBJECT(ADEV), amdgpu_device, virt);

	start_hw();
	hw(READ);
	with(FIELD(virt, amdgpu_virt, caps), 4, SRIOV);
	with(FIELD(virt, amdgpu_virt, caps), 3, READ);
	with(is_present, false, REMOVED);
	with(is_reset, true, RESET);
	with(FIELD(OBJECT(DQM), device_queue_manager, sched_running), false, STOPPED);
	with(FIELD(OBJECT(DQM), device_queue_manager, dev), OBJECT(OTHER + NODE), STOPPED);
	with(n.dqm, (void *)8, STOPPED);
	with(FIELD(OBJECT(ADEV), amdgpu_device, no_hw_access), true, LOST);
	is_pci = true;
	hw(READ);
	with(is_offline, true, LOST);
	is_pci = false;
	with(is_offline, true, READ);

	with(is_suspended, true, READ); /* on its way there or back: in use */
	pm_result = 0;
	hw(UNUSED);
	with(is_suspended, true, ASLEEP);
	pm_result = -EINVAL; /* the device has no runtime PM */
	hw(READ);
	with(is_suspended, true, ASLEEP);
	with(is_reset, true, RESET);
}

static int asked;
static u32 answer;

static void fake_wait_times(struct amdgpu_device *adev, uint32_t *times, uint32_t inst)
{
	want(adev == OBJECT(ADEV) && inst == 4 && sem == 1);
	asked++;
	*times = answer;
}

/* The device is asked once, and not again when it does not answer. */
static void check_answers(void)
{
	int i;

	start_hw();
	n.get_iq_wait_times = fake_wait_times;
	for (i = 0; i < 3; i++)
		hw(READ);
	want(asked == 1 && n.answered);

	start_hw();
	n.get_iq_wait_times = fake_wait_times;
	answer = GP_NO_ANSWER;
	for (i = 0; i < 3; i++)
		hw(LOST);
	want(asked == 3 && n.lost);
	n.lost = n.answered = false;
	answer = 0;
	FIELD(OBJECT(ADEV), amdgpu_device, no_hw_access) = true;
	hw(LOST);
	want(asked == 3);
}

/* Check that a hold ends after so many registers, and that a change meanwhile ends the read. */
static void check_rest(void)
{
	start_hw();
	want(!gp_node_get_hw(&n));
	gp_node_add_reads(&n, GP_HOLD_READS - 1);
	is_reset = true; /* and gp_node_rest() waits */
	want(!gp_node_rest(&n) && n.awake && sem == 1);
	gp_node_add_reads(&n, 1);
	want(gp_node_rest(&n) == -GP_VIEW_HARDWARE_RESET && !sem && !drm);
	gp_node_put_hw(&n);
	want(!n.awake && !sem && !drm && !pm);
	is_reset = false;
	want(!gp_node_get_hw(&n));
	gp_node_add_reads(&n, 2 * GP_HOLD_READS);
	want(!gp_node_rest(&n) && !gp_node_rest(&n) && !n.reads && sem == 1);
	gp_node_put_hw(&n);
	want(!sem && !drm && !pm);
}

static void check_gfxoff(void)
{
	void *gfx = gp_ptr(OBJECT(ADEV), amdgpu_device, gfx);
	void *pm = gp_ptr(OBJECT(ADEV), amdgpu_device, pm);

	start_hw();
	FIELD(pm, amdgpu_pm, pp_feature) = gp_layout.PP_GFXOFF_MASK;
	hw(GFXOFF);
	FIELD(gfx, amdgpu_gfx, gfx_off_req_count) = 1;
	hw(READ);
	with(FIELD(gfx, amdgpu_gfx, gfx_off_state), true, GFXOFF);
	FIELD(OBJECT(ADEV), amdgpu_device, flags) = gp_layout.AMD_IS_APU;
	hw(READ);
	with(n.gfx, 90012, GFXOFF);
	with(n.gfx, 0, GFXOFF);
	with(FIELD(pm, amdgpu_pm, pp_feature), 0, READ);
}

int main(void)
{
	fake_layout();
	gp_layout.KFD_MQD_TYPE_CP = 2;
	gp_symbols.amdgpu = &amdgpu;
	amdgpu.core_layout.base = amdgpu.text;
	amdgpu.core_layout.text_size = sizeof(amdgpu.text);
	check_refused();
	check_refused_before();
	check_loaded();
	check_hw();
	check_gfxoff();
	check_answers();
	check_rest();
	if (!fake_bad)
		printf("kmod/node.c: refuses what does not lead back, gives all references back\n");
	return fake_bad != 0;
}
