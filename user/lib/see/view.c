// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the module's files, queues, GPUs, version and counters; of GPUs KFD's sysfs, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/view.h>

#include "lib/core/table.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"

/* The GPUs of this host: by the module, and by KFD's topology in sysfs. */

/*
 * Has a process an address space on each GPU that it may use?
 *
 * Kernels from about 6.12.117 on crash when queues of a process are suspended that has none on one
 * of its GPUs: suspend_queues() flushes the TLB of every GPU after the first that had a queue to
 * suspend, and there is none to flush. ROCm's runtime makes all address spaces when a process
 * starts; a program on the bare driver may not. So ask before a session is opened: which GPUs there
 * are is fixed when the process opens /dev/kfd, and an address space stays until it ends.
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

static int gp_read_table(const struct gpreempt *g, pid_t pid, const char *file,
			 const struct gp_table *table, void *records, size_t *count);

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
 * A process makes an address space out of an open render node, and the driver keeps it. A
 * process that has closed the node since is taken for one without.
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
	char path[64];
	int ret;

	if (only_further_contexts(&survey))
		return gp_error(err, -EOPNOTSUPP, GPREEMPT_CONTEXTS, pid, step);
	ret = survey_module(&survey);
	if (ret) {
		survey = (struct survey){ .g = g, .pid = pid };
		snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", pid);
		ret = g->ops->list_dir(g->be, path, look_at_gpu, &survey);
	}
	if (ret < 0)
		return gp_error(err, -ESRCH, GPREEMPT_ENDED, pid, step);
	/* With one GPU the driver flushes only where the queues are. */
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

/* KFD's topology in sysfs: the driver's facts about its nodes. */

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

static bool fill_topology(const struct gpreempt *g, const char *dir, const char *name, void *record)
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
	int ret = gp_table_list(g, GP_TOPOLOGY, &gp_nodes_table, fill_topology, &nodes, count);

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

/* Reads the module's files: queues, GPUs, version and counters. */

/* Sources of a process's queues: the module, or else the driver. */

#define SYSFS_TYPE_COMPUTE 0 /* PM4 and AQL alike */
#define SYSFS_TYPE_SDMA	   1
/*
 * The driver's own numbers. That of XGMI is 4, and 3 where the driver has lost
 * the type before it (DIQ, from Linux 7.0 on). No queue of a process in sysfs is
 * of another type with these numbers: DIQ is the kernel's, and a queue that asks
 * for an engine (5, later 4) becomes one of the two SDMA types at its creation.
 */
#define SYSFS_TYPE_SDMA_XGMI	 3
#define SYSFS_TYPE_SDMA_XGMI_OLD 4

/* The driver's lock is held for a moment by many things; how long we ask. */
#define BUSY_TRIES    20
#define BUSY_RETRY_NS (5 * NSEC_PER_MSEC)

#define QUEUE(name, kind) GP_COLUMN(struct gpreempt_queue, name, kind)

_Static_assert((int)GPREEMPT_QUEUE_COMPUTE_AQL == (int)GP_VIEW_QUEUE_COMPUTE_AQL &&
		       (int)GPREEMPT_QUEUE_COMPUTE_PM4 == (int)GP_VIEW_QUEUE_COMPUTE_PM4 &&
		       (int)GPREEMPT_QUEUE_SDMA == (int)GP_VIEW_QUEUE_SDMA &&
		       (int)GPREEMPT_QUEUE_SDMA_XGMI == (int)GP_VIEW_QUEUE_SDMA_XGMI,
	       "the types of the view and of the library have one numbering");

static const struct gp_table queues_table = GP_TABLE(QUEUES, struct gpreempt_queue, QUEUE);

int64_t gp_sysfs_queue_type(const struct gpreempt *g, const char *dir, const char *qid)
{
	uint64_t type;

	if (gp_read_number(g, &type, "%s/%.16s/type", dir, qid))
		return GPREEMPT_UNKNOWN;
	switch (type) {
	case SYSFS_TYPE_COMPUTE:
		return GPREEMPT_QUEUE_COMPUTE;
	case SYSFS_TYPE_SDMA:
		return GPREEMPT_QUEUE_SDMA;
	case SYSFS_TYPE_SDMA_XGMI:
	case SYSFS_TYPE_SDMA_XGMI_OLD:
		return GPREEMPT_QUEUE_SDMA_XGMI;
	default:
		return GPREEMPT_UNKNOWN;
	}
}

