// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search for the slots of a queue (kmod/hqd.c): its results, the registers that it reads, and
 * its end when the device does not answer.
 */
#include "fake-registers.h"

/* The dump function of a driver without kfd_node. */
static int fake_dump_gpu(struct amdgpu_device *adev, uint32_t pipe, uint32_t queue,
			 uint32_t (**dump)[2], uint32_t *n_regs)
{
	return fake_dump(adev, pipe, queue, dump, n_regs, 0);
}

static bool fake_occupied_gpu(struct amdgpu_device *adev, uint64_t ring, uint32_t pipe,
			      uint32_t queue)
{
	return fake_occupied(adev, ring, pipe, queue, 0);
}

static void check_found(void)
{
	u32 i;

	start();
	map_all(6);
	found(XCCS);
	want(q0->slot == 6 && q0->rptr == 77 && q0->wptr == (1ll << 32) + 88);
	for (i = 0; i < XCCS; i++)
		want(slots->q[i].xcc == i && slots->q[i].pipe == 1 && slots->q[i].queue == 2 &&
		     slots->q[i].doorbell == BELL && slots->q[i].vmid == 8 &&
		     slots->q[i].engine == -1);
	/* 6 that are empty, then the one, which the next XCCs begin with. */
	want(looks[0] == 8 && looks[1] == 2 && looks[3] == 2);
	want(reads == 1 + 6 + XCCS * (3 + CP_REGS) && dumps == XCCS);
	look();
	want(reads == 1 + XCCS * (3 + CP_REGS));
	reads = slots->n = 0; /* another queue of the node, which has answered */
	gp_hqd_read(&node, q0, slots);
	want(reads == XCCS * (3 + CP_REGS));
	q0->slot = SLOTS + 3; /* a slot of another device */
	look();
	want(q0->slot == 6 && looks[0] == 8);

	start();
	node.cp_slots[0] = 0x30; /* the others are not KFD's */
	map_all(5);
	map(2, 5, MQD, RING, BELL); /* the MQD of XCC 0 */
	found(XCCS - 1);
	want(looks[0] == 3 && looks[2] == 3);

	start();
	gp_layout.has_nodes = false;
	node.xcc_mask = 1;
	node.hqd_dump_gpu = fake_dump_gpu;
	node.hqd_is_occupied_gpu = fake_occupied_gpu;
	map_all(6);
	found(1);
	node.hqd_is_occupied = NULL;
	found(1);
	want(dumps == 1);
}

static void check_others(void)
{
	start();
	map_all(4);
	map(0, 0, MQD, RING, BELL + 1);
	map(0, 1, MQD + 0x10000, RING, BELL);
	map(0, 2, MQD, RING, BELL);
	cp[0][2].active = false;
	map(0, 3, MQD, RING + 0x100, BELL);
	found(XCCS);
	want(q0->slot == 4 && slots->q[0].pipe == 1 && dumps == XCCS + 2);
	node.hqd_is_occupied = NULL; /* the dump tells it, too */
	q0->slot = -1;
	found(XCCS);
	want(slots->q[0].pipe == 1 && dumps == 5 + XCCS - 1);

	slots->room = 2; /* and no more are written */
	look();
	want(q0->active == XCCS && slots->n == 2);
}

/* All slots of all XCCs hold queues that have the same ring: the worst that there is. */
static void check_rests(void)
{
	const int most = GP_HOLD_READS + 3 + CP_REGS;
	u32 i, j;

	for (j = 0; j < 2; j++) {
		start();
		for (i = 0; i < XCCS * SLOTS; i++)
			map(i / SLOTS, i % SLOTS, MQD, RING, BELL + 1);
		rests_until_reset = j * 3;
		look();
		if (j)
			want_unread(GP_VIEW_HARDWARE_RESET);
		else
			want_slots(0);
		want(most_in_hold > GP_HOLD_READS && most_in_hold < most);
		want(j ? rests == 3 : rests == reads / most_in_hold);
	}
}

static void check_refused(void)
{
	start();
	map_all(0);
	n_regs_cp = CP_REGS - 1;
	unread(UNSUPPORTED);
	n_regs_cp = CP_REGS;
	shift = 4;
	unread(UNSUPPORTED);
	shift = 0;
	dump_error = -ENOMEM;
	unread(FAILED);
	dump_error = 0;
	get_hw = GP_VIEW_HARDWARE_ASLEEP;
	unread(ASLEEP);
	want(!reads);

	start();
	kill_in = 1;
	map_all(0);
	unread(FAILED);
	want(looks[1] && !looks[2] && !looks[3]);
}

