/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_ROWS_H
#define GP_ROWS_H

struct seq_file;

/*
 * A line of a file from one record: a struct gp_queue, gp_slot, gp_gpu, gp_summary
 * or gp_host_node. NULL: the names of the columns.
 */
void gp_rows_queue(struct seq_file *m, const void *record);
void gp_rows_slot(struct seq_file *m, const void *record);
void gp_rows_gpu(struct seq_file *m, const void *record);
void gp_rows_usage(struct seq_file *m, const void *record);
void gp_rows_summary(struct seq_file *m, const void *record);
void gp_rows_node(struct seq_file *m, const void *record);

#endif /* GP_ROWS_H */
