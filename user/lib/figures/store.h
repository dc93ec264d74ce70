/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_FIGURES_STORE_H
#define GP_FIGURES_STORE_H

#include "lib/figures/figures.h"

#define GP_FIGURES_STEP "looking how busy the GPUs are"

/* Those that are kept, or new ones. NULL without memory. */
struct gp_process_figures *gp_figures_process(struct gp_figures *f, int64_t pid);
struct gp_figure *gp_figures_gpu(struct gp_process_figures *p, int64_t gpu_id);
/* NULL: there is none. */
struct gp_gpu_figures *gp_figures_node(struct gp_figures *f, int64_t gpu_id);

/* Close and free what is in it. */
void gp_figures_clear_process(struct gp_process_figures *p);

/* Add one number to another, as far as both are known. */
void gp_figures_sum(int64_t *to, int64_t value);

#endif
