// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of known faults. docs/support.md has it too; a unit test compares them. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/see/see.h"
#include "shared/util.h"
#include "doctor.h"

/* Facts about a GPU by enum gp_fact; GPREEMPT_UNKNOWN: it could not be read. */
struct gp_gpu_facts {
	int64_t gpu_id;
	int64_t value[GP_FACTS];
};

#define MANY  INT64_MAX
#define NAMED 3 /* GPUs; of more the number is printed */

/* A repair that came with 7.0 or 7.2 is in all later ones. The last before 7.0 is 6.19. */
const struct gp_fault gp_faults[] = {
	{
		.name = "mes-idle-power",
		.health = GP_HEALTH_WARNING,
		.when = { { GP_FACT_GFX, 120000, 120099 }, { GP_FACT_MES, 1, 0x8a } },
		.symptom = "after compute work it may stay 100 % busy and take "
			   "power while all processes are idle",
		.remedy = "update its MES firmware to 0x8b or later",
		.thread = "ROCm/legacy-rocm-build#6298, Linux a6571045cf06",
	},
	{
		.name = "idle-clients",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 100300, 119999 }, { GP_FACT_CLIENTS, 2, MANY } },
		.symptom = "with two processes that have queues it may stay "
			   "100 % busy while both are idle",
		.remedy = "end processes that are not needed",
		.thread = "ROCm/legacy-rocm-build#5107, ROCm/TheRock#7578",
	},
	{
		.name = "several-queues",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 110000, 110099 }, { GP_FACT_QUEUES, 2, MANY } },
		.symptom = "a process with two queues or more may keep it "
			   "100 % busy while the process is idle",
		.remedy = "GPU_MAX_HW_QUEUES=1 in the process's environment",
		.thread = "ROCm/amdgpu#153, ROCm/legacy-rocm-build#2625",
	},
	{
		.name = "mes-evict",
		.health = GP_HEALTH_WARNING,
		.when = { { GP_FACT_GFX, 110000, 129999 }, { GP_FACT_LINUX, 6013, 6019 } },
		.symptom = "while the driver takes one process off it, as a "
			   "pause does, the queues of all others may stop",
		.remedy = "Linux 7.0 or later",
		.thread = "Linux 3fd20580b96a, drm/amd#4765",
	},
	{
		.name = "rdna4-waves",
		.health = GP_HEALTH_WARNING,
		.when = { { GP_FACT_GFX, 120000, 120099 }, { GP_FACT_LINUX, 1, 6019 } },
		.symptom = "the driver's trap handler may damage waves that are preempted",
		.remedy = "Linux 7.0 or later",
		.thread = "Linux a60f627cf4ab",
	},
	{
		.name = "gfx12.1-waves",
		.health = GP_HEALTH_WARNING,
		.when = { { GP_FACT_GFX, 120500, 120599 }, { GP_FACT_LINUX, 1, 6019 } },
		.symptom = "a preempted wave may lose its scheduling mode: results can be wrong",
		.remedy = "Linux 7.0 or later",
		.thread = "Linux bbcad5a8896b",
	},
	{
		.name = "slots-hang",
		.health = GP_HEALTH_WARNING,
		.when = { { GP_FACT_GFX, 100000, 109999 },
			  { GP_FACT_WAITING, 1, MANY },
			  { GP_FACT_KERNEL_QUEUES, 8, 8 } },
		.symptom = "it has more compute queues than slots: the clock "
			   "may stay at its maximum, and processes may hang",
		.remedy = "load amdgpu with a smaller num_kcq, for more slots, "
			  "or set GPU_MAX_HW_QUEUES for the processes",
		.thread = "ROCm/amdgpu#227",
	},
	{
		.name = "slots-turns",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 90000, 99999 }, { GP_FACT_WAITING, 1, MANY } },
		.symptom = "it has more compute queues than slots: they take "
			   "turns, and all processes are slower",
		.remedy = "set GPU_MAX_HW_QUEUES for the processes",
		.thread = "ROCm/legacy-rocm-build#2705",
	},
	{
		.name = "enable-exec",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 90000, MANY }, { GP_FACT_LINUX, 6005, 7001 } },
		.symptom = "a debugger that attaches right after exec() may "
			   "crash the kernel (gpreempt does not)",
		.remedy = "Linux 7.2 or later, if you use such debuggers",
		.thread = "docs/design.md",
	},
	{
		.name = "open-exec",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 90000, MANY }, { GP_FACT_LINUX, 6001, 6012 } },
		.symptom = "a program that keeps /dev/kfd open over exec() and "
			   "opens it again crashes the kernel at its end",
		.remedy = "start no such program",
		.thread = "docs/design.md",
	},
	{
		.name = "exit-drain",
		.health = GP_HEALTH_NOTE,
		.when = { { GP_FACT_GFX, 90402, 90402 }, { GP_FACT_LINUX, 6005, 7003 } },
		.symptom = "a process that ends while it is debugged may wait "
			   "for ever (gpreempt detaches before)",
		.remedy = "end the debugger before the process",
		.thread = "docs/design.md",
	},
	{ 0 },
};

