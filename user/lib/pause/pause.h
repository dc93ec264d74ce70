/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_PAUSE_H
#define GP_PAUSE_H

#include "lib/core/array.h"
#include "lib/core/internal.h"

/* Descriptors of a process that are /dev/kfd. */
struct gp_descriptors {
	uint64_t device;	 /* its number */
	struct gp_array numbers; /* int; free(items) */
};

/*
 * Also those that another process opened. At least one, or an error: of the
 * process, or GPREEMPT_KFD_CLOSED.
 */
int gp_find_descriptors(struct gpreempt *g, pid_t pid,
			struct gp_descriptors *out, struct gpreempt_error *err);

#endif
