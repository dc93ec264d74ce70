/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of the records. Each function prints one line; which cells it has is
 * in include/gpreempt/view.h.
 */

#ifndef GP_ROWS_H
#define GP_ROWS_H

struct seq_file;

/** gp_rows_queue() - a line of pid/<n>/queues: struct gp_queue */
void gp_rows_queue(struct seq_file *m, const void *record);

/** gp_rows_slot() - a line of pid/<n>/hqds: struct gp_slot */
void gp_rows_slot(struct seq_file *m, const void *record);

/** gp_rows_gpu() - a line of pid/<n>/gpus: struct gp_gpu */
void gp_rows_gpu(struct seq_file *m, const void *record);

/** gp_rows_summary() - a line of processes: struct gp_summary */
void gp_rows_summary(struct seq_file *m, const void *record);

/** gp_rows_node() - a line of nodes: struct gp_host_node */
void gp_rows_node(struct seq_file *m, const void *record);

#endif /* GP_ROWS_H */
