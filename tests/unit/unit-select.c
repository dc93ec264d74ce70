// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/select/words.h"
#include "unit-select.h"

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
	set_file("/proc/100/cgroup",
		 "0::/system.slice/docker-" ID_A ".scope/sub\n");
	set_file("/proc/200/cgroup", "12:memory:/docker/" ID_B "\n0::/x\n");
	set_file("/proc/300/cgroup",
		 "0::/user.slice/user-1000.slice/user@1000.service/"
		 "user.slice/libpod-" ID_C ".scope/container\n");
	set_file("/proc/4194242/cgroup", "0::/batch/low\n");
	set_file("/sys/fs/cgroup/system.slice/" GP_ROLE_ATTRIBUTE, "offline");
	set_file("/sys/fs/cgroup/unified/batch/" GP_ROLE_ATTRIBUTE, "offline");
	/* The nearest one counts, and what is no role is none. */
	set_file("/sys/fs/cgroup/user.slice/" GP_ROLE_ATTRIBUTE, "offline");
	set_file("/sys/fs/cgroup/user.slice/user-1000.slice/"
		 "user@1000.service/user.slice/" GP_ROLE_ATTRIBUTE,
		 "online");
	set_file("/sys/fs/cgroup/user.slice/user-1000.slice/"
		 "user@1000.service/user.slice/libpod-" ID_C
		 ".scope/" GP_ROLE_ATTRIBUTE,
		 "offline\n");
	set_file("/sys/fs/cgroup/x/" GP_ROLE_ATTRIBUTE, "");
	set_file(DOCKER ID_A "/config.v2.json",
		 "{\"Args\":[],\"HostConfig\":{\"Name\":\"/no\"},"
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
	gpreempt_targets_free(found);
	unit_teardown();
}

const char *pick(const char *word)
{
	static char text[128];
	size_t i, used = 0;

	gpreempt_targets_free(found);
	found = NULL;
	text[0] = '\0';
	if (gpreempt_select(g, &word, 1, NULL, NULL, &found, &err))
		return "";
	for (i = 0; i < found->count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%d",
				 i ? " " : "", found->targets[i].pid);
	return text;
}
