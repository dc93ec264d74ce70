// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup for the holder alone: when the target's cgroup is frozen or stopped,
 * its holder must not be, or it could neither hold nor release.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cgroup.h"
#include "shared/macro.h"

/*
 * Below a directory of root's own: that of the mount is one in which root cannot
 * make or remove anything without CAP_DAC_OVERRIDE, which a holder gives up.
 */
#define BASE "gpreempt-hold"

/* 0; -ENOENT: nothing of that type is mounted; or another -errno. */
static int find_mount(const char *type, const char *option, char *buf,
		      size_t size)
{
	struct mntent *entry;
	bool found = false;
	FILE *f;

	f = setmntent("/proc/self/mounts", "re");
	if (!f)
		return -errno;
	while (!found && (entry = getmntent(f)))
		found = !strcmp(entry->mnt_type, type) &&
			(!option || hasmntopt(entry, option)) &&
			strlen(entry->mnt_dir) < size &&
			strcpy(buf, entry->mnt_dir);
	endmntent(f);
	return found ? 0 : -ENOENT;
}

bool hold_cgroup_mount(char *buf, size_t size)
{
	return !find_mount("cgroup2", NULL, buf, size - 64);
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
		if (mkdir(group, 0755) < 0 && errno != EEXIST &&
		    errno != ENOENT)
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

#define CONTROLLER "freezer"

const char *freezer_v1_path(const char *line)
{
	const char *list = strchr(line, ':'), *end;

	end = list ? strchr(list + 1, ':') : NULL;
	if (!end || !strcmp(end, ":/"))
		return NULL;
	/* A list of controllers, or the name of a hierarchy without any. */
	while (list < end) {
		size_t len = strcspn(++list, ",:");

		if (len == strlen(CONTROLLER) && !memcmp(list, CONTROLLER, len))
			return end + 1;
		list += len;
	}
	return NULL;
}

int cgroup_read(const char *file, char *buf, size_t size)
{
	__cleanup_free char *line = NULL;
	const char *old = NULL;
	size_t room = 0;
	int ret = 0;
	FILE *f;

	f = fopen(file, "re");
	if (!f)
		return -errno;
	buf[0] = '\0';
	while (!old && !ret && getline(&line, &room, f) > 0) {
		const char *path;

		line[strcspn(line, "\n")] = '\0';
		old = freezer_v1_path(line);
		path = old ? old : strncmp(line, "0::", 3) ? NULL : line + 3;
		if (path && strlen(path) < size)
			strcpy(buf, path);
		else if (path)
			ret = -ENAMETOOLONG;
	}
	fclose(f);
	return old ? -ENOTSUP : ret;
}

int cgroup_of(pid_t pid, char *buf, size_t size)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	ret = cgroup_read(name, buf, size);
	return ret == -ENOENT ? -ESRCH : ret;
}

/* Are we in a cgroup of it that can be frozen? 1, 0 or -errno. */
static int is_inside(void)
{
	char path[CGROUP_MAX_PATH];
	int ret = cgroup_read("/proc/self/cgroup", path, sizeof(path));

	/* A kernel without cgroups has no such file. */
	return ret == -ENOTSUP			      ? 1 :
	       ret == -ENOENT || ret == -ENAMETOOLONG ? 0 :
							ret;
}

int freezer_v1_leave(bool *inside)
{
	char mount[HOLD_CGROUP_MOUNT];
	int ret = is_inside();

	*inside = ret > 0;
	if (ret <= 0)
		return ret;
	ret = find_mount("cgroup", CONTROLLER, mount, sizeof(mount));
	if (!ret)
		ret = hold_cgroup_move_to(mount);
	if (ret)
		return ret;
	/* What is mounted there may be a part of it, as in a container. */
	ret = is_inside();
	return ret > 0 ? -EPERM : ret;
}
