// SPDX-License-Identifier: GPL-2.0-only
/* Packets of the socket layer: written, read, damaged, hostile. */
#include "shared/socket.h"
#include "unit.h"

#define KIND 0x74657374

struct message {
	uint64_t big;
	int number;
	char text[4];
};

static const struct message message = {
	.big = UINT64_MAX,
	.number = INT32_MIN,
	.text = "abc",
};

/* The largest one that there is room for. */
struct largest {
	char text[IPC_MAX_PACKET - sizeof(struct ipc_head)];
};

static char buf[IPC_MAX_PACKET + 1];
static struct message out;

static int get(size_t len)
{
	memset(&out, 'x', sizeof(out));
	return gp_ipc_get(KIND, buf, len, &out, sizeof(out));
}

TEST(there_and_back)
{
	size_t len = gp_ipc_put(KIND, &message, sizeof(message), buf);

	ck_assert_uint_eq(len, sizeof(struct ipc_head) + sizeof(message));
	ck_assert_int_eq(get(len), 0);
	ck_assert_mem_eq(&out, &message, sizeof(message));
}

TEST(largest_packet)
{
	static struct largest in, got;
	size_t len;

	memset(&in, 'a', sizeof(in));
	len = gp_ipc_put(KIND, &in, sizeof(in), buf);
	ck_assert_uint_eq(len, IPC_MAX_PACKET);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len, &got, sizeof(got)), 0);
	ck_assert_mem_eq(&got, &in, sizeof(in));
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len - 1, &got, sizeof(got)), -EPROTO);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len + 1, &got, sizeof(got)), -EPROTO);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, 0, &got, sizeof(got)), -EPROTO);
}

/* Every other size is refused: another one in the head, and a packet that is cut or longer. */
TEST(other_sizes)
{
	size_t len, full = gp_ipc_put(KIND, &message, sizeof(message), buf);
	struct ipc_head head = { .kind = KIND };

	for (len = 0; len <= sizeof(buf); len++) {
		gp_ipc_put(KIND, &message, sizeof(message), buf);
		ck_assert_int_eq(get(len), len == full ? 0 : -EPROTO);
		head.size = len;
		memcpy(buf, &head, sizeof(head));
		ck_assert_int_eq(get(len), len == full ? 0 : -EPROTO);
	}
	/* A refused packet is not written. */
	ck_assert_uint_eq(out.big, 0x7878787878787878);
}

#define SIZE (sizeof(struct ipc_head) + sizeof(struct message))
static const struct ipc_head bad[] = {
	{ 0, SIZE },	    { KIND + 1, SIZE },	  { KIND, 0 },		 { KIND, SIZE - 1 },
	{ KIND, SIZE + 1 }, { KIND, UINT32_MAX }, { IPC_REFUSAL, SIZE },
};

TEST_EACH(hostile_packet, ARRAY_SIZE(bad))
{
	struct ipc_head good = { KIND, SIZE };

	memset(buf, 'a', sizeof(buf));
	ck_assert_int_eq(get(SIZE), -EPROTO);
	memcpy(buf, &bad[_i], sizeof(bad[_i]));
	ck_assert_int_eq(get(SIZE), -EPROTO);
	memcpy(buf, &good, sizeof(good));
	ck_assert_int_eq(get(SIZE), 0);
}

TEST(refused_requests)
{
	int code = 0;

	ck_assert_uint_eq(gp_ipc_refuse(-EPROTO, buf), 12);
	ck_assert_int_eq(gp_ipc_get(IPC_REFUSAL, buf, 12, &code, sizeof(code)), 0);
	ck_assert_int_eq(code, -EPROTO);
}
