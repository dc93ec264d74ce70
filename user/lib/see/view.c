// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the module's files: queues, GPUs, version and counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/view.h>

#include "shared/text.h"
#include "shared/util.h"
#include "see.h"

/* Where the queues of a process are read: the module, or else the driver. */

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

int gpreempt_view_parse(const char *text, size_t len, struct gpreempt_view **out)
{
	void *queues;
	size_t count;
	int ret = gp_table_parse(&queues_table, text, len, &queues, &count);

	return ret ? ret : make_view(GPREEMPT_SOURCE_MODULE, queues, count, out);
}

static int read_sysfs(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out)
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
	return ret ? ret : gpreempt_view_parse(text, len, out);
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
 * Does sysfs have to serve, after that answer of the module? It is not there, or not for
 * us; or it refuses a driver whose data contradict themselves.
 */
static bool gp_sysfs_serves(int code)
{
	return code == -ENOENT || code == -EACCES || code == -EPERM || code == -EUCLEAN;
}

int gpreempt_view_read(struct gpreempt *g, pid_t pid, struct gpreempt_view **out,
		       struct gpreempt_error *err)
{
	static const char step[] = "reading the queues";
	int ret = gp_view_module(g, pid, out);

	if (gp_sysfs_serves(ret))
		ret = read_sysfs(g, pid, out);
	return ret ? gp_fail_view(g, ret, pid, step, err) : 0;
}

const struct gpreempt_queue *gpreempt_view_find(const struct gpreempt_view *view, uint32_t qid)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		if (view->queues[i].qid == qid)
			return &view->queues[i];
	return NULL;
}

bool gpreempt_view_paused(const struct gpreempt_view *view)
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

GP_LIST_FREE(gpreempt_view_free, gpreempt_view, queues)

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

int gp_read_table(const struct gpreempt *g, pid_t pid, const char *file,
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

static int fail_read(struct gpreempt_error *err, int code, pid_t pid, const char *step)
{
	bool absent = gp_sysfs_serves(code) && code != -EUCLEAN;

	return gp_error(err, code, absent ? GPREEMPT_NO_MODULE : GPREEMPT_SYSTEM, pid, step);
}

/* Also where the module does not serve: @from_sysfs() gives the same records. */
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
	return fail_read(err, ret, pid, step);
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
	static const char step[] = "asking gpreempt.ko";
	struct gpreempt_facts *list = calloc(1, sizeof(*list));
	size_t i;
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	ret = gp_read_table(g, 0, file, table, &list->facts, &list->count);
	if (ret) {
		free(list);
		return fail_read(err, ret, 0, step);
	}
	for (i = 0; i < list->count; i++) {
		struct gpreempt_fact *fact = &list->facts[i];
		uint64_t number;

		fact->number = GPREEMPT_UNKNOWN;
		if (!shr_parse_u64(fact->value, INT64_MAX, &number))
			fact->number = number;
	}
	*out = list;
	return 0;
}

int gpreempt_module_version(struct gpreempt *g, struct gpreempt_facts **out,
			    struct gpreempt_error *err)
{
	return read_facts(g, GP_VIEW_VERSION_FILE, &version_table, out, err);
}

int gpreempt_module_stats(struct gpreempt *g, struct gpreempt_facts **out,
			  struct gpreempt_error *err)
{
	return read_facts(g, GP_VIEW_STATS_FILE, &stats_table, out, err);
}

const struct gpreempt_fact *gpreempt_facts_find(const struct gpreempt_facts *facts, const char *key)
{
	size_t i;

	for (i = 0; i < facts->count; i++)
		if (!strcmp(facts->facts[i].key, key))
			return &facts->facts[i];
	return NULL;
}

GP_LIST_FREE(gpreempt_processes_free, gpreempt_process_list, processes)
GP_LIST_FREE(gpreempt_nodes_free, gpreempt_nodes, nodes)
GP_LIST_FREE(gpreempt_hqds_free, gpreempt_hqds, hqds)
GP_LIST_FREE(gpreempt_usage_free, gpreempt_usages, usages)
GP_LIST_FREE(gpreempt_facts_free, gpreempt_facts, facts)

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that so many thousandths of all do not exceed. */
static uint64_t nearest_rank(const uint64_t *sorted, size_t n, size_t mille)
{
	size_t rank = n / 1000 * mille + (n % 1000 * mille + 999) / 1000;

	return sorted[rank - 1];
}

/* Rounded to the nearest; the sum may need more than 64 bits. */
static uint64_t mean(const uint64_t *samples, size_t n)
{
	unsigned __int128 sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += samples[i];
	return (sum + n / 2) / n;
}

void gpreempt_stats(uint64_t *samples, size_t n, struct gpreempt_stats *out)
{
	*out = (struct gpreempt_stats){ .n = n };
	if (!n)
		return;
	qsort(samples, n, sizeof(*samples), compare);
	out->min = samples[0];
	out->mean = mean(samples, n);
	out->p50 = nearest_rank(samples, n, 500);
	out->p90 = nearest_rank(samples, n, 900);
	out->p99 = nearest_rank(samples, n, 990);
	out->p999 = nearest_rank(samples, n, 999);
	out->max = samples[n - 1];
}
