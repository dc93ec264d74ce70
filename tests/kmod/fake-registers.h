/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device of made-up registers for the tests of hqd.c and waves.c, which
 * counts how often they are read. It can stop to answer at each of these reads.
 */
#ifndef GP_FAKE_REGISTERS_H
#define GP_FAKE_REGISTERS_H

#include "fake-kernel.h"

#include "../../kmod/hqd.c"
#include "../../kmod/waves.c"

enum { XCCS = 4, PIPES = 2, QUEUES = 4, SLOTS = PIPES * QUEUES };
enum { ENGINES = 3, FIRST = 2, RLCS = 4, CP_REGS = 56, ROOM = 16 };
enum { DEAD = -1 }; /* value of a register of a dead device */

#define RING	0x7f1200345600ull
#define MQD	0x12345678000ull
#define STRIDE	0x1000
#define BELL	0x123
#define ENABLED 0x10000000

struct cp_slot {
	bool active;
	u64 mqd, ring;
	u32 bell, waves;
};

struct rlc {
	u32 cntl, bell_control, bell;
};

static struct cp_slot cp[XCCS][SLOTS];
static struct rlc rlcs[ENGINES][RLCS];
static struct gp_node node;
static enum gp_view_hardware get_hw;
static int held, reads, looks[XCCS], dumps, sdma_dumps, checks;
static int dies_at, lose_after, kill_in, n_regs_cp, n_regs_sdma, shift, dump_error;
static bool lost;
static struct {
	struct gp_list list;
	struct gp_queue q[ROOM];
} queues;
static struct gp_list *slots;
#define q0 (&queues.q[0])

static bool mapped(const void *src, size_t size)
{
	return false;
}

static void kasan_check_read(const void *src, size_t size)
{
}

void gp_stat_unread(enum gp_view_hardware why)
{
}

bool gp_queue_is_cp(int type)
{
	return type == GP_VIEW_QUEUE_COMPUTE_AQL;
}

void gp_queue_forget_hardware(struct gp_queue *q)
{
	memset_startat(q, 0xff, hardware);
}

/* State of the stand-ins for node.c, which check-node.c tests, but for the driver's own facts. */
static int in_hold, most_in_hold, rests, rests_until_reset;

int gp_node_lose(struct gp_node *n)
{
	n->lost = true;
	return -GP_VIEW_HARDWARE_LOST;
}

bool gp_node_is_lost(const struct gp_node *n)
{
	return lost;
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

	for (i = 0; i < 2 && n->get_iq_wait_times && wait == GP_NO_ANSWER; i++)
		n->get_iq_wait_times(n->adev, &wait, inst);
	n->answered = !(i == 2 && wait == GP_NO_ANSWER) && !lost;
	return n->answered ? 0 : gp_node_lose(n);
}

enum gp_view_hardware gp_node_get_hw(struct gp_node *n)
{
	if (get_hw != GP_VIEW_HARDWARE_READ)
		return get_hw;
	held++;
	in_hold = n->reads = 0;
	n->awake = !n->lost && (n->answered || !gp_node_check(n, 0));
	held -= !n->awake;
	return n->awake ? GP_VIEW_HARDWARE_READ : GP_VIEW_HARDWARE_LOST;
}

void gp_node_put_hw(struct gp_node *n)
{
	held -= n->awake;
	n->awake = false;
}

int gp_node_rest(struct gp_node *n)
{
	want(held == 1);
	if (n->reads < GP_HOLD_READS)
		return 0;
	gp_node_put_hw(n);
	if (++rests == rests_until_reset)
		get_hw = GP_VIEW_HARDWARE_RESET;
	return -gp_node_get_hw(n);
}

static u32 reg(u32 value)
{
	want(held == 1);
	reads++;
	in_hold++;
	most_in_hold = max(most_in_hold, in_hold);
	lost |= reads == lose_after;
	return dies_at && reads >= dies_at ? DEAD : value;
}

static struct cp_slot *cp_slot(u32 pipe, u32 queue, u32 inst)
{
	want(pipe < PIPES && queue < QUEUES && inst < XCCS);
	want(test_bit(pipe * QUEUES + queue, node.cp_slots));
	looks[inst]++;
	if (kill_in == inst)
		fake_killed = true;
	return &cp[inst][pipe * QUEUES + queue];
}

static int fake_dump(struct amdgpu_device *adev, uint32_t pipe, uint32_t queue,
		     uint32_t (**dump)[2], uint32_t *n_regs, uint32_t inst)
{
	const struct cp_slot *s = cp_slot(pipe, queue, inst);
	/* clang-format off */
	u32 value[CP_REGS] = {
		[0] = s->mqd, s->mqd >> 32, s->active, 0xf8,
		[8] = s->ring >> 8, s->ring >> 40, 77,
		[15] = ENABLED | s->bell << 2,
		[54] = 88, 1,
	};
	/* clang-format on */
	u32 i;

	dumps++;
	want(fake_noio);
	if (dump_error)
		return dump_error;
	*dump = malloc(sizeof(**dump) * CP_REGS);
	*n_regs = n_regs_cp;
	for (i = 0; i < CP_REGS; i++) {
		(*dump)[i][0] = 0x3000 + 4 * i + (i > 20 ? shift : 0);
		(*dump)[i][1] = reg(value[i]);
	}
	return 0;
}

/* Look for a ring as the driver does. */
static bool fake_occupied(struct amdgpu_device *adev, uint64_t ring, uint32_t pipe, uint32_t queue,
			  uint32_t inst)
{
	const struct cp_slot *s = cp_slot(pipe, queue, inst);

	return (reg(s->active) & 1) && reg(s->ring >> 8) == (u32)(ring >> 8) &&
	       reg(s->ring >> 40) == ring >> 40;
}

