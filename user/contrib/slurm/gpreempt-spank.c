// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options --gpu-role and --gpu-weight of srun, sbatch and salloc, a plug-in of Slurm's SPANK:
 * on each node the cgroup of the job gets the role and the weight, and gpreempt-ctl finds both
 * there. It asks no service and starts no program, and no job fails because of it. A line of
 * plugstack.conf:
 *
 *	optional /usr/local/lib/gpreempt/gpreempt-spank.so [roles=offline,online] [weight=1000]
 *
 * Without roles= a user can ask for offline only, without weight=, which is the largest one, for no
 * weight. A weight without a role means offline. The submitting host checks that, so that the user
 * sees it; each node checks it again, with its own plugstack.conf.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include <slurm/spank.h>

#define ATTRIBUTE "trusted.gpreempt.role"
#define ROLES	  "roles="
#define WEIGHT	  "weight="
#define LARGEST	  10000 /* for guard */

SPANK_PLUGIN(gpreempt, 1);

/* Roles with commas between. SPANK gives the check of an option no context of ours. */
static const char *allowed = "offline";
static unsigned long most_weight;

/* Wishes of the options that the submitting host has read so far. */
static bool wants_online, wants_weight;

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

/* Read a number of at most @most. 0: the word is no such number. */
static unsigned long read_weight(const char *word, unsigned long most)
{
	char *end;
	unsigned long weight = strtoul(word, &end, 10);

	return isdigit(*word) && !*end && weight <= most ? weight : 0;
}

static int check_both(void)
{
	if (!wants_online || !wants_weight)
		return 0;
	slurm_error("gpreempt: --gpu-weight is for jobs that are offline");
	return -1;
}

static int check_role(int val, const char *word, int remote)
{
	(void)val;
	if (remote)
		return 0;
	wants_online = !strcmp(word, "online");
	if (find_role(word))
		return check_both();
	slurm_error("gpreempt: --gpu-role=%s is not one of the roles here: %s", word, allowed);
	return -1;
}

static int check_weight(int val, const char *word, int remote)
{
	(void)val;
	if (remote)
		return 0;
	wants_weight = true;
	if (read_weight(word, most_weight))
		return check_both();
	if (most_weight)
		slurm_error("gpreempt: --gpu-weight=%s is not a number from 1 to %lu", word,
			    most_weight);
	else
		slurm_error("gpreempt: --gpu-weight=%s: plugstack.conf here allows no weight",
			    word);
	return -1;
}

static struct spank_option option = {
	.name = "gpu-role",
	.arginfo = "role",
	.usage =
		"gpreempt: whether this job makes way on the GPU (offline) or others make way for it (online)",
	.has_arg = 1,
	.cb = check_role,
};

static struct spank_option weight_option = {
	.name = "gpu-weight",
	.arginfo = "number",
	.usage =
		"gpreempt: the GPU time of this job is to that of other offline jobs as their weights",
	.has_arg = 1,
	.cb = check_weight,
};

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	int i;

	for (i = 0; i < ac; i++) {
		if (!strncmp(av[i], ROLES, strlen(ROLES)))
			allowed = av[i] + strlen(ROLES);
		else if (!strncmp(av[i], WEIGHT, strlen(WEIGHT)) &&
			 read_weight(av[i] + strlen(WEIGHT), LARGEST))
			most_weight = read_weight(av[i] + strlen(WEIGHT), LARGEST);
		else
			slurm_error("gpreempt: plugstack.conf: \"%s\" is neither roles=ROLE[,ROLE] "
				    "nor weight=NUMBER up to %d",
				    av[i], LARGEST);
	}
	spank_option_register(sp, &option);
	spank_option_register(sp, &weight_option);
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

static int give(uint32_t job, const char *value)
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
		if (!setxattr(path, ATTRIBUTE, value, strlen(value), 0))
			return 0;
		if (errno != ENOENT)
			break;
	}
	return -errno;
}

/* Give the role in a task of the job, as root, when its cgroup is there and before its program. */
int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	char *word = NULL, *weight = NULL, value[64];
	unsigned long number = 0;
	const char *role;
	uint32_t job;
	int ret;

	(void)ac;
	(void)av;
	ret = spank_option_getopt(sp, &weight_option, &weight);
	/* SPANK clears the word of an option that was not given. */
	if ((spank_option_getopt(sp, &option, &word) && ret) || spank_get_item(sp, S_JOB_ID, &job))
		return 0;
	role = find_role(word ? word : "offline");
	if (!ret && role && !strcmp(role, "offline"))
		number = read_weight(weight, most_weight);
	if (!ret && !number)
		slurm_error("gpreempt: job %u has no weight on this node: plugstack.conf here does "
			    "not allow it",
			    job);
	snprintf(value, sizeof(value), "%s", role ? role : "");
	if (number)
		snprintf(value, sizeof(value), "offline weight=%lu", number);
	ret = role ? give(job, value) : -EPERM;
	if (ret)
		slurm_error("gpreempt: job %u has no role on this node: %s", job,
			    role ? strerror(-ret) : "plugstack.conf here does not allow it");
	return 0;
}
