// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/role.h"
#include "ctl/nri/pods.h"
#include "lib/select/words.h"
#include "shared/array.h"

/* Numbers of fields. */
enum { POD_ID = 1, POD_NAMESPACE = 4, POD_ANNOTATIONS = 6 };
enum { KEY = 1, VALUE = 2 };
enum { CONTAINER_ID = 1, CONTAINER_POD = 2, CONTAINER_PID = 12 };

struct pod {
	struct wire_bytes id;
	enum gpreempt_role role;
};

struct pods {
	const char *namespaces;
	SHR_ARRAY(struct pod, with_role);
	pods_fn *fn;
	void *arg;
};

static bool is_listed(const char *list, struct wire_bytes name)
{
	size_t len;

	for (; name.len && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len == name.len && !memcmp(list, name.at, len))
			return true;
	}
	return false;
}

static int read_annotation(struct wire_bytes entry, enum gpreempt_role *role)
{
	struct wire_field key, value;
	int ret = wire_find(entry, KEY, &key) ?: wire_find(entry, VALUE, &value);

	if (!ret && wire_is(key.bytes, ROLE_ANNOTATION))
		gp_role_by_name((const char *)value.bytes.at, value.bytes.len, role);
	return ret;
}

static int read_pod(struct pods *p, struct wire_bytes from)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	struct wire_field id, next;
	struct pod *pod;
	int ret = wire_find(from, POD_ID, &id) ?: wire_find(from, POD_NAMESPACE, &next);

	if (ret || !id.bytes.len || !is_listed(p->namespaces, next.bytes))
		return ret;
	while ((ret = wire_next(&from, &next)) > 0)
		if (next.field == POD_ANNOTATIONS && read_annotation(next.bytes, &role))
			return -EBADMSG;
	if (ret || role == GPREEMPT_ROLE_NONE)
		return ret;
	pod = shr_add(&p->with_role);
	if (!pod)
		return -ENOMEM;
	*pod = (struct pod){ id.bytes, role };
	return 0;
}

static int compare_bytes(struct wire_bytes a, struct wire_bytes b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int ret = len ? memcmp(a.at, b.at, len) : 0;

	return ret ? ret : (a.len > b.len) - (a.len < b.len);
}

static int compare_pods(const void *a, const void *b)
{
	const struct pod *x = a, *y = b;

	return compare_bytes(x->id, y->id);
}

/* The first one of that id, or the end: pods are sorted by now. */
static const struct pod *find_pod(const struct pods *p, struct wire_bytes id)
{
	size_t from = 0, to = p->with_role.count, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare_bytes(p->with_role.items[middle].id, id) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return p->with_role.items ? p->with_role.items + from : NULL;
}

static int read_container(struct pods *p, struct wire_bytes from)
{
	struct wire_field id, pod_id, pid;
	const struct pod *pod;
	int ret = wire_find(from, CONTAINER_ID, &id)		  ?:
			  wire_find(from, CONTAINER_POD, &pod_id) ?:
			  wire_find(from, CONTAINER_PID, &pid);

	/* One that does not run has no process. */
	if (ret || !pid.number || !id.bytes.len)
		return ret;
	for (pod = find_pod(p, pod_id.bytes);
	     pod != shr_end(&p->with_role) && !compare_bytes(pod->id, pod_id.bytes); pod++)
		p->fn(p->arg, id.bytes, pid.number, pod->role);
	return 0;
}

static int read_each(struct pods *p, struct wire_bytes message, unsigned int field,
		     int (*read_one)(struct pods *p, struct wire_bytes from))
{
	struct wire_field next;
	int ret;

	while ((ret = wire_next(&message, &next)) > 0) {
		ret = next.field == field ? read_one(p, next.bytes) : 0;
		if (ret)
			return ret;
	}
	return ret;
}

int pods_each(struct wire_bytes message, unsigned int first, const char *namespaces, pods_fn *fn,
	      void *arg)
{
	struct pods p = { .namespaces = namespaces, .fn = fn, .arg = arg };
	int ret = read_each(&p, message, first, read_pod);

	if (p.with_role.count)
		qsort(p.with_role.items, p.with_role.count, sizeof(struct pod), compare_pods);
	if (!ret)
		ret = read_each(&p, message, first + 1, read_container);
	free(p.with_role.items);
	return ret;
}
