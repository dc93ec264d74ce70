// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups that a process can be frozen in: cgroup v1's lines, and v2's files. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/cgroup.h"
#include "agent/freezer.h"
#include "unit.h"

TEST(lines_of_v1)
{
	static const struct {
		const char *line, *path;
	} rows[] = {
		{ "7:cpu,freezer:/job", "/job" },
		{ "7:freezer:/a/b", "/a/b" },
		{ "7:freezer,cpu:/a:b", "/a:b" },
		{ "7:cpu,freezer,cpuset:/x", "/x" },
		/* Its root cannot be frozen. */
		{ "7:freezer:/", NULL },
		{ "0::/freezer", NULL },
		{ "0::/freezer:/x", NULL },
		{ "7:cpu,cpuacct:/freezer", NULL },
		{ "7:name=freezer:/job", NULL },
		{ "7:xfreezer:/job", NULL },
		{ "7:freezerx:/job", NULL },
		{ "", NULL },
		{ "7", NULL },
		{ "7:freezer", NULL },
		{ ":", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = freezer_v1_path(rows[i].line);

		ck_assert_msg(path ? rows[i].path &&
					      !strcmp(path, rows[i].path) :
				     !rows[i].path,
			      "%s: %s", rows[i].line, path ? path : "none");
	}
}

TEST(no_process)
{
	struct freezer f;

	ck_assert_int_eq(freezer_open(&f, 1 << 30), -ESRCH);
}

/* A process here, whatever cgroups this host has; then it is gone. */
TEST(a_process)
{
	struct freezer f;
	pid_t child = fork();
	int ret;

	if (!child)
		for (;;)
			pause();
	ret = freezer_open(&f, child);
	if (!ret) {
		ck_assert(!f.frozen);
		ck_assert_int_eq(freezer_read(&f), 0);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (!ret)
		ck_assert_int_eq(freezer_read(&f), -ESRCH);
	freezer_close(&f);
	ck_assert_int_eq(f.events, -1);
}
