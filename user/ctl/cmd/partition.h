/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_PARTITION_H
#define CTL_PARTITION_H

#include "output/table.h"

/*
 * List what keeps /dev/kfd open, which blocks a repartition of the GPU that the word
 * names. The exit status.
 */
int ctl_partition(const char *gpu, enum out_mode mode);

#endif
