// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ipc/codec.h"
#include "shared/macro.h"
#include "shared/parse.h"

/* A packet that is being written. */
struct packet {
	char *buf;
	size_t size;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct packet *packet,
						      const char *format, ...)
{
	size_t room = packet->size - packet->used;
	va_list ap;
	int len;

	va_start(ap, format);
	len = vsnprintf(packet->buf + packet->used, room, format, ap);
	va_end(ap);
	packet->used += (size_t)len < room ? (size_t)len : room - 1;
}

static void put_list(const struct ipc_field *field, const char *from,
		     struct packet *packet)
{
	const uint32_t *values = (const void *)(from + field->offset);
	uint64_t i, count = *(const uint64_t *)(from + field->count);

	for (i = 0; i < count && i < field->room; i++) {
		if (!i)
			add(packet, " %s=", field->name);
		add(packet, "%s%u", i ? "," : "", values[i]);
	}
}

static void put_field(const struct ipc_field *field, const char *from,
		      struct packet *packet)
{
	const void *value = from + field->offset;

	switch (field->kind) {
	case IPC_U64:
		add(packet, " %s=%llu", field->name,
		    *(const unsigned long long *)value);
		break;
	case IPC_INT:
		add(packet, " %s=%d", field->name, *(const int *)value);
		break;
	case IPC_LIST:
		put_list(field, from, packet);
		break;
	case IPC_TEXT:
		add(packet, " %s=%s", field->name, (const char *)value);
		break;
	}
}

size_t gp_ipc_put(const struct ipc_format *format, unsigned int verb,
		  const void *from, char *buf, size_t size)
{
	struct packet packet = { .buf = buf, .size = size };
	const struct ipc_field *field;

	add(&packet, "%s %s", format->head, format->verbs[verb]);
	for (field = format->fields; field->name; field++)
		put_field(field, from, &packet);
	return packet.used;
}

static int get_list(const struct ipc_field *field, const char *text, char *to)
{
	uint32_t *values;
	size_t count;

	if (shr_parse_list(text, field->max, &values, &count))
		return -EPROTO;
	if (count <= field->room) {
		memcpy(to + field->offset, values, count * sizeof(*values));
		*(uint64_t *)(to + field->count) = count;
	}
	free(values);
	return count <= field->room ? 0 : -EPROTO;
}

static int get_int(const char *text, int *out)
{
	bool minus = *text == '-';
	uint64_t value;

	if (shr_parse_u64(text + minus, INT_MAX, &value))
		return -EPROTO;
	*out = minus ? -(int)value : (int)value;
	return 0;
}

static int get_value(const struct ipc_field *field, const char *text, char *to)
{
	char *value = to + field->offset;

	switch (field->kind) {
	case IPC_U64:
		return shr_parse_u64(text, UINT64_MAX, (uint64_t *)value) ?
			       -EPROTO :
			       0;
	case IPC_INT:
		return get_int(text, (int *)value);
	case IPC_LIST:
		return get_list(field, text, to);
	case IPC_TEXT:
		snprintf(value, field->room, "%s", text);
		return 0;
	}
	return -EPROTO;
}

static const struct ipc_field *find_field(const struct ipc_format *format,
					  const char *word, size_t len)
{
	const struct ipc_field *field;

	for (field = format->fields; field->name; field++)
		if (strlen(field->name) == len &&
		    !strncmp(field->name, word, len))
			return field;
	return NULL;
}

static bool has_text(const struct ipc_format *format)
{
	const struct ipc_field *field;

	for (field = format->fields; field->name; field++)
		if (field->kind == IPC_TEXT)
			return true;
	return false;
}

/* The fields of the packet, which is cut to pieces. */
static int get_fields(const struct ipc_format *format, char *rest, void *to)
{
	bool text = false;

	while (rest && !text) {
		char *word = rest, *equals = strchr(word, '=');
		const struct ipc_field *field;
		int ret;

		rest = strchr(word, ' ');
		if (!equals || (rest && equals > rest))
			return -EPROTO;
		field = find_field(format, word, equals - word);
		text = field && field->kind == IPC_TEXT;
		if (rest && !text)
			*rest++ = '\0';
		ret = field ? get_value(field, equals + 1, to) : 0;
		if (ret)
			return ret;
	}
	return text || !has_text(format) ? 0 : -EPROTO;
}

static int get_verb(const struct ipc_format *format, const char *word,
		    unsigned int *verb)
{
	size_t i;

	for (i = 0; i < format->n_verbs; i++) {
		if (!strcmp(word, format->verbs[i])) {
			*verb = i;
			return 0;
		}
	}
	return -EPROTO;
}

int gp_ipc_get(const struct ipc_format *format, const char *buf, size_t len,
	       unsigned int *verb, void *to)
{
	size_t head = strlen(format->head);
	char copy[IPC_MAX_PACKET], *word, *rest;
	int ret;

	/* One that fills its buffer may have been cut. */
	if (len >= sizeof(copy) || memchr(buf, '\0', len))
		return -EPROTO;
	memcpy(copy, buf, len);
	copy[len] = '\0';
	if (strncmp(copy, format->head, head) || copy[head] != ' ')
		return -EPROTO;
	word = copy + head + 1;
	rest = strchr(word, ' ');
	if (rest)
		*rest++ = '\0';
	ret = get_verb(format, word, verb);
	return ret ? ret : get_fields(format, rest, to);
}