static bool fill(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_queue *queue = record;
	uint64_t qid, gpu_id;

	if (shr_parse_u64(name, UINT32_MAX, &qid))
		return false;
	queue->qid = qid;
	if (!gp_read_number(g, &gpu_id, "%s/%s/gpuid", dir, name))
		queue->gpu_id = gpu_id;
	queue->type = gp_sysfs_queue_type(g, dir, name);
	queue->age_ms = 0;
	return true;
}

/* Make a view of these queues. The view owns them, and frees them. */
static int make_view(enum gpreempt_source source, struct gpreempt_queue *queues, size_t count,
		     struct gpreempt_view **out)
{
	struct gpreempt_view *view = calloc(1, sizeof(*view));

	if (!view) {
		free(queues);
		return -ENOMEM;
	}
	view->source = source;
	view->queues = queues;
	view->count = count;
	if (count)
		qsort(queues, count, sizeof(*queues), shr_compare_first);
	*out = view;
	return 0;
}

int gp_view_parse(const char *text, size_t len, struct gpreempt_view **out)
{
	void *queues;
	size_t count;
	int ret = gp_table_parse(&queues_table, text, len, &queues, &count);

	return ret ? ret : make_view(GPREEMPT_SOURCE_MODULE, queues, count, out);
}

int gp_view_sysfs(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out)
{
	struct gpreempt_queue *queues;
	char path[GP_PID_PATH];
	size_t count;
	int ret;

	gp_pid_path(path, GP_SYSFS_PROC, pid, "queues");
	ret = gp_table_list(g, path, &queues_table, fill, &queues, &count);
	return ret ? ret : make_view(GPREEMPT_SOURCE_SYSFS, queues, count, out);
}

int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file, char **text, size_t *len)
{
	int tries = BUSY_TRIES, ret;
	char path[GP_PID_PATH];

	if (pid)
		gp_pid_path(path, GP_DEBUGFS "/" GP_VIEW_DIR "/" GP_VIEW_PID_DIR, pid, file);
	else
		snprintf(path, sizeof(path), GP_DEBUGFS "/" GP_VIEW_DIR "/%s", file);
	for (;;) {
		ret = gp_read_text(g, path, text, len);
		if (ret != -EBUSY || !--tries)
			return ret;
		shr_sleep_ns(BUSY_RETRY_NS);
	}
}

int gp_view_module(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out)
{
	__cleanup_free char *text = NULL;
	size_t len;
	int ret;

	ret = gp_view_text(g, pid, GP_VIEW_QUEUES_FILE, &text, &len);
	return ret ? ret : gp_view_parse(text, len, out);
}

int gp_fail_view(struct gpreempt *g, int code, pid_t pid, const char *step,
		 struct gpreempt_error *err)
{
	int ret;

	if (code != -ENOENT && code != -ESTALE && code != -ESRCH)
		return gp_error(err, code, GPREEMPT_SYSTEM, pid, step);
	ret = gp_target_exists(g, pid, step, err);
	/* The process was not in the view a moment ago, or has left it. */
	return ret ? ret : gp_error(err, -ENODATA, GPREEMPT_NOT_GPU, pid, step);
}

/*
 * Can sysfs serve after that answer of the module? The module is not there, or not for us; or it
 * refuses a driver whose data contradict themselves.
 */
static bool gp_sysfs_serves(int code)
{
	return code == -ENOENT || code == -EACCES || code == -EPERM || code == -EUCLEAN;
}

int gpreempt_view_read(struct gpreempt *g, pid_t pid, struct gpreempt_view **out,
		       struct gpreempt_error *err)
{
	int ret = gp_view_module(g, pid, out);

	if (gp_sysfs_serves(ret))
		ret = gp_view_sysfs(g, pid, out);
	return ret ? gp_fail_view(g, ret, pid, "reading the queues", err) : 0;
}

const struct gpreempt_queue *gp_view_find(const struct gpreempt_view *view, uint32_t qid)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].qid == qid)
			return &view->queues[i];
	return NULL;
}

bool gp_filter_is_all(const struct gpreempt_filter *which)
{
	return !which->ids && !which->by_priority && !which->n_gpu_ids;
}

bool gp_filter_matches(const struct gpreempt_filter *which, int64_t qid, int64_t gpu_id,
		       int64_t priority)
{
	return (!which->ids || shr_has(which->ids, which->n_ids, qid)) &&
	       (!which->n_gpu_ids || shr_has(which->gpu_ids, which->n_gpu_ids, gpu_id)) &&
	       (!which->by_priority ||
		(priority >= which->priority_min && priority <= which->priority_max));
}

bool gp_view_paused(const struct gpreempt_view *view)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].state != GPREEMPT_UNKNOWN &&
		    (view->queues[i].state & 1 << GP_VIEW_STATE_PAUSED))
			return true;
	return false;
}

