// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes, GPUs, slots and facts: the module's other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/array.h"
#include "shared/parse.h"

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
