// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start a program in a role. The role is the cgroup that the program is in: it
 * needs no register, its children inherit it, and everybody can see it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/role.h"
#include "ctl/command/ctl.h"

static int fail_usage(const char *what)
{
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl run --help", "%s", what);
}

static int fail_cgroup(const char *path, int code)
{
	if (code == -ENOENT)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, "mount it, or boot with cgroup v2",
				     "there is no cgroup v2 here, and it holds "
				     "the roles");
	if (code == -EACCES || code == -EPERM)
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "run it as root; the program can be run "
				     "with setpriv or sudo -u then",
				     "we may not make the cgroup %s", path);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "look at that directory below the mount of "
			     "cgroup v2",
			     "the cgroup %s cannot be entered: "
			     "%s",
			     path, strerror(-code));
}

struct run_args {
	uint64_t online;
	uint64_t offline;
	const char *cgroup;
	char **command;
};

static int run_run(void *data)
{
	const struct run_args *args = data;
	enum gpreempt_role role = args->online ? GPREEMPT_ROLE_ONLINE : GPREEMPT_ROLE_OFFLINE;
	char path[ROLE_MAX_PATH], name[16];
	int ret;

	if (args->online && args->offline)
		return fail_usage("a program is online or offline, not both");
	if (!args->command)
		return fail_usage("a program to run is needed, behind \"--\"");
	snprintf(name, sizeof(name), "%d", getpid());
	ret = role_path(role, args->cgroup ? args->cgroup : name, path);
	if (ret)
		return fail_usage("the name of a cgroup has letters, digits "
				  "and \"._-\" only, and begins with a letter "
				  "or digit");
	ret = role_enter(role, path);
	if (ret)
		return fail_cgroup(path, ret);
	return ctl_exec(args->command, -1);
}

static const struct ctl_option options[] = {
	{ "online", CTL_FLAG, offsetof(struct run_args, online), NULL,
	  "it has deadlines, and others make way for it" },
	{ "offline", CTL_FLAG, offsetof(struct run_args, offline), NULL,
	  "it makes way; the default" },
	{ "cgroup", CTL_NAME, offsetof(struct run_args, cgroup), "NAME",
	  "in the cgroup /gpreempt/ROLE/NAME, with others of that name" },
	{ 0 },
};

const struct ctl_command ctl_run = {
	.name = "run",
	.run = run_run,
	.args_size = sizeof(struct run_args),
	.command = "COMMAND...",
	.command_at = offsetof(struct run_args, command),
	.summary = "Start a program in a role, online or offline.",
	.details = "The role is the cgroup: /gpreempt/online/NAME or /gpreempt/offline/NAME,\n"
		   "where NAME is the PID by default. Child processes are in it too. Targets for\n"
		   "them: cgroup:/gpreempt/online, cgroup:/gpreempt/offline. The program replaces\n"
		   "this command: PID, signals and exit status are its own. The status is 127 if\n"
		   "there is no such program, 126 if it cannot be run.\n",
	.options = options,
};
