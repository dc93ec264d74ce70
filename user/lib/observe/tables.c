// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tables that the module's files have, by the columns of view.h. */
#include "lib/observe/observe.h"

static const struct gp_column process_columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_process, name, kind)
	GP_VIEW_PROCESSES_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct gp_column node_columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_node, name, kind)
	GP_VIEW_NODES_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct gp_column hqd_columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_hqd, name, kind)
	GP_VIEW_HQDS_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct gp_column version_columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_fact, name, kind)
	GP_VIEW_VERSION_COLUMNS(COLUMN)
#undef COLUMN
};

static const struct gp_column stats_columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_fact, name, kind)
	GP_VIEW_STATS_COLUMNS(COLUMN)
#undef COLUMN
};

#define TABLE(format, type, list)                                           \
	{                                                                   \
		.head = GP_VIEW_##format##_NAME " - version: ",             \
		.version = GP_VIEW_##format##_VERSION, .columns = list,     \
		.n_columns = ARRAY_SIZE(list), .record_size = sizeof(type), \
	}

const struct gp_table gp_processes_table =
	TABLE(PROCESSES, struct gpreempt_process, process_columns);
const struct gp_table gp_nodes_table =
	TABLE(NODES, struct gpreempt_node, node_columns);
const struct gp_table gp_hqds_table =
	TABLE(HQDS, struct gpreempt_hqd, hqd_columns);
const struct gp_table gp_version_table =
	TABLE(VERSION, struct gpreempt_fact, version_columns);
const struct gp_table gp_stats_table =
	TABLE(STATS, struct gpreempt_fact, stats_columns);

void gp_process_unknown(struct gpreempt_process *process)
{
	gp_table_forget(&gp_processes_table, process);
}

void gp_node_unknown(struct gpreempt_node *node)
{
	gp_table_forget(&gp_nodes_table, node);
}
