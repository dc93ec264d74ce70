// SPDX-License-Identifier: GPL-2.0-only
/* Packets of the socket layer: written, read, damaged, hostile. */
#include <errno.h>
#include <string.h>

#include "ipc/codec.h"
#include "shared/macro.h"
#include "unit.h"

#define KIND 0x74657374

/* The first version of a message, and a later one. */
struct older {
	uint64_t big;
	int number;
	char text[4];
};

struct newer {
	struct older first;
	uint64_t colour;
};

static const struct newer message = {
	.first = { .big = UINT64_MAX, .number = INT32_MIN, .text = "abc" },
	.colour = 7,
};

static char buf[IPC_MAX_PACKET];
static struct newer out;

static int get(const void *packet, size_t len, size_t size)
{
	memset(&out, 'x', sizeof(out));
	return gp_ipc_get(KIND, packet, len, sizeof(struct older), &out, size);
}

TEST(there_and_back)
{
	size_t len = gp_ipc_put(KIND, &message, sizeof(message), buf);

	ck_assert_uint_eq(len, sizeof(struct ipc_head) + sizeof(message));
	ck_assert_int_eq(get(buf, len, sizeof(out)), 0);
	ck_assert_mem_eq(&out, &message, sizeof(message));
}

TEST(what_is_missing_is_zero)
{
	size_t len = gp_ipc_put(KIND, &message, sizeof(struct older), buf);

	ck_assert_int_eq(get(buf, len, sizeof(out)), 0);
	ck_assert_mem_eq(&out.first, &message.first, sizeof(out.first));
	ck_assert_uint_eq(out.colour, 0);
	/* What only a newer sender has is skipped, and not written. */
	len = gp_ipc_put(KIND, &message, sizeof(message), buf);
	ck_assert_int_eq(get(buf, len, sizeof(struct older)), 0);
	ck_assert_mem_eq(&out.first, &message.first, sizeof(out.first));
	ck_assert_uint_eq(out.colour, 0x7878787878787878);
}

/* Each shorter packet: that of its head's size, and one that was cut. */
TEST(short_packet)
{
	size_t len,
		full = gp_ipc_put(KIND, &message, sizeof(struct older), buf);
	struct ipc_head head = { .kind = KIND };

	for (len = 0; len < full; len++) {
		ck_assert_int_eq(get(buf, len, sizeof(out)), -EPROTO);
		head.size = len;
		memcpy(buf, &head, sizeof(head));
		ck_assert_int_eq(get(buf, len, sizeof(out)), -EPROTO);
		gp_ipc_put(KIND, &message, sizeof(struct older), buf);
	}
	ck_assert_int_eq(get(buf, full, sizeof(out)), 0);
}

static const struct ipc_head bad[] = {
	{ 0, sizeof(buf) },	   { KIND + 1, sizeof(buf) },	 { KIND, 0 },
	{ KIND, sizeof(buf) - 1 }, { KIND, sizeof(buf) + 1 }, /* it was cut */
	{ KIND, UINT32_MAX },	   { IPC_REFUSAL, sizeof(buf) },
};

/* It fills its buffer, which is no error. */
TEST_EACH(hostile_packet, ARRAY_SIZE(bad))
{
	struct ipc_head good = { KIND, sizeof(buf) };

	memset(buf, 'a', sizeof(buf));
	ck_assert_int_eq(get(buf, sizeof(buf), sizeof(out)), -EPROTO);
	memcpy(buf, &bad[_i], sizeof(bad[_i]));
	ck_assert_int_eq(get(buf, sizeof(buf), sizeof(out)), -EPROTO);
	memcpy(buf, &good, sizeof(good));
	ck_assert_int_eq(get(buf, sizeof(buf), sizeof(out)), 0);
}

int main(void)
{
	return unit_run("ipc packets");
}
