// SPDX-License-Identifier: GPL-2.0-only
/* What commands and holders say to each other. */
#include <stdio.h>
#include <string.h>

#include "ctl/command/ctl.h"
#include "holder/holder.h"
#include "unit.h"

static char buf[HOLD_MAX_PACKET];
static struct hold_request request;
static struct hold_reply reply;

TEST(request_there_and_back)
{
	struct hold_request in = {
		.verb = HOLD_SUSPEND,
		.start = 1844,
		.lease_ns = 5000000000,
		.grace = 255,
		.command = 4711,
		.by_priority = 1,
		.priority_max = 5,
		.count = 3,
		.ids = { 0, 7, 1023 },
		.n_gpus = 2,
		.gpus = { 0xf7bc, UINT32_MAX },
	};

	ck_assert_int_eq(gp_hold_get_request(buf, gp_hold_put_request(&in, buf),
					     &request),
			 0);
	ck_assert_int_eq(request.verb, HOLD_SUSPEND);
	ck_assert_uint_eq(request.start, 1844);
	ck_assert_uint_eq(request.lease_ns, 5000000000);
	ck_assert_uint_eq(request.count, 3);
	ck_assert_uint_eq(request.ids[2], 1023);
	ck_assert_uint_eq(request.grace, 255);
	ck_assert_uint_eq(request.command, 4711);
	ck_assert_uint_eq(request.by_priority, 1);
	ck_assert_uint_eq(request.priority_max, 5);
	ck_assert_uint_eq(request.n_gpus, 2);
	ck_assert_uint_eq(request.gpus[1], UINT32_MAX);
}

TEST(longest_request)
{
	struct hold_request in = {
		.start = UINT64_MAX,
		.lease_ns = UINT64_MAX,
		.count = HOLD_MAX_IDS,
		.n_gpus = HOLD_MAX_GPUS,
	};
	uint32_t i;

	for (i = 0; i < HOLD_MAX_GPUS; i++)
		in.gpus[i] = UINT32_MAX - i;

	for (i = 0; i < HOLD_MAX_IDS; i++)
		in.ids[i] = i;
	ck_assert_int_eq(gp_hold_get_request(buf, gp_hold_put_request(&in, buf),
					     &request),
			 0);
	ck_assert_uint_eq(request.count, HOLD_MAX_IDS);
	ck_assert_uint_eq(request.ids[HOLD_MAX_IDS - 1], HOLD_MAX_IDS - 1);
}

TEST(verbs)
{
	struct hold_request in = { .verb = HOLD_RESUME };

	ck_assert_int_eq(gp_hold_get_request(buf, gp_hold_put_request(&in, buf),
					     &request),
			 0);
	ck_assert_int_eq(request.verb, HOLD_RESUME);
	in.verb = HOLD_STATUS;
	ck_assert_int_eq(gp_hold_get_request(buf, gp_hold_put_request(&in, buf),
					     &request),
			 0);
	ck_assert_int_eq(request.verb, HOLD_STATUS);
}

TEST(reply_there_and_back)
{
	struct hold_reply in = {
		.status = 6,
		.worker = 815,
		.guardian = 814,
		.queues = 3,
		.ioctl_ns = 123456,
		.verdict = GPREEMPT_CONTRADICTED,
		.held_ns = 17,
		.lease_ns = 18,
		.cgroup = 1,
		.major = 1,
		.minor = 11,
		.text = "queue 2: status=0 worker=1 text=\nnext line",
	};

	ck_assert_int_eq(gp_hold_get_reply(buf, gp_hold_put_reply(&in, buf),
					   &reply),
			 0);
	ck_assert_uint_eq(reply.status, 6);
	ck_assert_uint_eq(reply.worker, 815);
	ck_assert_uint_eq(reply.guardian, 814);
	ck_assert_uint_eq(reply.queues, 3);
	ck_assert_uint_eq(reply.ioctl_ns, 123456);
	ck_assert_uint_eq(reply.verdict, GPREEMPT_CONTRADICTED);
	ck_assert_uint_eq(reply.held_ns, 17);
	ck_assert_uint_eq(reply.lease_ns, 18);
	ck_assert_uint_eq(reply.cgroup, 1);
	ck_assert_uint_eq(reply.major, 1);
	ck_assert_uint_eq(reply.minor, 11);
	ck_assert_str_eq(reply.text, in.text);
}