/* Facts on which the known faults depend. */

#define MES_VERSION 0xfff /* version bits of the number; the others are of the interface */
#define MAX_KCQ	    8	  /* kernel queues, the driver's default and limit */

static int64_t read_linux(const struct gpreempt *g)
{
	unsigned int major, minor;
	char text[64];

	/* The release shows nothing about amdgpu-dkms, which alone has a version. */
	if (gp_read_small(g, text, sizeof(text), GP_AMDGPU "/version") >= 0 ||
	    gp_look_in(g, GP_AMDGPU) < 0 ||
	    gp_read_small(g, text, sizeof(text), "/proc/sys/kernel/osrelease") < 0 ||
	    sscanf(text, "%u.%u", &major, &minor) != 2 || minor > 999)
		return GPREEMPT_UNKNOWN;
	return (int64_t)major * 1000 + minor;
}

static int64_t read_mes(const struct gpreempt *g, const struct gpreempt_node *node)
{
	int64_t version;
	char text[24];

	if (!*node->device ||
	    gp_read_small(g, text, sizeof(text),
			  "/sys/bus/pci/devices/%s/fw_version/mes_fw_version", node->device) < 0)
		return GPREEMPT_UNKNOWN;
	version = strtoull(text, NULL, 16) & MES_VERSION;
	return version ? version : GPREEMPT_UNKNOWN;
}

static int64_t read_kernel_queues(const struct gpreempt *g)
{
	char text[24];
	long value;

	if (gp_read_small(g, text, sizeof(text), GP_AMDGPU "/parameters/num_kcq") < 0)
		return GPREEMPT_UNKNOWN;
	value = strtol(text, NULL, 10);
	return value < 0 || value > MAX_KCQ ? MAX_KCQ : value;
}

static int64_t count_compute(const struct gpreempt_view *view, int64_t gpu_id)
{
	int64_t n = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		n += view->queues[i].gpu_id == gpu_id && gp_is_compute(&view->queues[i]);
	return n;
}

static void add_process(struct gpreempt *g, pid_t pid, struct gp_gpu_facts *facts, size_t count)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	size_t i;

	/* The process has ended meanwhile. */
	if (gpreempt_view_read(g, pid, &view, NULL))
		return;
	for (i = 0; i < count; i++) {
		int64_t n = count_compute(view, facts[i].gpu_id);
		int64_t *value = facts[i].value;

		value[GP_FACT_CLIENTS] += n > 0;
		value[GP_FACT_WAITING] += n;
		if (n > value[GP_FACT_QUEUES])
			value[GP_FACT_QUEUES] = n;
	}
}

/* Read the facts about queues: all, or none. */
static void read_queues(struct gpreempt *g, struct gp_gpu_facts *facts, size_t count)
{
	__cleanup_list struct gpreempt_targets *processes = NULL;
	size_t i;

	if (gpreempt_processes(g, &processes, NULL))
		return;
	for (i = 0; i < count; i++)
		facts[i].value[GP_FACT_CLIENTS] = facts[i].value[GP_FACT_QUEUES] =
			facts[i].value[GP_FACT_WAITING] = 0;
	for (i = 0; i < processes->count; i++)
		add_process(g, processes->targets[i].pid, facts, count);
	for (i = 0; i < count; i++) {
		int64_t *waiting = &facts[i].value[GP_FACT_WAITING];
		uint64_t slots;

		if (gp_gpu_property(g, facts[i].gpu_id, "num_cp_queues", &slots))
			*waiting = GPREEMPT_UNKNOWN;
		else
			*waiting = *waiting > (int64_t)slots ? *waiting - (int64_t)slots : 0;
	}
}

static void read_node(const struct gpreempt *g, const struct gpreempt_node *node,
		      struct gp_gpu_facts *facts)
{
	size_t i;

