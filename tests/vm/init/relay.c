// SPDX-License-Identifier: GPL-2.0-only
/* Relay between the job's command and the ports, until the command has ended. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

enum { ON_SIGNAL, ON_TIMER, ON_LOG, ON_OUT, ON_ERR, ON_COMMAND, ON_INPUT, SOURCES };

/* Copy one read's worth; false at the end of the stream. */
static bool copy(int from, int to)
{
	char buf[4096];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	write_all(to, buf, n);
	return true;
}

/* Copy the rest of the pipe: its writers may outlive the command. */
static void copy_rest(int from, int to)
{
	struct pollfd p = { .fd = from, .events = POLLIN };

	while (from >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLIN))
		if (!copy(from, to))
			return;
}

static void obey(struct reader *r, const struct child *c)
{
	unsigned short rows, columns;
	char line[128];

	if (read_line(r, line, sizeof(line)))
		return;
	if (sscanf(line, "resize %hu %hu", &rows, &columns) == 2)
		child_resize(c, rows, columns);
}

/* PID 1 is every orphan's parent. */
static bool reap(int fd, pid_t wanted, int *status)
{
	struct signalfd_siginfo info;
	bool found = false;
	pid_t pid;
	int s;

	while (read(fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &s, WNOHANG)) > 0) {
		if (pid == wanted) {
			*status = s;
			found = true;
		}
	}
	return found;
}

static int timer(unsigned int seconds)
{
	struct itimerspec t = { .it_value.tv_sec = seconds };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd >= 0)
		timerfd_settime(fd, 0, &t, NULL);
	return fd;
}

static int child_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void forward(struct pollfd p[SOURCES], const int port[WIRE_PORTS], struct reader *r,
		    const struct child *c)
{
	if (p[ON_LOG].revents)
		klog_drain(p[ON_LOG].fd, port[WIRE_LOG]);
	if (p[ON_OUT].revents && !copy(c->out, port[WIRE_OUTPUT]))
		p[ON_OUT].fd = -1;
	if (p[ON_ERR].revents && !copy(c->err, port[WIRE_ERROR]))
		p[ON_ERR].fd = -1;
	if (p[ON_COMMAND].revents & POLLIN)
		obey(r, c);
	if (p[ON_INPUT].revents & POLLIN)
		copy(port[WIRE_OUTPUT], c->out);
}

int relay(const int port[WIRE_PORTS], struct reader *r, struct child *c, const struct job *job,
	  int klog)
{
	struct pollfd p[SOURCES] = {
		[ON_SIGNAL] = { child_signals(), POLLIN, 0 },
		[ON_TIMER] = { timer(job->timeout), POLLIN, 0 },
		[ON_LOG] = { klog, POLLIN, 0 },
		[ON_OUT] = { c->out, POLLIN, 0 },
		[ON_ERR] = { c->err, POLLIN, 0 },
		[ON_COMMAND] = { r->fd, POLLIN, 0 },
		[ON_INPUT] = { job->tty ? port[WIRE_OUTPUT] : -1, POLLIN, 0 },
	};
	int status = 0;

	/* The command may have ended before its signals were blocked. */
	while (!reap(p[ON_SIGNAL].fd, c->pid, &status)) {
		if (poll(p, SOURCES, 1000) < 0 && errno != EINTR)
			return -errno;
		forward(p, port, r, c);
		if (p[ON_TIMER].revents) {
			status = -ETIME;
			break;
		}
	}
	copy_rest(c->out, port[WIRE_OUTPUT]);
	copy_rest(c->err, port[WIRE_ERROR]);
	return status;
}
