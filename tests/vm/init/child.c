// SPDX-License-Identifier: GPL-2.0-only
/* The job's command: a shell, on pipes or on a terminal of its own. */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utmp.h>

#include "init.h"

static void run_shell(const struct job *job)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("HOME", "/root", 1);
	setenv("PS1", "vm:\\w# ", 1);
	if (chdir("/t"))
		chdir("/");
	if (job->command[0])
		execl("/bin/sh", "sh", "-c", job->command, (char *)NULL);
	/* An interactive shell reads it first. */
	setenv("ENV", "/t/shell.sh", 1);
	execl("/bin/sh", "sh", "-i", (char *)NULL);
	_exit(127);
}

static int start_on_tty(struct child *c, const struct job *job)
{
	struct winsize size = { .ws_row = job->rows, .ws_col = job->columns };
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, &size))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid) {
		close(master);
		if (login_tty(slave))
			_exit(127);
		run_shell(job);
	}
	close(slave);
	fcntl(master, F_SETFD, FD_CLOEXEC);
	c->out = master;
	c->err = -1;
	return 0;
}

static int start_on_pipes(struct child *c, const struct job *job)
{
	int out[2], err[2] = { -1, -1 };

	if (pipe2(out, O_CLOEXEC))
		return -errno;
	if (!job->merge && pipe2(err, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid) {
		setsid();
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(out[1], 1);
		dup2(job->merge ? out[1] : err[1], 2);
		run_shell(job);
	}
	close(out[1]);
	if (err[1] >= 0)
		close(err[1]);
	c->out = out[0];
	c->err = err[0];
	return 0;
}

int child_start(struct child *c, const struct job *job)
{
	return job->tty ? start_on_tty(c, job) : start_on_pipes(c, job);
}

void child_resize(const struct child *c, unsigned short rows, unsigned short columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	ioctl(c->out, TIOCSWINSZ, &size);
}
