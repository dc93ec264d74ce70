// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/command/ctl.h"

#define NOT_FOUND  127
#define CANNOT_RUN 126
#define BY_SIGNAL  128

int ctl_exec(char **command, int output)
{
	int ours = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error;

	if (output < 0 || (dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0))
		execvp(command[0], command);
	/* What follows may change it. */
	error = errno;
	dup2(ours, STDERR_FILENO);
	ctl_fail_text(GPREEMPT_CLASS_FAILED, "is it installed, and in PATH?", "cannot run %s: %s",
		      command[0], strerror(error));
	return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

int ctl_program_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}
