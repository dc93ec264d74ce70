/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about processes that our programs ask beside gpreempt_select(), from any thread. */
#ifndef LIB_SEE_WORDS_H
#define LIB_SEE_WORDS_H

#include <string.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/policy.h>
#include <gpreempt/select.h>

/* Returns another number when other GPU processes are there; 0: they are not known. */
uint64_t gp_processes_hash(struct gpreempt *g);

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
 * The role of a cgroup: an extended attribute of its directory with the role's name, and words for
 * guard behind it, as in "offline weight=200". It ends with the cgroup. CAP_SYS_ADMIN of the host
 * alone can read and write it: the user of a delegated cgroup cannot, nor can root of a container.
 * An attribute security.* will not do: before Linux 6.10 every user can write it where the BPF LSM
 * is on, as on Debian 12.
 */
#define GP_ROLE_ATTRIBUTE "trusted.gpreempt.role"

/* "online", "offline" or "none". */
const char *gp_role_name(enum gpreempt_role role);
/* Look up a role by its name, which need not be terminated. 0, or -EINVAL: no role has it. */
int gp_role_by_name(const char *name, size_t len, enum gpreempt_role *out);

#define GP_ROLE_WORDS 128 /* bytes for the words behind a role */

/* Value of the attribute. */
struct gp_role_value {
	enum gpreempt_role role;
	char words[GP_ROLE_WORDS]; /* "": none. Guard alone reads them */
};
#define GP_ROLE_TEXT (16 + GP_ROLE_WORDS)
/* Print a value as the attribute has it. */
void gp_role_text(const struct gp_role_value *value, char text[GP_ROLE_TEXT]);
/*
 * Take a value apart, which need not be terminated. Words that are too long or no plain text become
 * "?", which guard does not know: the role stays. 0, or -EINVAL: no role; *out is not changed.
 */
int gp_role_parse(const char *text, size_t len, struct gp_role_value *out);

/* A cgroup that has words behind its role. */
struct gp_role_own {
	char cgroup[400]; /* path in version 2, "": it is too long */
	char words[GP_ROLE_WORDS];
};

static inline bool gp_role_is_same(const struct gp_role_own *a, const struct gp_role_own *b)
{
	return !strcmp(a->cgroup, b->cgroup) && !strcmp(a->words, b->words);
}

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
 * upwards, or from level SHR_CGROUP_LEVELS. GP_DOUBT; or -errno: it can be known of no process now.
 * @own: NULL, or gets that cgroup if it has words, else none
 */
int gp_role(const struct gpreempt *g, int root, pid_t pid, struct gp_role_own *own);
/* Read the attribute of the cgroup whose directory is @dir. 0 or -errno. */
int gp_role_at(int dir, struct gp_role_value *out);

/*
 * Choices of gp_select().
 * @sure: for a word that a cgroup decides, without the processes in doubt: for callers that
 *	release a process, or make others wait for it
 * @skip: as gpreempt_select()
 * @command: NULL, or gives the command line that the caller has read; NULL: there is none. Then no
 *	word reads the memory of a process
 * @own: NULL, or gets each process that role: names by a cgroup with words, lowest PIDs first
 * @all: NULL, or the processes of gpreempt_processes(), for a caller that looks for many words
 */
struct gp_select_how {
	bool sure;
	bool (*skip)(void *data, pid_t pid);
	const char *(*command)(void *data, pid_t pid);
	void (*own)(void *data, pid_t pid, const struct gp_role_own *own);
	const struct gpreempt_targets *all;
	void *data;
};
/* Compare for qsort() and bsearch() structures whose first member is a target. */
int gp_compare_targets(const void *a, const void *b);
/* Do the same as gpreempt_select(). */
int gp_select(struct gpreempt *g, const struct gp_select_how *how, const char *const *words,
	      size_t count, struct gpreempt_targets **out, struct gpreempt_error *err);

#define GP_COMMAND_LEN 8192 /* bytes of a command line that a pattern sees */
/* Read its command line with a space between words. Returns the length, or -errno with "". */
ssize_t gp_read_command(const struct gpreempt *g, pid_t pid, char *buf, size_t size);

/* The name of a user, as in /etc/passwd. 0, -ENOENT or another -errno. */
int gp_user_name(struct gpreempt *g, uid_t uid, char *buf, size_t size);
/* The same for a reader: the number of a user without a name. */
void gp_user_text(struct gpreempt *g, uid_t uid, char *buf, size_t size);

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

/* Processes that have /dev/kfd open, or may use a GPU. */

/* PIDs. The caller frees the items. */
struct gp_pids {
	pid_t *items;
	size_t count;
};

/* List all processes of the host. 0 or -errno. */
int gp_all_pids(struct gpreempt *g, struct gp_pids *out);

/*
 * Has the process a descriptor of /dev/kfd, its own or one that it got? 1, 0, or -errno.
 * Call it where a file system that does not answer does no harm.
 */
int gp_has_kfd_open(struct gpreempt *g, pid_t pid);

/* Does KFD let the process use that GPU? A cgroup of devices can forbid it. */
bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id);

/*
 * Names of a GPU, or of a partition of one. The index is that of amd-smi: rocm_smi_main.cc of
 * ROCm/amdsmi sorts by PCI address without the partition's number in it, and keeps partitions of
 * one device in the order of the kernel. HIP counts in the order of KFD's nodes, which is the same
 * on a host whose firmware adds GPUs by address.
 */
