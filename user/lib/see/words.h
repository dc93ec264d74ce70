/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about processes that our programs ask beside gpreempt_select(), from any thread. */
#ifndef LIB_SEE_WORDS_H
#define LIB_SEE_WORDS_H

#include <gpreempt/gpreempt.h>
#include <gpreempt/policy.h>
#include <gpreempt/select.h>

/* Can gpreempt_select() look for such a word? 0 or -EINVAL. */
int gp_select_check(const char *word, struct gpreempt_error *err);

/*
 * May gpreempt_select() wait for a process, with a word that it looks for? It may for cmd:,
 * whose command lines are in the memory of the processes; see gpreempt_describe(). Look for such
 * a word in a process that nothing waits for.
 */
bool gp_select_reads_memory(const char *word);
/* Does it take several calls for each process, or wait for one? */
bool gp_select_is_slow(const char *word);

/*
 * The role of a cgroup: an extended attribute of its directory with the role's name. All
 * can read it and root of the host alone can write it: a user does not own it where a
 * cgroup is delegated, nor does root of a container. It ends with the cgroup.
 */
#define GP_ROLE_ATTRIBUTE "security.gpreempt.role"

/* "online", "offline" or "none". */
const char *gp_role_name(enum gpreempt_role role);
/* Look up a role by its name, which need not be terminated. 0, or -EINVAL: no role has it. */
int gp_role_by_name(const char *name, size_t len, enum gpreempt_role *out);

/*
 * Answer for a process whose cgroup cannot be known, since its user moves it all the time, or
 * has given it a path that the kernel does not print. A process that is offline by its cgroup or
 * role is held in doubt; an online one must be known without a doubt.
 */
#define GP_DOUBT (-ENODATA)

/*
 * A descriptor of the root of cgroup v2, for gp_role() and close(); -ENOENT: there is none,
 * and so no role; or -errno.
 */
int gp_role_root(const struct gpreempt *g);
/*
 * Returns the role of a process: that of the nearest cgroup of version 2 with one, from its own
 * upwards, or from level SHR_CGROUP_LEVELS. GP_DOUBT; or -errno: it can be known of no process
 * now.
 */
int gp_role(const struct gpreempt *g, int root, pid_t pid);
/* Returns the role of the cgroup whose directory is @dir; or -errno. */
int gp_role_at(int dir);

/*
 * Do the same as gpreempt_select(), for a word that a cgroup decides, without the processes in
 * doubt. For callers that release a process, or make others wait for it.
 */
int gp_select_sure(struct gpreempt *g, const char *const *words, size_t count,
		   bool (*skip)(void *data, pid_t pid), void *data, struct gpreempt_targets **out,
		   struct gpreempt_error *err);

/* The name of a user, as in /etc/passwd. 0, -ENOENT or another -errno. */
int gp_user_name(struct gpreempt *g, uid_t uid, char *buf, size_t size);

/*
 * Print the owner of a process, as a text to compare and to print: the user in whose slice it
 * is, else the outermost container, else the user, with the ids of /etc/subuid. A process cannot
 * change it by its own means, such as its uid in a container.
 */
void gp_tenant(const struct gpreempt *g, pid_t pid, char *buf, size_t size);
#define GP_TENANT 96 /* bytes for such a text */

/* Has the driver queues of it? True, too, if that cannot be found out. */
bool gp_may_have_queues(const struct gpreempt *g, pid_t pid);

/* A container. Its user chooses the texts, byte for byte. */
struct gp_container {
	/* docker, podman, containerd, cri-o, kubernetes, lxc or container */
	char engine[16];
	char id[80];	/* id in the name of its cgroup */
	char name[128]; /* from the files of root's engine, "": not known */
	char pod[128];	/* the pod's name in Kubernetes, from the same files */
	char pod_namespace[64];
};

/* The outermost one that a process is in. 0, -ENOENT or another -errno. */
int gp_container(struct gpreempt *g, pid_t pid, struct gp_container *out);

/* Place of a process, by the path of its cgroup, whatever its user wrote there. */
struct gp_place {
	char cgroup[256];	/* path in version 2, or in the first hierarchy of version 1; cut */
	char pod_uid[40];	/* pod in Kubernetes, "": none */
	char job[24];		/* job of Slurm or Spur, "": none */
	struct gp_container in; /* filled in by gp_container(); id "": none */
	int role;		/* result of gp_role() */
};

/*
 * Find the whole place in one look: the kernel takes the square of the depth of a cgroup to
 * print its path. 0 or -errno. A user's own slice has no pods and no jobs. @root: see gp_role().
 */
int gp_place(struct gpreempt *g, int root, pid_t pid, struct gp_place *out);

/* Processes that use a GPU, and those that only keep /dev/kfd open. */

/* PIDs. The caller frees the items. */
struct gp_pids {
	pid_t *items;
	size_t count;
};

/*
 * The processes in KFD's list, in no order. One that has ended stays in it while another
 * process keeps its descriptor open.
 */
int gp_kfd_pids(struct gpreempt *g, struct gp_pids *out, struct gpreempt_error *err);
/* List all processes of the host. 0 or -errno. */
int gp_all_pids(struct gpreempt *g, struct gp_pids *out);

/*
 * Has the process a descriptor of /dev/kfd, its own or one that it got? 1, 0, or -errno.
 * Call it where a file system that does not answer does no harm.
 */
int gp_has_kfd_open(struct gpreempt *g, pid_t pid);

/*
 * Has the process a queue or memory on one of these GPUs; with no ids, on any? 1, 0, or
 * GPREEMPT_UNKNOWN.
 */
int64_t gp_uses_gpus(struct gpreempt *g, pid_t pid, const uint32_t *gpu_ids, size_t n);

/* Does KFD let the process use that GPU? A cgroup of devices can forbid it. */
bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id);

/*
 * The GPU that a word means: a gpu_id in hexadecimal, the address of a PCI device, or the
 * number of a node. NULL: none.
 */
const struct gpreempt_node *gp_find_gpu(const struct gpreempt_nodes *nodes, const char *word);

#endif
