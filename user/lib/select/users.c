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

struct gp_user {
	uid_t uid;
	char name[64];
};

/* "name:x:uid:gid:comment:home:shell", taken apart. false: it is no such line. */
static bool parse_line(char *line, struct gp_user *user)
{
	char *field[4];
	uint64_t uid, gid;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(field); i++) {
		field[i] = strsep(&line, ":");
		if (!field[i])
			return false;
	}
	if (shr_parse_u64(field[2], UINT32_MAX - 1, &uid) ||
	    shr_parse_u64(field[3], UINT32_MAX - 1, &gid) ||
	    strlen(field[0]) >= sizeof(user->name))
		return false;
	user->uid = uid;
	strcpy(user->name, field[0]);
	return true;
}

static int find_user(const struct gpreempt *g, const char *name, uid_t uid,
		     struct gp_user *out)
{
	char *text, *line, *rest = NULL;
	size_t len;
	int ret;

	ret = gp_read_text(g, "/etc/passwd", &text, &len);
	if (ret)
		return ret;
	ret = -ENOENT;
	for (line = strtok_r(text, "\n", &rest); line && ret;
	     line = strtok_r(NULL, "\n", &rest))
		if (parse_line(line, out) &&
		    (name ? !strcmp(out->name, name) : out->uid == uid))
			ret = 0;
	free(text);
	return ret;
}

int gp_user_by_name(const struct gpreempt *g, const char *name, uid_t *uid)
{
	struct gp_user user;
	int ret = find_user(g, name, 0, &user);

	if (!ret)
		*uid = user.uid;
	return ret;
}

int gpreempt_user_name(struct gpreempt *g, uid_t uid, char *buf, size_t size)
{
	struct gp_user user;
	int ret = find_user(g, NULL, uid, &user);

	if (!ret)
		snprintf(buf, size, "%s", user.name);
	return ret;
}
