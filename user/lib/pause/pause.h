/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_PAUSE_H
#define GP_PAUSE_H

#include "lib/core/array.h"
#include "lib/core/internal.h"

/* The device number of /dev/kfd. */
int gp_find_device(struct gpreempt *g, pid_t pid, uint64_t *device,
		   struct gpreempt_error *err);

/*
 * The descriptors of a process that are of that device, also those that another
 * process opened: int; free(numbers->items). At least one, or an error: of the
 * process, or GPREEMPT_KFD_CLOSED.
 */
int gp_find_descriptors(struct gpreempt *g, pid_t pid, uint64_t device,
			struct gp_array *numbers, struct gpreempt_error *err);

#endif
