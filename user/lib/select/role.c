// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names of roles, and the attribute of a cgroup that has one. */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "lib/select/select.h"

static const char *const names[] = {
	[GPREEMPT_ROLE_NONE] = "none",
	[GPREEMPT_ROLE_ONLINE] = "online",
	[GPREEMPT_ROLE_OFFLINE] = "offline",
};

const char *gp_role_name(enum gpreempt_role role)
{
	return names[role];
}

int gp_role_by_name(const char *name, size_t len, enum gpreempt_role *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != len || memcmp(names[i], name, len))
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

int gp_role_at(int dir)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	char text[16];
	ssize_t n = fgetxattr(dir, GP_ROLE_ATTRIBUTE, text, sizeof(text));

	/* What is no role counts as none. */
	if (n < 0 && errno != ENODATA && errno != ERANGE && errno != EOPNOTSUPP)
		return -errno;
	if (n > 0)
		gp_role_by_name(text, n, &role);
	return role;
}
