// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup for the holder alone: when the target's cgroup is frozen or stopped,
 * its holder must not be, or it could neither hold nor release.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cgroup.h"
#include "shared/cgroup.h"
#include "shared/macro.h"

/*
 * Below a directory of root's own: that of the mount is one in which root cannot
 * make or remove anything without CAP_DAC_OVERRIDE, which a holder gives up.
 */
#define BASE "gpreempt-hold"

bool hold_cgroup_mount(char *buf, size_t size)
{
	return !shr_find_mount("cgroup2", NULL, buf, size - 64);
}

int hold_cgroup_move_to(const char *dir)
{
	__cleanup_fd int fd = -1;
	char path[512];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) < 0 ? -errno : 0;
}

void hold_cgroup_sweep(const char *path)
{
	struct dirent *entry;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
}

static bool make_base(char *buf, size_t size)
{
	char mount[HOLD_CGROUP_MOUNT];

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return false;
	snprintf(buf, size, "%s/" BASE, mount);
	return !mkdir(buf, 0755) || errno == EEXIST;
}

bool hold_cgroup_prepare(void)
{
	char base[HOLD_CGROUP_MOUNT + 32];

	return make_base(base, sizeof(base));
}

bool hold_cgroup_enter(pid_t name)
{
	char base[HOLD_CGROUP_MOUNT + 32], group[sizeof(base) + 16];
	int tries;

	/* Another holder may sweep it away before we are in. */
	for (tries = 0; tries < 5; tries++) {
		if (!make_base(base, sizeof(base)))
			return false;
		hold_cgroup_sweep(base);
		snprintf(group, sizeof(group), "%s/%d", base, name);
		if (mkdir(group, 0755) < 0 && errno != EEXIST && errno != ENOENT)
			return false;
		if (!hold_cgroup_move_to(group))
			return true;
	}
	rmdir(group);
	return false;
}

void hold_cgroup_leave(void)
{
	char mount[HOLD_CGROUP_MOUNT], base[sizeof(mount) + 32];

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return;
	/* The root takes any process; the last one out removes the group. */
	hold_cgroup_move_to(mount);
	snprintf(base, sizeof(base), "%s/" BASE, mount);
	hold_cgroup_sweep(base);
	/* That takes a capability that few of us have; empty, it may stay. */
	rmdir(base);
}

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	/* A terminal or a session that ends is none of its business. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int leave_command(void)
{
	setsid();
	reset_signals();
	/* Late answers look like death to those who watch. */
	setpriority(PRIO_PROCESS, 0, -20);
	return chdir("/") < 0 ? -errno : 0;
}

/* Are we in a cgroup of it that can be frozen? 1, 0 or -errno. */
static int is_inside(void)
{
	char path[SHR_CGROUP_PATH];
	int ret = shr_cgroup_of(0, path, sizeof(path));

	/* A kernel without cgroups has no such file. */
	return ret == -ENOTSUP ? 1 : ret == -ESRCH ? 0 : ret;
}

int freezer_v1_leave(bool *inside)
{
	char mount[HOLD_CGROUP_MOUNT];
	int ret = is_inside();

	*inside = ret > 0;
	if (ret <= 0)
		return ret;
	ret = shr_find_mount("cgroup", "freezer", mount, sizeof(mount));
	if (!ret)
		ret = hold_cgroup_move_to(mount);
	if (ret)
		return ret;
	/* What is mounted there may be a part of it, as in a container. */
	ret = is_inside();
	return ret > 0 ? -EPERM : ret;
}
