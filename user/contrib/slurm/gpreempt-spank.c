// SPDX-License-Identifier: GPL-2.0-only
/*
 * The option --gpu-role of srun, sbatch and salloc, a plug-in of Slurm's SPANK: on each node
 * the cgroup of the job gets the role, and gpreempt-ctl finds it there. It asks no service
 * and starts no program, and no job fails because of it. A line of plugstack.conf:
 *
 *	optional /usr/local/lib/gpreempt/gpreempt-spank.so [roles=offline,online]
 *
 * Without roles= a user can ask for offline only. The submitting host checks that, so that
 * the user sees it; each node checks it again, with its own plugstack.conf.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include <slurm/spank.h>

#define ATTRIBUTE "trusted.gpreempt.role"
#define ROLES	  "roles="

SPANK_PLUGIN(gpreempt, 1);

/* Roles with commas between. SPANK gives the check of an option no context of ours. */
static const char *allowed = "offline";

/* Returns the name of the role that the word asks for; NULL: it is not allowed. */
static const char *find_role(const char *word)
{
	static const char *const names[] = { "offline", "online" };
	const char *at;
	size_t i, len;

	for (i = 0; i < 2; i++) {
		len = strlen(names[i]);
		at = strstr(allowed, names[i]);
		if (!strcmp(word, names[i]) && at && (!at[len] || at[len] == ','))
			return names[i];
	}
	return NULL;
}

static int check_option(int val, const char *word, int remote)
{
	(void)val;
	if (remote || find_role(word))
		return 0;
	slurm_error("gpreempt: --gpu-role=%s is not one of the roles here: %s", word, allowed);
	return -1;
}

static struct spank_option option = {
	.name = "gpu-role",
	.arginfo = "role",
	.usage =
		"gpreempt: whether this job makes way on the GPU (offline) or others make way for it (online)",
	.has_arg = 1,
	.cb = check_option,
};

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	int i;

	for (i = 0; i < ac; i++) {
		if (!strncmp(av[i], ROLES, strlen(ROLES)))
			allowed = av[i] + strlen(ROLES);
		else
			slurm_error("gpreempt: plugstack.conf: \"%s\" is not roles=ROLE[,ROLE]",
				    av[i]);
	}
	spank_option_register(sp, &option);
	return 0;
}

/* The cgroup of version 2 of that job, in which we are. 0 or -errno. */
static int find_cgroup(uint32_t job, char *buf, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char name[32], *end = NULL;
	size_t len;

	if (!f)
		return -errno;
	len = snprintf(name, sizeof(name), "/job_%u", job);
	while (!end && fgets(buf, size, f))
		if (!strncmp(buf, "0::/", 4))
			end = strstr(buf, name);
	fclose(f);
	if (!end || !strchr("/\n", end[len]))
		return -ENOENT;
	end[len] = '\0';
	memmove(buf, buf + 3, strlen(buf + 3) + 1);
	return 0;
}

static int give(uint32_t job, const char *role)
{
	/* Mounts of version 2, alone or beside version 1. */
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char cgroup[4096], path[sizeof(cgroup) + 32];
	int ret = find_cgroup(job, cgroup, sizeof(cgroup));
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s", mounts[i], cgroup);
		if (!setxattr(path, ATTRIBUTE, role, strlen(role), 0))
			return 0;
		if (errno != ENOENT)
			break;
	}
	return -errno;
}

/* Give the role in a task of the job, as root, when its cgroup is there and before its program. */
int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	const char *role;
	uint32_t job;
	char *word;
	int ret;

	(void)ac;
	(void)av;
	if (spank_option_getopt(sp, &option, &word) || spank_get_item(sp, S_JOB_ID, &job))
		return 0;
	role = find_role(word);
	ret = role ? give(job, role) : -EPERM;
	if (ret)
		slurm_error("gpreempt: job %u has no role on this node: %s", job,
			    role ? strerror(-ret) : "plugstack.conf here does not allow it");
	return 0;
}
