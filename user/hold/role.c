// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups with a role. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "escape.h"
#include "role.h"
#include "shared/cgroup.h"
#include "shared/util.h"

/* Returns the path below the mount, without a "/" before it. */
static const char *below_mount(const char *cgroup)
{
	char mount[HOLD_CGROUP_MOUNT];
	size_t len;

	if (hold_cgroup_mount(mount, sizeof(mount))) {
		len = strlen(mount);
		if (!strncmp(cgroup, mount, len) && strchr("/", cgroup[len]))
			cgroup += len;
	}
	return cgroup + strspn(cgroup, "/");
}

/* Returns the number of components in the path. */
static int count_levels(const char *cgroup)
{
	int n = 0;

	for (; *cgroup; cgroup += strspn(cgroup, "/"), n++)
		cgroup += strcspn(cgroup, "/");
	return n;
}

int role_give(const char *cgroup, const struct gp_role_value *value)
{
	char text[GP_ROLE_TEXT];
	__cleanup_fd int root = shr_cgroup_root();
	__cleanup_fd int fd = -1;
	int ret;

	if (root < 0)
		return root;
	cgroup = below_mount(cgroup);
	if (!*cgroup || shr_cgroup_goes_up(cgroup))
		return -EINVAL;
	if (count_levels(cgroup) > SHR_CGROUP_LEVELS || strlen(cgroup) + 1 >= SHR_CGROUP_CUT)
		return -E2BIG;
	fd = openat(root, cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	gp_role_text(value, text);
	if (value->role != GPREEMPT_ROLE_NONE)
		ret = fsetxattr(fd, GP_ROLE_ATTRIBUTE, text, strlen(text), 0);
	else
		ret = fremovexattr(fd, GP_ROLE_ATTRIBUTE);
	return ret && errno != ENODATA ? -errno : 0;
}

/* State of a walk. */
struct walk {
	int (*fn)(void *arg, const char *cgroup, const struct gp_role_value *value);
	void *arg;
	char path[SHR_CGROUP_LEVELS * (NAME_MAX + 1) + 1];
	int levels;
};

static int look_below(struct walk *w, int dir);

static int look_at(struct walk *w, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	size_t len = strlen(w->path);
	struct gp_role_value value;
	int ret = 0;

	/* The cgroup has been removed. */
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	snprintf(w->path + len, sizeof(w->path) - len, "/%s", name);
	if (!gp_role_at(fd, &value) && value.role != GPREEMPT_ROLE_NONE)
		ret = w->fn(w->arg, w->path, &value);
	if (!ret && ++w->levels < SHR_CGROUP_LEVELS)
		ret = look_below(w, fd);
	else
		close(fd);
	w->levels--;
	w->path[len] = '\0';
	return ret;
}

/* Closes dir. */
static int look_below(struct walk *w, int dir)
{
	DIR *list = fdopendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!list) {
		close(dir);
		return -ENOMEM;
	}
	while (!ret && (entry = readdir(list)))
		if (entry->d_type == DT_DIR && *entry->d_name != '.')
			ret = look_at(w, dir, entry->d_name);
	closedir(list);
	return ret;
}

int role_each(int (*fn)(void *arg, const char *cgroup, const struct gp_role_value *value),
	      void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };
	int root = shr_cgroup_root();

	return root < 0 ? root : look_below(&w, root);
}

#define ROOT	 "/gpreempt"
#define MAX_NAME 64
#define MAX_FULL (256 + ROLE_MAX_PATH)

const char *role_cgroup(enum gpreempt_role role)
{
	return role == GPREEMPT_ROLE_ONLINE ? ROOT "/online" : ROOT "/offline";
}

int role_path(enum gpreempt_role role, const char *name, char *path)
{
	const char *c;

	if (!isalnum(*name) || strlen(name) > MAX_NAME)
		return -EINVAL;
	for (c = name; *c; c++)
		if (!isalnum(*c) && !strchr("._-", *c))
			return -EINVAL;
	snprintf(path, ROLE_MAX_PATH, "%s/%s", role_cgroup(role), name);
	return 0;
}

static int make(const char *mount, const char *path)
{
	char full[MAX_FULL];

	snprintf(full, sizeof(full), "%s%s", mount, path);
	return mkdir(full, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int role_enter(enum gpreempt_role role, const char *path)
{
	char mount[256], full[MAX_FULL];
	int ret = -ENOENT, tries;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return ret;
	snprintf(full, sizeof(full), "%s%s", mount, role_cgroup(role));
	hold_cgroup_sweep(full);
	snprintf(full, sizeof(full), "%s%s", mount, path);
	/* Another command may sweep our cgroup away before we are in. */
	for (tries = 0; tries < 5 && ret == -ENOENT; tries++) {
		ret = make(mount, ROOT);
		if (!ret)
			ret = make(mount, role_cgroup(role));
		/* Its path names the role still where the attribute is refused. */
		if (!ret)
			role_give(role_cgroup(role), &(struct gp_role_value){ .role = role });
		if (!ret)
			ret = make(mount, path);
		if (!ret)
			ret = hold_cgroup_move_to(full);
	}
	return ret;
}