	facts->gpu_id = node->gpu_id;
	for (i = 0; i < GP_FACTS; i++)
		facts->value[i] = GPREEMPT_UNKNOWN;
	facts->value[GP_FACT_LINUX] = read_linux(g);
	facts->value[GP_FACT_GFX] = node->gfx;
	facts->value[GP_FACT_MES] = read_mes(g, node);
	facts->value[GP_FACT_KERNEL_QUEUES] = read_kernel_queues(g);
}

/* Returns the facts of all GPUs, for free(). NULL: there is none that could be asked. */
static struct gp_gpu_facts *read_all_facts(struct gpreempt *g, size_t *count)
{
	struct gp_gpu_facts *facts;
	__cleanup_list struct gpreempt_nodes *nodes = NULL;
	size_t i;

	*count = 0;
	if (gpreempt_nodes_read(g, &nodes, NULL))
		return NULL;
	facts = shr_must(calloc(nodes->count + 1, sizeof(*facts)));
	for (i = 0; i < nodes->count; i++)
		read_node(g, &nodes->nodes[i], &facts[i]);
	read_queues(g, facts, nodes->count);
	*count = nodes->count;
	return facts;
}

/* Does the fault apply? 1: yes; 0: no; -ENODATA: only if facts that cannot be read are so. */
static int applies(const struct gp_fault *fault, const struct gp_gpu_facts *facts)
{
	bool open = false;
	size_t i;

	for (i = 0; i < GP_FAULT_CONDITIONS && fault->when[i].last; i++) {
		int64_t value = facts->value[fault->when[i].fact];

		if (value == GPREEMPT_UNKNOWN)
			open = true;
		else if (value < fault->when[i].first || value > fault->when[i].last)
			return 0;
	}
	return open ? -ENODATA : 1;
}

/* The GPUs with that answer of applies(): names, or of many the number. */
static size_t name_gpus(const struct gp_fault *fault, const struct gp_gpu_facts *facts,
			size_t count, int answer, char *text, size_t size)
{
	size_t i, n = 0, used = 0;

	for (i = 0; i < count; i++) {
		if (applies(fault, &facts[i]) != answer)
			continue;
		if (n++ < NAMED)
			used += snprintf(text + used, size - used, " 0x%llx",
					 (unsigned long long)facts[i].gpu_id);
	}
	if (n > NAMED)
		snprintf(text, size, "s: %zu of %zu", n, count);
	return n;
}

/*
 * Find a fault. 1: there is something to report. 0: it does not apply. -ENODATA: it may, and
 * would be only good to know.
 */
static int find_fault(const struct gp_fault *fault, const struct gp_gpu_facts *facts, size_t count,
		      struct gp_finding *f)
{
	char gpus[96], next[sizeof(f->next)];
	bool open = false;

	if (!name_gpus(fault, facts, count, 1, gpus, sizeof(gpus))) {
		if (!name_gpus(fault, facts, count, -ENODATA, gpus, sizeof(gpus)))
			return 0;
		if (fault->health == GP_HEALTH_NOTE)
			return -ENODATA;
		open = true;
	}
	f->name = fault->name;
	snprintf(next, sizeof(next), "%s; see %s", fault->remedy, fault->thread);
	gp_find_bad(f, open ? GP_HEALTH_UNKNOWN : fault->health, next, "%sGPU%s: %s",
		    open ? "not known for " : "", gpus, fault->symptom);
	return 1;
}

/* Make one line for all faults when none has a line of its own. */
static void find_none(struct gp_finding *f, size_t gpus, size_t faults, size_t open)
{
	f->name = "known-faults";
	if (!gpus)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "there is no GPU that could be asked");
	else if (open)
		gp_find_bad(f, GP_HEALTH_NOTE, "",
			    "none of %zu known faults was found; of %zu it cannot be known", faults,
			    open);
	else
		gp_find(f, "none of %zu known faults applies here", faults);
}

void gp_doctor_faults(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
		      void *data)
{
	size_t count, n = 0, open = 0, i;
	__cleanup_free struct gp_gpu_facts *facts = read_all_facts(g, &count);

	for (i = 0; gp_faults[i].name; i++) {
		struct gp_finding f = { 0 };
		int ret = find_fault(&gp_faults[i], facts, count, &f);

		if (ret > 0)
			found(data, &f);
		n += ret > 0;
		open += ret < 0;
	}
	if (!n) {
		struct gp_finding f = { 0 };

		find_none(&f, count, i, open);
		found(data, &f);
	}
}
