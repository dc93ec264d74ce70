// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of the bench's guest: mounts, loads amdgpu.ko and what it needs, says
 * "ready" and waits for one job. A guest may be saved while it waits.
 */
#include <fcntl.h>
#include <stdio.h>
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

int main(void)
{
	static struct reader reader;
	struct job job = { .rows = 24, .columns = 80 };
	int port[WIRE_PORTS];
	int ret, modules;

	mount_all();
	console();
	sethostname("vm", 2);
	modules = module_load_list("/boot/modules");
	ret = module_load_list("/boot/port-modules");
	if (!ret)
		ret = ports_open(port);
	if (ret) {
		fprintf(stderr, "init: the runner's ports are not there: %s\n",
			strerror(-ret));
		wait_for_the_end();
	}
	if (modules) {
		say(port[WIRE_VERDICT],
		    "failed a module of the image does not load: %s",
		    strerror(-modules));
		wait_for_the_end();
	}
	leaks_forget();
	say(port[WIRE_VERDICT], "ready");
	reader.fd = port[WIRE_COMMAND];
	ret = job_read(&reader, &job);
	if (ret) {
		say(port[WIRE_VERDICT], "failed the job could not be read: %s",
		    strerror(-ret));
		wait_for_the_end();
	}
	say(port[WIRE_VERDICT], "accepted");
	job_run(port, &reader, &job);
	wait_for_the_end();
}
