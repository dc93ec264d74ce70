// SPDX-License-Identifier: GPL-2.0-only
/* Counts of waves, and the queues that get them (kmod/waves.c). */
#include "fake-registers.h"

/* Add a queue that is in a slot of XCC 0, and has its records after the others. */
static struct gp_queue *add_queue(u32 i, u32 slot, u32 bell)
{
	queues.list.n = max(queues.list.n, i + 1);
	queues.q[i] = *q0;
	queues.q[i].doorbell = bell;
	queues.q[i].first_slot = slots->n;
	map(0, slot, MQD + i, RING, bell);
	return &queues.q[i];
}

#define count() count_from(slots, __LINE__)
static void count_from(struct gp_list *slots, int line)
{
	static struct kfd_cu_occupancy counts[GP_CP_SLOTS_MAX];
	u32 i;

	for (i = 0; slots && i < slots->n; i++)
		slots->q[i].waves = -1;
	snprintf(fake_case, sizeof(fake_case), "(line %d, dies at read %d)", line, dies_at);
	reads = 0;
	fake_killed = node.answered = node.lost = false;
	memset(counts, 0x11, sizeof(counts));
	gp_waves_count(&node, &queues.list, slots, counts);
	want(!held);
}

/*
 * Queue 0 in slot 5 of all XCCs, 1 in slot 2 of XCC 0, 2 in none with doorbell 0; 3
 * on another node, 4 of SDMA.
 */
static void start_waves(void)
{
	u32 i;

	start();
	map_all(5);
	look();
	add_queue(1, 2, BELL + 1);
	gp_hqd_read(&node, &queues.q[1], slots);
	add_queue(2, 3, 0);
	add_queue(3, 4, BELL + 3)->gpu_id = 6;
	add_queue(4, 6, BELL + 4)->type = GP_VIEW_QUEUE_SDMA;
	for (i = 2; i <= 4; i++)
		queues.q[i].active = 0;
	for (i = 0; i < XCCS; i++)
		cp[i][5].waves = 10 + i;
	cp[0][2].waves = 3;
	for (i = 0; i < queues.list.n; i++)
		queues.q[i].waves = -1;
	want(slots->n == XCCS + 1);
}

static void want_waves(int a, int b, int c)
{
	want(q0->waves == a && queues.q[1].waves == b);
	want(queues.q[2].waves == c);
	want(queues.q[3].waves == -1 && queues.q[4].waves == -1);
}

static void check_waves(void)
{
	int i, all;

	start_waves();
	count();
	want_waves(10 + 11 + 12 + 13, 3, 0);
	for (i = 0; i < XCCS; i++)
		want(slots->q[i].waves == 10 + i);
	want(slots->q[XCCS].waves == 3);
	all = reads;

	cp[2][5].bell = 7;  /* another queue has come into the slot */
	cp[0][3].waves = 1; /* and queue 2 into one */
	count();
	want_waves(-1, 3, 1);
	want(slots->q[2].waves == -1 && slots->q[3].waves == 13);
	cp[2][5].waves = 0; /* which has no waves */
	cp[0][2].waves = 0;
	count();
	want_waves(10 + 11 + 13, 0, 1);
	queues.q[1].hardware = GP_VIEW_HARDWARE_LOST;
	queues.q[1].waves = -1;
	count();
	want_waves(10 + 11 + 13, -1, 1);
	q0->hardware = queues.q[2].hardware = GP_VIEW_HARDWARE_LOST;
	count();
	want(!reads); /* no queue asks for it */

	for (i = 1; i <= all; i++) {
		start_waves();
		dies_at = i;
		count();
		want_waves(-1, -1, -1);
	}
	start_waves();
	kill_in = 0;
	count();
	want_waves(-1, -1, -1);
	want(reads == SLOTS + 2);
	start_waves();
	get_hw = GP_VIEW_HARDWARE_RESET;
	count();
	want_waves(-1, -1, -1);
	get_hw = GP_VIEW_HARDWARE_READ;
	node.get_cu_occupancy = NULL;
	count();
	want_waves(-1, -1, -1);
	want(!reads);
}

/* Check idle queues: one read before, and the reads of the driver's hook in each XCC. */
static void check_idle(void)
{
	int i;

	for (i = 0; i <= 1 + XCCS * SLOTS; i++) {
		start();
		q0->hardware = GP_VIEW_HARDWARE_READ;
		dies_at = i;
		count_from(NULL, __LINE__);
		want(q0->waves == (i ? -1 : 0) && (i || reads == 1 + XCCS * SLOTS));
		want(q0->hardware == (i ? GP_VIEW_HARDWARE_LOST : GP_VIEW_HARDWARE_READ));
		want(i != 1 || reads == 2);
	}
	start(); /* all registers are 0, as the driver does not access them any more */
	q0->hardware = GP_VIEW_HARDWARE_READ;
	lose_after = 1 + SLOTS;
	count_from(NULL, __LINE__);
	want(q0->waves == -1 && q0->hardware == GP_VIEW_HARDWARE_LOST && reads == 1 + SLOTS);
}

/* Check counts by doorbell alone: the hardware becomes the reason when they are not known. */
static void check_doorbells(void)
{
	int i, all;

	start_waves();
	for (i = 0; i < 5; i++) {
		queues.q[i].hardware = GP_VIEW_HARDWARE_READ;
		queues.q[i].active = -1;
	}
	count_from(NULL, __LINE__);
	want_waves(10 + 11 + 12 + 13, 3, 0);
	all = reads;
	for (i = 1; i <= all; i++) {
		dies_at = i;
		queues.q[0].hardware = queues.q[4].hardware = GP_VIEW_HARDWARE_READ;
		count_from(NULL, __LINE__);
		want(queues.q[0].waves == -1 && !held);
		want(queues.q[0].hardware == GP_VIEW_HARDWARE_LOST);
		want(queues.q[4].hardware == GP_VIEW_HARDWARE_LOST);
		/* Before the first count, or in the XCC in which it died. */
		want(reads <= max(2, i + SLOTS + 2));
	}
	want(queues.q[3].hardware == GP_VIEW_HARDWARE_READ); /* a queue of another node */

	start(); /* SDMA alone: one register says whether the GPU answers */
	q0->type = GP_VIEW_QUEUE_SDMA;
	q0->hardware = GP_VIEW_HARDWARE_READ;
	count_from(NULL, __LINE__);
	want(reads == 1 && q0->hardware == GP_VIEW_HARDWARE_READ);
	dies_at = 1;
	count_from(NULL, __LINE__);
	want(reads == 2 && q0->hardware == GP_VIEW_HARDWARE_LOST);
	q0->gpu_id++; /* no queue of this node */
	q0->hardware = GP_VIEW_HARDWARE_READ;
	count_from(NULL, __LINE__);
	want(!reads);
}

int main(void)
{
	slots = malloc(struct_size(slots, q, ROOM));
	check_waves();
	check_idle();
	check_doorbells();
	free(slots);
	if (!fake_bad)
		printf("kmod/waves.c: tells the waves of each queue, or that they are not known\n");
	return fake_bad != 0;
}
