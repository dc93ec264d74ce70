// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of a container runtime to NRI's plug-in, with names and annotations of tenants in
 * them: ttrpc's messages as they are, and a protocol buffer that the input describes, so that
 * its lengths are right and its pods and containers whole.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "hold/role.h"
#include "ctl/nri.h"

#include "fuzz.h"

#define NAMESPACES "batch,serving"
#define DEEPEST	   4

/* Numbers of fields of a request. */
enum { METHOD = 2, PAYLOAD = 3 };

/* The input: a byte for each choice, then the bytes for it. */
static const uint8_t *tape, *tape_end;
static uint64_t state;
static uint8_t out[1 << 17];
static size_t out_len;

static unsigned int choose(unsigned int below)
{
	uint8_t byte = tape < tape_end ? *tape++ : 0;

	state = (state + byte) * 6364136223846793005ull + 1;
	return (uint32_t)(state >> 33) % below;
}

static void put(uint8_t byte)
{
	if (out_len < sizeof(out))
		out[out_len++] = byte;
}

static void put_varint(uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put(number | 0x80);
	put(number);
}

/* Put the length in front of the bytes from @from on; seldom a wrong one. */
static void put_length(size_t from)
{
	uint8_t copy[1 << 12];
	size_t len = out_len - from;

	if (len > sizeof(copy))
		return;
	memcpy(copy, out + from, len);
	out_len = from;
	put_varint(choose(256) == 255 ? len + choose(255) : len);
	memcpy(out + out_len, copy, len);
	out_len += len;
}

static void put_text(unsigned int field, const char *usual)
{
	static const char *const words[] = {
		"p2", "c2", "serving", "batc", "online", "none", "", "gpreempt.io/rol",
	};
	unsigned int left = choose(80);
	size_t from;

	put_varint(field << 3 | 2);
	from = out_len;
	if (!choose(4))
		usual = choose(2) ? words[choose(8)] : NULL;
	while (usual && *usual)
		put(*usual++);
	for (; !usual && left; left--)
		put(choose(256));
	put_length(from);
}

static void put_number(unsigned int field)
{
	uint64_t number = choose(256);
	unsigned int left;

	for (left = choose(12); left > 4; left--)
		number = number << 8 | choose(256);
	put_varint(field << 3);
	put_varint(number);
}

static void put_message(unsigned int field, unsigned int depth);

static void put_any(unsigned int depth)
{
	unsigned int kind = choose(8), field = choose(20);

	if (kind < 2)
		put_number(field);
	else if (kind < 4)
		put_text(field, "batch");
	else if (kind < 7 && depth)
		put_message(field, depth - 1);
	else if (!choose(16))
		put_varint(field << 3 | choose(8));
}

/* A pod (id, namespace, annotation), a container (id, pod, PID), or anything. */
static void put_message(unsigned int field, unsigned int depth)
{
	unsigned int left, kind = choose(4) ? field - 1 : 2;
	size_t from, inner;

	put_varint(field << 3 | 2);
	from = out_len;
	put_text(1, kind ? "c1" : "p1");
	if (kind == 0) {
		put_text(4, "batch");
		put_varint(6 << 3 | 2);
		inner = out_len;
		put_text(1, ROLE_ANNOTATION);
		put_text(2, choose(2) ? "offline weight=200 max=5%" : "offline");
		put_length(inner);
	} else if (kind == 1) {
		put_text(2, "p1");
		put_number(12);
	}
	for (left = choose(4); left && depth; left--)
		put_any(depth);
	put_length(from);
}

/* The message at hand, which ids must stay in. */
struct message {
	struct wire_bytes bytes;
	size_t given;
};

static void give(void *arg, struct wire_bytes id, uint64_t pid, const struct gp_role_value *value)
{
	struct message *m = arg;

	if (!id.len || id.at < m->bytes.at || id.at + id.len > m->bytes.at + m->bytes.len || !pid ||
	    (value->role != GPREEMPT_ROLE_ONLINE && value->role != GPREEMPT_ROLE_OFFLINE))
		abort();
	m->given++;
}

/* Its end is guarded. */
static size_t read_pods(const uint8_t *data, size_t len, unsigned int first)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct message m = { .bytes = { copy, len } };

	if (len)
		memcpy(copy, data, len);
	pods_each(m.bytes, first, NAMESPACES, give, &m);
	free(copy);
	return m.given;
}

static size_t read_stream(const struct fuzz_input *in)
{
	uint8_t *copy = malloc(in->len ? in->len : 1);
	struct wire_bytes left = { copy, in->len }, body;
	struct wire_field method, payload;
	struct wire_message head;
	size_t given = 0;

	memcpy(copy, in->data, in->len);
	while (wire_take(&left, &head, &body) > 0) {
		if (wire_find(body, METHOD, &method) || wire_find(body, PAYLOAD, &payload))
			continue;
		given += read_pods(payload.bytes.at, payload.bytes.len,
				   wire_is(method.bytes, "StateChange") ? 2 : 1);
	}
	free(copy);
	return given;
}

bool fuzz_one(const struct fuzz_input *in)
{
	size_t given = read_stream(in);
	unsigned int i;

	tape = in->data;
	tape_end = in->data + in->len;
	state = out_len = 0;
	for (i = 0; i < 16; i++)
		put_message(i / 8 + 1, DEEPEST);
	return given + read_pods(out, out_len, 1) + read_pods(out, out_len, 2);
}
