// SPDX-License-Identifier: GPL-2.0-only
/*
 * with-cap NUMBER,...|none COMMAND...: runs it as root that has no capability
 * but these, and can't get another.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int keep(const char *list)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	int i, cap;

	while (strcmp(list, "none") && *list) {
		cap = atoi(list);
		data[cap / 32].permitted |= 1u << cap % 32;
		data[cap / 32].effective |= 1u << cap % 32;
		list += strcspn(list, ",");
		list += *list == ',';
	}
	/* execve() does not give back capabilities that the bounding set lacks. */
	for (i = 0; prctl(PR_CAPBSET_READ, i) >= 0; i++)
		if (!(data[i / 32].permitted & 1u << i % 32) && prctl(PR_CAPBSET_DROP, i))
			return -1;
	return syscall(SYS_capset, &head, data);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: with-cap NUMBER,...|none COMMAND...\n");
		return 2;
	}
	if (keep(argv[1])) {
		perror("with-cap");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
