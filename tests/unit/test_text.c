// SPDX-License-Identifier: GPL-2.0-only
/* mqds, hqds and rls that real kernels printed. */
#include "lib/see/words.h"
#include "unit-text.h"

TEST(real_blocks)
{
	ck_assert(feed_file(FIXTURES "mqds"));
	ck_assert(feed_file(FIXTURES "hqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_processes, 2);
	ck_assert_uint_eq(data->n_queues, 4);
	ck_assert_str_eq(gp_text_type_name(data->queues[1].type), "sdma");
	ck_assert_int_eq(data->processes[0].pid, 156);
	ck_assert_int_eq(data->processes[0].pasid, 2);
	/* 24 CP slots, the HIQ, 8 engines with 8 each. */
	ck_assert_uint_eq(data->n_slots, 24 + 1 + 64);
	check(GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(sum.queues, 3);
	ck_assert_uint_eq(sum.slots_expected, 3);
	ck_assert_uint_eq(sum.slots_active, 3);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(n_xccs, 1);
	check(156);
	ck_assert_uint_eq(sum.queues, 1);
	ck_assert_uint_eq(sum.slots_active, 1);
}

/* The module's view of the same queues is another way to the same facts. */
TEST(real_fields)
{
	const struct gp_text_regs *regs;
	struct gpreempt_view *view;
	unsigned int compared = 0;
	size_t i, j, len;
	char *all = unit_load(FIXTURES "queues-144", &len);

	ck_assert_int_eq(gp_view_parse(all, len, &view), 0);
	ck_assert(feed_file(FIXTURES "mqds"));
	ck_assert(feed_file(FIXTURES "hqds"));
	join();
	for (i = 0; i < view->count; i++)
		for (j = 0; j < data->n_mqds; j++) {
			const struct gpreempt_queue *q = view->queues + i;

			regs = &data->mqds[j].regs;
			if (q->ring != regs->ring)
				continue;
			compared++;
			ck_assert_int_eq(regs->ring_size, q->ring_size);
			ck_assert_int_eq(data->mqds[j].slots, q->active);
			ck_assert_int_eq(data->queues[data->mqds[j].queue].gpu_id, q->gpu_id);
			if (q->type == GPREEMPT_QUEUE_SDMA) {
				ck_assert_int_eq(regs->engine, q->engine);
				ck_assert_int_eq(regs->rlc, q->rlc);
				continue;
			}
			ck_assert_int_eq(regs->mqd, q->mqd);
			ck_assert_int_eq(regs->doorbell, q->doorbell);
			ck_assert_int_eq(regs->cwsr, q->cwsr);
			ck_assert_int_eq(regs->cwsr_size, q->cwsr_size);
			ck_assert_int_eq(regs->priority, q->priority);
		}
	ck_assert_uint_eq(compared, 3);
	gpreempt_list_free(view);
	free(all);
}

TEST(real_run_list)
{
	static const unsigned int ops[] = {
		GP_TEXT_MAP_PROCESS, GP_TEXT_MAP_QUEUES, GP_TEXT_MAP_PROCESS,
		GP_TEXT_MAP_QUEUES,  GP_TEXT_MAP_QUEUES, GP_TEXT_MAP_QUEUES,
	};
	size_t i, owned = 0;

	ck_assert(feed_file(FIXTURES "rls"));
	ck_assert(feed_file(FIXTURES "mqds"));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_packets, ARRAY_SIZE(ops));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct gp_text_packet *packet = data->packets + i;

		ck_assert_uint_eq(packet->op, ops[i]);
		if (packet->queue < 0)
			continue;
		owned++;
		ck_assert_int_eq(packet->pasid, data->queues[packet->queue].pasid);
		ck_assert_int_eq(packet->doorbell,
				 data->mqds[data->queues[packet->queue].mqds].regs.doorbell);
	}
	/* Text of an SDMA MQD does not have its address. */
	ck_assert_uint_eq(owned, 3);
}

TEST(captures)
{
	size_t i;

	if (!feed_file(unit_capture("mqds_16_streams.txt")))
		return;
	ck_assert(feed_file(unit_capture("hqds_16_streams.txt")));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_queues, 5);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(data->queues[i].pid, 94314);
		ck_assert_int_eq(data->queues[i].pasid, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(data->queues[i].gpu_id, 0xf7bc);
		ck_assert_int_eq(data->queues[i].type, GP_TEXT_COMPUTE);
		ck_assert_int_eq(data->queues[i].slots_active, 4);
		ck_assert_int_eq(data->queues[i].slots_expected, 4);
	}
	check(GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(sum.slots_active, 20);
	ck_assert_uint_eq(sum.slots_without_owner, 0);
	ck_assert_uint_eq(n_xccs, 32);
	text_teardown();
	text_setup();
	ck_assert(feed_file(unit_capture("hqds_idle.txt")));
	join();
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_uint_eq(data->n_slots, 768 + 32 + 512);
	/* Some SDMA slots of that host hold a ring even so. */
	for (i = 0; i < data->n_slots; i++)
		if (data->slots[i].type == GP_TEXT_COMPUTE)
			ck_assert_int_eq(data->slots[i].regs.active, 0);
}

TEST_FIXTURE(text_setup, text_teardown)