bool gp_is_compute(const struct gpreempt_queue *queue)
{
	return queue->type != GPREEMPT_QUEUE_SDMA && queue->type != GPREEMPT_QUEUE_SDMA_XGMI;
}

/* Are the waves of others on its GPU known, so that the driver can count them? */
static bool others_counted(const struct gpreempt_view *view, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].gpu_id == gpu_id && view->queues[i].waves != GPREEMPT_UNKNOWN)
			return true;
	return false;
}

void gp_off_add(struct gp_off *off, const struct gpreempt_view *view,
		const struct gpreempt_queue *queue, bool wanted)
{
	bool read = queue->hardware == GPREEMPT_UNKNOWN || queue->hardware == GP_VIEW_HARDWARE_READ;
	bool counted = queue->waves != GPREEMPT_UNKNOWN;

	if (!read || queue->active == GPREEMPT_UNKNOWN) {
		off->open = true;
	} else if (queue->active) {
		off->in_slot = true;
	} else if (queue->waves > 0) {
		off->waves = true;
	} else if (!wanted ||
		   (!counted && gp_is_compute(queue) && others_counted(view, queue->gpu_id))) {
		/* The queue came into a slot while its waves were to be counted. */
		off->open = true;
	} else {
		off->off++;
		off->counted |= counted;
		off->uncounted |= !counted && gp_is_compute(queue);
	}
}

enum gpreempt_verdict gp_off_verdict(const struct gp_off *off, enum gpreempt_verified_by *by)
{
	enum gpreempt_verified_by none;

	by = by ? by : &none;
	*by = GPREEMPT_BY_NOTHING;
	if (off->on || off->in_slot || off->waves) {
		*by = off->in_slot ? GPREEMPT_BY_SLOTS :
		      off->waves   ? GPREEMPT_BY_WAVES :
				     GPREEMPT_BY_NOTHING;
		return GPREEMPT_CONTRADICTED;
	}
	if (!off->off || off->open)
		return GPREEMPT_NOT_CHECKED;
	*by = off->counted && !off->uncounted ? GPREEMPT_BY_SLOTS_WAVES : GPREEMPT_BY_SLOTS;
	return GPREEMPT_VERIFIED;
}

GP_LIST(struct gpreempt_view, queues);

/* Processes, GPUs, slots and facts: the module's other files. */

#define HQD(name, kind)	  GP_COLUMN(struct gpreempt_hqd, name, kind)
#define USAGE(name, kind) GP_COLUMN(struct gpreempt_usage, name, kind)
#define FACT(name, kind)  GP_COLUMN(struct gpreempt_fact, name, kind)

static const struct gp_table hqds_table = GP_TABLE(HQDS, struct gpreempt_hqd, HQD);
static const struct gp_table usage_table = GP_TABLE(USAGE, struct gpreempt_usage,
						    USAGE, /* 1.0 has no pid */
						    .key = 1);
static const struct gp_table version_table = GP_TABLE(VERSION, struct gpreempt_fact, FACT);
static const struct gp_table stats_table = GP_TABLE(STATS, struct gpreempt_fact, FACT);

/* Read a table as records for free(), of which *(type **)records becomes the array. */
static int gp_read_table(const struct gpreempt *g, pid_t pid, const char *file,
			 const struct gp_table *table, void *records, size_t *count)
{
	__cleanup_free char *text = NULL;
	void *array;
	size_t len;
	int ret;

	ret = gp_view_text(g, pid, file, &text, &len);
	if (!ret)
		ret = gp_table_parse(table, text, len, &array, count);
	if (!ret)
		memcpy(records, &array, sizeof(array));
	return ret;
}

/* Read a table; where the module does not serve, @from_sysfs() gives the same records. */
static int read_either(const struct gpreempt *g, const char *file, const struct gp_table *table,
		       int (*from_sysfs)(const struct gpreempt *g, void *records, size_t *count),
		       enum gpreempt_source *source, void *records, size_t *count, const char *step,
		       struct gpreempt_error *err)
{
	int ret = gp_read_table(g, 0, file, table, records, count);

	*source = GPREEMPT_SOURCE_MODULE;
	if (gp_sysfs_serves(ret)) {
		*source = GPREEMPT_SOURCE_SYSFS;
		ret = from_sysfs(g, records, count);
	}
	return ret ? gp_error(err, ret, ret == -ENOENT ? GPREEMPT_NO_KFD : GPREEMPT_SYSTEM, 0,
			      step) :
		     0;
}

