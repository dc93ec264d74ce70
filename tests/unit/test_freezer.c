// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups that a process can be frozen in: cgroup v1's lines, and v2's files. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/cgroup.h"
#include "agent/freezer.h"
#include "shared/cgroup.h"
#include "unit.h"

static char lines[256];

static int note_line(void *arg, const char *hierarchy, const char *path)
{
	sprintf(lines + strlen(lines), "%s %s;", hierarchy, path);
	return !strcmp(path, arg);
}

/* What is no line of a cgroup is passed over; the end comes where it is asked for. */
TEST(each_cgroup)
{
	static const struct {
		const char *text, *lines;
	} rows[] = {
		{ "0::/a/b\n", " /a/b;" },
		{ "4:memory:/a\n1:name=systemd:/b\n0::/\n",
		  "memory /a;name=systemd /b; /;" },
		{ "0::/a:b", " /a:b;" },
		{ "0::/../../x\n", " /../../x;" },
		{ "0::/a\n0::/end\n0::/b\n", " /a; /end;" },
		{ "0::abc\n", "" },
		{ "0::\n", "" },
		{ "0:\n:\n::\nx\n\n\n", "" },
		{ "", "" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*lines = '\0';
		strcpy(text, rows[i].text);
		ck_assert_int_eq(shr_cgroup_each(text, note_line, "/end"),
				 !!strstr(rows[i].lines, "/end"));
		ck_assert_str_eq(lines, rows[i].lines);
	}
}

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
