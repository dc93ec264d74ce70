// SPDX-License-Identifier: GPL-2.0-only
/* as-nobody COMMAND...: runs it without root's rights (busybox has no such tool). */
#include <grp.h>
#include <stdio.h>
#include <unistd.h>

#define NOBODY 65534

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: as-nobody COMMAND...\n");
		return 2;
	}
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY)) {
		perror("as-nobody");
		return 1;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