int gpreempt_processes_read(struct gpreempt *g, struct gpreempt_process_list **out,
			    struct gpreempt_error *err)
{
	static const char step[] = "reading the GPU processes";
	struct gpreempt_process_list *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	ret = read_either(g, GP_VIEW_PROCESSES_FILE, &gp_processes_table, gp_sysfs_processes,
			  &list->source, &list->processes, &list->count, step, err);
	if (!ret && list->count)
		qsort(list->processes, list->count, sizeof(*list->processes), shr_compare_first);
	return gp_list_give(ret, list, out);
}

int gpreempt_nodes_read(struct gpreempt *g, struct gpreempt_nodes **out, struct gpreempt_error *err)
{
	static const char step[] = "reading the GPUs";
	struct gpreempt_nodes *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	ret = read_either(g, GP_VIEW_NODES_FILE, &gp_nodes_table, gp_sysfs_nodes, &list->source,
			  &list->nodes, &list->count, step, err);
	return gp_list_give(ret, list, out);
}

_Static_assert(offsetof(struct gpreempt_hqds, hqds) == offsetof(struct gpreempt_usages, usages),
	       "each list is a count, and then a pointer to the records");

/* A file of a process, or with pid 0 of all, that only the module has. */
static int read_process(struct gpreempt *g, pid_t pid, const char *file,
			const struct gp_table *table, void *out, const char *step,
			struct gpreempt_error *err)
{
	char *list = calloc(1, sizeof(struct gpreempt_hqds));
	char path[GP_PID_PATH];
	int ret, missing = 0;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	ret = gp_read_table(g, pid, file, table, list + offsetof(struct gpreempt_hqds, hqds),
			    (size_t *)list);
	if (gp_list_give(ret, list, out) == 0)
		return 0;
	/* Is it the process that is not there, or the module, or the file? */
	if (pid && (ret == -ENOENT || ret == -ESTALE))
		missing = gp_target_exists(g, pid, step, err);
	if (missing)
		return missing;
	snprintf(path, sizeof(path),
		 pid ? GP_DEBUGFS "/" GP_VIEW_DIR "/" GP_VIEW_PID_DIR "/%d" :
		       GP_DEBUGFS "/" GP_VIEW_DIR,
		 pid);
	if (ret == -ENOENT && gp_look_in(g, path) > 0)
		return gp_error(err, ret, GPREEMPT_OLD_MODULE, pid, step);
	return gp_error(err, ret,
			gp_sysfs_serves(ret) && ret != -EUCLEAN ? GPREEMPT_NO_MODULE :
								  GPREEMPT_SYSTEM,
			pid, step);
}

int gpreempt_hqds_read(struct gpreempt *g, pid_t pid, struct gpreempt_hqds **out,
		       struct gpreempt_error *err)
{
	return read_process(g, pid, GP_VIEW_HQDS_FILE, &hqds_table, out,
			    "reading the hardware slots", err);
}

int gpreempt_usage_read(struct gpreempt *g, pid_t pid, struct gpreempt_usages **out,
			struct gpreempt_error *err)
{
	return read_process(g, pid, GP_VIEW_USAGE_FILE, &usage_table, out,
			    "reading the usage of the GPUs", err);
}

static int read_facts(struct gpreempt *g, const char *file, const struct gp_table *table,
		      struct gpreempt_facts **out, struct gpreempt_error *err)
{
	int ret = read_process(g, 0, file, table, out, "asking gpreempt.ko", err);
	size_t i;

	for (i = 0; !ret && i < (*out)->count; i++) {
		struct gpreempt_fact *fact = &(*out)->facts[i];
		uint64_t number;

		fact->number = GPREEMPT_UNKNOWN;
		if (!shr_parse_u64(fact->value, INT64_MAX, &number))
			fact->number = number;
	}
	return ret;
}

int gp_module_version(struct gpreempt *g, struct gpreempt_facts **out, struct gpreempt_error *err)
{
	return read_facts(g, GP_VIEW_VERSION_FILE, &version_table, out, err);
}

int gpreempt_module_stats(struct gpreempt *g, struct gpreempt_facts **out,
			  struct gpreempt_error *err)
{
	return read_facts(g, GP_VIEW_STATS_FILE, &stats_table, out, err);
}

const struct gpreempt_fact *gp_facts_find(const struct gpreempt_facts *facts, const char *key)
{
	size_t i;

	for (i = 0; i < facts->count; i++)
		if (!strcmp(facts->facts[i].key, key))
			return &facts->facts[i];
	return NULL;
}

GP_LIST(struct gpreempt_process_list, processes);
GP_LIST(struct gpreempt_nodes, nodes);
GP_LIST(struct gpreempt_hqds, hqds);
GP_LIST(struct gpreempt_usages, usages);
GP_LIST(struct gpreempt_facts, facts);
