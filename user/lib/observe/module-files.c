// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes, GPUs, slots and facts: the module's other files. */
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/parse.h"

/* records: a pointer to an array of the table's records. */
static int read_table(const struct gpreempt *g, pid_t pid, const char *file,
		      const struct gp_table *table, void *records,
		      size_t *count)
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

/* The module is not there, or is not for us. */
static bool no_module(int code)
{
	return code == -ENOENT || code == -EACCES || code == -EPERM;
}

static int fail_read(struct gpreempt_error *err, int code, pid_t pid,
		     const char *step)
{
	return gp_error(err, code,
			no_module(code) ? GPREEMPT_NO_MODULE : GPREEMPT_SYSTEM,
			pid, step);
}

static int compare_processes(const void *a, const void *b)
{
	const struct gpreempt_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int gpreempt_processes_read(struct gpreempt *g,
			    struct gpreempt_process_list **out,
			    struct gpreempt_error *err)
{
	static const char step[] = "reading the GPU processes";
	struct gpreempt_process_list *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	list->source = GPREEMPT_SOURCE_MODULE;
	ret = read_table(g, 0, GP_VIEW_PROCESSES_FILE, &gp_processes_table,
			 &list->processes, &list->count);
	if (no_module(ret)) {
		list->source = GPREEMPT_SOURCE_SYSFS;
		ret = gp_sysfs_processes(g, &list->processes, &list->count);
	}
	if (ret) {
		free(list);
		return gp_error(err, ret,
				ret == -ENOENT ? GPREEMPT_NO_KFD :
						 GPREEMPT_SYSTEM,
				0, step);
	}
	if (list->count)
		qsort(list->processes, list->count, sizeof(*list->processes),
		      compare_processes);
	*out = list;
	return 0;
}

void gpreempt_processes_free(struct gpreempt_process_list *list)
{
	if (list)
		free(list->processes);
	free(list);
}

int gpreempt_nodes_read(struct gpreempt *g, struct gpreempt_nodes **out,
			struct gpreempt_error *err)
{
	static const char step[] = "reading the GPUs";
	struct gpreempt_nodes *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	list->source = GPREEMPT_SOURCE_MODULE;
	ret = read_table(g, 0, GP_VIEW_NODES_FILE, &gp_nodes_table,
			 &list->nodes, &list->count);
	if (no_module(ret)) {
		list->source = GPREEMPT_SOURCE_SYSFS;
		ret = gp_sysfs_nodes(g, &list->nodes, &list->count);
	}
	if (ret) {
		free(list);
		return gp_error(err, ret,
				ret == -ENOENT ? GPREEMPT_NO_KFD :
						 GPREEMPT_SYSTEM,
				0, step);
	}
	*out = list;
	return 0;
}

void gpreempt_nodes_free(struct gpreempt_nodes *list)
{
	if (list)
		free(list->nodes);
	free(list);
}

int gpreempt_hqds_read(struct gpreempt *g, pid_t pid,
		       struct gpreempt_hqds **out, struct gpreempt_error *err)
{
	static const char step[] = "reading the hardware slots";
	struct gpreempt_hqds *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	ret = read_table(g, pid, GP_VIEW_HQDS_FILE, &gp_hqds_table, &list->hqds,
			 &list->count);
	if (!ret) {
		*out = list;
		return 0;
	}
	free(list);
	/* Is it the process that is not there, or the module? */
	if (ret == -ENOENT || ret == -ESTALE) {
		int missing = gp_target_exists(g, pid, step, err);

		if (missing)
			return missing;
	}
	return fail_read(err, ret, pid, step);
}

void gpreempt_hqds_free(struct gpreempt_hqds *list)
{
	if (list)
		free(list->hqds);
	free(list);
}

static int read_facts(struct gpreempt *g, const char *file,
		      const struct gp_table *table, struct gpreempt_facts **out,
		      struct gpreempt_error *err)
{
	static const char step[] = "asking gpreempt.ko";
	struct gpreempt_facts *list = calloc(1, sizeof(*list));
	size_t i;
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	ret = read_table(g, 0, file, table, &list->facts, &list->count);
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
	return read_facts(g, GP_VIEW_VERSION_FILE, &gp_version_table, out, err);
}

int gpreempt_module_stats(struct gpreempt *g, struct gpreempt_facts **out,
			  struct gpreempt_error *err)
{
	return read_facts(g, GP_VIEW_STATS_FILE, &gp_stats_table, out, err);
}

const struct gpreempt_fact *
gpreempt_facts_find(const struct gpreempt_facts *facts, const char *key)
{
	size_t i;

	for (i = 0; i < facts->count; i++)
		if (!strcmp(facts->facts[i].key, key))
			return &facts->facts[i];
	return NULL;
}

void gpreempt_facts_free(struct gpreempt_facts *list)
{
	if (list)
		free(list->facts);
	free(list);
}
