/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Known faults of drivers and firmware: what each applies to, and where it was reported.
 * A row only warns. Nothing is decided by it: distributions move repairs to old releases.
 */
#ifndef GP_DOCTOR_FAULTS_H
#define GP_DOCTOR_FAULTS_H

#include "lib/doctor/doctor.h"

/* What can be read about a GPU and its driver. */
enum gp_fact {
	GP_FACT_LINUX,	       /* 6012: the kernel's release, if its own driver is loaded */
	GP_FACT_GFX,	       /* as gfx_target_version in KFD's topology */
	GP_FACT_MES,	       /* version of the firmware that schedules, gfx 11 and later */
	GP_FACT_CLIENTS,       /* processes that have a compute queue on the GPU */
	GP_FACT_QUEUES,	       /* compute queues of the process that has the most there */
	GP_FACT_WAITING,       /* compute queues there above the number of slots */
	GP_FACT_KERNEL_QUEUES, /* slots that the driver keeps: num_kcq */
	GP_FACTS,
};

/* By enum gp_fact; GPREEMPT_UNKNOWN: it could not be read. */
struct gp_gpu_facts {
	int64_t gpu_id;
	int64_t value[GP_FACTS];
};

#define GP_FAULT_CONDITIONS 4

struct gp_fault {
	const char *name;
	enum gp_health health; /* where it applies */
	/* All must hold; one with last 0 is none. */
	struct {
		enum gp_fact fact;
		int64_t first;
		int64_t last; /* INT64_MAX: and later ones */
	} when[GP_FAULT_CONDITIONS];
	const char *symptom;
	const char *remedy;
	const char *thread; /* where to read about it */
};

extern const struct gp_fault gp_faults[]; /* up to one without a name */

/* 1: it applies; 0: not; -ENODATA: it would, if what cannot be read were so. */
int gp_fault_applies(const struct gp_fault *fault, const struct gp_gpu_facts *facts);

/* Of all GPUs, for free(). 0 or -errno. */
int gp_gpu_facts_read(struct gpreempt *g, struct gp_gpu_facts **out, size_t *count);

/* A finding for each fault that applies or may, or one for all. */
void gp_doctor_faults(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
		      void *data);

#endif
