// SPDX-License-Identifier: GPL-2.0-only
/* Packets of the socket layer: written, read, damaged, hostile. */
#include <errno.h>
#include <string.h>

#include "ipc/codec.h"
#include "ipc/refusal.h"
#include "shared/macro.h"
#include "unit.h"

struct message {
	uint64_t big;
	int number;
	uint64_t count;
	uint32_t list[3];
	char text[8];
};

static const char *const verbs[] = { "do", "undo" };
static const struct ipc_field fields[] = {
	{ .name = "big",
	  .kind = IPC_U64,
	  .offset = offsetof(struct message, big) },
	{ .name = "number",
	  .kind = IPC_INT,
	  .offset = offsetof(struct message, number) },
	{ .name = "list",
	  .kind = IPC_LIST,
	  .offset = offsetof(struct message, list),
	  .room = 3,
	  .count = offsetof(struct message, count),
	  .max = 100 },
	{ .name = "text",
	  .kind = IPC_TEXT,
	  .offset = offsetof(struct message, text),
	  .room = 8 },
	{ 0 },
};

static const struct ipc_format format = {
	.head = "test 1",
	.verbs = verbs,
	.n_verbs = 2,
	.fields = fields,
};

static int get(const char *packet, struct message *out)
{
	unsigned int verb = 99;

	memset(out, 0, sizeof(*out));
	return gp_ipc_get(&format, packet, strlen(packet), &verb, out);
}

TEST(there_and_back)
{
	struct message in = {
		.big = UINT64_MAX, .number = INT32_MIN + 1, .count = 3,
		.list = { 100, 0, 7 }, .text = "a b=c\n",
	}, out;
	char buf[IPC_MAX_PACKET];
	unsigned int verb;
	size_t len;

	memset(&out, 0, sizeof(out));
	len = gp_ipc_put(&format, 1, &in, buf, sizeof(buf));
	ck_assert_str_eq(buf, "test 1 undo big=18446744073709551615 "
			      "number=-2147483647 list=100,0,7 text=a b=c\n");
	ck_assert_int_eq(gp_ipc_get(&format, buf, len, &verb, &out), 0);
	ck_assert_uint_eq(verb, 1);
	ck_assert_uint_eq(out.big, UINT64_MAX);
	ck_assert_int_eq(out.number, INT32_MIN + 1);
	ck_assert_uint_eq(out.count, 3);
	ck_assert_mem_eq(out.list, in.list, sizeof(in.list));
	ck_assert_str_eq(out.text, in.text);
}

TEST(what_is_missing_is_zero)
{
	struct message out;

	ck_assert_int_eq(get("test 1 do text=", &out), 0);
	ck_assert_uint_eq(out.big + out.count + out.number, 0);
	ck_assert_int_eq(get("test 1 do colour=red big=5 text=x", &out), 0);
	ck_assert_uint_eq(out.big, 5);
	/* A longer text than there is room for is cut. */
	ck_assert_int_eq(get("test 1 do text=123456789", &out), 0);
	ck_assert_str_eq(out.text, "1234567");
}

static const char *const bad[] = {
	"",
	"test",
	"test 1",
	"test 1 ",
	"test 10 do text=",
	"test 2 do text=",
	"other 1 do text=",
	"test 1 text=",
	"test 1 redo text=",
	"test 1 do",
	"test 1 do big=1",
	"test 1 do big=-1 text=",
	"test 1 do big= text=",
	"test 1 do big text=",
	"test 1 do  text=",
	"test 1 do number=2147483648 text=",
	"test 1 do number=- text=",
	"test 1 do number=--1 text=",
	"test 1 do list= text=",
	"test 1 do list=1,2,3,4 text=",
	"test 1 do list=101 text=",
	"test 1 do list=1,1 text=",
	"test 1 do list=1, text=",
};

TEST_EACH(bad_packet, ARRAY_SIZE(bad))
{
	struct message out;

	ck_assert_int_eq(get(bad[_i], &out), -EPROTO);
}

/* A packet that was cut, and one with a zero in it. */
TEST(hostile_packet)
{
	static char big[IPC_MAX_PACKET + 1];
	struct message out;
	unsigned int verb;

	memset(big, 'x', sizeof(big));
	memcpy(big, "test 1 do text=", 15);
	ck_assert_int_eq(gp_ipc_get(&format, big, IPC_MAX_PACKET - 1, &verb,
				    &out),
			 0);
	ck_assert_int_eq(gp_ipc_get(&format, big, IPC_MAX_PACKET, &verb, &out),
			 -EPROTO);
	ck_assert_int_eq(gp_ipc_get(&format, "test 1 do text=\0", 16, &verb,
				    &out),
			 -EPROTO);
}

/* A writer never goes beyond its buffer. */
TEST(short_buffer)
{
	struct message in = { .text = "1234567" };
	char buf[24];

	memset(buf, 'z', sizeof(buf));
	ck_assert_uint_eq(gp_ipc_put(&format, 0, &in, buf, 16), 15);
	ck_assert_uint_eq(strlen(buf), 15);
	ck_assert_int_eq(buf[16], 'z');
}

TEST(refusals)
{
	char buf[IPC_REFUSAL_SIZE];
	size_t len = gp_ipc_refusal_put(-EUSERS, buf);

	ck_assert_int_eq(gp_ipc_refusal_code(buf, len), -EUSERS);
	ck_assert_int_eq(gp_ipc_refusal_code("gpreempt-ipc 1 refused code=5",
					     29),
			 0);
	ck_assert_int_eq(gp_ipc_refusal_code("gpreempt-hold 1 reply text=", 27),
			 0);
}

int main(void)
{
	return unit_run("ipc packets");
}
