// SPDX-License-Identifier: GPL-2.0-only
/* By the system calls: the library for them would be loaded for these few lines. */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/capabilities.h"
#include "shared/macro.h"

/*
 * What execve() can give. That takes CAP_SETPCAP: a unit or a container that has
 * taken it away has made its own choice, and no_new_privs stands for the rest.
 */
static int lower_bounding_set(uint64_t kept)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(kept & 1ULL << cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EPERM)
			return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	size_t i;
	int ret;

	if (syscall(SYS_capget, &head, data))
		return -errno;
	/* Docker, for one, gives root this one and not the weaker. */
	if (kept & ~(uint64_t)data[0].permitted & CAPABILITY(DAC_READ_SEARCH))
		kept |= CAPABILITY(DAC_OVERRIDE);
	ret = lower_bounding_set(kept);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(data); i++) {
		data[i].permitted &= kept >> 32 * i;
		data[i].effective &= kept >> 32 * i;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}
