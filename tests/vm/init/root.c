// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest with a distribution: its disk is read-only, below an overlay in memory, so that
 * a saved guest and its disk cannot disagree. systemd becomes PID 1 there, and we go on
 * as a child of it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

#define MODULES "/boot/root-modules"
#define DISK	"/dev/sda" /* virtio_blk is the payload's */
#define SYSTEMD "/lib/systemd/systemd"

static int wait_for_disk(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (!access(DISK, R_OK))
			return 0;
		usleep(10000);
	}
	return -ENODEV;
}

static int mount_at(const char *from, const char *where, const char *type, unsigned long flags,
		    const char *data)
{
	mkdir(where, 0755);
	if (!mount(from, where, type, flags, data))
		return 0;
	fprintf(stderr, "init: mount %s: %s\n", where, strerror(errno));
	return -errno;
}

static int mount_overlay(void)
{
	int ret = mount_at(DISK, "/disk", "ext4", MS_RDONLY, "");

	if (!ret)
		ret = mount_at("tmpfs", "/upper", "tmpfs", 0, "mode=0755");
	mkdir("/upper/files", 0755);
	mkdir("/upper/work", 0755);
	return ret ? ret :
		     mount_at("overlay", "/new", "overlay", 0,
			      "lowerdir=/disk,upperdir=/upper/files,workdir=/upper/work");
}

/*
 * Move mounts to the new root. Mounts that systemd makes in another form than mount_all() go: it
 * makes them itself.
 */
static int move_mounts(void)
{
	static const char *const own[] = { "/sys/fs/cgroup", "/run", "/tmp", "/dev/shm",
					   "/dev/pts" };
	static const char *const moved[] = { "proc", "sys", "dev" };
	char from[16], to[16];
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		umount2(own[i], MNT_DETACH);
	for (i = 0; !ret && i < sizeof(moved) / sizeof(moved[0]); i++) {
		snprintf(from, sizeof(from), "/%s", moved[i]);
		snprintf(to, sizeof(to), "/new/%s", moved[i]);
		ret = mount_at(from, to, NULL, MS_MOVE, NULL);
	}
	/* The modules that are loaded only for a job. */
	return ret ? ret : mount_at("/boot", "/new/boot", NULL, MS_BIND, NULL);
}

static int enter(void)
{
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		return -errno;
	return 0;
}

static bool is_up(void)
{
	FILE *f = popen("systemctl is-system-running --wait 2>/dev/null", "re");
	char state[32] = "";

	if (f && !fgets(state, sizeof(state), f))
		state[0] = '\0';
	if (f)
		pclose(f);
	return !strcmp(state, "running\n") || !strcmp(state, "degraded\n");
}

bool root_is_disk(void)
{
	return !access(MODULES, R_OK);
}

int root_enter(void)
{
	int ret = module_load_list(MODULES);
	pid_t pid;

	if (!ret)
		ret = wait_for_disk();
	if (!ret)
		ret = mount_overlay();
	if (!ret)
		ret = move_mounts();
	if (!ret)
		ret = enter();
	if (ret)
		return ret;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		execl(SYSTEMD, SYSTEMD, "--show-status=no", (char *)NULL);
		fprintf(stderr, "init: %s: %s\n", SYSTEMD, strerror(errno));
		_exit(127);
	}
	while (!is_up())
		usleep(500000);
	return 0;
}
