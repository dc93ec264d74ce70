// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ctl/nri/wire.h"

/* How a field is encoded. */
enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };

bool wire_is(struct wire_bytes bytes, const char *text)
{
	return bytes.len == strlen(text) && !memcmp(bytes.at, text, bytes.len);
}

static int take_varint(struct wire_bytes *left, uint64_t *out)
{
	unsigned int shift;
	uint8_t byte;

	*out = 0;
	for (shift = 0; shift < 64 && left->len; shift += 7) {
		byte = *left->at++;
		left->len--;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -EBADMSG;
}

static int take_bytes(struct wire_bytes *left, uint64_t len, struct wire_bytes *out)
{
	if (len > left->len)
		return -EBADMSG;
	*out = (struct wire_bytes){ left->at, len };
	left->at += len;
	left->len -= len;
	return 0;
}

int wire_next(struct wire_bytes *left, struct wire_field *out)
{
	uint64_t key, len;
	int ret;

	*out = (struct wire_field){ 0 };
	if (!left->len)
		return 0;
	ret = take_varint(left, &key);
	if (ret)
		return ret;
	out->field = key >> 3;
	switch (key & 7) {
	case VARINT:
		return take_varint(left, &out->number) ?: 1;
	case LENGTH:
		return take_varint(left, &len) ?: take_bytes(left, len, &out->bytes) ?: 1;
	case FIXED64:
		return take_bytes(left, 8, &out->bytes) ?: 1;
	case FIXED32:
		return take_bytes(left, 4, &out->bytes) ?: 1;
	default:
		return -EBADMSG;
	}
}

int wire_find(struct wire_bytes from, uint64_t field, struct wire_field *out)
{
	struct wire_field next;
	int ret;

	*out = (struct wire_field){ 0 };
	while ((ret = wire_next(&from, &next)) > 0)
		if (next.field == field)
			*out = next;
	return ret;
}

int wire_take(struct wire_bytes *left, struct wire_message *head, struct wire_bytes *body)
{
	size_t len;

	if (left->len < sizeof(*head))
		return 0;
	memcpy(head, left->at, sizeof(*head));
	len = be32toh(head->len);
	if (len > WIRE_MAX)
		return -EBADMSG;
	if (left->len - sizeof(*head) < len)
		return 0;
	left->at += sizeof(*head);
	left->len -= sizeof(*head);
	return take_bytes(left, len, body) ?: 1;
}
