// SPDX-License-Identifier: GPL-2.0-only
/* A running job: its streams to where they belong, until the verdict. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

/* The guest keeps the job's time; it gets this much longer to say so. */
#define GRACE 30000	/* ms */

enum { ON_VERDICT, ON_OUTPUT, ON_ERROR, ON_LOG, ON_STDIN, SOURCES };

static bool copy(int from, FILE *to)
{
	char buf[8192];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n <= 0)
		return false;
	if (to) {
		fwrite(buf, 1, n, to);
		fflush(to);
	}
	return true;
}

static void copy_rest(int from, FILE *to)
{
	struct pollfd p = { .fd = from, .events = POLLIN };

	while (poll(&p, 1, 0) > 0 && (p.revents & POLLIN))
		if (!copy(from, to))
			return;
}

static void tell_size(struct vm *vm)
{
	unsigned short rows, columns;

	if (tty_resized(&rows, &columns))
		dprintf(vm->port[WIRE_COMMAND], "resize %u %u\n", rows, columns);
}

static void forward(struct vm *vm, struct pollfd p[SOURCES],
		    const struct job *job)
{
	if (p[ON_OUTPUT].revents && !copy(p[ON_OUTPUT].fd, job->output))
		p[ON_OUTPUT].fd = -1;
	if (p[ON_ERROR].revents && !copy(p[ON_ERROR].fd, job->error))
		p[ON_ERROR].fd = -1;
	if (p[ON_LOG].revents && !copy(p[ON_LOG].fd, job->log))
		p[ON_LOG].fd = -1;
	if (p[ON_STDIN].revents && !tty_keys(vm->port[WIRE_OUTPUT]))
		p[ON_STDIN].fd = -1;
}

/* True when there is a verdict. */
static bool wait_verdict(struct vm *vm, const struct job *job, struct outcome *o)
{
	struct pollfd p[SOURCES] = {
		[ON_VERDICT] = { vm->port[WIRE_VERDICT], POLLIN, 0 },
		[ON_OUTPUT] = { vm->port[WIRE_OUTPUT], POLLIN, 0 },
		[ON_ERROR] = { vm->port[WIRE_ERROR], POLLIN, 0 },
		[ON_LOG] = { vm->port[WIRE_LOG], POLLIN, 0 },
		[ON_STDIN] = { job->tty ? STDIN_FILENO : -1, POLLIN, 0 },
	};
	long long until = now_ms() + job->timeout * 1000LL + GRACE;
	char line[512];

	while (!job->timeout || now_ms() < until) {
		if (poll(p, SOURCES, 1000) < 0 && errno != EINTR)
			return false;
		if (job->tty)
			tell_size(vm);
		forward(vm, p, job);
		if (!p[ON_VERDICT].revents)
			continue;
		if (verdict_line(vm, line, sizeof(line), now_ms() + GRACE))
			return false;
		verdict_parse(line, o);
		return true;
	}
	return false;
}

void pump(struct vm *vm, const struct job *job, struct outcome *o)
{
	bool there = wait_verdict(vm, job, o);

	copy_rest(vm->port[WIRE_OUTPUT], job->output);
	copy_rest(vm->port[WIRE_ERROR], job->error);
	copy_rest(vm->port[WIRE_LOG], job->log);
	if (!there)
		verdict_lost(vm, o, "the guest does not answer any more");
}
