// SPDX-License-Identifier: GPL-2.0-only
/* as-user COMMAND...: runs it without root's rights (busybox has no such tool). */
#include <grp.h>
#include <stdio.h>
#include <unistd.h>

#define USER 65534 /* without any rights */

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: as-user COMMAND...\n");
		return 2;
	}
	if (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER)) {
		perror("as-user");
		return 1;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
