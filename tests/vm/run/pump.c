// SPDX-License-Identifier: GPL-2.0-only
/* A running job: its streams to where they belong, until the verdict. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "vmrun.h"

/* The guest keeps the job's time; it gets this much longer to report. */

enum { ON_VERDICT, ON_OUTPUT, ON_ERROR, ON_LOG, ON_STDIN, SOURCES };

/* A stream of the guest, which we only read. */
struct stream {
	int fd;
	FILE *to;
	unsigned long long got, sent; /* bytes; sent comes with the verdict */
};

enum { OUTPUT, ERROR, LOG, STREAMS };

static bool copy(struct stream *s)
{
	char buf[8192];
	ssize_t n = read(s->fd, buf, sizeof(buf));

	if (n <= 0)
		return false;
	s->got += n;
	if (s->to) {
		fwrite(buf, 1, n, s->to);
		fflush(s->to);
	}
	return true;
}

/* Copy the bytes that are under way; or, when no more can come, the rest. */
static void copy_rest(struct stream *s, bool more)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (!more || s->got < s->sent) {
		if (poll(&p, 1, more ? GRACE : 0) <= 0 || !(p.revents & POLLIN) || !copy(s))
			return;
	}
}

static void tell_size(struct vm *vm)
{
	unsigned short rows, columns;

	if (tty_resized(&rows, &columns))
		dprintf(vm->port[WIRE_COMMAND], "resize %u %u\n", rows, columns);
}

static void forward(struct vm *vm, struct pollfd p[SOURCES], struct stream s[STREAMS])
{
	int i;

	for (i = 0; i < STREAMS; i++)
		if (p[ON_OUTPUT + i].revents && !copy(&s[i]))
			p[ON_OUTPUT + i].fd = -1;
	if (p[ON_STDIN].revents && !tty_keys(vm->port[WIRE_OUTPUT]))
		p[ON_STDIN].fd = -1;
}

static bool read_verdict(struct vm *vm, struct stream s[STREAMS], struct outcome *o)
{
	char line[512];

	int guest_ms;

	if (verdict_line(vm, line, sizeof(line), now_ms() + GRACE) ||
	    sscanf(line, "sent %llu %llu %llu after %d", &s[OUTPUT].sent, &s[ERROR].sent,
		   &s[LOG].sent, &guest_ms) != STREAMS + 1 ||
	    verdict_line(vm, line, sizeof(line), now_ms() + GRACE))
		return false;
	verdict_parse(line, o);
	o->guest_ms = guest_ms;
	return true;
}

/* True when there is a verdict. */
static bool wait_verdict(struct vm *vm, const struct job *job, struct stream s[STREAMS],
			 struct outcome *o)
{
	struct pollfd p[SOURCES] = {
		[ON_VERDICT] = { vm->port[WIRE_VERDICT], POLLIN, 0 },
		[ON_OUTPUT] = { s[OUTPUT].fd, POLLIN, 0 },
		[ON_ERROR] = { s[ERROR].fd, POLLIN, 0 },
		[ON_LOG] = { s[LOG].fd, POLLIN, 0 },
		[ON_STDIN] = { job->tty ? STDIN_FILENO : -1, POLLIN, 0 },
	};
	long long until = now_ms() + job->patience;

	while (!job->timeout || now_ms() < until) {
		if (poll(p, SOURCES, 1000) < 0 && errno != EINTR)
			return false;
		if (job->tty)
			tell_size(vm);
		forward(vm, p, s);
		if (p[ON_VERDICT].revents)
			return read_verdict(vm, s, o);
	}
	return false;
}

void pump(struct vm *vm, const struct job *job, struct outcome *o)
{
	struct stream s[STREAMS] = {
		[OUTPUT] = { vm->port[WIRE_OUTPUT], job->output, 0, 0 },
		[ERROR] = { vm->port[WIRE_ERROR], job->error, 0, 0 },
		[LOG] = { vm->port[WIRE_LOG], job->log, 0, 0 },
	};
	bool there = wait_verdict(vm, job, s, o);
	int i;

	for (i = 0; i < STREAMS; i++)
		copy_rest(&s[i], there);
	if (!there)
		verdict_lost(vm, o, "the guest does not answer any more");
}
