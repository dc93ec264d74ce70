// SPDX-License-Identifier: GPL-2.0-only
/* Messages between commands and holders. */
#include "hold/holder.h"
#include "lib/see/words.h"
#include "unit.h"

static char buf[IPC_MAX_PACKET];
static struct hold_request request;
static struct hold_reply reply;

static int get_request(const struct hold_request *in)
{
	return gp_hold_get_request(buf, gp_hold_put_request(in, buf), &request);
}

static int get_reply(const struct hold_reply *in)
{
	return gp_hold_get_reply(buf, gp_hold_put_reply(in, buf), &reply);
}

TEST(longest_request)
{
	struct hold_request in = {
		.verb = HOLD_SUSPEND,
		.start = UINT64_MAX,
		.lease_ns = UINT64_MAX,
		.grace = 255,
		.command = INT32_MAX,
		.by_priority = 1,
		.priority_max = 15,
		.count = HOLD_MAX_IDS,
		.n_gpus = HOLD_MAX_GPUS,
	};
	uint32_t i;

	for (i = 0; i < HOLD_MAX_GPUS; i++)
		in.gpus[i] = UINT32_MAX - i;

	for (i = 0; i < HOLD_MAX_IDS; i++)
		in.ids[i] = i;
	ck_assert_int_eq(get_request(&in), 0);
	ck_assert_mem_eq(&request, &in, sizeof(in));
}

TEST(longest_reply)
{
	struct hold_reply in = {
		.status = GPREEMPT_CLASS_PARTIAL,
		.worker = UINT64_MAX,
		.verdict = GPREEMPT_CONTRADICTED,
		.verified_by = GPREEMPT_BY_WAVES,
		.code = INT32_MIN,
	};

	memset(in.text, 'x', sizeof(in.text) - 1);
	ck_assert_int_eq(get_reply(&in), 0);
	ck_assert_mem_eq(&reply, &in, sizeof(in));
}

static const struct hold_request bad_requests[] = {
	{ .verb = HOLD_VERBS },
	{ .verb = (enum hold_verb)UINT32_MAX },
	{ .count = HOLD_MAX_IDS + 1 },
	{ .count = UINT32_MAX },
	{ .count = 1, .ids = { 1024 } },
	{ .count = 2, .ids = { 0, UINT32_MAX } },
	{ .count = 2, .ids = { 1, 1 } },
	{ .count = 3, .ids = { 1, 0, 1 } },
	{ .n_gpus = HOLD_MAX_GPUS + 1 },
	{ .n_gpus = UINT32_MAX },
	{ .n_gpus = 2, .gpus = { UINT32_MAX, UINT32_MAX } },
	{ .how = GPREEMPT_HOWS },
	{ .how = UINT32_MAX },
	{ .by_priority = 2 },
	{ .command = (uint64_t)INT32_MAX + 1 },
};

TEST_EACH(refused_request, ARRAY_SIZE(bad_requests))
{
	uint32_t i;

	/* No id of too many is wrong by itself. */
	request = bad_requests[_i];
	for (i = 0; request.count > HOLD_MAX_IDS && i < HOLD_MAX_IDS; i++)
		request.ids[i] = i;
	for (i = 0; request.n_gpus > HOLD_MAX_GPUS && i < HOLD_MAX_GPUS; i++)
		request.gpus[i] = i;
	ck_assert_int_eq(get_request(&request), -EPROTO);
}

static const struct hold_reply bad_replies[] = {
	{ .status = GPREEMPT_CLASS_BUSY + 1 },
	{ .status = UINT64_MAX },
	{ .verdict = GPREEMPT_CONTRADICTED + 1 },
	{ .verdict = UINT64_MAX },
	{ .verified_by = GPREEMPT_BY_WAVES + 1 },
	{ .code = 1 },
	{ .code = INT32_MAX },
};

TEST_EACH(refused_reply, ARRAY_SIZE(bad_replies))
{
	ck_assert_int_eq(get_reply(&bad_replies[_i]), -EPROTO);
}

/* Packets that were cut (test_ipc has all sizes), of the other direction, of text without end. */
TEST(hostile)
{
	struct hold_request in = { .verb = HOLD_STATUS };
	struct hold_reply out = { .status = 1 };
	size_t len = gp_hold_put_request(&in, buf);

	ck_assert_int_eq(gp_hold_get_request(buf, len - 1, &request), -EPROTO);
	ck_assert_int_eq(gp_hold_get_reply(buf, len, &reply), -EPROTO);
	len = gp_hold_put_reply(&out, buf);
	ck_assert_int_eq(gp_hold_get_reply(buf, len - 1, &reply), -EPROTO);
	ck_assert_int_eq(gp_hold_get_request(buf, len, &request), -EPROTO);
	memset(out.text, 'x', sizeof(out.text));
	len = gp_hold_put_reply(&out, buf);
	ck_assert_int_eq(gp_hold_get_reply(buf, len, &reply), -EPROTO);
	out.text[0] = '\0';
	memset(out.next, 'x', sizeof(out.next));
	len = gp_hold_put_reply(&out, buf);
	ck_assert_int_eq(gp_hold_get_reply(buf, len, &reply), -EPROTO);
	memset(buf, 'a', sizeof(buf));
	ck_assert_int_eq(gp_hold_get_request(buf, sizeof(buf), &request), -EPROTO);
	ck_assert_int_eq(gp_hold_get_reply(buf, sizeof(buf), &reply), -EPROTO);
}

TEST(queues_of_a_command_line)
{
	uint32_t ids[] = { 4, 2 }, gpus[] = { 7, 9 };
	struct gpreempt_filter which = {
		.ids = ids,
		.n_ids = 2,
		.gpu_ids = gpus,
		.n_gpu_ids = 2,
		.by_priority = true,
		.priority_min = 3,
		.priority_max = 15,
	};

	memset(&request, 0, sizeof(request));
	ck_assert_int_eq(gp_hold_put_filter(&request, &which), 0);
	ck_assert_uint_eq(request.count, 2);
	ck_assert_uint_eq(request.ids[0], 4);
	ck_assert_uint_eq(request.n_gpus, 2);
	ck_assert_uint_eq(request.gpus[1], 9);
	ck_assert_uint_eq(request.by_priority, 1);
	ck_assert_uint_eq(request.priority_min, 3);
	ck_assert_uint_eq(request.priority_max, 15);
	ck_assert_int_eq(get_request(&request), 0);
	/* The holder makes the same choice as the client. */
	which = gp_hold_filter(&request);
	ck_assert(gp_filter_matches(&which, 4, 9, 3));
	ck_assert(!gp_filter_matches(&which, 3, 9, 3));
	ck_assert(!gp_filter_matches(&which, 4, 8, 3));
	ck_assert(!gp_filter_matches(&which, 4, 9, 2));
	ck_assert(!gp_filter_matches(&which, 4, 9, GPREEMPT_UNKNOWN));
}
