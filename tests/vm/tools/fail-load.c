// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail-load MODULE N: loads a module while the Nth allocation of the kernel fails, of those
 * that the call makes (vgpu.ko's fail_alloc). Prints 0 or the name of the error, and how many
 * more it would have taken to that one: "ENOMEM 0", "0 12".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAIL "/sys/kernel/debug/vgpu/fail_alloc"

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;
	int file, fail, after, ret, len;
	char left[16] = "";
	char text[16];

	if (n < 1) {
		fprintf(stderr, "usage: fail-load MODULE N\n");
		return 2;
	}
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	fail = open(FAIL, O_WRONLY | O_CLOEXEC);
	after = open(FAIL, O_RDONLY | O_CLOEXEC);
	len = snprintf(text, sizeof(text), "%d", n);
	if (file < 0 || fail < 0 || after < 0 || write(fail, text, len) != len) {
		perror("fail-load");
		return 2;
	}
	ret = syscall(SYS_finit_module, file, "", 0) ? errno : 0;
	/* The rest of the count; 0 when the allocation has failed. */
	if (read(after, left, sizeof(left) - 1) <= 0) {
		perror("fail-load");
		return 2;
	}
	printf("%s %d\n", ret ? strerrorname_np(ret) : "0", atoi(left));
	return 0;
}
