// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail-load MODULE N: loads a module while the Nth allocation of the kernel fails, of those
 * that the call makes (CONFIG_FAILSLAB). Prints 0 or the name of the error, and whether
 * there were that many: "ENOMEM failed", "0 none".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;
	int file, fail, ret, len;
	char left[16] = "";
	char text[16];

	if (n < 1) {
		fprintf(stderr, "usage: fail-load MODULE N\n");
		return 2;
	}
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	fail = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	len = snprintf(text, sizeof(text), "%d", n);
	if (file < 0 || fail < 0 || write(fail, text, len) != len) {
		perror("fail-load");
		return 2;
	}
	ret = syscall(SYS_finit_module, file, "", 0) ? errno : 0;
	/* What is left to count; 0 when the allocation has failed. */
	if (pread(fail, left, sizeof(left) - 1, 0) <= 0 ||
	    pwrite(fail, "0", 1, 0) != 1) {
		perror("fail-load");
		return 2;
	}
	printf("%s %s\n", ret ? strerrorname_np(ret) : "0",
	       atoi(left) ? "none" : "failed");
	return 0;
}
