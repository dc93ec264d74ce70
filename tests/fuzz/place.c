// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a process is. "cgroup" is a fuzzer of /proc/PID/cgroup, whose paths are a tenant's: the
 * lines alone, and what the library makes of them: container, pod, job, tenant. "engines" is
 * one of the names of containers and pods, from the files of container engines.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "fuzz.h"
#include "lib/see/see.h"
#include "shared/cgroup.h"

#define PID	 77
#define LAST_PID 80

static int check_line(void *arg, const char *hierarchy, const char *path)
{
	(void)arg;
	if (strchr(hierarchy, ':') || strchr(hierarchy, '\n') || *path != '/' || strchr(path, '\n'))
		abort();
	return 0;
}

static void check_place(struct gpreempt *g)
{
	static const char mount[] = "/sys/fs/cgroup";
	struct gp_place place;
	size_t uid;

	if (gp_place(g, -ENOENT, PID, &place))
		return;
	uid = strlen(place.pod_uid);
	if ((uid && uid != 36) || place.job[strspn(place.job, "0123456789")] ||
	    (*place.cgroup && *place.cgroup != '/'))
		abort();
	/*
	 * The process is in its own cgroup, unless the name reads as the whole path of another
	 * one.
	 */
	if (*place.cgroup && strlen(place.cgroup) < sizeof(place.cgroup) - 1 &&
	    strncmp(place.cgroup, mount, strlen(mount)) && !gp_in_cgroup(g, PID, place.cgroup))
		abort();
}

static void check_container(struct gpreempt *g)
{
	struct gpreempt_target process = { .pid = PID };
	const struct gpreempt_targets all = { .count = 1, .targets = &process };
	struct gp_container container;
	struct gp_place place;
	struct gp_box box;

	gp_place(g, -ENOENT, PID, &place);
	if (!gp_container(g, PID, &container) != !!*place.in.id)
		abort();
	if (!*place.in.id)
		return;
	if (memcmp(&container, &place.in, sizeof(container)))
		abort();
	if (!*container.id || !*container.engine)
		abort();
	if (!gp_find_container(g, &all, container.id, &box) && !gp_in_container(g, PID, &box))
		abort();
}

static int stop_at_odd(void *arg, int dir)
{
	return dir < 0 ? -EIO : (++*(int *)arg > SHR_CGROUP_LEVELS ? -E2BIG : 0);
}

/* The path, walked in this host's own tree; and as that of the container of each name. */
static bool check_path(char *text)
{
	char path[SHR_CGROUP_PATH], cut[sizeof(path)], *name;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), levels = 0, ret;
	bool taken = !shr_cgroup_parse(text, path, sizeof(path)) && *path;

	ret = shr_cgroup_walk(root, path, stop_at_odd, &levels);
	if (ret == -EIO || ret == -E2BIG || close(root))
		abort();
	for (name = strchr(path, '/'); name; name = strchr(name + 1, '/')) {
		strcpy(cut, path);
		if (shr_cgroup_cut(cut, name + 1, strcspn(name + 1, "/")) &&
		    strncmp(cut, path, strlen(cut)))
			abort();
	}
	return taken;
}

bool fuzz_cgroup(const struct fuzz_input *in)
{
	struct gp_role_value role;
	char *text = malloc(in->len + 1); /* its end is guarded */
	char tenant[64] = "";
	struct gpreempt *g;
	bool taken;

	memcpy(text, in->data, in->len);
	text[in->len] = '\0';
	shr_cgroup_each(text, check_line, NULL);
	memcpy(text, in->data, in->len);
	taken = check_path(text);
	memcpy(text, in->data, in->len);
	fuzz_files_take(text, in->len);
	if (fuzz_files_open(NULL, &g))
		abort();
	check_place(g);
	check_container(g);
	gp_tenant(g, PID, tenant, sizeof(tenant));
	if (!memchr(tenant, '\0', sizeof(tenant)))
		abort();
	if (!gp_role_parse((const char *)in->data, in->len, &role) &&
	    !memchr(role.words, '\0', sizeof(role.words)))
		abort();
	gpreempt_free(g);
	free(text);
	return taken;
}

bool fuzz_engines(const struct fuzz_input *in)
{
	char *text = malloc(in->len ? in->len : 1); /* its end is guarded */
	struct gp_container container;
	struct gpreempt *g;
	bool named = false;
	pid_t pid;

	memcpy(text, in->data, in->len);
	fuzz_files_take(text, in->len);
	if (fuzz_files_open(NULL, &g))
		abort();
	for (pid = PID; pid <= LAST_PID; pid++) {
		if (gp_container(g, pid, &container))
			continue;
		if (strlen(container.name) >= sizeof(container.name) ||
		    !*container.pod != !*container.pod_namespace)
			abort();
		named |= *container.name;
	}
	gpreempt_free(g);
	free(text);
	return named;
}