/* Dump as gfx 9 does: it may leave out registers before the last one, but counts them. */
static int fake_sdma_dump(struct amdgpu_device *adev, uint32_t engine, uint32_t rlc,
			  uint32_t (**dump)[2], uint32_t *n_regs)
{
	const struct rlc *r = &rlcs[(engine - FIRST) % ENGINES][rlc % RLCS];
	bool is_12 = node.gfx >= 120000;
	u32 i, at, bell = is_12 ? 0x11 : 0x2b, control = is_12 ? 0x0f : 0x12;

	want(engine >= FIRST && engine < FIRST + ENGINES && rlc < RLCS);
	want(fake_noio);
	sdma_dumps++;
	*dump = malloc(sizeof(**dump) * n_regs_sdma);
	*n_regs = n_regs_sdma;
	for (i = 0; i < *n_regs; i++) {
		at = !is_12 && i == *n_regs - 1 ? 0x2b : i;
		(*dump)[i][0] = 0x5000 + 4 * at + (at == control ? shift : 0);
		(*dump)[i][1] = reg(at == 0	  ? r->cntl :
				    at == control ? r->bell_control :
				    at == bell	  ? r->bell << 2 :
						    at * 100);
	}
	return 0;
}

static void fake_wait_times(struct amdgpu_device *adev, uint32_t *wait_times, uint32_t inst)
{
	checks++;
	*wait_times = reg(0x4321);
}

/* Add to the counts, and read a register for each slot. */
static void fake_occupancy(struct amdgpu_device *adev, struct kfd_cu_occupancy *counts, int *per_cu,
			   uint32_t inst)
{
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		counts[i].wave_cnt += reg(cp[inst][i].waves) & 0xffff;
		if (cp[inst][i].waves)
			counts[i].doorbell_off = cp[inst][i].bell;
	}
	if (kill_in == inst)
		fake_killed = true;
}

/* An empty device and one queue without slots. */
static void start(void)
{
	memset(cp, 0, sizeof(cp));
	memset(rlcs, 0, sizeof(rlcs));
	reads = dumps = sdma_dumps = checks = dies_at = lose_after = shift = dump_error = 0;
	memset(looks, 0, sizeof(looks));
	kill_in = -1;
	most_in_hold = rests = rests_until_reset = 0;
	n_regs_cp = CP_REGS;
	n_regs_sdma = 44;
	lost = fake_killed = false;
	get_hw = GP_VIEW_HARDWARE_READ;
	gp_layout.has_nodes = true;
	/* clang-format off */
	node = (struct gp_node){
		.gpu_id = 5, .gfx = 90402, .xcc_mask = (1 << XCCS) - 1,
		.n_queues = QUEUES, .n_slots = SLOTS, .cp_slots = { (1 << SLOTS) - 1 },
		.hqd_dump = fake_dump, .hqd_is_occupied = fake_occupied,
		.hqd_sdma_dump = fake_sdma_dump, .get_iq_wait_times = fake_wait_times,
		.get_cu_occupancy = fake_occupancy,
		.sdma_first = FIRST, .sdma_engines = ENGINES, .sdma_rlcs = RLCS,
	};
	queues.list.n = 1;
	*q0 = (struct gp_queue){
		.qid = 3, .gpu_id = 5, .type = GP_VIEW_QUEUE_COMPUTE_AQL,
		.ring = RING, .mqd = MQD, .mqd_stride = STRIDE,
		.doorbell = BELL, .slots = XCCS, .slot = -1, .engine = -1,
	};
	/* clang-format on */
	slots->n = 0;
	slots->room = ROOM;
}

static void map(u32 xcc, u32 slot, u64 mqd, u64 ring, u32 bell)
{
	cp[xcc][slot] = (struct cp_slot){ true, mqd, ring, bell, 0 };
}

static void map_all(u32 slot)
{
	u32 i;

	for (i = 0; i < XCCS; i++)
		map(i, slot, MQD + i * STRIDE, RING, BELL);
}

/* clang-format off */
#define look() look_from(__LINE__)
#define found(n) do { look(); want_slots(n); } while (0)
#define unread(why) do { look(); want_unread(GP_VIEW_HARDWARE_##why); } while (0)
/* clang-format on */

static inline void look_from(int line)
{
	snprintf(fake_case, sizeof(fake_case), "(line %d, dies at read %d)", line, dies_at);
	reads = dumps = sdma_dumps = checks = 0;
	memset(looks, 0, sizeof(looks));
	slots->n = 0;
	node.answered = node.lost = false;
	most_in_hold = rests = 0;
	gp_queue_forget_hardware(q0);
	gp_hqd_read(&node, q0, slots);
	want(!held && !fake_noio);
}

/* Check that the queue was not read, and that its only line has the reason. */
static inline void want_unread(enum gp_view_hardware why)
{
	const struct gp_queue *s = &slots->q[0];

	want(q0->hardware == why && q0->active == -1 && slots->n == 1);
	want(s->hardware == why && s->qid == 3 && s->gpu_id == 5);
	want(s->type == q0->type && s->xcc == -1 && s->pipe == -1);
	want(s->queue == -1 && s->engine == -1 && s->rlc == -1);
	want(s->vmid == -1 && s->doorbell == -1 && s->waves == -1);
	want(s->rptr == -1 && s->wptr == -1);
}

static inline void want_slots(int active)
{
	want(q0->hardware == GP_VIEW_HARDWARE_READ);
	want(q0->active == active && slots->n == active);
}

#endif /* GP_FAKE_REGISTERS_H */
