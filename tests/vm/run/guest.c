// SPDX-License-Identifier: GPL-2.0-only
/* A guest from its start to its verdict. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "vmrun.h"

int guest_boot(struct vm *vm, const struct bench *b, const char *accel,
	       int timeout)
{
	char line[512];
	int ret;

	ret = vm_start(vm, b, accel, NULL);
	if (ret)
		return ret;
	ret = verdict_line(vm, line, sizeof(line),
			   now_ms() + timeout * pace_outside(b) * 1000LL);
	if (!ret && strcmp(line, "ready")) {
		complain("the guest does not get ready: %s", line);
		ret = -EIO;
	}
	return ret;
}

static void send_job(struct vm *vm, const struct job *job)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int fd = vm->port[WIRE_COMMAND];

	dprintf(fd, "time %lld\ntimeout %d\n", (long long)time(NULL),
		job->timeout);
	if (job->vgpu)
		dprintf(fd, "vgpu %s\n", job->vgpu);
	if (job->gpreempt)
		dprintf(fd, "gpreempt\n");
	if (job->merge)
		dprintf(fd, "merge\n");
	if (job->leaks)
		dprintf(fd, "leaks\n");
	dprintf(fd, "slow %d\npace %d\n", job->slow, job->pace);
	if (job->tty) {
		ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
		dprintf(fd, "tty %u %u\n", size.ws_row, size.ws_col);
		dprintf(fd, "term %s\n",
			getenv("TERM") ? getenv("TERM") : "vt100");
	}
	dprintf(fd, "run %zu\n%s", strlen(job->command), job->command);
}

static int accepted(struct vm *vm, int timeout)
{
	char line[128];
	int ret;

	ret = verdict_line(vm, line, sizeof(line), now_ms() + timeout * 1000LL);
	return ret ? ret : strcmp(line, "accepted") ? -EPROTO : 0;
}

static int restore(struct vm *vm, const struct bench *b, const struct job *job)
{
	char incoming[PATH_MAX + 32];
	int ret;

	snprintf(incoming, sizeof(incoming), "exec:exec cat '%s'", b->saved);
	ret = vm_start(vm, b, b->accel, incoming);
	if (!ret)
		ret = qmp_open(vm->qmp);
	if (!ret)
		ret = qmp_go_on(vm->qmp, RESTORE_TIMEOUT * pace_outside(b));
	if (!ret) {
		send_job(vm, job);
		ret = accepted(vm, RESTORE_TIMEOUT * pace_outside(b));
	}
	if (ret) {
		complain("the saved guest could not be restored (%s), booting",
			 strerror(-ret));
		unlink(b->saved);
		vm_stop(vm);
	}
	return ret;
}

/* From the saved guest where there is one, else from a boot. */
static int start(struct vm *vm, const struct bench *b, const struct job *job)
{
	int ret;

	if (b->saved[0] && !access(b->saved, R_OK) && !restore(vm, b, job))
		return 0;
	ret = guest_boot(vm, b, b->accel, BOOT_TIMEOUT);
	if (ret)
		return ret;
	send_job(vm, job);
	return accepted(vm, RESTORE_TIMEOUT * pace_outside(b));
}

void guest_run(struct vm *vm, const struct bench *b, const struct job *wanted,
	       struct outcome *o)
{
	struct job job = *wanted;
	int ret;

	job.slow = b->slow;
	job.pace = pace_inside(b);
	job.timeout *= pace_inside(b);
	job.patience = (wanted->timeout * 1000LL + GRACE) * pace_outside(b);
	if (b->leaks)
		job.patience += GRACE_LEAKS;
	job.leaks = b->leaks;
	ret = start(vm, b, &job);
	if (ret)
		verdict_lost(vm, o, "the guest does not get ready");
	else
		pump(vm, &job, o);
	if (o->verdict == V_TIMEOUT)
		o->number = job.timeout;
	vm_stop(vm);
}