struct gp_gpu {
	int64_t gpu_id;	    /* KFD's number */
	int64_t index;	    /* unknown as long as a GPU has no address */
	int64_t partition;  /* number among those of its device */
	int64_t partitions; /* number of all of its device */
	int64_t render;	    /* number of its renderD */
	char device[64];    /* PCI address, "": not known */
};

struct gp_gpus {
	size_t count;
	struct gp_gpu *items; /* in KFD's order */
};

/* Name the nodes, for gp_gpus_free(). 0 or -ENOMEM. */
int gp_gpus_name(const struct gpreempt *g, const struct gpreempt_nodes *nodes, struct gp_gpus *out);
/* The same, after a read of the nodes. */
int gp_gpus_read(struct gpreempt *g, struct gp_gpus *out, struct gpreempt_error *err);
void gp_gpus_free(struct gp_gpus *gpus);
/* Returns the GPU with that gpu_id, or NULL. */
const struct gp_gpu *gp_gpus_get(const struct gp_gpus *gpus, int64_t gpu_id);
/* Can the words between commas be names of GPUs? Which ones the host has is another question. */
bool gp_gpus_are_words(const char *words);
/*
 * Find the GPUs that a word means: an index; a PCI address, also without the domain, which means
 * all partitions of the device; renderD128; or a gpu_id, decimal or hexadecimal. @chosen: a flag
 * for each. 0; -ENOENT: none; -EEXIST: the word has several meanings.
 */
int gp_gpus_find(const struct gp_gpus *gpus, const char *word, bool *chosen);
/* Print its names, as "0 (0000:05:00.0, renderD128, 0xc7a6)". As snprintf(). */
int gp_gpu_text(const struct gp_gpu *gpu, char *buf, size_t size);

/*
 * A GPU's device, by the files that amdgpu has for it (amdgpu_vram_mgr.c, amdgpu_gfx.c,
 * amdgpu_fru_eeprom.c, amdgpu_pm.c). All partitions of a device have one. A number that is not
 * known is GPREEMPT_UNKNOWN, a text "".
 */
struct gp_device {
	char model[64];
	char mode[24];	    /* partition mode of compute and memory, as "SPX/NPS1" */
	char firmware[160]; /* versions, as "kfd 27,mec 0x0000001b" (amdgpu_ucode.c) */
	int64_t vram_total; /* bytes */
	int64_t power_uw;   /* microwatts */
};

void gp_device_read(struct gpreempt *g, const struct gp_gpu *gpu, struct gp_device *out);
/* Read how many bytes of its memory all users have in use. */
int64_t gp_device_vram_used(const struct gpreempt *g, const struct gp_gpu *gpu);

/* Returns the fact of that name, or NULL. */
const struct gpreempt_fact *gp_facts_find(const struct gpreempt_facts *facts, const char *key);

/* Read what gpreempt.ko is and can do here; GPREEMPT_NO_MODULE: it is not loaded. */
int gp_module_version(struct gpreempt *g, struct gpreempt_facts **out, struct gpreempt_error *err);

/* Do as gpreempt_describe(), and never read the memory of the process: no command line. */
int gp_identify(struct gpreempt *g, pid_t pid, struct gpreempt_description *out);

/* Returns the queue with this id, or NULL. */
const struct gpreempt_queue *gp_view_find(const struct gpreempt_view *view, uint32_t qid);

/*
 * Take the text of the module's queues file apart; it need not be terminated. Columns are found
 * by name; unknown ones are skipped and missing ones are GPREEMPT_UNKNOWN, except qid, which must
 * be there. 0, -EPROTO for another format or major version, -EINVAL for a line that contradicts
 * the format, -ENOMEM.
 */
int gp_view_parse(const char *text, size_t len, struct gpreempt_view **out);

/* Does the filter mean all queues, and new ones? */
bool gp_filter_is_all(const struct gpreempt_filter *which);
/* Does the filter mean this queue? An unknown priority matches no priority that it names. */
bool gp_filter_matches(const struct gpreempt_filter *which, int64_t qid, int64_t gpu_id,
		       int64_t priority);

/* Is a queue paused, by any program? Only the module shows it: false without it. */
bool gp_view_paused(const struct gpreempt_view *view);

/* Figures that the driver counts of a process on a GPU. */
struct gpreempt_process_gpu {
	int64_t gpu_id;	    /* KFD's number of the node */
	int64_t vram;	    /* bytes of the GPU's memory that the process has allocated */
	int64_t evicted_ms; /* how long its queues were evicted there, but for the one of now */
};

/* Bits of what to read of each GPU; each is a file. */
enum gpreempt_figure {
	GPREEMPT_FIGURE_VRAM = 1,
	GPREEMPT_FIGURE_EVICTED = 2,
};

/* All GPUs that a process may use. */
struct gpreempt_process_gpus {
	size_t count;
	struct gpreempt_process_gpu *gpus;
};

/*
 * Read what the driver has counted of a process: bits of enum gpreempt_figure, and other figures
 * are GPREEMPT_UNKNOWN. It is in the driver's sysfs (kfd_procfs_show() in amdkfd/kfd_process.c),
 * without gpreempt.ko, root, or a lock of the driver. Of several contexts it has the first one.
 */
int gp_process_gpus_read(struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpus **out, struct gpreempt_error *err);

#endif
