/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_HQD_H
#define GP_HQD_H

#include "node.h"
#include "snapshot.h"

/**
 * gp_hqd_read() - look which hardware slots hold a queue now
 * @n:		its node, awake
 * @q:		sets @q->active, and @q->slot to where it was found
 */
void gp_hqd_read(const struct gp_node *n, struct gp_queue *q);

#endif /* GP_HQD_H */
