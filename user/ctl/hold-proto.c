// SPDX-License-Identifier: GPL-2.0-only
/*
 * What commands and holders say to each other: one packet of text,
 *
 *	gpreempt-hold 1 suspend start=4711 lease_ns=0 count=2 ids=0,2
 *	gpreempt-hold 1 reply status=0 worker=815 ... text=
 *
 * Unknown keys are skipped. text comes last and goes to the packet's end.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/hold.h"
#include "shared/parse.h"

#define HEAD "gpreempt-hold 1 "

struct field {
	const char *name;
	size_t offset;		/* of a uint64_t */
};

#define REQUEST(name) { #name, offsetof(struct hold_request, name) }
static const struct field request_fields[] = {
	REQUEST(start), REQUEST(lease_ns), REQUEST(grace), REQUEST(command),
	REQUEST(by_priority), REQUEST(priority_min), REQUEST(priority_max),
	REQUEST(count), REQUEST(n_gpus), { NULL, 0 },
};

/* An array of the request, and the field with its length. */
static const struct list {
	const char *head;
	size_t count;
	size_t values;
	uint32_t most;
	uint32_t biggest;	/* value */
} lists[] = {
	{ "ids=", offsetof(struct hold_request, count),
	  offsetof(struct hold_request, ids), HOLD_MAX_IDS, HOLD_MAX_IDS - 1 },
	{ "gpus=", offsetof(struct hold_request, n_gpus),
	  offsetof(struct hold_request, gpus), HOLD_MAX_GPUS, UINT32_MAX },
};

#define REPLY(name) { #name, offsetof(struct hold_reply, name) }
static const struct field reply_fields[] = {
	REPLY(status), REPLY(worker), REPLY(guardian), REPLY(command),
	REPLY(queues), REPLY(left), REPLY(ioctl_ns), REPLY(slots_ns),
	REPLY(resolution_ns), REPLY(verdict), REPLY(held_ns),
	REPLY(lease_ns), REPLY(cgroup), { NULL, 0 },
};

static const char *const verbs[] = {
	[HOLD_SUSPEND] = "suspend",
	[HOLD_RESUME] = "resume",
	[HOLD_STATUS] = "status",
};

static size_t put_fields(const struct field *fields, const void *from,
			 char *buf, size_t used)
{
	for (; fields->name; fields++)
		used += snprintf(buf + used, HOLD_MAX_PACKET - used,
				 " %s=%llu", fields->name,
				 *(const unsigned long long *)
				 ((const char *)from + fields->offset));
	return used;
}

static size_t put_list(const struct list *list,
		       const struct hold_request *request, char *buf,
		       size_t used)
{
	const char *base = (const char *)request;
	const uint32_t *values = (const void *)(base + list->values);
	uint64_t i, count = *(const uint64_t *)(base + list->count);

	for (i = 0; i < count && i < list->most; i++)
		used += snprintf(buf + used, HOLD_MAX_PACKET - used, "%s%s%u",
				 i ? "," : " ", i ? "" : list->head,
				 values[i]);
	return used;
}

size_t hold_put_request(const struct hold_request *request, char *buf)
{
	size_t i, used;

	used = snprintf(buf, HOLD_MAX_PACKET, HEAD "%s",
			verbs[request->verb]);
	used = put_fields(request_fields, request, buf, used);
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		used = put_list(&lists[i], request, buf, used);
	return used;
}

size_t hold_put_reply(const struct hold_reply *reply, char *buf)
{
	size_t used;

	used = snprintf(buf, HOLD_MAX_PACKET, HEAD "reply");
	used = put_fields(reply_fields, reply, buf, used);
	used += snprintf(buf + used, HOLD_MAX_PACKET - used, " text=%s",
			 reply->text);
	return used;
}

/* The word at *text, cut off; *text moves behind it. NULL at the end. */
static char *next_word(char **text)
{
	char *word = *text;

	if (!word || !*word)
		return NULL;
	*text = strchr(word, ' ');
	if (*text)
		*(*text)++ = '\0';
	return word;
}

static int get_field(const struct field *fields, const char *word, void *to)
{
	const char *equals = strchr(word, '=');
	uint64_t value;

	if (!equals)
		return -EPROTO;
	for (; fields->name; fields++) {
		if (strlen(fields->name) != (size_t)(equals - word) ||
		    strncmp(fields->name, word, equals - word))
			continue;
		if (shr_parse_u64(equals + 1, UINT64_MAX, &value))
			return -EPROTO;
		*(uint64_t *)((char *)to + fields->offset) = value;
	}
	return 0;
}

/* A terminated copy of the packet's body, behind the head. */
static int copy_body(const char *buf, size_t len, char *copy, char **body)
{
	if (len >= HOLD_MAX_PACKET || memchr(buf, '\0', len))
		return -EPROTO;
	memcpy(copy, buf, len);
	copy[len] = '\0';
	if (strncmp(copy, HEAD, strlen(HEAD)))
		return -EPROTO;
	*body = copy + strlen(HEAD);
	return 0;
}

static int get_verb(const char *word, enum hold_verb *verb)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (word && !strcmp(word, verbs[i])) {
			*verb = i;
			return 0;
		}
	}
	return -EPROTO;
}

/* The length came before, and must be right. */
static int get_list(const struct list *list, const char *text,
		    struct hold_request *request)
{
	char *base = (char *)request;
	uint32_t *values;
	size_t count;

	if (shr_parse_list(text, list->biggest, &values, &count))
		return -EPROTO;
	if (count != *(uint64_t *)(base + list->count) || count > list->most) {
		free(values);
		return -EPROTO;
	}
	memcpy(base + list->values, values, count * sizeof(*values));
	free(values);
	return 0;
}

/* The list that a word begins, or NULL. */
static const struct list *find_list(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strncmp(word, lists[i].head, strlen(lists[i].head)))
			return &lists[i];
	return NULL;
}

int hold_get_request(const char *buf, size_t len,
		     struct hold_request *request)
{
	char copy[HOLD_MAX_PACKET], *body, *word;
	unsigned int seen = 0, wanted;
	int ret;

	memset(request, 0, sizeof(*request));
	ret = copy_body(buf, len, copy, &body);
	if (ret)
		return ret;
	ret = get_verb(next_word(&body), &request->verb);
	while (!ret && (word = next_word(&body))) {
		const struct list *list = find_list(word);

		if (list) {
			ret = get_list(list, word + strlen(list->head),
				       request);
			seen |= 1U << (list - lists);
		} else {
			ret = get_field(request_fields, word, request);
		}
	}
	wanted = (request->count ? 1 : 0) | (request->n_gpus ? 2 : 0);
	return ret ? ret : wanted & ~seen ? -EPROTO : 0;
}

int hold_get_reply(const char *buf, size_t len, struct hold_reply *reply)
{
	char copy[HOLD_MAX_PACKET], *body, *word;
	int ret;

	memset(reply, 0, sizeof(*reply));
	ret = copy_body(buf, len, copy, &body);
	if (ret)
		return ret;
	word = next_word(&body);
	if (!word || strcmp(word, "reply"))
		return -EPROTO;
	while (body && strncmp(body, "text=", 5)) {
		word = next_word(&body);
		if (!word)
			break;
		ret = get_field(reply_fields, word, reply);
		if (ret)
			return ret;
	}
	if (!body || strncmp(body, "text=", 5))
		return -EPROTO;
	snprintf(reply->text, sizeof(reply->text), "%s", body + 5);
	return 0;
}
