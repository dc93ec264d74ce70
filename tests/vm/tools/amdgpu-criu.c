// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in of CRIU in place of its own for amdgpu, which Debian does not ship: it pauses
 * a GPU process when CRIU dumps its /dev/kfd, and lets it run afterwards, as that does,
 * and dumps nothing of the GPU. $AMDGPU_CRIU_KILL: it ends CRIU while the process is paused.
 */
#include <criu/criu-plugin.h>
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define RENDER_MAJOR 226

static int has_name(int fd, const char *name)
{
	char path[64], file[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, file, sizeof(file) - 1) > 0 && !strcmp(file, name);
}

static int dump_file(int fd, int id)
{
	struct kfd_ioctl_criu_args info = { .op = KFD_CRIU_OP_PROCESS_INFO };
	struct kfd_ioctl_criu_args end = { .op = KFD_CRIU_OP_UNPAUSE };
	struct stat st;

	(void)id;
	if (fstat(fd, &st))
		return -errno;
	if (major(st.st_rdev) == RENDER_MAJOR)
		return 0;
	if (!has_name(fd, "/dev/kfd"))
		return -ENOTSUP;
	if (ioctl(fd, AMDKFD_IOC_CRIU_OP, &info))
		return -errno;
	if (getenv("AMDGPU_CRIU_KILL"))
		raise(SIGKILL);
	return ioctl(fd, AMDKFD_IOC_CRIU_OP, &end) ? -errno : 0;
}

static int handle_vma(int fd, const struct stat *st)
{
	(void)fd;
	(void)st;
	return 0;
}

cr_plugin_desc_t CR_PLUGIN_DESC = {
	.name = "amdgpu of the tests",
	.init = cr_plugin_dummy_init,
	.exit = cr_plugin_dummy_exit,
	.version = CRIU_PLUGIN_VERSION,
	.max_hooks = CR_PLUGIN_HOOK__MAX,
	.hooks[CR_PLUGIN_HOOK__DUMP_EXT_FILE] = dump_file,
	.hooks[CR_PLUGIN_HOOK__HANDLE_DEVICE_VMA] = handle_vma,
};
