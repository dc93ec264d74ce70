// SPDX-License-Identifier: GPL-2.0-only
#include "lib/see/words.h"
#include "unit-host.h"
#include "unit-select.h"

#define SLICE "/user.slice/user-1000.slice/user@1000.service/user.slice"

struct gpreempt_targets *found;
struct gpreempt_error err;

static void add_process(pid_t pid, int start, const char *comm)
{
	set_file(unit_text("/proc/%d/stat", pid),
		 unit_text("%d (train) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
			   "16 17 18 %d 20\n",
			   pid, start));
	set_file(unit_text("/proc/%d/comm", pid), comm);
}

void select_setup(void)
{
	unit_setup();
	set_file("/sys/class/kfd/kfd/proc/", "300\n100\n4194242\n200");
	add_process(100, 1111, "python3\n");
	add_process(200, 2222, "python3\n");
	add_process(300, 3333, "a-very-long-nam\n");
	set_file("/proc/4194242/comm", "job\n");
	set_file("/proc/100/cgroup", "0::/system.slice/docker-" ID_A ".scope/sub\n");
	set_file("/proc/200/cgroup", "12:memory:/docker/" ID_B "\n0::/x\n");
	set_file("/proc/300/cgroup", "0::" SLICE "/libpod-" ID_C ".scope/container\n");
	set_file("/proc/4194242/cgroup", "0::/batch/low\n");
	unit_cgroups_start();
	loop.cgroups = unit_cgroup_root();
	unit_cgroup_make("/system.slice/docker-" ID_A ".scope/sub");
	unit_cgroup_role("/system.slice", "offline");
	unit_cgroup_make("/batch/low");
	unit_cgroup_role("/batch", "offline");
	/* The nearest one counts, and what is no role is none. */
	unit_cgroup_role("/user.slice", "offline");
	unit_cgroup_role(SLICE, "online");
	unit_cgroup_make(SLICE "/libpod-" ID_C ".scope/container");
	unit_cgroup_role(SLICE "/libpod-" ID_C ".scope", "offline\n");
	unit_cgroup_role("/x", "");
	set_file(DOCKER ID_A "/config.v2.json", "{\"Args\":[],\"HostConfig\":{\"Name\":\"/no\"},"
						"\"Name\":\"/train\"}");
	set_file("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
				"half:x:7\nold:x:-3:1::/x:/x\n"
				"ann:x:1000:1000::/home/ann:/bin/sh\n");
	set_file("/proc/100/status", "Name:\tann\nState:\tS\n"
				     "Uid:\t1000\t0\t0\t0\n");
	set_file("/proc/200/status", "Name:\tUid:\t7\n"
				     "State:\tS\nUid:\t0\t1000\t1000\t1000\n");
	set_file("/proc/300/status", "Name:\tx\nState:\tS\n"
				     "Uid:\t70000\t70000\t70000\t70000\n");
	set_file("/proc/100/cmdline", "/usr/bin/python3 -m train --job=17");
	found = NULL;
	memset(&err, 0, sizeof(err));
}

void select_teardown(void)
{
	gpreempt_list_free(found);
	unit_cgroups_stop();
	unit_teardown();
}

static const char *pick_by(bool sure, const char *word)
{
	const struct gp_select_how how = { .sure = sure };
	static char text[128];
	size_t i, used = 0;

	gpreempt_list_free(found);
	found = NULL;
	text[0] = '\0';
	if (gp_select(g, &how, &word, 1, &found, &err))
		return "";
	for (i = 0; i < found->count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%d", i ? " " : "",
				 found->targets[i].pid);
	return text;
}

const char *pick(const char *word)
{
	return pick_by(false, word);
}

const char *pick_sure(const char *word)
{
	return pick_by(true, word);
}
