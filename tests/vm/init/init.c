// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of the bench's guest: mounts, loads amdgpu.ko and the modules it needs, sends "ready"
 * and waits for one job.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static void console(void)
{
	int fd = open("/dev/console", O_RDWR);
	int i;

	if (fd < 0)
		return;
	for (i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* The runner ends the machine; returning from PID 1 would be a panic. */
static void wait_for_the_end(void)
{
	for (;;)
		pause();
}

/* Each wait is short: a guest that was saved here goes on within one. */
static int wait_for(const char *item, struct job *job)
{
	int ret;

	while ((ret = job_find(item, job)) == -ENOENT)
		usleep(10000);
	return ret;
}

/*
 * The runner saves a guest that is "ready", twice: after the boot, and with the payload
 * and modules that most jobs want.
 */
static int wait_for_job(int verdict, struct job *job)
{
	struct job before = { .command = NULL };
	char why[256];
	int ret;

	say(verdict, "ready");
	for (;;) {
		if (!job_find(WIRE_ITEM_PREPARE, &before))
			break;
		ret = job_find(WIRE_ITEM_JOB, job);
		if (ret != -ENOENT)
			return ret;
		usleep(10000);
	}
	if (!job_prepare(&before, why, sizeof(why)))
		say(verdict, "failed %s", why);
	else
		say(verdict, "ready");
	return wait_for(WIRE_ITEM_JOB, job);
}

int main(void)
{
	static struct reader reader;
	struct job job = { .rows = 24, .columns = 80 };
	int port[WIRE_PORTS];
	int ret, modules, klog;

	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	mount_all();
	console();
	sethostname("vm", 2);
	modules = module_load_list("/boot/modules");
	ret = module_load_list("/boot/port-modules");
	if (!ret)
		ret = ports_open(port);
	if (ret) {
		fprintf(stderr, "init: the runner's ports are not there: %s\n", strerror(-ret));
		wait_for_the_end();
	}
	if (modules) {
		say(port[WIRE_VERDICT], "failed a module of the image does not load: %s",
		    strerror(-modules));
		wait_for_the_end();
	}
	ret = root_is_disk() ? root_enter() : 0;
	if (ret) {
		say(port[WIRE_VERDICT], "failed the disk is no root: %s", strerror(-ret));
		wait_for_the_end();
	}
	leaks_forget();
	klog = klog_open();
	ret = wait_for_job(port[WIRE_VERDICT], &job);
	if (!ret && !job.command)
		ret = -EPROTO;
	if (ret) {
		say(port[WIRE_VERDICT], "failed the job could not be read: %s", strerror(-ret));
		wait_for_the_end();
	}
	say(port[WIRE_VERDICT], "accepted");
	reader.fd = port[WIRE_COMMAND];
	job_run(port, klog, &reader, &job);
	wait_for_the_end();
}
