// SPDX-License-Identifier: LGPL-2.1-or-later
/* The GPUs of this host: by the module, and by KFD's topology in sysfs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/core/table.h"
#include "shared/text.h"
#include "see.h"

/*
 * Has a process an address space on each GPU that it may use?
 *
 * Kernels from about 6.12.117 on crash when queues of a process are suspended that has none on
 * one of its GPUs: suspend_queues() flushes the TLB of every GPU after the first that had a
 * queue to suspend, and there is none to flush. ROCm's runtime makes all address spaces when a
 * process starts; a program on the bare driver may not. So ask before a session is opened:
 * which GPUs there are is fixed when the process opens /dev/kfd, and an address space stays
 * until it ends.
 */

#define CONTEXT	  "context_"
#define DRM_MAJOR 226

struct gpu {
	int64_t gpu_id;
	int64_t vm;
	int64_t context;
	int64_t evictions;
};

#define GPU(name, kind) GP_COLUMN(struct gpu, name, kind)
static const struct gp_table gpus_table = GP_TABLE(GPUS, struct gpu, GPU);

/* Returns the evictions of the GPU that has most; -ENODATA: the module does not report them. */
static int most_evictions(const struct gpu *gpus, size_t count)
{
	int64_t most = GPREEMPT_UNKNOWN;
	size_t i;

	for (i = 0; i < count; i++)
		if (gpus[i].evictions > most)
			most = gpus[i].evictions;
	return most == GPREEMPT_UNKNOWN ? -ENODATA : most;
}

int gp_evictions(const struct gpreempt *g, pid_t pid)
{
	__cleanup_free struct gpu *gpus = NULL;
	size_t count;
	int ret = gp_read_table(g, pid, GP_VIEW_GPUS_FILE, &gpus_table, &gpus, &count);

	return ret ? ret : most_evictions(gpus, count);
}

int gp_pauses_count(const struct gpreempt *g)
{
	char text[GP_PAUSED_TWICE_TEXT];
	ssize_t n = g->ops->pause_twice(g->be, text, sizeof(text));
	__cleanup_free void *gpus = NULL;
	size_t count;
	int ret = n < 0 ? n : gp_table_parse(&gpus_table, text, n, &gpus, &count);

	if (!ret)
		ret = most_evictions(gpus, count);
	return ret > 0 ? ret > 1 : ret ?: -ENODATA;
}

/* Results about a process, GPU by GPU. */
struct survey {
	const struct gpreempt *g;
	pid_t pid;
	char missing[32]; /* GPUs without address space */
	unsigned int gpus;
	unsigned int without;

	/* Results about the GPU at hand, without the module. */
	uint64_t device; /* its render node */
	bool open;	 /* the process has it open */
};

static void note_gpu(struct survey *survey, int64_t gpu_id, bool vm)
{
	size_t used = strlen(survey->missing);

	survey->gpus++;
	if (vm)
		return;
	survey->without++;
	snprintf(survey->missing + used, sizeof(survey->missing) - used, "%s0x%llx",
		 used ? " " : "", (unsigned long long)gpu_id);
}

static int survey_module(struct survey *survey)
{
	__cleanup_free struct gpu *gpus = NULL;
	size_t i, count;
	int ret = gp_read_table(survey->g, survey->pid, GP_VIEW_GPUS_FILE, &gpus_table, &gpus,
				&count);

	if (ret)
		return ret;
	/* A session is about the first context alone. */
	for (i = 0; i < count; i++)
		if (gpus[i].context == GPREEMPT_UNKNOWN)
			note_gpu(survey, gpus[i].gpu_id, gpus[i].vm == 1);
	return 0;
}

static int look_at_descriptor(void *arg, const char *name)
{
	struct survey *survey = arg;
	uint64_t device;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", survey->pid, name);
	if (survey->g->ops->device_of(survey->g->be, path, &device))
		return 0;
	survey->open = device == survey->device;
	return survey->open;
}

/*
 * A process makes an address space out of an open render node, which the
 * driver keeps; who has closed it since is taken for one without.
 */
static int look_at_gpu(void *arg, const char *name)
{
	struct survey *survey = arg;
	const struct gpreempt *g = survey->g;
	uint64_t gpu_id, minor;
	char path[64];

	if (!gp_is_vram(name, &gpu_id))
		return 0;
	survey->open = false;
	snprintf(path, sizeof(path), "/proc/%d/fd", survey->pid);
	if (!gp_gpu_property(g, gpu_id, "drm_render_minor", &minor)) {
		survey->device = makedev(DRM_MAJOR, minor);
		g->ops->list_dir(g->be, path, look_at_descriptor, survey);
	}
	note_gpu(survey, gpu_id, survey->open);
	return 0;
}

static int survey_sysfs(struct survey *survey)
{
	char path[64];

	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", survey->pid);
	return survey->g->ops->list_dir(survey->g->be, path, look_at_gpu, survey);
}

/* context: "" for the first. */
static bool has_queues(const struct survey *survey, const char *context)
{
	char path[96];

	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d/%.32s%squeues", survey->pid, context,
		 *context ? "/" : "");
	return gp_look_in(survey->g, path) > 0;
}

static int look_at_context(void *arg, const char *name)
{
	return !strncmp(name, CONTEXT, strlen(CONTEXT)) && has_queues(arg, name);
}

/*
 * Has it queues in further KFD contexts alone, which a process makes on request from
 * Linux 7.0 on? The driver's debugger is for the first one.
 */