TEST(longest_reply)
{
	struct hold_reply in = { .worker = UINT64_MAX };

	memset(in.text, 'x', sizeof(in.text) - 1);
	ck_assert_int_eq(gp_hold_get_reply(buf, gp_hold_put_reply(&in, buf),
					   &reply),
			 0);
	ck_assert_uint_eq(reply.worker, UINT64_MAX);
	ck_assert_str_eq(reply.text, in.text);
}

TEST(newer_words)
{
	static const char text[] =
		"gpreempt-hold 1 suspend colour=7 start=5 lease_ns=0";

	ck_assert_int_eq(gp_hold_get_request(text, strlen(text), &request), 0);
	ck_assert_uint_eq(request.start, 5);
}

#define REQUEST "gpreempt-hold 1 "
static const char *const bad_requests[] = {
	"",
	"gpreempt-hold",
	"gpreempt-hold 2 suspend",
	"gpreempt-hold 10 suspend",
	REQUEST,
	REQUEST "kill",
	REQUEST "suspendall",
	REQUEST "suspend start",
	REQUEST "suspend start=",
	REQUEST "suspend start=-1",
	REQUEST "suspend start=99999999999999999999",
	REQUEST "suspend ids=1024",
	REQUEST "suspend ids=1,1",
	REQUEST "suspend ids=",
	REQUEST "suspend ids=x",
	REQUEST "suspend ids=1 ids",
	REQUEST "suspend gpus=",
	REQUEST "suspend gpus=4294967296",
	REQUEST "suspend gpus=1,,2",
	REQUEST "suspend  start=1",
	REQUEST "suspend start=1 ",
};

TEST_EACH(refused_request, ARRAY_SIZE(bad_requests))
{
	ck_assert_int_eq(gp_hold_get_request(bad_requests[_i],
					     strlen(bad_requests[_i]),
					     &request),
			 -EPROTO);
}

static const char *const bad_replies[] = {
	"",
	"gpreempt-hold 1 suspend",
	"gpreempt-hold 1 reply",
	"gpreempt-hold 1 reply status=1",
	"gpreempt-hold 1 reply status=x text=",
	"gpreempt-hold 1 reply status text=",
};

TEST_EACH(refused_reply, ARRAY_SIZE(bad_replies))
{
	ck_assert_int_eq(gp_hold_get_reply(bad_replies[_i],
					   strlen(bad_replies[_i]), &reply),
			 -EPROTO);
}

TEST(hostile)
{
	static const char zero[] = "gpreempt-hold 1 status\0 start=5";

	ck_assert_int_eq(gp_hold_get_request(zero, sizeof(zero) - 1, &request),
			 -EPROTO);
	memset(buf, 'a', sizeof(buf));
	ck_assert_int_eq(gp_hold_get_request(buf, sizeof(buf), &request),
			 -EPROTO);
	ck_assert_int_eq(gp_hold_get_reply(buf, sizeof(buf), &reply), -EPROTO);
}

TEST(queues_of_a_command_line)
{
	uint32_t ids[] = { 4, 2 }, gpus[] = { 7, 9, 7 };
	struct ctl_queue_args args = {
		.ids = { ids, 2 },
		.gpus = { gpus, 3 },
		.priority = { .set = true, .min = 3, .max = 15 },
	};

	memset(&request, 0, sizeof(request));
	ctl_hold_request(&request, &args);
	ck_assert_uint_eq(request.count, 2);
	ck_assert_uint_eq(request.ids[0], 4);
	/* Each once, as a packet must have it. */
	ck_assert_uint_eq(request.n_gpus, 2);
	ck_assert_uint_eq(request.gpus[1], 9);
	ck_assert_uint_eq(request.by_priority, 1);
	ck_assert_uint_eq(request.priority_min, 3);
	ck_assert_uint_eq(request.priority_max, 15);
	ck_assert_int_eq(gp_hold_get_request(buf,
					     gp_hold_put_request(&request, buf),
					     &request),
			 0);
}

int main(void)
{
	return unit_run("holder protocol");
}
