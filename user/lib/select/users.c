// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Users, as /etc/passwd has them. Those of a directory service go by number: to
 * ask one can take long, and guard may not wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select/select.h"
#include "shared/parse.h"

/* In "name:x:uid:gid:...": the uid of that name, or with NULL the name of *uid. */
static int find_user(const struct gpreempt *g, const char *name, uid_t *uid,
		     char *buf, size_t size)
{
	char *text, *line, *rest = NULL, *field[4];
	size_t len, i;
	uint64_t id;
	int ret;

	ret = gp_read_text(g, "/etc/passwd", &text, &len);
	if (ret)
		return ret;
	ret = -ENOENT;
	for (line = strtok_r(text, "\n", &rest); line && ret;
	     line = strtok_r(NULL, "\n", &rest)) {
		for (i = 0; i < ARRAY_SIZE(field); i++)
			field[i] = strsep(&line, ":");
		if (!field[3] || shr_parse_u64(field[2], UINT32_MAX - 1, &id) ||
		    (name ? strcmp(field[0], name) : id != *uid))
			continue;
		*uid = id;
		snprintf(buf, size, "%s", field[0]);
		ret = 0;
	}
	free(text);
	return ret;
}

int gp_user_by_name(const struct gpreempt *g, const char *name, uid_t *uid)
{
	return find_user(g, name, uid, NULL, 0);
}

int gp_user_name(struct gpreempt *g, uid_t uid, char *buf, size_t size)
{
	return find_user(g, NULL, &uid, buf, size);
}