static bool only_further_contexts(const struct survey *survey)
{
	char path[64];

	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", survey->pid);
	return !has_queues(survey, "") &&
	       survey->g->ops->list_dir(survey->g->be, path, look_at_context, (void *)survey) > 0;
}

static int fail_missing(const struct survey *survey, const char *step, struct gpreempt_error *err)
{
	gp_error(err, -EOPNOTSUPP, GPREEMPT_NO_ADDRESS_SPACE, survey->pid, step);
	if (err)
		memcpy(err->name, survey->missing, sizeof(err->name));
	return -EOPNOTSUPP;
}

int gp_check_gpus(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	struct survey survey = { .g = g, .pid = pid };
	int ret;

	if (only_further_contexts(&survey))
		return gp_error(err, -EOPNOTSUPP, GPREEMPT_CONTEXTS, pid, step);
	ret = survey_module(&survey);
	if (ret) {
		survey = (struct survey){ .g = g, .pid = pid };
		ret = survey_sysfs(&survey);
	}
	if (ret < 0)
		return gp_error(err, -ESRCH, GPREEMPT_ENDED, pid, step);
	/* With one GPU the driver has nothing to flush but where queues are. */
	if (!survey.without || survey.gpus < 2)
		return 0;
	return fail_missing(&survey, step, err);
}

int gp_check_spaces(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	static const char not_seen[] = "gpreempt.ko does not show its address spaces";
	struct survey survey = { .g = g, .pid = pid };

	if (survey_module(&survey) || !survey.gpus)
		return gp_error(err, -EOPNOTSUPP, GPREEMPT_PAUSE_UNSAFE, pid, not_seen);
	return survey.without ? fail_missing(&survey, step, err) : 0;
}

/* KFD's topology in sysfs: what the driver says of its nodes. */

/* Start of the name of a process's file for each GPU that it may use; the id follows. */
#define VRAM "vram_"

#define NODE(name, kind) GP_COLUMN(struct gpreempt_node, name, kind)
const struct gp_table gp_nodes_table = GP_TABLE(NODES, struct gpreempt_node, NODE);

int gp_node_gpu_id(const struct gpreempt *g, const char *node, uint64_t *gpu_id)
{
	return gp_read_number(g, gpu_id, GP_TOPOLOGY "/%.16s/gpu_id", node);
}

/* A line of the properties: a name, a space, a number. */
int gp_node_property(const struct gpreempt *g, const char *node, const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	char text[4096], *at;
	ssize_t n;

	n = gp_read_small(g, text, sizeof(text), GP_TOPOLOGY "/%.16s/properties", node);
	if (n < 0)
		return n;
	for (at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) || at[len] != ' ')
			continue;
		*value = strtoull(at + len, NULL, 10);
		return 0;
	}
	return -ENODATA;
}

static int64_t property(const struct gpreempt *g, const char *node, const char *name)
{
	uint64_t value;

	if (gp_node_property(g, node, name, &value))
		return GPREEMPT_UNKNOWN;
	return value;
}

/* Print the address of a PCI device in the kernel's form. */
static void put_device(const struct gpreempt *g, const char *node, struct gpreempt_node *out)
{
	int64_t domain = property(g, node, "domain");
	int64_t location = property(g, node, "location_id");

	if (domain < 0 || location < 0)
		return;
	snprintf(out->device, sizeof(out->device), "%04x:%02x:%02x.%x", (unsigned int)domain,
		 (unsigned int)(location >> 8) & 0xff, (unsigned int)(location >> 3) & 0x1f,
		 (unsigned int)location & 7);
}

static bool fill(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_node *node = record;
	uint64_t gpu_id, number;

	(void)dir;
	if (shr_parse_u64(name, UINT32_MAX, &number) || gp_node_gpu_id(g, name, &gpu_id) || !gpu_id)
		return false;
	node->gpu_id = gpu_id;
	node->node = number;
	node->gfx = property(g, name, "gfx_target_version");
	node->xccs = property(g, name, "num_xcc");
	put_device(g, name, node);
	return true;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct gpreempt_node *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

int gp_sysfs_nodes(const struct gpreempt *g, void *records, size_t *count)
{
	struct gpreempt_node *nodes;
	int ret = gp_table_list(g, GP_TOPOLOGY, &gp_nodes_table, fill, &nodes, count);

	if (ret)
		return ret;
	if (*count)
		qsort(nodes, *count, sizeof(*nodes), compare_nodes);
	memcpy(records, &nodes, sizeof(nodes));
	return 0;
}

bool gp_is_vram(const char *name, uint64_t *gpu_id)
{
	return !strncmp(name, VRAM, strlen(VRAM)) &&
	       !shr_parse_u64(name + strlen(VRAM), UINT32_MAX, gpu_id);
}

struct search {
	const struct gpreempt *g;
	uint64_t gpu_id;
	const char *name;
	uint64_t *value;
	int ret;
};

static int look_at_node(void *arg, const char *node)
{
	struct search *search = arg;
	uint64_t gpu_id;

	if (gp_node_gpu_id(search->g, node, &gpu_id) || gpu_id != search->gpu_id)
		return 0;
	search->ret = gp_node_property(search->g, node, search->name, search->value);
	return 1;
}

int gp_gpu_property(const struct gpreempt *g, uint64_t gpu_id, const char *name, uint64_t *value)
{
	struct search search = { g, gpu_id, name, value, -ENODATA };

	g->ops->list_dir(g->be, GP_TOPOLOGY, look_at_node, &search);
	return search.ret;
}