/* The device stops to answer at each of the reads, with and without a short way. */
static void check_lost(void)
{
	const int search = 3 * SLOTS, whole = 2 + XCCS * (search + CP_REGS + 2);
	int i;

	start();
	dies_at = 1;
	unread(LOST);
	want(reads == 2 && !looks[0]);

	for (i = 1; i < 2 * whole; i++) {
		start();
		dies_at = i / 2;
		if (i & 1)
			node.get_iq_wait_times = NULL;
		map_all(SLOTS - 1);
		map(0, 1, MQD, RING, BELL + 1);
		look();
		if (q0->hardware == GP_VIEW_HARDWARE_READ)
			want_slots(XCCS);
		else
			want_unread(GP_VIEW_HARDWARE_LOST);
		want((i & 1) || reads <= dies_at + search + CP_REGS + 2);
	}
	start(); /* in no slot of XCC 1, and only the driver knows */
	map_all(0);
	cp[1][0].active = false;
	found(XCCS - 1);
	want(checks == 2);
	lost = true;
	unread(LOST);
}

/* clang-format off */
#define found_rlc() do { found(1); want_rlc(); } while (0)
/* clang-format on */

static void want_rlc(void)
{
	want(slots->q[0].engine == 1 && slots->q[0].rlc == 2);
	want(slots->q[0].xcc == -1 && slots->q[0].pipe == -1);
	want(slots->q[0].vmid == 6 && q0->rptr == (400ll << 32) + 300);
}

/* An SDMA queue, and RLCs that have other ones or had it once. */
static void start_sdma(void)
{
	u32 i;

	start();
	q0->type = GP_VIEW_QUEUE_SDMA;
	q0->slots = 1;
	for (i = 0; i < ENGINES * RLCS; i++)
		rlcs[i / RLCS][i % RLCS] = (struct rlc){ 1, ENABLED, 7 };
	rlcs[0][1] = (struct rlc){ 1, 0, BELL };
	rlcs[0][2] = (struct rlc){ 0, ENABLED, BELL };
}

static void check_sdma(void)
{
	start_sdma(); /* the driver has chosen the RLC */
	unread(UNSUPPORTED);
	q0->engine = 1;
	q0->rlc = 2;
	found(0);
	rlcs[1][2] = (struct rlc){ 6 << 24 | 1, ENABLED, BELL };
	for (n_regs_sdma = 42; n_regs_sdma <= 44; n_regs_sdma++) {
		found_rlc();
		want(sdma_dumps == 1);
	}
	unread(UNSUPPORTED); /* 45 */
	n_regs_sdma = 41;
	unread(UNSUPPORTED);
	node.gfx = 120000;
	unread(UNSUPPORTED);
	n_regs_sdma = 49;
	found_rlc();
	shift = 0x100;
	unread(UNSUPPORTED);
	dies_at = 2;
	unread(LOST);
	dies_at = shift = node.sdma_rlcs = 0;
	unread(UNSUPPORTED);
}

/* Check MES, where the doorbell decides. */
static void check_mes(void)
{
	start_sdma();
	node.sdma_by_doorbell = true;
	found(0);
	want(sdma_dumps == ENGINES * RLCS);
	rlcs[1][2] = (struct rlc){ 6 << 24 | 1, ENABLED, BELL };
	found_rlc();
	want(sdma_dumps == 7 && q0->slot == 6);
	want(q0->engine == 1 && q0->rlc == 2);
	found_rlc();
	want(sdma_dumps == 1);
	dies_at = 10;
	rlcs[1][2].bell = 7;
	unread(LOST);
	want(sdma_dumps == 2);
}

/* All active slots of the first XCC. */
static void check_count(void)
{
	int active = -1;

	start();
	want(!gp_node_get_hw(&node));
	map_all(1);
	map(1, 3, MQD, RING, BELL);
	node.xcc_mask &= ~1; /* its first XCC is 1 */
	want(!gp_hqd_count(&node, &active));
	want(active == 2 && dumps == SLOTS);
	want(rests == 1 && most_in_hold < GP_HOLD_READS + CP_REGS);
	dies_at = reads + 2 * CP_REGS + 1;
	want(gp_hqd_count(&node, &active) == -GP_VIEW_HARDWARE_LOST);
	dies_at = 0;
	lost = true;
	want(gp_hqd_count(&node, &active) == -GP_VIEW_HARDWARE_LOST);
	gp_node_put_hw(&node);
	want(!held);
}

int main(void)
{
	slots = malloc(struct_size(slots, q, ROOM));
	check_found();
	check_others();
	check_rests();
	check_refused();
	check_lost();
	check_sdma();
	check_mes();
	check_count();
	free(slots);
	if (!fake_bad)
		printf("kmod/hqd.c: finds slots, and a device that is lost\n");
	return fake_bad != 0;
}
