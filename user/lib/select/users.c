// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * To which user, or to which tenant, a process belongs. Ids that the user may give to
 * its processes in a user namespace are the user's, too: /etc/subuid has them, which is
 * root's file and what newuidmap(1) goes by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select/select.h"
#include "shared/parse.h"

/* A line of /etc/subuid, "login name or uid:first:count". */
struct line {
	const char *owner;
	uint64_t first;
	uint64_t count;
};

/* Calls fn for each line until it returns other than 0. That, 0 or -errno. */
static int each_line(const struct gpreempt *g, int (*fn)(void *arg, const struct line *line),
		     void *arg)
{
	char *text, *at, *rest = NULL;
	size_t len;
	int ret = gp_read_text(g, "/etc/subuid", &text, &len);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	for (at = strtok_r(text, "\n", &rest); at && !ret; at = strtok_r(NULL, "\n", &rest)) {
		struct line line = { .owner = strsep(&at, ":") };
		const char *first = strsep(&at, ":");

		if (first && at && !shr_parse_u64(first, UINT32_MAX, &line.first) &&
		    !shr_parse_u64(at, UINT32_MAX, &line.count))
			ret = fn(arg, &line);
	}
	free(text);
	return ret;
}

struct collector {
	const char *name; /* of the user; "": none is known */
	struct gp_user_ids *ids;
};

static int add_range(void *arg, const struct line *line)
{
	struct collector *c = arg;
	struct gp_id_range *range;
	uint64_t uid;

	if (strcmp(line->owner, c->name) &&
	    (shr_parse_u64(line->owner, UINT32_MAX - 1, &uid) || uid != c->ids->uid))
		return 0;
	range = shr_add(&c->ids->ranges);
	if (!range)
		return -ENOMEM;
	*range = (struct gp_id_range){ line->first, line->count };
	return 0;
}

int gp_user_ids_read(struct gpreempt *g, uid_t uid, struct gp_user_ids *out)
{
	struct collector c = { .ids = out };
	char name[256];
	int ret = gp_user_name(g, uid, name, sizeof(name));

	*out = (struct gp_user_ids){ .uid = uid };
	c.name = ret ? "" : name;
	return ret && ret != -ENOENT ? ret : each_line(g, add_range, &c);
}

void gp_user_ids_free(struct gp_user_ids *ids)
{
	free(ids->ranges.items);
	*ids = (struct gp_user_ids){ 0 };
}

static int match_slice(void *arg, const char *hierarchy, const char *path)
{
	const struct gp_user_ids *ids = arg;

	(void)hierarchy;
	return gp_slice_user(path) == ids->uid;
}

int gp_is_of_user(const struct gpreempt *g, pid_t pid, const struct gp_user_ids *ids)
{
	struct gp_process process;
	size_t i;

	/* No user has the last one: it is not known. */
	if (gp_process_read(g, pid, &process) || process.uid == (uid_t)-1)
		return 0;
	if (process.uid == ids->uid)
		return 1;
	for (i = 0; i < ids->ranges.count; i++)
		if (process.uid >= ids->ranges.items[i].first &&
		    process.uid - ids->ranges.items[i].first < ids->ranges.items[i].count)
			return 1;
	return gp_each_cgroup(g, pid, match_slice, (void *)ids);
}

struct owner_search {
	const struct gpreempt *g;
	uid_t uid; /* and then that of the owner */
};

static int find_owner(void *arg, const struct line *line)
{
	struct owner_search *s = arg;
	uint64_t uid;
	uid_t named;

	if (s->uid < line->first || s->uid - line->first >= line->count)
		return 0;
	if (!shr_parse_u64(line->owner, UINT32_MAX - 1, &uid))
		s->uid = uid;
	else if (!gp_user_by_name(s->g, line->owner, &named))
		s->uid = named;
	return 1;
}

struct tenant_look {
	const struct gpreempt *g;
	int64_t user;					 /* in whose slice it is */
	char id[sizeof(((struct gp_container *)0)->id)]; /* of its container */
};

static int find_tenant(void *arg, const char *hierarchy, const char *path)
{
	struct tenant_look *look = arg;

	(void)hierarchy;
	if (!*look->id)
		gp_outer_container(look->g, path, look->id);
	look->user = gp_slice_user(path);
	return look->user != GPREEMPT_UNKNOWN;
}

void gp_tenant(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct tenant_look look = { .g = g };
	struct owner_search s = { .g = g };
	struct gp_process process;

	if (gp_each_cgroup(g, pid, find_tenant, &look) == 1) {
		snprintf(buf, size, "user %lld", (long long)look.user);
	} else if (*look.id) {
		snprintf(buf, size, "container %s", look.id);
	} else if (!gp_process_read(g, pid, &process)) {
		s.uid = process.uid;
		each_line(g, find_owner, &s);
		snprintf(buf, size, "user %u", s.uid);
	} else {
		snprintf(buf, size, "unknown");
	}
}

static int count_one(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

bool gp_may_have_queues(const struct gpreempt *g, pid_t pid)
{
	char path[GP_PID_PATH];
	int ret;

	gp_pid_path(path, GP_SYSFS_PROC, pid, "queues");
	ret = g->ops->list_dir(g->be, path, count_one, NULL);
	return ret && ret != -ENOENT;
}
